"""Load a photo (and its right-hand partner, if it has one) in a size that is quick to work on."""

from pathlib import Path

from streetview import pictures


def run(out: Path, src: Path, right: Path | None = None, max_side: int = 640) -> dict:
    """Write photo.png (and right.png); say where they are and how large."""
    photo = pictures.read(src, max_side)
    primary = out / "photo.png"
    photo.save(primary)
    answer = {
        "primary_file": str(primary),
        "name": src.stem,
        "width": photo.width,
        "height": photo.height,
    }
    if right is None:
        return answer
    partner = out / "right.png"
    pictures.read(right, max_side).save(partner)
    return {**answer, "right_file": str(partner)}
