"""Which of several databases a key belongs to."""

from __future__ import annotations

import zlib

MOST_CELLS = 1024


def cell_for(key: str, cells: int) -> int:
    """The cell, from 0, that jobs and runs with this key go to, as qwf.cell_for says it: the CRC-32
    of the key in UTF-8, modulo the number of cells. Raises ValueError.
    """
    if not 1 <= cells <= MOST_CELLS:
        raise ValueError(f"cells: {cells}; there are 1 to {MOST_CELLS} cells")
    return zlib.crc32(key.encode()) % cells
