"""The elements of a map as one letter each, which a browser draws as cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LETTERS = {
    "blocked": "b",
    "scheduled": "s",
    "queued": "q",
    "running": "r",
    "awaiting_input": "a",
    "completed": "c",
    "failed": "f",
    "cancelled": "x",
    "skipped": "k",
}
UNKNOWN = "."  # the letter of an element that has no row


def cells(elements: Iterable[tuple[int, str]], count: int) -> str:
    """One letter for each of the `count` elements of a map, from pairs (element, state)."""
    letters = [UNKNOWN] * count
    for element, state in elements:
        if 0 <= element < count:
            letters[element] = LETTERS.get(state, UNKNOWN)
    return "".join(letters)


def cells_document(elements: Iterable[tuple[int, str]], count: int) -> dict[str, Any]:
    """The cells and what their letters mean, as static/cells.js reads them."""
    states = {letter: state for state, letter in LETTERS.items()}
    return {"cells": cells(elements, count), "states": states}
