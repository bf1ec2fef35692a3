"""Draws lists and facts: rows of a query as a table, one row as names and values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from qwf_agent.look import masking
from qwf_agent.look.draw import words
from qwf_agent.look.draw.words import Row

NUMBERS = {
    *("id", "run", "job", "tries", "took", "version", "priority", "age", "seen", "slots", "due"),
    *("queued", "scheduled", "running", "workers", "first_waits", "held", "free", "max", "fired"),
    *("tokens", "tokens/s"),
}
TIMES = {"took", "age", "first_waits", "seen", "due"}
FIXED = NUMBERS | TIMES | {"status", "state", "created", "next", "version", "size"}
OPTIONAL = {"worker"}  # if it is the last column, it is dropped before others are narrowed
MIN_WIDTH = 12
GAP = 2
MAX_INLINE = 60
LONGEST_FACT = 20_000  # characters


def rows(columns: Sequence[str], content: Iterable[Row], empty: str) -> RenderableType:
    """A list with one line for each row, without empty columns; `empty` if there are no rows."""
    cells = [[cell(column, row.get(column)) for column in columns] for row in content]
    if not cells:
        return Text(empty)
    filled = [any(row[n].plain for row in cells) for n in range(len(columns))]
    return Rows(
        [column for column, keep in zip(columns, filled, strict=True) if keep],
        [[text for text, keep in zip(row, filled, strict=True) if keep] for row in cells],
    )


@dataclass(frozen=True)
class Rows:
    """A table that fits: text columns are narrowed first, widest first, then the last dropped."""

    columns: Sequence[str]
    cells: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = fit(self.columns, self.cells, options.max_width)
        head = [Text(column.replace("_", " "), "bright_black") for column in self.columns]
        for row in (head, *self.cells):
            line = Text(no_wrap=True, overflow="ellipsis", end="\n")
            for column, text, width in zip(self.columns, row, widths, strict=False):
                fitted = text.copy()
                fitted.truncate(width, overflow="ellipsis")
                fitted.align("right" if column in NUMBERS else "left", width)
                line.append_text(fitted).append(" " * GAP)
            line.rstrip()
            yield line


def fit(
    columns: Sequence[str], cells: Sequence[Sequence[Text]], room: int, gap: int = GAP
) -> list[int]:
    """Widths of the columns that fit into `room`, after narrowing the widest texts."""
    wanted = [
        min(room, max(len(column), *(row[n].cell_len for row in cells)))
        for n, column in enumerate(columns)
    ]
    while (over := sum(wanted) + gap * (len(wanted) - 1) - room) > 0:
        if columns[len(wanted) - 1] in OPTIONAL:
            wanted.pop()
            continue
        flexible = [
            n
            for n, column in enumerate(columns[: len(wanted)])
            if column not in FIXED and wanted[n] > MIN_WIDTH
        ]
        if flexible:
            widest = max(flexible, key=wanted.__getitem__)
            wanted[widest] = max(MIN_WIDTH, wanted[widest] - max(1, over // len(flexible)))
        elif len(wanted) > 1:
            wanted.pop()
        else:
            break
    return wanted


def facts(row: Row, names: Sequence[str]) -> RenderableType:
    """Name and value, one on each line, without null, empty and zero values.

    Of a long value only the start is drawn.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bright_black", no_wrap=True)
    table.add_column(overflow="fold")
    for name in names:
        value = row.get(name)
        if isinstance(value, dict | list) and len(words.brief(value)) > MAX_INLINE:
            pretty = json.dumps(masking.masked(value), indent=2, ensure_ascii=False, default=str)
            table.add_row(name.replace("_", " "), Text(words.cut(pretty, LONGEST_FACT)))
        elif value or value is False:
            table.add_row(name.replace("_", " "), cell(name, value))
    return table


def cell(name: str, value: Any) -> Text:
    """A value as a list shows it, by the name of its column."""
    if value is None or value == []:
        return Text("")
    if isinstance(value, Text):
        return value
    if name == "status":
        return words.state(value)
    if name == "state":
        return Text(value, words.FLEET_LOOKS.get(value, ""))
    if name in TIMES:
        return Text(words.duration(words.seconds(value)))
    if name == "size":
        return Text(words.size(value))
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, datetime):
        return Text(words.moment(value))
    return Text(words.brief(value))
