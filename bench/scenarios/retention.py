"""Cost of deleting old jobs: for the work beside it, and on disk."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from bench import sessions
from bench.measure import percentiles
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.horizon import paced
from bench.server import Database, Server

# Ended long ago, in the order in which they were enqueued, as in a database that grew.
OLD = """
    insert into qwf.jobs (task, queue, status, position, inputs, output, attempt, claimed_by,
      created_at, queued_at, started_at, claimed_at, finished_at)
    select 'noop', 'default', 'completed', nextval('qwf.job_position'), '{"number": 12345}', '{}',
      1, 'w', t.at, t.at, t.at, t.at, t.at
    from generate_series(1, %(more)s) g,
      lateral (select now() - interval '90 days' + %(from)s * interval '1 s' as at) t
"""
ATTEMPTS = """
    insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at,
      finished_at, outcome, detail)
    select id, n, gen_random_uuid(), 'w', queued_at, started_at, finished_at,
      case n when %(attempts)s then 'completed' else 'lost' end,
      '{"max_rss_bytes": 12345678, "cpu_seconds": 0.001}'
    from qwf.jobs, generate_series(1, %(attempts)s) n
    where id > %(above)s and status = 'completed'
"""
CHUNK = 500_000
SIZE = """
    select sum(pg_total_relation_size(to_regclass('qwf.' || t))) / 1048576.0
    from unnest('{jobs,job_attempts}'::text[]) t
"""
DELETED = "select n_tup_del from pg_stat_user_tables where relid = 'qwf.jobs'::regclass"
WAYS = {"nothing is deleted": 0.0, "by ticks": 1.0, "at once": 1000.0}  # calls of prune a second
PER_S = 100.0  # jobs that are enqueued, claimed and finished beside it


@scenario("retention", rounds=1)
@click.option("--jobs", default=1_000_000, show_default=True, help="Old ones.")
@click.option("--attempts", default=1, show_default=True, help="Of each job.")
@click.option("--seconds", default=10.0, show_default=True, help="Of each way of deleting.")
def retention(server: Server, jobs: int, attempts: int, seconds: float) -> Iterator[Sample]:
    """Deletes old jobs as ticks do, once a second, and as `qwf prune` does, without a pause. Beside
    it, one session enqueues, claims and finishes 100 jobs a second, durably."""
    with server.database() as base, tempfile.TemporaryDirectory() as folder:
        grow(base, jobs, attempts)
        full = float(base.value(SIZE))
        held = f"{jobs * attempts:,} old attempts"
        for name, rate in WAYS.items():
            log = Path(folder) / name
            log.touch()
            before = deleted(base)
            with forked(1 if rate else 0, prune, base.dsn, rate, str(log)):
                found = work(base.dsn, seconds)
            found["deleted_per_s"] = (deleted(base) - before) / seconds
            took = [float(line) for line in log.read_text().split()]
            found |= {"prune_max": 1000 * max(took)} if took else {}
            claim = found.pop("claim_p50")
            yield Sample("retention", f"claim, {held}, {name}", claim, "ms", more=found)
        emptied = float(base.value(SIZE))
        began = time.monotonic()
        base.conn.execute("vacuum qwf.jobs, qwf.job_attempts")
        seconds_of_vacuum = time.monotonic() - began
        sizes = {"mib": full, "mib_deleted": emptied, "mib_vacuumed": float(base.value(SIZE))}
        yield Sample("retention", f"vacuum, {held}", seconds_of_vacuum, "s", more=sizes)


def grow(base: Database, jobs: int, attempts: int) -> None:
    """Insert the old jobs and their attempts."""
    base.conn.execute("set synchronous_commit = off")
    for first in range(0, jobs, CHUNK):
        above = base.value("select coalesce(max(id), 0) from qwf.jobs")
        base.conn.execute(OLD, {"more": min(CHUNK, jobs - first), "from": first / CHUNK})
        base.conn.execute(ATTEMPTS, {"above": above, "attempts": attempts})
    base.conn.execute("vacuum analyze qwf.jobs, qwf.job_attempts")
    base.conn.execute("checkpoint")


def prune(index: int, dsn: str, rate: float, log: str) -> None:
    """Delete old jobs at most `rate` times a second, until killed; write down the seconds."""
    conn = sessions.connect(dsn, durable=False)
    with Path(log).open("w", buffering=1) as file:
        for _ in paced(rate):
            began = time.perf_counter()
            conn.execute("select qwf.prune()").fetchall()
            file.write(f"{time.perf_counter() - began}\n")


def work(dsn: str, seconds: float) -> dict[str, float]:
    """Milliseconds of claims and finishes."""
    took: dict[str, list[float]] = {"claim": [], "finish": []}
    with contextlib.closing(sessions.connect(dsn)) as conn:
        until = time.monotonic() + seconds
        for _ in paced(PER_S):
            if time.monotonic() > until and took["claim"]:
                break
            conn.execute("select qwf.enqueue('noop')")
            began = time.perf_counter()
            claimed = conn.execute(sessions.CLAIM, ("default", "bench", 1)).fetchall()
            between = time.perf_counter()
            conn.execute(sessions.FINISH, (sessions.completed(claimed),)).fetchall()
            took["claim"].append(between - began)
            took["finish"].append(time.perf_counter() - between)
    found: dict[str, float] = {}
    for name, values in took.items():
        ranks = percentiles(values)
        found |= {f"{name}_p50": ranks["p50"], f"{name}_p99": ranks["p99"]}
    return found


def deleted(base: Database) -> int:
    """Jobs deleted so far; sessions report them when they are idle."""
    base.conn.execute("select pg_stat_clear_snapshot()")
    return int(base.value(DELETED))
