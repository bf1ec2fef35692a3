"""How fast a full queue of no-op jobs is drained, by SQL sessions and by agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from bench import sessions
from bench.cpu import Cpu
from bench.measure import Meter, drained, fill
from bench.processes import agents, forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Server


@scenario("drain")
@click.option("--jobs", default=20_000, show_default=True, help="A fifth for batches below 10.")
@click.option("--sessions", "number", default=4, show_default=True, help="SQL sessions.")
@click.option(
    "--batch", "batches", multiple=True, type=int, default=(1, 10, 100, 500), show_default=True
)
@click.option("--agents", "fleets", multiple=True, type=int, default=(1, 2), show_default=True)
def drain(
    server: Server, jobs: int, number: int, batches: tuple[int, ...], fleets: tuple[int, ...]
) -> Iterator[Sample]:
    """Drain a full queue through the SQL API, and through agents with forked children."""
    for batch in batches:
        some = jobs if batch >= 10 else jobs // 5
        figure = f"SQL, {number} sessions, batch {batch}"
        yield by_sessions(server, figure, some, number, sessions.work, batch)
        figure += ", finish_and_claim"
        yield by_sessions(server, figure, some, number, sessions.work_in_one_call, batch)
    for fleet in fleets:
        yield by_agents(server, f"agents: {fleet}", jobs, fleet)
    if fleets:
        yield by_agents(server, "agents: 1, batch 1", jobs // 5, 1, "--batch", "1")


def by_sessions(
    server: Server,
    figure: str,
    jobs: int,
    number: int,
    work: Callable[[int, str, int], None],
    batch: int,
) -> Sample:
    """Drain the queue through SQL sessions that do this work."""
    with server.database() as base:
        fill(base, jobs)
        meter = Meter(base)
        with forked(number, work, base.dsn, batch):
            cpu = Cpu(server)
            rate = drained(base, jobs)
            more = meter.wal(jobs) | cpu.per_job(jobs)
        more |= meter.commits(jobs)
    return Sample("drain", figure, rate, "jobs/s", more=more)


def by_agents(server: Server, figure: str, jobs: int, number: int, *options: str) -> Sample:
    """Drain the queue through agents with these options."""
    with server.database() as base:
        fill(base, jobs)
        meter = Meter(base)
        with agents(base.dsn, number, *options) as started:
            cpu = Cpu(server, started, split=True)
            rate = drained(base, jobs)
            more = meter.wal(jobs) | cpu.per_job(jobs)
        more |= meter.commits(jobs)
    return Sample("drain", figure, rate, "jobs/s", more=more)
