"""Depth from two pictures taken side by side: semi-global matching (Hirschmueller, 2008)."""

from collections.abc import Callable

import numpy as np
from PIL import Image
from scipy.ndimage import median_filter, uniform_filter

SMALL_STEP, LARGE_STEP = 0.02, 0.12


def disparity(
    left: np.ndarray, right: np.ndarray, reach: int, tell: Callable[[float], None]
) -> np.ndarray:
    """How many pixels (up to `reach`) each pixel shifts from left to right: large means near."""
    cost = np.full((reach + 1, *left.shape), 0.5, dtype=np.float32)
    for shift in range(reach + 1):
        difference = np.abs(left[:, shift:] - right[:, : left.shape[1] - shift])
        cost[shift, :, shift:] = uniform_filter(np.minimum(difference, 0.25), 5)
    total = np.zeros_like(cost)
    # Along rows, then along columns, forward and back; a sweep walks along the last axis.
    for done, axes in enumerate(((0, 1, 2), (0, 2, 1))):
        view, into = cost.transpose(axes), total.transpose(axes)
        into += _sweep(view) + _sweep(view[..., ::-1])[..., ::-1]
        tell((done + 1) / 2)
    return median_filter(total.argmin(axis=0), 7).astype(np.float32)


def _sweep(cost: np.ndarray) -> np.ndarray:
    """Cost of the cheapest path to each (shift, line, position); changing the shift costs extra."""
    path = np.empty_like(cost)
    path[..., 0] = before = cost[..., 0]
    for position in range(1, cost.shape[-1]):
        least = before.min(axis=0)
        way = np.minimum(before, least + LARGE_STEP)
        way[1:] = np.minimum(way[1:], before[:-1] + SMALL_STEP)
        way[:-1] = np.minimum(way[:-1], before[1:] + SMALL_STEP)
        path[..., position] = before = cost[..., position] + way - least
    return path


def picture(depth: np.ndarray) -> Image.Image:
    """Depth as a picture, with near things bright."""
    span = np.ptp(depth) or 1
    return Image.fromarray(np.uint8(255 * (depth - depth.min()) / span)).convert("RGB")
