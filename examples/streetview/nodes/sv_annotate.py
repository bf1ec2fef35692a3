"""Show the candidates: the photo with a box around each, a crop of each, and a contact sheet."""

from pathlib import Path

from streetview import pictures

CROP_SIDE = 480  # pixels


def run(out: Path, image: Path, boxes: list[dict]) -> dict:
    """Write annotated.png, candidates.png and 1.png, 2.png ...; return the candidates."""
    photo = pictures.read(image)
    candidates = [
        {"id": str(number), **box, "picture": str(out / f"{number}.png")}
        for number, box in enumerate(boxes, start=1)
    ]
    annotated = out / "annotated.png"
    pictures.draw_boxes(photo, candidates).save(annotated)
    tiles = []
    for candidate in candidates:
        crop = pictures.crop(photo, candidate["box"])
        tiles.append((f"{candidate['id']} {candidate['label']} {candidate['score']:.2f}", crop))
        small = crop.copy()
        small.thumbnail((CROP_SIDE, CROP_SIDE))
        small.save(candidate["picture"])
    pictures.sheet(tiles, columns=4).save(out / "candidates.png")
    return {"primary_file": str(annotated), "candidates": candidates}
