"""Cost of limits that count by key, beside a plain queue, and when the last key has its turn."""

from __future__ import annotations

import contextlib
import itertools
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg

from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

JOBS = """
    insert into qwf.jobs (
      task, queue, status, position, queued_at, limit_by, limit_place, requires)
    select 'noop', %(queue)s, 'queued', nextval('qwf.job_position'), clock_timestamp(), l.name,
      hashtextextended(l.name, 0), %(requires)s
    from generate_series(1, %(each)s) n
    cross join generate_series(1, %(keys)s) k
    cross join lateral (select %(limit)s || ':' || k as name) l
"""
CLAIM = "select job_id, token::text from qwf.claim(%s, 'bench', %s)"
FINISH = "select count(*) from qwf.finish_many(%s)"
WARM_UP = 10


@scenario("keys")
@click.option("--keys", default=10_000, show_default=True)
@click.option("--unfit", default=5_000, show_default=True, help="Keys that cannot be served.")
@click.option("--fitting", default=100, show_default=True, help="Keys among these that can.")
@click.option("--claims", default=200, show_default=True)
def keys(server: Server, keys: int, unfit: int, fitting: int, claims: int) -> Iterator[Sample]:
    """CPU milliseconds of a claim and a finish with many keys, and the turn of the last key."""
    with server.database() as base:
        base.conn.execute("select qwf.create_queue(q) from unnest('{plain,keyed,unfit}'::text[]) q")
        base.conn.execute("select qwf.create_limit('customer', 2, keyed => true)")
        fill(base, "plain", keys, 5, None)
        fill(base, "keyed", keys, 5, "customer")
        fill(base, "unfit", unfit, 1, "customer", {"gpu": "yes"})
        fill(base, "unfit", fitting, 2 * claims // fitting + 1, "customer")
        base.conn.execute("vacuum analyze qwf.jobs")
        for batch in (1, 10):
            yield from beside_plain(base, batch, claims)
        took, _ = measure(base.dsn, {"unfit": 1}, claims)
        among = f"{fitting:,} of {unfit + fitting:,} keys fit"
        yield from both(took["unfit"], f"claim of 1, {among}")
        for sessions in (1, 4, 20):
            yield last_turn(base, keys, sessions)


def fill(
    base: Database, queue: str, keys: int, each: int, limit: str | None,
    requires: dict[str, str] | None = None,
) -> None:  # fmt: skip
    """Put `each` jobs of every key into the queue; without a limit as many without one."""
    given = {"queue": queue, "keys": keys, "each": each, "limit": limit}
    base.conn.execute(JOBS, {**given, "requires": json.dumps(requires or {})})


def beside_plain(base: Database, batch: int, claims: int) -> Iterator[Sample]:
    """A claim and a finish of a batch, with and without keys, in turns."""
    claimed, finished = measure(base.dsn, {"plain": batch, "keyed": batch}, claims)
    for queue in ("plain", "keyed"):
        yield from both(claimed[queue], f"claim of {batch}, {queue}")
        yield from both(finished[queue], f"finish of {batch}, {queue}")
    ratio = statistics.median(claimed["keyed"]) / statistics.median(claimed["plain"])
    yield Sample("keys", f"claim of {batch}, keyed / plain", ratio, "times")


def measure(
    dsn: str, batches: dict[str, int], claims: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """CPU milliseconds of each claim and each finish, by queue; each queue in its own session."""
    conns = {queue: psycopg.connect(dsn, autocommit=True) for queue in batches}
    claimed: dict[str, list[float]] = {queue: [] for queue in batches}
    finished: dict[str, list[float]] = {queue: [] for queue in batches}
    for _ in range(claims + WARM_UP):
        for queue, conn in conns.items():
            conn.execute("set synchronous_commit = off")
            before = cpu_ms(conn)
            jobs = conn.execute(CLAIM, [queue, batches[queue]], prepare=True).fetchall()
            claimed[queue].append(cpu_ms(conn) - before)
            before = cpu_ms(conn)
            finish(conn, jobs)
            finished[queue].append(cpu_ms(conn) - before)
    for conn in conns.values():
        conn.close()
    return (
        {queue: took[WARM_UP:] for queue, took in claimed.items()},
        {queue: took[WARM_UP:] for queue, took in finished.items()},
    )


def cpu_ms(conn: psycopg.Connection[tuple[object, ...]]) -> float:
    """CPU time of the session's process."""
    stat = Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text(encoding="ascii")
    return int(stat.split()[0]) / 1e6


def both(took: list[float], what: str) -> Iterator[Sample]:
    """The median and the 99th percentile."""
    yield Sample("keys", f"{what}, p50", statistics.median(took), "ms")
    yield Sample("keys", f"{what}, p99", statistics.quantiles(took, n=100)[98], "ms")


def last_turn(base: Database, keys: int, sessions: int) -> Sample:
    """How many jobs are handed out until each key has had one, per key: 1 is perfect turns.

    The sessions claim one after the other, and finish at once.
    """
    base.conn.execute("delete from qwf.jobs")
    fill(base, "keyed", keys, 4, "customer")
    base.conn.execute("vacuum analyze qwf.jobs")
    seen: set[str] = set()
    handed_out = 0
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        conns = [
            stack.enter_context(psycopg.connect(base.dsn, autocommit=True)) for _ in range(sessions)
        ]
        for conn in itertools.cycle(conns):
            conn.execute("set synchronous_commit = off")
            jobs = conn.execute(CLAIM, ["keyed", 10], prepare=True).fetchall()
            ids = [job for job, _ in jobs]
            names = conn.execute("select limit_by from qwf.jobs where id = any (%s)", [ids])
            seen |= {name for (name,) in names.fetchall()}
            handed_out += len(ids)
            finish(conn, jobs)
            if len(seen) == keys:
                break
    more = {"seconds": time.monotonic() - begun}
    what = f"jobs until each key had one, per key, {sessions} sessions"
    return Sample("keys", what, handed_out / keys, "times", more=more)


def finish(conn: psycopg.Connection[tuple[Any, ...]], jobs: list[tuple[Any, ...]]) -> None:
    """Complete claimed jobs."""
    done = [
        {"job_id": job, "token": token, "outcome": "completed", "output": {}} for job, token in jobs
    ]
    conn.execute(FINISH, [json.dumps(done)], prepare=True)
