"""Thousands of coroutines of one process that wait for jobs, as the requests of a web server do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import click
import psutil
import psycopg

from bench.measure import fill
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import BenchError, Server
from qwf_agent import jobs

NAME = "waiter"
SETTLE_S = 3.0
AT_ONCE = 1000  # jobs in one claim
IDS = "select array(select id from qwf.jobs where status = 'queued' order by id limit %s)"
BACKEND = "select pid from pg_stat_activity where application_name = %s"
FINISH = """
select count(v.verdict) from qwf.finish_many((
  select coalesce(jsonb_agg(jsonb_build_object('job_id', c.job_id, 'token', c.token,
    'outcome', 'completed')), '[]') from qwf.claim('default', 'bench', %s) c)) v
"""


class Counted(psycopg.AsyncConnection[Any]):
    """Counts its statements."""

    statements = 0

    def cursor(self, *args: Any, **options: Any) -> Any:
        """A cursor, for one statement."""
        Counted.statements += 1
        return super().cursor(*args, **options)


@scenario("waiters", rounds=3)
@click.option("--waiters", default=5_000, show_default=True, help="Jobs that are waited for.")
@click.option("--seconds", default=10.0, show_default=True, help="Measure for so long.")
def waiters(server: Server, waiters: int, seconds: float) -> Iterator[Sample]:
    """CPU of the process and of its session while many wait for jobs on one connection."""
    with server.database() as base:
        fill(base, waiters)
        own, session, statements, told_ms = asyncio.run(_wait(base.dsn, waiters, seconds))
    what = f"{waiters:,} waiters"
    yield Sample("waiters", f"{what}: CPU of the process", 100 * own / seconds, "%")
    yield Sample("waiters", f"{what}: CPU of its session", 100 * session / seconds, "%")
    yield Sample("waiters", f"{what}: statements", statements / seconds, "/s")
    yield Sample("waiters", f"{what}: all told after the last end", told_ms, "ms")


async def _wait(dsn: str, count: int, seconds: float) -> tuple[float, float, int, float]:
    """CPU seconds of this process and of the session, statements; then all jobs end, and how long
    after the last end the last waiter knows, ms."""
    beside = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
    ids = await _value(beside, IDS, count)

    async def connect() -> Counted:
        return await Counted.connect(dsn, autocommit=True, application_name=NAME)

    async with beside, jobs.AsyncWaiter(connect) as waiter:
        tasks = [asyncio.create_task(waiter.wait_job(job)) for job in ids]
        await asyncio.sleep(SETTLE_S)
        session = psutil.Process(await _value(beside, BACKEND, NAME))
        own, theirs = time.process_time(), sum(session.cpu_times()[:2])
        Counted.statements = 0
        await asyncio.sleep(seconds)
        own, theirs = time.process_time() - own, sum(session.cpu_times()[:2]) - theirs
        statements = Counted.statements
        while await _value(beside, FINISH, AT_ONCE):
            pass
        ended_at = time.monotonic()
        ended = await asyncio.wait_for(asyncio.gather(*tasks), 60)
        told_ms = 1000 * (time.monotonic() - ended_at)
        if any(status.status != "completed" for status in ended):
            raise BenchError("a waiter was told something else than the end of its job")
    return own, theirs, statements, told_ms


async def _value(conn: psycopg.AsyncConnection[Any], sql: str, given: object) -> Any:
    row = await (await conn.execute(sql, [given])).fetchone()
    if row is None:
        raise BenchError(f"no row: {sql}")
    return row[0]
