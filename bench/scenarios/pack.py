"""Which box does the work when the fleet is larger than it: placement pack against spread.

Three agents of 8, 4 and 1 slots serve one queue. Jobs that sleep for a while arrive at random, in
the same pattern for both placements. With pack, the first box should do the work as long as it has
room, no job should wait long for that, and a full fleet should be as fast as with spread.

*at best* is what the same arrivals give if no step takes time. A job that finds all 8 slots taken
goes to another box at once, so this is less than all (the formula of Erlang B). The figures
*at best, a wait of* let it wait for a slot of the first box; qwf does not do that.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import click

from bench.measure import drained, percentiles, until
from bench.processes import agents
from bench.queueing import Job, arrivals, packed
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

SLOTS = {"box-a": 8, "box-b": 4, "box-c": 1}
QUEUE = "bench"
NAP_S = 0.2
SHARE = "% on the best box"
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
# Jobs of other boxes that began while the first one had a free slot.
EARLY = """
    with attempt as (
      select w.host, a.started_at, a.finished_at
      from qwf.job_attempts a join qwf.workers w on w.id = a.worker)
    select count(*) from attempt a
    where a.host <> 'box-a' and %s > (
      select count(*) from attempt b
      where b.host = 'box-a' and b.started_at <= a.started_at and b.finished_at > a.started_at)
"""
WAITED_S = (0.0, 0.025, 0.25)  # simulated
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
        work = list(arrivals(load / NAP_S, seconds, NAP_S))
        for placement in ("spread", "pack"):
            with server.database() as base, fleet(base, placement):
                arrive(base, work)
                share = best_share(base)
                waits = percentiles([row[0] for row in base.conn.execute(WAITS).fetchall()])
                early = base.value(EARLY, SLOTS["box-a"])
            figure = f"{load:g} of {total} busy, {placement}"
            more = {f"wait_ms_{name}": value for name, value in waits.items()}
            yield Sample("pack", figure, share, SHARE, more={"early": early, **more})
        for wait_s in WAITED_S:
            yield at_best(f"{load:g} of {total} busy, at best", work, wait_s)
    for placement in ("spread", "pack"):
        with server.database() as base, fleet(base, placement):
            base.value(NAPS, QUEUE, NAP_S, jobs)
            yield Sample("pack", f"{jobs} at once, {placement}", drained(base, jobs), "jobs/s")


def at_best(figure: str, work: list[Job], wait_s: float) -> Sample:
    """The most jobs that the first box does if a job may wait so long for it."""
    done, waits = packed(work, list(SLOTS.values()), wait_s)
    more = {f"wait_ms_{name}": value for name, value in percentiles(waits).items()}
    figure += f", a wait of {1000 * wait_s:g} ms" if wait_s else ""
    return Sample("pack", figure, 100 * done[0] / len(work), SHARE, more=more)


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


def arrive(base: Database, work: list[Job]) -> None:
    """Enqueue naps at these times, and wait until all have ended."""
    begin = time.monotonic()
    for at, seconds in work:
        time.sleep(max(0.0, begin + at - time.monotonic()))
        base.value(NAP, seconds, QUEUE)
    unfinished = "select not exists (select from qwf.jobs where finished_at is null)"
    until(lambda: base.value(unfinished), "the end of all jobs")


def best_share(base: Database) -> float:
    """The share of the jobs that the best box did, in percent."""
    done: dict[str, int] = dict(base.conn.execute(SERVED).fetchall())
    return 100 * done.get("box-a", 0) / sum(done.values())
