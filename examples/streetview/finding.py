"""Finds interesting parts of a picture: faces, near things, and regions of unusual colour."""

from functools import cache

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, label, uniform_filter
from skimage.color import rgb2lab
from skimage.data import lbp_frontal_face_cascade_filename
from skimage.feature import Cascade
from skimage.filters import threshold_otsu
from skimage.measure import regionprops

PASSES = (1.1, 1.15, 1.2, 1.25, 1.3)


@cache
def face_cascade() -> Cascade:
    """The trained face detector. It is loaded once, and stays in memory in the warm child."""
    return Cascade(lbp_frontal_face_cascade_filename())


def faces(picture: Image.Image) -> list[dict]:
    """Faces, scored by the share of passes (each with its own step in scale) that find them."""
    pixels = np.asarray(picture)
    largest = min(picture.size)
    found: list[dict] = []
    for scale in PASSES:
        boxes = face_cascade().detect_multi_scale(
            pixels, scale_factor=scale, step_ratio=1, min_size=(40, 40), max_size=(largest, largest)
        )
        seen: set[int] = set()
        for hit in boxes:
            box = [int(hit["c"]), int(hit["r"]), int(hit["width"]), int(hit["height"])]
            index = next(
                (i for i, f in enumerate(found) if overlap(f["box"], box) > 0.4), len(found)
            )
            if index == len(found):
                found.append({"label": "face", "score": 0.0, "box": box})
            if index not in seen:
                found[index]["score"] += 1 / len(PASSES)
                seen.add(index)
    return [{**face, "score": round(face["score"], 2)} for face in found]


def standouts(picture: Image.Image) -> list[dict]:
    """Regions whose colour stands out from the rest of the picture, scored by how much (0 to 1).

    Frequency-tuned salience (Achanta et al., CVPR 2009): the distance of the smoothed colour from
    the mean colour in Lab. It is cut at two levels, to propose both a bright part and the whole
    thing.
    """
    lab = rgb2lab(np.asarray(picture))
    smooth = np.stack([gaussian_filter(lab[..., channel], 4) for channel in range(3)], axis=-1)
    salience = np.linalg.norm(smooth - lab.mean(axis=(0, 1)), axis=-1)
    salience = uniform_filter(salience, 9) * _centred(salience.shape)
    if salience.max() < 1:  # one flat colour: nothing stands out
        return []
    salience /= salience.max()
    level = threshold_otsu(salience)
    found = []
    for cut in (level, (level + 1) / 2):
        labels, _ = label(salience > cut)
        for region in regionprops(labels):
            top, left, bottom, right = region.bbox
            share = (bottom - top) * (right - left) / salience.size
            if 0.01 < share < 0.9:
                box = [int(left), int(top), int(right - left), int(bottom - top)]
                score = salience[labels == region.label].mean() * min(1, share / 0.05) ** 0.5
                found.append({"label": "region", "score": round(float(score), 2), "box": box})
    return found


def nearest(depth: np.ndarray) -> list[dict]:
    """The largest thing in front of its surroundings (large depth means near)."""
    before = depth - np.percentile(
        depth, 25, axis=1, keepdims=True
    )  # row by row, so that the ground counts as background
    labels, count = label(before > threshold_otsu(before))
    if not count:
        return []
    largest = max(regionprops(labels), key=lambda region: region.area)
    top, left, bottom, right = largest.bbox
    score = round(float(largest.extent), 2)
    return [
        {
            "label": "near",
            "score": score,
            "box": [int(left), int(top), int(right - left), int(bottom - top)],
        }
    ]


def best(candidates: list[dict], most: int = 6) -> list[dict]:
    """The best candidates without near duplicates; faces and near things come before regions."""
    kept: list[dict] = []
    for candidate in sorted(candidates, key=lambda c: (c["label"] == "region", -c["score"])):
        if all(overlap(candidate["box"], other["box"]) < 0.5 for other in kept):
            kept.append(candidate)
    return kept[:most]


def overlap(a: list[int], b: list[int]) -> float:
    """Intersection over union of two boxes (x, y, width, height)."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    common = max(0, width) * max(0, height)
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def _centred(shape: tuple[int, ...]) -> np.ndarray:
    """Weights that slightly prefer the middle, where photographers usually put the subject."""
    y, x = np.mgrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
    return np.exp(-0.5 * (x**2 + y**2))
