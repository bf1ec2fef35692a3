"""A relief of a picture: the outline of the object, its heights, and views of it."""

import numpy as np
from PIL import Image
from scipy.ndimage import binary_fill_holes, distance_transform_edt, gaussian_filter, label, zoom
from skimage.color import rgb2lab
from skimage.segmentation import slic

PAPER = (22, 24, 29)
LIGHT = np.array([-0.45, 0.55, 0.7]) / np.linalg.norm([-0.45, 0.55, 0.7])


def object_mask(picture: Image.Image, rounds: int = 4) -> np.ndarray:
    """Which pixels belong to the object in the middle, and not to the background around it.

    The idea of GrabCut, on superpixels: colour models of object and background start from the
    middle and from the rest, and are refitted `rounds` times to the superpixels assigned to them.
    """
    lab = rgb2lab(np.asarray(picture))
    patches = slic(np.asarray(picture), n_segments=600, compactness=12, start_label=0)
    count = np.bincount(patches.ravel())
    colour = np.stack(
        [np.bincount(patches.ravel(), lab[..., c].ravel()) / count for c in range(3)], axis=1
    )
    y, x = np.mgrid[-1 : 1 : lab.shape[0] * 1j, -1 : 1 : lab.shape[1] * 1j]
    radius = np.bincount(patches.ravel(), np.hypot(x, y).ravel()) / count
    inside = radius < 0.6
    for _ in range(rounds):
        if inside.all() or not inside.any():
            break
        odds = _density(colour, colour[inside]) - _density(colour, colour[~inside])
        inside = odds + 2 * (0.8 - radius) > 0
    labels, found = label(binary_fill_holes(inside[patches]))
    if not found:
        return np.hypot(x, y) < 0.9
    return labels == 1 + np.bincount(labels.ravel())[1:].argmax()


def dome(mask: np.ndarray, brightness: np.ndarray) -> np.ndarray:
    """Heights of a bas-relief, 0 to 1: the mask as a dome, with the picture's detail on top."""
    depth = gaussian_filter(distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1], 1.5)
    cushion = np.sqrt(depth / max(depth.max(), 1e-6))
    detail = gaussian_filter(brightness, 1) - gaussian_filter(brightness, 8)
    heights = cushion + 0.6 * detail * np.where(mask, 1, 0.4)
    return _normal(gaussian_filter(heights, 0.7))


def from_depth(depth: np.ndarray) -> np.ndarray:
    """Heights, 0 to 1, from a depth map: near things are high. Outliers are clipped."""
    low, high = np.percentile(depth, (2, 98))
    return _normal(gaussian_filter(np.clip(depth, low, high), 1))


def lit_points(
    heights: np.ndarray, colours: np.ndarray, finer: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points, `finer` times as dense as the grid so that no gaps show, and their lit colours."""
    fine = zoom(heights, finer, order=1)
    shade = 0.45 + 0.65 * np.clip(normals(fine) @ LIGHT, 0, 1)
    lit = zoom(colours, (finer, finer, 1), order=1) * shade[..., None]
    return surface(fine).reshape(-1, 3).astype(np.float32), np.uint8(np.clip(lit, 0, 255)).reshape(
        -1, 3
    )


def view(points: np.ndarray, lit: np.ndarray, turn: float, size: int) -> Image.Image:
    """The points as dots of 2 x 2 pixels, seen from above and from `turn` radians to the side."""
    side = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    tilt = np.array([[1, 0, 0], [0, np.cos(0.35), -np.sin(0.35)], [0, np.sin(0.35), np.cos(0.35)]])
    placed = (points - np.float32([0, 0, 0.15])) @ np.float32(tilt @ side).T
    flat = placed[:, :2] * [1.0, -1.0] * 3.2 / (3.0 - placed[:, 2:])
    nearest_last = np.argsort(placed[:, 2])
    corner = (size * (0.5 + 0.85 * flat[nearest_last])).astype(int)
    column, row = (corner[:, None] + [[0, 0], [0, 1], [1, 0], [1, 1]]).reshape(-1, 2).T
    inside = (np.minimum(row, column) >= 0) & (np.maximum(row, column) < size)
    canvas = np.full((size, size, 3), PAPER, dtype=np.uint8)
    canvas[row[inside], column[inside]] = np.repeat(lit[nearest_last], 4, axis=0)[inside]
    return Image.fromarray(canvas)


def surface(heights: np.ndarray, relief: float = 0.22) -> np.ndarray:
    """Points (rows, columns, xyz): the longer side is 1, x right, y up, z towards the viewer."""
    rows, columns = heights.shape
    longer = max(rows, columns) - 1
    y, x = np.mgrid[0:rows, 0:columns]
    return np.stack(
        [(x - (columns - 1) / 2) / longer, ((rows - 1) / 2 - y) / longer, relief * heights], axis=-1
    )


def normals(heights: np.ndarray, relief: float = 0.22) -> np.ndarray:
    """Unit normals of the surface."""
    down, right = np.gradient(heights * relief * (max(heights.shape) - 1))
    direction = np.stack([-right, down, np.ones_like(heights)], axis=-1)
    return direction / np.linalg.norm(direction, axis=-1, keepdims=True)


def _density(colour: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Log of a kernel density estimate of the sample at each colour."""
    distance = ((colour[:, None] - sample[None]) ** 2).sum(axis=-1)
    return np.log(np.exp(-distance / 200).mean(axis=1) + 1e-6)


def _normal(heights: np.ndarray) -> np.ndarray:
    span = np.ptp(heights)
    return ((heights - heights.min()) / span if span else np.zeros_like(heights)).astype(np.float32)
