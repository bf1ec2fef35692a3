"""Speed of claim and finish as the tables grow."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator

import click

from bench.measure import fill
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server
from bench.sessions import CLAIM, FINISH

TABLES = ("jobs", "job_attempts")
PAST = """
    insert into qwf.jobs (task, queue, status, position, attempt, claimed_by, claimed_at,
      queued_at, started_at, finished_at)
    select
      'noop', 'default', 'completed', nextval('qwf.job_position'), 1, 'w', t.at, t.at, t.at, t.at
    from generate_series(1, %s), lateral (select now() - random() * interval '30 days' as at) t
"""
ATTEMPTS = """
    insert into qwf.job_attempts (
      job_id, attempt, worker, queued_at, started_at, finished_at, outcome)
    select id, 1, 'w', queued_at, started_at, finished_at, 'completed'
    from qwf.jobs where status = 'completed'
"""
BLOCKED = """
    insert into qwf.jobs (run_id, graph_id, node_idx, node_id, task, queue, status, remaining_deps)
    select 1000000000 + g, 1, 1, 's/n', 'noop', 'default', 'blocked', 1
    from generate_series(1, %s) g
"""
SCHEDULED = """
    insert into qwf.jobs (task, queue, status, run_at)
    select 'noop', 'default', 'scheduled', now() + interval '1 day' from generate_series(1, %s)
"""
VIEWS = ("queue_overview", "recent_jobs", "run_overview", "worker_overview")


@scenario("scale", rounds=1)
@click.option("--queued", default=200_000, show_default=True)
@click.option("--finished", default=1_000_000, show_default=True)
@click.option("--blocked", default=100_000, show_default=True)
@click.option("--scheduled", default=100_000, show_default=True)
@click.option("--calls", default=200, show_default=True, help="Timed calls of each kind.")
def scale(
    server: Server, queued: int, finished: int, blocked: int, scheduled: int, calls: int
) -> Iterator[Sample]:
    """Milliseconds of claim and finish in a full database, compared with an empty one.

    Calls alternate between the two, so that other load on the machine affects both alike. At
    first the statistics are those of empty tables: autovacuum is off while they are filled.
    Commits do not wait for the disk, so only the work is timed.
    """
    with server.database() as empty, server.database() as full:
        fill(empty, calls * 102 * 2)
        for table in TABLES:
            full.conn.execute(f"alter table qwf.{table} set (autovacuum_enabled = off)")
        for query, count in ((PAST, finished), (BLOCKED, blocked), (SCHEDULED, scheduled)):
            full.conn.execute(query, (count,))
        full.conn.execute(ATTEMPTS)
        fill(full, queued)
        stale = times((empty, full), calls)
        full.conn.execute("vacuum analyze")
        fresh = times((empty, full), calls)
        views = {
            name: timed(full, f"select count(*) from (select * from qwf.{name} limit 100) v")
            for name in VIEWS
        }
    held = f"{queued:,} queued, {finished:,} finished"
    for kind, found in (("stale", stale), ("fresh", fresh)):
        for call, (before, after) in found.items():
            figure = f"{call}, {held}, {kind} statistics"
            more = {"empty": before, "times_empty": after / before}
            yield Sample("scale", figure, after, "ms", more=more)
    for name, took in views.items():
        yield Sample("scale", f"view {name}, {held}", took, "ms")


def times(bases: tuple[Database, Database], calls: int) -> dict[str, tuple[float, float]]:
    """Median milliseconds of claim and finish in each database, for 1 job and 100 jobs at once."""
    for base in bases:
        base.conn.execute("set synchronous_commit = off")
    found: dict[str, tuple[float, float]] = {}
    for batch, number in ((1, calls), (100, max(3, calls // 10))):
        taken = [[claim_and_finish(base, batch) for base in bases] for _ in range(number)]
        for which, name in enumerate(("claim", "finish")):
            before, after = (
                1000 * statistics.median(both[of][which] for both in taken) for of in range(2)
            )
            found[f"{name} of {batch}"] = (before, after)
    return found


def claim_and_finish(base: Database, batch: int) -> tuple[float, float]:
    """Seconds of one claim and one finish."""
    at = time.perf_counter()
    claimed = base.conn.execute(CLAIM, ("default", "bench", batch)).fetchall()
    claim = time.perf_counter() - at
    reports = json.dumps([
        {"job_id": job, "token": str(token), "outcome": "completed", "detail": {}}
        for job, token, _ in claimed
    ])  # fmt: skip
    at = time.perf_counter()
    base.conn.execute(FINISH, (reports,)).fetchall()
    return claim, time.perf_counter() - at


def timed(base: Database, query: str) -> float:
    """Median milliseconds of three calls."""
    took = []
    for _ in range(3):
        at = time.perf_counter()
        base.value(query)
        took.append(time.perf_counter() - at)
    return 1000 * statistics.median(took)
