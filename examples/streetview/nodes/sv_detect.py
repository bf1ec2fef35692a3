"""Find interesting parts of the photo; for a stereo pair, measure the depth too."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from streetview import depth, finding, pictures


def run(
    out: Path,
    image: Path,
    status_callback: Callable[[float, str], None],
    right: Path | None = None,
    min_score: float = 0.5,
) -> dict:
    """Return the boxes found, best first, and for a stereo pair the file of its depth map."""
    photo = pictures.read(image)
    status_callback(0.1, "looking for faces")
    found = [face for face in finding.faces(photo) if face["score"] >= min_score]
    answer: dict = {}
    if right is not None:
        near = depth.disparity(
            pictures.grey(photo),
            pictures.grey(pictures.read(right)),
            photo.width // 10,
            lambda share: status_callback(0.3 + 0.5 * share, "measuring depth"),
        )
        np.save(out / "depth.npy", near)
        depth.picture(near).save(out / "depth.png")
        answer = {"depth_file": str(out / "depth.npy")}
        found += finding.nearest(near)
    status_callback(0.8, "looking for what stands out")
    found += finding.standouts(photo)
    whole = {"label": "whole", "score": 0.1, "box": [0, 0, *photo.size]}
    return {**answer, "boxes": [*finding.best(found), whole]}
