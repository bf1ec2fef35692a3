"""Counts in the database the work that other processes do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from bench.server import BenchError, Database

PATIENCE_S = 120.0  # without any progress
COUNTED = """
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, xact_commit
    from pg_stat_database where datname = current_database()
"""
LEFT = "select count(*) from qwf.jobs where finished_at is null"
ENDED = "select count(*) from qwf.jobs where finished_at is not null"


class Meter:
    """WAL bytes and commits since construction."""

    def __init__(self, base: Database) -> None:
        self._base = base
        self._wal, self._commits = self._read()

    def wal(self, jobs: float) -> dict[str, float]:
        """WAL bytes per job so far."""
        return {"wal_bytes": (self._read()[0] - self._wal) / jobs}

    def commits(self, jobs: float) -> dict[str, float]:
        """Commits per job. Sessions report theirs when they end, so call this after they have."""
        return {"commits": (self._read()[1] - self._commits) / jobs}

    def _read(self) -> tuple[int, int]:
        self._base.conn.execute("select pg_stat_clear_snapshot()")
        row = self._base.conn.execute(COUNTED).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)


def drained(base: Database, total: int, left: str = LEFT) -> float:
    """Jobs per second, from the last check that finds none done to the first that finds all done.

    A check reads the whole table and takes CPU from those it measures, so there are few: each
    waits as long as half of the rest should take, at most as long as all took so far, and at
    least a fiftieth of it. So it sees the end at most that much too late. Raises BenchError if no
    job ends for two minutes.
    """
    begun = now = changed = time.monotonic()
    remaining = total
    while remaining:
        if remaining < total:
            so_far_s = now - begun
            rest_s = remaining * so_far_s / (total - remaining)
            time.sleep(min(1.0, so_far_s, max(0.005, rest_s / 2, so_far_s / 50)))
        else:
            time.sleep(0.01)
        asked = time.monotonic()
        left_now = int(base.value(left))
        now = (asked + time.monotonic()) / 2
        if left_now == total:
            begun = now
        if left_now < remaining:
            remaining, changed = left_now, now
        elif now - changed > PATIENCE_S:
            raise BenchError(f"no progress: {remaining} of {total} left")
    return total / (now - begun)


def until(look: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Call `look` until it returns a true value, and return that. Raises BenchError when it takes
    too long."""
    deadline = time.monotonic() + patience_s
    while not (found := look()):
        if time.monotonic() > deadline:
            raise BenchError(f"timed out waiting for {what}")
        time.sleep(0.01)
    return found


def percentiles(seconds: list[float]) -> dict[str, float]:
    """p50, p95, p99 and the maximum, in milliseconds. 95 % of the values are at most p95."""
    found = sorted(seconds)
    ranks = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {
        name: 1000 * found[max(0, math.ceil(rank * len(found)) - 1)] for name, rank in ranks.items()
    }


def fill(base: Database, jobs: int, queue: str = "default") -> None:
    """Enqueue `jobs` no-op jobs."""
    if queue != "default":
        base.value("select qwf.create_queue(%s)", queue)
    for first in range(0, jobs, 10_000):
        base.value(
            "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', "
            "'noop', 'queue', %s::text)) from generate_series(1, %s)))",
            queue,
            min(10_000, jobs - first),
        )
