"""The lists of `qwf top`: their columns, and the cells of a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from qwf_agent.look import draw

Cells = list[Text]
Row = dict[str, Any]
STOPS = {"hard": "off", "drain": "drain", "pause": "paused"}


@dataclass(frozen=True)
class List:
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
    "running": List(
        "id",
        ("id", "run", "what", "host", "took", "progress"),
        _running,
        "nothing is running",
        frozenset({"details", "cancel"}),
    ),
    "failed": List(
        "id",
        ("id", "run", "what", "ended", "tries", "error"),
        _failed,
        "nothing failed recently",
        frozenset({"details", "retry"}),
    ),
    "questions": List(
        "job_id",
        ("run", "node", "widget", "age", "prompt"),
        _question,
        "no open questions",
        frozenset({"details", "answer"}),
    ),
    "workers": List(
        "worker",
        ("host", "queue", "state", "slots", "running", "model", "seen", "why"),
        _workers,
        "no workers: qwf agent --queue cpu --nodes PACKAGE",
        frozenset({"switch"}),
    ),
}
