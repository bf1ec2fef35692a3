"""Cost of an enqueue for a producer, compared with a bare INSERT into an identical table."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator

import click

from bench.claimers import serve_all
from bench.cpu import Cpu
from bench.measure import Meter, until
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server
from bench.sessions import pgbench

BARE = """
    insert into public.bare (task, queue, status, position, queued_at)
    values ('noop', 'default', 'queued', nextval('qwf.job_position'), clock_timestamp())
"""
ONE = "select qwf.enqueue('noop')"
MANY = "select count(*) from qwf.enqueue_many(:jobs)"
BARE_MANY = """
    insert into public.bare (task, queue, status, position, queued_at)
    select 'noop', 'default', 'queued', nextval('qwf.job_position'), clock_timestamp()
    from generate_series(1, :number)
"""
SIZES = (100, 1000)
HUNGRY = 3  # times as long: the rate settles only after the workers have polled
JOBS = "select (select count(*) from qwf.jobs) + (select count(*) from public.bare)"


@scenario("enqueue")
@click.option(
    "--seconds",
    default=1.0,
    show_default=True,
    help=f"Of each variant; {HUNGRY} times as long if workers serve the queue, after a warm-up.",
)
@click.option("--producers", multiple=True, type=int, default=(1, 8, 32), show_default=True)
@click.option("--workers", default=20, show_default=True, help="Light claimers that listen.")
def enqueue(
    server: Server, seconds: float, producers: tuple[int, ...], workers: int
) -> Iterator[Sample]:
    """Enqueue from 1 to 32 producers while the fleet is busy, asleep elsewhere, or hungry."""
    fleets = {
        "bare INSERT": (BARE, "", True),
        "fleet busy": (ONE, "", True),
        f"{workers} asleep on another queue": (ONE, "gpu", True),
        f"{workers} hungry on the same": (ONE, "default", True),
        f"{workers} hungry that only poll": (ONE, "default", False),
    }
    for number in producers:
        for figure, (script, queue, listen) in fleets.items():
            with server.database() as base, contextlib.ExitStack() as stack:
                base.conn.execute("create table public.bare (like qwf.jobs including all)")
                # the fleet is busy: without any worker, each enqueue would raise a NOTICE
                base.value("select qwf.register_worker('busy', 'default', '{}')")
                if queue:
                    stack.enter_context(
                        forked(
                            1, functools.partial(serve_all, listen=listen), base.dsn, workers, queue
                        )
                    )
                    until(functools.partial(awake, base, workers), "the workers")
                if queue == "default":  # warm up: a session's first claim takes ten times as long
                    pgbench(base.dsn, script, number, seconds)
                    yield sample(server, base, script, figure, number, HUNGRY * seconds)
                else:
                    yield sample(server, base, script, figure, number, seconds)
    for jobs in SIZES:
        for figure, script in (("bare INSERT", BARE_MANY), ("enqueue_many", MANY)):
            with server.database() as base:
                base.conn.execute("create table public.bare (like qwf.jobs including all)")
                yield sample(server, base, script, f"{figure} of {jobs:,}", 1, seconds, jobs)


def awake(base: Database, workers: int) -> bool:
    """Return True if all workers have registered."""
    return bool(base.value("select count(*) > %s from qwf.workers", workers))


def sample(
    server: Server,
    base: Database,
    script: str,
    figure: str,
    number: int,
    seconds: float,
    jobs: int = 1,
) -> Sample:
    """Measure one variant."""
    meter = Meter(base)
    before, cpu = int(base.value(JOBS)), Cpu(server)
    values = {"jobs": json.dumps([{"task": "noop"}] * jobs), "number": str(jobs)}
    given = {name: value for name, value in values.items() if f":{name}" in script}
    rate = pgbench(base.dsn, script, number, seconds, given) * jobs
    enqueued = max(1, int(base.value(JOBS)) - before)
    more = meter.wal(enqueued) | cpu.per_job(enqueued)
    return Sample("enqueue", f"{figure}, {number} producers", rate, "jobs/s", more=more)
