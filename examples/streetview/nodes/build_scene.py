"""Turn the chosen part of the photo into a relief, from its depth if known, or its outline."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from streetview import pictures, relief


def run(
    out: Path,
    image: Path,
    pick: dict,
    candidates: list[dict],
    status_callback: Callable[[float, str], None],
    depth: Path | None = None,
    detail: int = 200,
) -> dict:
    """Write scene.npz (heights and colours, longer side `detail` points), crop.png, cutout.png."""
    box = next(c["box"] for c in candidates if c["id"] == pick["id"])
    part = pictures.crop(pictures.read(image), box, margin=0.15)
    grid = part.copy()
    grid.thumbnail((detail, detail), Image.Resampling.LANCZOS)
    status_callback(0.2, "separating the object from its background")
    mask = relief.object_mask(grid)
    status_callback(0.7, "raising the relief")
    if depth is None:
        heights = relief.dome(mask, pictures.grey(grid))
    else:
        near = pictures.crop(Image.fromarray(np.load(depth)), box, margin=0.15)
        heights = relief.from_depth(np.asarray(near.resize(grid.size)))
    scene = out / "scene.npz"
    np.savez_compressed(scene, heights=heights, colours=np.asarray(grid))
    part.save(out / "crop.png")
    cutout = np.where(mask[..., None], np.asarray(grid), np.asarray(grid) // 4)
    Image.fromarray(cutout).save(out / "cutout.png")
    return {
        "primary_file": str(scene),
        "crop_file": str(out / "crop.png"),
        "cutout_file": str(out / "cutout.png"),
    }
