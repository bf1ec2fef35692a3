"""The lists of `qwf top`: their columns, and the cells of a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rich.text import Text
from textual.widgets import DataTable

from qwf_agent.look import draw

Cells = list[Text]
Row = dict[str, Any]
PADDING = 2  # of a cell, both sides
STOPS = {"hard": "off", "drain": "drain", "pause": "paused"}


@dataclass(frozen=True)
class TopList:
    """One list: key column, columns, cells of a row, text if it is empty, actions."""

    key: str
    columns: tuple[str, ...]
    cells: Callable[[Row], Cells]
    empty: str
    actions: frozenset[str]

    def name_of(self, row: Row) -> str:
        """The key that identifies a row."""
        return str(row[self.key])

    def fitted(self, rows: list[Row], room: int) -> tuple[list[int], list[Cells]]:
        """Widths of the columns that fit (the last takes the rest of the room), and the cells."""
        written = [self.cells(row) for row in rows]
        widths = draw.fit(self.columns, written, room, gap=0)
        widths[-1] = max(widths[-1], room - sum(widths[:-1]))
        return widths, [
            [_cut(*cell) for cell in zip(self.columns, line, widths, strict=False)]
            for line in written
        ]


def _running(row: Row) -> Cells:
    progress = Text()
    if row["progress"] is not None:
        progress = draw.bar(row["progress"]).append(f" {row['progress_message'] or ''}")
    return [*_what(row), Text(row["host"] or ""), draw.cell("took", row["seconds"]), progress]


def _failed(row: Row) -> Cells:
    ended, line = Text(draw.moment(row["finished_at"])), draw.gist(row["error"] or "")
    return [
        *_what(row),
        ended,
        draw.cell("tries", draw.tries(row["attempt"], row["released"])),
        Text(line, "red"),
    ]


def _question(row: Row) -> Cells:
    node = row["node_id"] or f"job {row['job_id']}"
    return [
        draw.cell("run", row["run_id"]),
        Text(node),
        Text(row["widget"] or ""),
        draw.cell("age", row["age"]),
        Text(draw.brief(row["prompt"] or ""), "magenta"),
    ]


def _workers(row: Row) -> Cells:
    state = STOPS.get(row["stop_policy"], "off") if row["state"] == "off" else row["state"]
    until = f" until {draw.moment(row['until'])}" if row["until"] else ""
    return [
        Text(row["host"]),
        Text(row["queue"]),
        draw.cell("state", state),
        draw.cell("slots", row["slots"]),
        draw.cell("running", row["running"]),
        Text(row["current_model"] or ""),
        draw.cell("seen", row["last_seen"]),
        Text((row["reason"] or "") + until),
    ]


def _what(row: Row) -> Cells:
    return [
        draw.cell("id", row["id"]),
        draw.cell("run", row["run_id"]),
        Text(row["node_id"] or row["task"]),
    ]


def _cut(column: str, text: Text, width: int) -> Text:
    text.truncate(width, overflow="ellipsis")
    text.justify = "right" if column in draw.NUMBERS else "left"
    return text


LISTS = {
    "running": TopList(
        "id",
        ("id", "run", "what", "host", "took", "progress"),
        _running,
        "nothing is running",
        frozenset({"details", "cancel"}),
    ),
    "failed": TopList(
        "id",
        ("id", "run", "what", "ended", "tries", "error"),
        _failed,
        "nothing failed recently",
        frozenset({"details", "retry"}),
    ),
    "questions": TopList(
        "job_id",
        ("run", "node", "widget", "age", "prompt"),
        _question,
        "no open questions",
        frozenset({"details", "answer"}),
    ),
    "workers": TopList(
        "worker",
        ("host", "queue", "state", "slots", "running", "model", "seen", "why"),
        _workers,
        "no workers: qwf agent --queue cpu --nodes PACKAGE",
        frozenset({"switch"}),
    ),
}


class ListTable(DataTable[Text]):
    """A list on the screen. The selected row stays selected, wherever it moves."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name, cursor_type="row", zebra_stripes=True)
        self._kind = LISTS[name]
        self._shown: list[Row] = []

    def fill(self, rows: list[Row], room: int) -> None:
        """Show these rows in the width of the screen."""
        one, selected, index = self._kind, self._selected(), self.cursor_row
        self._shown = rows
        self.clear(columns=True)
        if not rows:
            self.add_column(Text(one.empty, "bright_black"))
            return
        widths, cells = one.fitted(rows, room - PADDING * len(one.columns) - 1)
        for column, width in zip(one.columns, widths, strict=False):
            side: Literal["left", "right"] = "right" if column in draw.NUMBERS else "left"
            self.add_column(Text(column, "bright_black", justify=side), width=width)
        keys = [one.name_of(row) for row in rows]
        for key, line in zip(keys, cells, strict=True):
            self.add_row(*line, key=key)
        self.move_cursor(
            row=keys.index(selected) if selected in keys else min(index, len(keys) - 1)
        )

    def row(self) -> Row | None:
        """The selected row."""
        selected = self._selected()
        return next((row for row in self._shown if self._kind.name_of(row) == selected), None)

    def _selected(self) -> str | None:
        if not self.is_valid_row_index(self.cursor_row):
            return None
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value
