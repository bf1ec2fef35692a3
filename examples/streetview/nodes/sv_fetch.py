"""Load a photo (and the right half of a stereo pair, if given) at a size quick to work on."""

from pathlib import Path

from streetview import pictures


def run(out: Path, src: Path, right: Path | None = None, max_side: int = 640) -> dict:
    """Write photo.png (and right.png); return their paths and the size."""
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
