"""Pictures of the example: reads them, draws boxes, and lays them out on a contact sheet."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

COLOURS = ("#ffb000", "#00c2d1", "#ff5a8a", "#7ed957", "#b28dff", "#ff8c42")
PAPER = "#16181d"


def read(path: Path, max_side: int | None = None) -> Image.Image:
    """The picture, upright and in RGB, with no side longer than max_side pixels."""
    with Image.open(path) as picture:
        upright = ImageOps.exif_transpose(picture).convert("RGB")
    if max_side and max(upright.size) > max_side:
        upright.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return upright


def grey(picture: Image.Image) -> np.ndarray:
    """Brightness, 0 to 1."""
    return np.asarray(picture.convert("L"), dtype=np.float32) / 255


def crop(picture: Image.Image, box: list[int], margin: float = 0.0) -> Image.Image:
    """The part in the box (x, y, width, height), plus a margin as a share of its longer side."""
    x, y, width, height = box
    pad = round(margin * max(width, height))
    left, top = max(0, x - pad), max(0, y - pad)
    right, bottom = min(picture.width, x + width + pad), min(picture.height, y + height + pad)
    return picture.crop((left, top, right, bottom))


def draw_boxes(picture: Image.Image, candidates: list[dict]) -> Image.Image:
    """A copy with a frame and a label for each candidate."""
    drawn = picture.copy()
    pen = ImageDraw.Draw(drawn)
    font = ImageFont.load_default(size=14)
    for colour, candidate in zip(_cycle(candidates), candidates, strict=True):
        x, y, width, height = candidate["box"]
        pen.rectangle((x, y, x + width - 1, y + height - 1), outline=colour, width=3)
        name = f" {candidate['id']} {candidate['label']} {candidate['score']:.2f} "
        tag = pen.textbbox((x, max(0, y - 18)), name, font=font)
        pen.rectangle((tag[0], tag[1] - 2, tag[2], tag[3] + 2), fill=colour)
        pen.text((x, max(0, y - 18)), name, fill="black", font=font)
    return drawn


def sheet(tiles: list[tuple[str, Image.Image]], columns: int, side: int = 240) -> Image.Image:
    """A contact sheet: each picture fits a square of `side` pixels, with its title below."""
    gap, line = 12, 22
    columns = min(columns, len(tiles))
    rows = -(-len(tiles) // columns)
    paper = Image.new(
        "RGB", (gap + columns * (side + gap), gap + rows * (side + line + gap)), PAPER
    )
    pen = ImageDraw.Draw(paper)
    font = ImageFont.load_default(size=14)
    for index, (title, picture) in enumerate(tiles):
        left = gap + (index % columns) * (side + gap)
        top = gap + (index // columns) * (side + line + gap)
        tile = ImageOps.contain(picture, (side, side), Image.Resampling.LANCZOS)
        paper.paste(tile, (left + (side - tile.width) // 2, top + (side - tile.height) // 2))
        pen.text((left + 2, top + side + 3), title, fill="#e6e6e6", font=font)
    return paper


def _cycle(candidates: list[dict]) -> list[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(len(candidates))]
