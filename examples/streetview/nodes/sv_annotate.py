"""Show the candidates: the photo with a box around each, and a contact sheet of their crops."""

from pathlib import Path

from streetview import pictures


def run(out: Path, image: Path, boxes: list[dict]) -> dict:
    """Write annotated.png and candidates.png; return the question for a person."""
    photo = pictures.read(image)
    candidates = [{"id": str(number), **box} for number, box in enumerate(boxes, start=1)]
    annotated = out / "annotated.png"
    pictures.draw_boxes(photo, candidates).save(annotated)
    tiles = [
        (f"{c['id']} {c['label']} {c['score']:.2f}", pictures.crop(photo, c["box"]))
        for c in candidates
    ]
    pictures.sheet(tiles, columns=4).save(out / "candidates.png")
    question = f"Which of these should become a relief?\n{annotated}"
    return {"primary_file": str(annotated), "candidates": candidates, "question": question}
