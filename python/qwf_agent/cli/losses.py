"""Asks before something is kept for a shorter time, which deletes what was kept so far."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import DictRow

from qwf_agent.cli import arguments
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

MOST = 100_000  # rows that qwf.losses() counts: a question must not take minutes
ASK = "select * from qwf.losses(%(setting)s, %(value)s::interval, %(queue)s)"


def ended(conn: Connection) -> str | None:
    """The jobs and runs that are older than the retention, in words; None if there are none."""
    (found,) = connection.many(conn, "select * from qwf.losses()")
    return _counted(found, "job", "run")


def confirm_setting(conn: Connection, name: str, value: str | None, yes: bool) -> None:
    """Ask before a setting deletes what it has kept so far. None is the default."""
    if name in ("retention", "minutes_keep", "events_keep"):
        _confirm(name, _lost(conn, name, value, None), yes)


def confirm_queue(conn: Connection, queue: str, retention: Any, yes: bool) -> None:
    """Ask before the retention of a queue deletes what it has kept so far; None: that of the
    settings."""
    _confirm(f"retention of queue {queue}", _lost(conn, None, retention, queue), yes)


def _lost(conn: Connection, setting: str | None, value: Any, queue: str | None) -> list[DictRow]:
    """The rows that would be deleted. Nothing of a time that no setting takes, for the change says
    why, and of a queue that is not there yet."""
    try:
        return connection.many(conn, ASK, {"setting": setting, "value": value, "queue": queue})
    except psycopg.Error as error:
        if error.sqlstate not in ("QW005", "QW006"):
            raise
        return []


def _confirm(what: str, found: list[DictRow], yes: bool) -> None:
    for row in found:
        lost = _counted(row, "job", "run", "minute", "event")
        if lost is not None:
            arguments.confirm(
                f"{what}: {draw.spell(row['before'])} becomes {draw.spell(row['kept'])}, which "
                f"deletes {lost} within minutes. Change it?", yes,
            )  # fmt: skip


def _counted(row: DictRow, *things: str) -> str | None:
    parts = [
        f"{MOST:,} {thing}s or more" if row[f"{thing}s"] >= MOST
        else draw.counted(row[f"{thing}s"], thing)
        for thing in things
        if row[f"{thing}s"]
    ]  # fmt: skip
    return " and ".join(parts) or None
