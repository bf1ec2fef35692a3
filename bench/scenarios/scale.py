"""Whether claim and finish notice what the tables hold."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator

import click

from bench.measure import fill
from bench.results import Sample
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
VIEWS = ("queue_depth", "recent_jobs", "run_overview", "fleet")


@scenario("scale", rounds=1)
@click.option("--queued", default=200_000, show_default=True)
@click.option("--finished", default=1_000_000, show_default=True)
@click.option("--blocked", default=100_000, show_default=True)
@click.option("--scheduled", default=100_000, show_default=True)
@click.option("--calls", default=200, show_default=True, help="Timed calls of each kind.")
def scale(
    server: Server, queued: int, finished: int, blocked: int, scheduled: int, calls: int
) -> Iterator[Sample]:
    """Milliseconds of claim and finish in a full database, against those in an empty one.

    The statistics are those of empty tables: autovacuum is off while they are filled. Commits do
    not wait for the disk, so that only the work is timed.
    """
    with server.database() as base:
        fill(base, calls * 102)
        empty = times(base, calls)
    with server.database() as base:
        for table in TABLES:
            base.conn.execute(f"alter table qwf.{table} set (autovacuum_enabled = off)")
        for query, count in ((PAST, finished), (BLOCKED, blocked), (SCHEDULED, scheduled)):
            base.conn.execute(query, (count,))
        base.conn.execute(ATTEMPTS)
        fill(base, queued)
        stale = times(base, calls)
        base.conn.execute("vacuum analyze")
        fresh = times(base, calls)
        views = {
            name: timed(base, f"select count(*) from (select * from qwf.{name} limit 100) v")
            for name in VIEWS
        }
    held = f"{queued:,} queued, {finished:,} finished"
    for call, before in empty.items():
        yield Sample("scale", f"{call}, empty", before, "ms")
        for kind, after in (("stale", stale[call]), ("fresh", fresh[call])):
            figure = f"{call}, {held}, {kind} statistics"
            yield Sample("scale", figure, after, "ms", more={"times_empty": after / before})
    for name, took in views.items():
        yield Sample("scale", f"view {name}, {held}", took, "ms")


def times(base: Database, calls: int) -> dict[str, float]:
    """Medians of claim and finish, one job and 100 jobs at once, milliseconds."""
    base.conn.execute("set synchronous_commit = off")
    found: dict[str, float] = {}
    for batch, number in ((1, calls), (100, max(3, calls // 10))):
        claims, finishes = [], []
        for _ in range(number):
            at = time.perf_counter()
            claimed = base.conn.execute(CLAIM, ("default", "bench", batch)).fetchall()
            claims.append(time.perf_counter() - at)
            reports = json.dumps([
                {"job_id": job, "token": str(token), "outcome": "completed", "detail": {}}
                for job, token, _ in claimed
            ])  # fmt: skip
            at = time.perf_counter()
            base.conn.execute(FINISH, (reports,)).fetchall()
            finishes.append(time.perf_counter() - at)
        found[f"claim of {batch}"] = 1000 * statistics.median(claims)
        found[f"finish of {batch}"] = 1000 * statistics.median(finishes)
    return found


def timed(base: Database, query: str) -> float:
    """Median of three, milliseconds."""
    took = []
    for _ in range(3):
        at = time.perf_counter()
        base.value(query)
        took.append(time.perf_counter() - at)
    return 1000 * statistics.median(took)
