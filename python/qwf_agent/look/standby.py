"""A standby: how old what it shows may be, and what it cannot do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import click
import psycopg
from psycopg.rows import DictRow

from qwf_agent.look import draw

Connection = psycopg.Connection[DictRow]

OLD_S = 5.0  # what is shown may be this old without a word
WAIT_S = 0.3  # for what a standby is about to replay
POLL_S = 0.05
ABSENT = "not on a standby"
NO_WRITES = "this server is a standby, which takes no writes"
USE_THE_PRIMARY = (
    "use the address of the primary, or one that names all servers and has"
    " target_session_attrs=read-write"
)
# Of statements that a standby refuses: a read-only transaction, an unlogged table, a lock.
REFUSED = ("25006", "0A000", "55000")
STATE: Any = """
select pg_is_in_recovery() as standby, pg_last_wal_receive_lsn()::text as received,
  coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), true) as has_all,
  exists (select from pg_stat_wal_receiver) as receives,
  date_part('epoch', clock_timestamp() - pg_last_xact_replay_timestamp()) as age
"""
REPLAYED: Any = "select pg_last_wal_replay_lsn() >= %s::pg_lsn as done"


@dataclass(frozen=True)
class Standby:
    """How far a standby is.

    current: it has replayed all that it received, and is connected to its primary. That alone
    says so: on an idle primary the newest change is old. age_s: seconds since the newest change
    that it has, None if it has replayed none since its start.
    """

    current: bool
    receives: bool
    age_s: float | None

    @property
    def behind_s(self) -> float:
        """By how much what is shown may be too old; infinite if nobody knows."""
        if self.current:
            return 0.0
        return float("inf") if self.age_s is None else max(0.0, self.age_s)

    @property
    def warning(self) -> str | None:
        """A warning about the data that is shown, if it may be too old."""
        if self.behind_s <= OLD_S:
            return None
        age = "before its start" if self.age_s is None else f"{draw.duration(self.age_s)} ago"
        why = "has more to replay" if self.receives else "is not connected to its primary"
        return f"this is a standby that {why}: its newest change is from {age}"


def find(conn: Connection) -> Standby | None:
    """How far the standby is that `conn` leads to; None for a primary."""
    (row,) = conn.execute(STATE).fetchall()
    if not row["standby"]:
        return None
    has_all = row["has_all"]
    if not has_all and (row["age"] is None or row["age"] > OLD_S):
        has_all = _replays(conn, row["received"])
    return Standby(has_all and row["receives"], row["receives"], row["age"])


def is_one(conn: Connection) -> bool:
    """Return True if `conn` leads to a standby."""
    (row,) = conn.execute("select pg_is_in_recovery() as standby").fetchall()
    return bool(row["standby"])


def warn(conn: Connection) -> None:
    """Say on standard error if what the server shows may be too old."""
    found = find(conn)
    if found is not None and found.warning is not None:
        click.echo(f"note: {found.warning}", err=True)


def refused(conn: Connection, error: psycopg.Error) -> bool:
    """Return True if a standby refused a statement because it would write."""
    return error.sqlstate in REFUSED and not conn.closed and is_one(conn)


def _replays(conn: Connection, received: str) -> bool:
    """Return True if the standby soon has what it had received. On an idle primary the newest
    change is old also while the first change after it is being replayed."""
    deadline = time.monotonic() + WAIT_S
    while True:
        (row,) = conn.execute(REPLAYED, [received]).fetchall()
        if row["done"] or time.monotonic() >= deadline:
            return bool(row["done"])
        time.sleep(POLL_S)
