"""Which box does the work when the fleet is larger than it: placement pack against spread.

Three agents of 8, 4 and 1 slots serve one queue. Jobs that sleep for a while arrive at random, in
the same pattern for both placements. With pack, the first box should do the work as long as it has
room, no job should wait long for that, and a full fleet should be as fast as with spread.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator

import click

from bench.measure import drained, percentiles, until
from bench.processes import agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

SLOTS = {"box-a": 8, "box-b": 4, "box-c": 1}
QUEUE = "bench"
NAP_S = 0.2
NAP = "select qwf.enqueue('nap', jsonb_build_object('seconds', %s::float8), queue => %s)"
NAPS = """
    select count(*) from qwf.enqueue_many((
      select jsonb_agg(jsonb_build_object('task', 'nap', 'queue', %s::text,
        'args', jsonb_build_object('seconds', %s::float8)))
      from generate_series(1, %s)))
"""
SERVED = """
    select w.host, count(*) from qwf.job_attempts a join qwf.workers w on w.id = a.worker
    group by w.host
"""
WAITS = "select extract(epoch from started_at - queued_at)::float8 from qwf.job_attempts"


@scenario("pack", rounds=1)
@click.option("--seconds", default=15.0, show_default=True, help="How long jobs arrive.")
@click.option(
    "--busy", default=(2.0, 4.0, 6.4, 10.4), multiple=True, help="Slots in use on average."
)
@click.option("--jobs", default=300, show_default=True, help="Jobs queued at once.")
def pack(server: Server, seconds: float, busy: tuple[float, ...], jobs: int) -> Iterator[Sample]:
    """Work of the best of three boxes, and how long jobs wait, by load and placement."""
    total = sum(SLOTS.values())
    for load in busy:
        for placement in ("spread", "pack"):
            with server.database() as base, fleet(base, placement):
                arrive(base, load / NAP_S, seconds)
                share = best_share(base)
                waits = percentiles([row[0] for row in base.conn.execute(WAITS).fetchall()])
            figure = f"{load:g} of {total} busy, {placement}"
            more = {f"wait_ms_{name}": value for name, value in waits.items()}
            yield Sample("pack", figure, share, "% on the best box", more=more)
    for placement in ("spread", "pack"):
        with server.database() as base, fleet(base, placement):
            base.value(NAPS, QUEUE, NAP_S, jobs)
            yield Sample("pack", f"{jobs} at once, {placement}", drained(base, jobs), "jobs/s")


@contextlib.contextmanager
def fleet(base: Database, placement: str) -> Iterator[None]:
    """The three boxes, once all are asleep."""
    base.value("select qwf.create_queue(%s, placement => %s)", QUEUE, placement)
    with contextlib.ExitStack() as stack:
        for host, slots in SLOTS.items():
            options = ("--queue", QUEUE, "--host", host, "--slots", str(slots))
            stack.enter_context(agents(base.dsn, 1, *options))
        until(lambda: base.value("select count(*) = 3 from qwf.sleepers"), "sleepers")
        yield


def arrive(base: Database, rate: float, seconds: float) -> None:
    """Enqueue naps at this rate a second, and wait until all have ended."""
    gaps = random.Random(1)
    now = next_at = time.monotonic()
    end = now + seconds
    while next_at < end:
        time.sleep(max(0.0, next_at - time.monotonic()))
        base.value(NAP, NAP_S * gaps.uniform(0.5, 1.5), QUEUE)
        next_at += gaps.expovariate(rate)
    unfinished = "select not exists (select from qwf.jobs where finished_at is null)"
    until(lambda: base.value(unfinished), "the end of all jobs")


def best_share(base: Database) -> float:
    """The share of the jobs that the best box did, in percent."""
    done: dict[str, int] = dict(base.conn.execute(SERVED).fetchall())
    return 100 * done.get("box-a", 0) / sum(done.values())
