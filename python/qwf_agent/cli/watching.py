"""Follows a run until it is over."""

from __future__ import annotations

import sys
import time
from typing import Any

import click
from rich.live import Live

from qwf_agent import show
from qwf_agent.cli import session

EVERY = 0.25  # seconds between looks
EXITS = {"completed": 0, "failed": 1, "cancelled": 2}
TIMED_OUT = 124


def watch(conn: session.Connection, run_id: int, as_json: bool = False) -> int:
    """Show progress until the run is over: a live tree, or lines where there is no terminal."""
    try:
        if as_json:
            status = _follow(conn, run_id, lambda status: None)
            session.show_json(status)
        elif sys.stdout.isatty():
            status = _live(conn, run_id)
        else:
            status = _lines(conn, run_id)
    except KeyboardInterrupt:
        session.fail(
            f"interrupted; run {run_id} goes on",
            f"qwf show {run_id}, or: qwf cancel run {run_id}",
            session.INTERRUPTED,
        )
    return EXITS[status["run"]["status"]]


def wait(conn: session.Connection, run_id: int, limit: float | None) -> int:
    """Wait in silence, at most `limit` seconds; the exit code says how it ended."""
    try:
        status = _follow(conn, run_id, lambda status: None, limit)
    except TimeoutError:
        session.fail(f"run {run_id} is not over yet", f"qwf show {run_id}", TIMED_OUT)
    return EXITS[status["run"]["status"]]


def _follow(
    conn: session.Connection, run_id: int, tell: Any, limit: float | None = None
) -> dict[str, Any]:
    deadline = None if limit is None else time.monotonic() + limit
    while True:
        status: dict[str, Any] = session.call(conn, "run_status", run_id=run_id)
        tell(status)
        if status["run"]["status"] in EXITS:
            return status
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(EVERY)


def _live(conn: session.Connection, run_id: int) -> dict[str, Any]:
    console = session.console()
    with Live(console=console, auto_refresh=False, transient=True) as live:
        status = _follow(
            conn,
            run_id,
            lambda status: live.update(show.run(status, console.height - 1), refresh=True),
        )
    console.print(show.run(status))
    return status


def _lines(conn: session.Connection, run_id: int) -> dict[str, Any]:
    before: dict[str, Any] | None = None

    def tell(status: dict[str, Any]) -> None:
        nonlocal before
        for line in show.changes(before, status):
            click.echo(line)
        before = status

    return _follow(conn, run_id, tell)
