"""Cost of an enqueue in each system: one by one and in bulk, while 20 workers listen."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.cpu import Cpu
from bench.measure import Meter
from bench.peers.producers import CLIENTS, Producer, client, counted
from bench.samples import Sample
from bench.server import Database, Server
from bench.sessions import pgbench

BULK = 1000
SETTLE_S = 2.5  # the first polls of a worker plan its statements


def enqueues(
    server: Server, there: list[Producer], producers: tuple[int, ...], seconds: float
) -> Iterator[Sample]:
    """One round: pgbench sends each system's statement. DBOS has none that would be enough, so its
    own client is compared with qwf's."""
    for number in producers:
        figure = f"one by one, {number} producers"
        for one in there:
            if one.statement:
                yield sample(server, one, figure, 1, number, seconds)
        for one in there:
            if one.name in CLIENTS:
                yield sample(server, one, f"{figure}, Python client", 0, number, seconds)
    for one in there:
        if one.statement:
            yield sample(server, one, f"{BULK:,} at once, 1 producers", BULK, 1, seconds)


def sample(
    server: Server, one: Producer, figure: str, jobs: int, number: int, seconds: float
) -> Sample:
    """The rate of `number` producers that send `jobs` at once, or of the system's client if that is
    0; and what a job costs the server."""
    with (
        server.database(one.deploy) as base,
        one.listeners(base),
        client(base, one, number if not jobs else 0),
    ):
        time.sleep(SETTLE_S)
        if jobs:
            rate(base, one, jobs, number, 1)  # the first ones of a session take longer
        meter, cpu, before = Meter(base), Cpu(server), int(base.value(one.jobs))
        value = rate(base, one, jobs, number, seconds)
        enqueued = max(1, int(base.value(one.jobs)) - before)
        more = meter.wal(enqueued) | cpu.per_job(enqueued)
    return Sample("enqueue", figure, value, "jobs/s", one.name, more)


def rate(base: Database, one: Producer, jobs: int, number: int, seconds: float) -> float:
    """Jobs per second."""
    if not one.statement or not jobs:
        return counted(base, one.jobs, seconds)
    script, values = one.statement(jobs)
    return jobs * pgbench(base.dsn, script, number, seconds, values)
