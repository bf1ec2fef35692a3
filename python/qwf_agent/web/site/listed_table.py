"""A CSV file that a job has listed, as a table: its first rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qwf_agent.look.draw.visible import visible
from qwf_agent.web.site import send_file
from qwf_agent.web.site.files import FileRefused, Root, elsewhere, place, suffix_of

MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 200, 50, 200
SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Table:
    """The names of the columns, the first rows, and whether there is more."""

    names: list[str]
    rows: list[list[str]]
    more_rows: bool
    more_columns: bool


def is_table(row: Mapping[str, Any]) -> bool:
    """Return True if a listed file can be shown as a table."""
    return suffix_of(row["rel_path"]) == ".csv"


async def read(roots: Sequence[Root], row: Mapping[str, Any]) -> Table:
    """The table in a listed file. Raises FileRefused."""
    if not is_table(row):
        raise FileRefused(404, "Only CSV files are shown as tables.")
    start = await send_file.start_of(roots, row)
    if b"\0" in start:
        raise elsewhere(place(row), "The file is not a text")
    return parse(start.decode("utf-8-sig", errors="replace"), len(start) < row["size_bytes"])


def parse(text: str, is_cut: bool) -> Table:
    """The table in the start of a file; `is_cut`: the file goes on, so its last row may not be
    whole."""
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    found: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for cells in reader:
            if cells:
                found.append(cells)
            if len(found) > MOST_ROWS + 1:
                break
    except csv.Error:  # a cell of more than 128 KiB
        is_cut = True
    more = len(found) > MOST_ROWS + 1
    if is_cut and not more and len(found) > 1:
        found.pop()
    names, rows = (found[0], found[1 : MOST_ROWS + 1]) if found else ([], [])
    width = max(map(len, found), default=0)
    return Table(_cells(names), list(map(_cells, rows)), more or is_cut, width > MOST_COLUMNS)


def _cells(cells: Sequence[str]) -> list[str]:
    return [visible(cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…")
            for cell in cells[:MOST_COLUMNS]]  # fmt: skip
