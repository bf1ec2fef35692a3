"""How fast a full queue of no-op jobs is drained, by SQL sessions and by agents."""

from __future__ import annotations

from collections.abc import Iterator

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
        with server.database() as base:
            fill(base, some)
            meter = Meter(base)
            with forked(number, sessions.work, base.dsn, batch):
                cpu = Cpu(server)
                rate = drained(base, some)
                more = meter.wal(some) | cpu.per_job(some)
            more |= meter.commits(some)
        yield Sample("drain", f"SQL, {number} sessions, batch {batch}", rate, "jobs/s", more=more)
    for fleet in fleets:
        with server.database() as base:
            fill(base, jobs)
            meter = Meter(base)
            with agents(base.dsn, fleet) as started:
                cpu = Cpu(server, started)
                rate = drained(base, jobs)
                more = meter.wal(jobs) | cpu.per_job(jobs)
            more |= meter.commits(jobs)
        yield Sample("drain", f"agents: {fleet}", rate, "jobs/s", more=more)
