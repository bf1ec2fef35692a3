"""Write the relief as 3D files, and render pictures of it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from streetview import mesh, pictures, relief

TURNS = (("left", -0.6), ("front", 0.0), ("right", 0.6))
FRAMES = 16
MADE = ("sheet.png", "turntable.gif", "relief.glb", "relief.ply")


def run(
    out: Path, scene: Path, crop: Path, cutout: Path, status_callback: Callable[[float, str], None]
) -> dict:
    """Write relief.glb, relief.ply, sheet.png and turntable.gif; return their paths."""
    with np.load(scene) as saved:
        heights, colours = saved["heights"], saved["colours"]
    status_callback(0.1, "writing the mesh")
    shape = mesh.from_grid(relief.surface(heights), relief.normals(heights), colours)
    mesh.write_glb(out / "relief.glb", shape)
    mesh.write_ply(out / "relief.ply", shape)
    status_callback(0.3, "drawing the contact sheet")
    height_map = Image.fromarray(np.uint8(255 * heights)).convert("RGB")
    tiles = [("crop", Image.open(crop)), ("cut out", Image.open(cutout)), ("heights", height_map)]
    points, lit = relief.lit_points(heights, colours, finer=2)
    tiles += [(title, relief.view(points, lit, turn, size=320)) for title, turn in TURNS]
    pictures.sheet(tiles, columns=3).save(out / "sheet.png")
    points, lit = relief.lit_points(heights, colours, finer=1)
    frames = []
    for frame in range(FRAMES):
        status_callback(0.4 + 0.6 * frame / FRAMES, "turning")
        frames.append(relief.view(points, lit, 0.6 * np.sin(2 * np.pi * frame / FRAMES), size=200))
    frames[0].save(
        out / "turntable.gif", save_all=True, append_images=frames[1:], duration=75, loop=0
    )
    return {
        "primary_file": str(out / "relief.glb"),
        "made": [str(out / name) for name in MADE],
        "vertices": len(shape.points),
        "faces": len(shape.faces),
    }
