"""Traces of jobs besides their outputs: the numbers they tracked, a row each with a line of
blocks, and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from qwf_agent.cli import output
from qwf_agent.look import connection
from qwf_agent.look import draw as drawing
from qwf_agent.look.connection import Connection

BLOCKS, WIDTH = "▁▂▃▄▅▆▇█", 24
COLUMNS = ["name", "drawn", "last", "lowest", "highest", "step", "points"]
OF_JOB = "select * from qwf.series_overview where job_id = %s order by name, attempt"
OF_RUN = """
select * from qwf.series_overview where run_id = %s order by node_idx, job_id, attempt, name
limit 200
"""


def read(conn: Connection, job: int) -> dict[str, list[dict[str, Any]]]:
    """The numbers that a job has tracked, and its files."""
    files = "select * from qwf.file_overview where job_id = %s order by file_no"
    return {
        "tracked": connection.many(conn, OF_JOB, (job,)),
        "files": connection.many(conn, files, (job,)),
    }


def show(left: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    """Print what `read` has found."""
    tracked, files = left["tracked"], left["files"]
    several = any(row["attempt"] != tracked[0]["attempt"] for row in tracked)
    _show_tracked(tracked, ["attempt"] if several else [])
    if files:
        output.show(Text("\nfiles", "bright_black"))
        columns = ["file", "kind", "size", "host"]
        if not all(row["completed"] for row in files):
            columns.append("attempt")
        names = {"file": "rel_path", "size": "size_bytes", "attempt": "of_attempt"}
        rows = [{**row, **{name: row[of] for name, of in names.items()}} for row in files]
        output.show(drawing.rows(columns, rows, ""))


def show_tracked(conn: Connection, run: int) -> None:
    """Print what the jobs of a run have tracked, at most 200 rows."""
    rows = connection.readable(conn, OF_RUN, (run,))
    _show_tracked(
        [{**row, "node": row["node_id"], "job": row["job_id"]} for row in rows], ["node", "job"]
    )
    if len(rows) == 200:
        output.show(Text("only the first 200: qwf job JOB shows those of a job", "bright_black"))


def _show_tracked(rows: Sequence[dict[str, Any]], first: list[str]) -> None:
    if not rows:
        return
    output.show(Text("\ntracked", "bright_black"))
    shown = [_row(drawing.visible_values(row)) for row in rows]
    output.show(drawing.rows([*first, *COLUMNS], shown, ""))
    if rows[-1]["left_out"]:
        text = f"{rows[-1]['left_out']} more names are not kept: at most 20 are"
        output.show(Text(text, "bright_black"))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    values = [value for _, value in row["points"] if value is not None]
    kept, of = len(row["points"]), row["reported"]
    return {
        **row,
        "drawn": _line(values),
        "last": _spelled(row["last_value"]),
        "lowest": _spelled(min(values, default=None)),
        "highest": _spelled(max(values, default=None)),
        "step": _spelled(row["last_step"]),
        "points": f"{kept} of {of}" if of > kept else kept,
    }


def _line(values: Sequence[float]) -> str:
    """The values as blocks, at most WIDTH of them."""
    if not values:
        return ""
    low, high = min(values), max(values)
    count = min(WIDTH, len(values))
    picked = [values[(place + 1) * len(values) // count - 1] for place in range(count)]
    steps = (high - low) or 1.0
    return "".join(BLOCKS[round((value - low) / steps * (len(BLOCKS) - 1))] for value in picked)


def _spelled(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
