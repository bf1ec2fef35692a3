"""The outcomes of the runs of a fleet, read from a server that restarts."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from psycopg.rows import dict_row

RECOVERY_S = 120.0


def ask(dsn: str, query: str) -> list[dict[str, Any]]:
    """Rows of a query, over a new connection, retried while the server restarts."""

    def attempt() -> list[dict[str, Any]] | None:
        try:
            with psycopg.connect(dsn, row_factory=dict_row, connect_timeout=5) as conn:
                return conn.execute(query).fetchall()  # type: ignore[arg-type]
        except psycopg.OperationalError:
            return None

    rows: list[dict[str, Any]] | None = None
    deadline = time.monotonic() + RECOVERY_S
    while (rows := attempt()) is None:
        assert time.monotonic() < deadline, "the server is not there"
    return rows


def completed_runs(dsn: str) -> int:
    return int(ask(dsn, "select count(*) n from qwf.runs where status = 'completed'")[0]["n"])


def invariants(dsn: str) -> list[dict[str, Any]]:
    return ask(dsn, "select * from qwf.check_invariants()")


def outcomes_per_node(dsn: str) -> dict[int, int]:
    """By number of completed attempts: how many jobs have that many."""
    rows = ask(
        dsn,
        "select c.outcomes, count(*)::int as jobs"
        " from (select j.id, count(a.*)::int as outcomes"
        "   from qwf.jobs j"
        "   left join qwf.job_attempts a on a.job_id = j.id and a.outcome = 'completed'"
        "   group by j.id) c"
        " group by 1",
    )
    return {row["outcomes"]: row["jobs"] for row in rows}
