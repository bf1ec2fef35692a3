"""The photographs of the demo: those that scikit-image ships, or those in a given folder."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

SHIPPED = ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png")
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}


class NoPhotos(Exception):
    """There are no photographs. The message says what to do."""


@dataclass(frozen=True)
class Photo:
    """A photograph, and its right-hand partner if it is the left one of a stereo pair."""

    path: Path
    right: Path | None

    @property
    def name(self) -> str:
        """Its name in the display."""
        return self.path.stem.removesuffix("_left") if self.right else self.path.stem


def shipped() -> list[Photo]:
    """Those in scikit-image's package, which is located but not imported."""
    package = importlib.util.find_spec("skimage")
    if package is None or package.origin is None:
        raise NoPhotos("the demo needs photographs and libraries: pip install 'qwf-agent[demo]'")
    folder = Path(package.origin).parent / "data"
    return _pair([folder / name for name in SHIPPED])


def own(folder: Path) -> list[Photo]:
    """Those in a folder, by name; x_left and x_right are one stereo pair."""
    found = _pair(sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES))
    if not found:
        raise NoPhotos(f"no photographs in {folder}: give a folder with .jpg or .png files")
    return found


def _pair(paths: list[Path]) -> list[Photo]:
    photos = []
    for path in filter(Path.is_file, paths):
        partner = path.with_name(f"{path.stem.removesuffix('_left')}_right{path.suffix}")
        is_left = path.stem.endswith("_left") and partner.is_file()
        photos.append(Photo(path, partner if is_left else None))
    partners = {photo.right for photo in photos}
    return [photo for photo in photos if photo.path not in partners]
