"""Producers and consumers at the same time, the setup of pgqueuer's headline figure."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from bench import sessions
from bench.measure import ENDED, Meter
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Server

WARM_S = 1.0
BEHIND = 5_000  # producers wait while the queue is longer


@scenario("throughput", rounds=1)
@click.option("--seconds", default=10.0, show_default=True)
@click.option("--producers", default=1, show_default=True)
@click.option("--consumers", default=5, show_default=True)
@click.option("--batch", default=10, show_default=True, help="Batch size of both.")
def throughput(
    server: Server, seconds: float, producers: int, consumers: int, batch: int
) -> Iterator[Sample]:
    """Jobs per second while producers and consumers work at the same time, through the SQL API."""
    with (
        server.database() as base,
        forked(producers, sessions.produce, base.dsn, batch, BEHIND),
        forked(consumers, sessions.work, base.dsn, batch),
    ):
        time.sleep(min(WARM_S, seconds))
        meter, first, began = Meter(base), int(base.value(ENDED)), time.monotonic()
        time.sleep(seconds)
        done, took = int(base.value(ENDED)) - first, time.monotonic() - began
        more = meter.wal(max(1, done))
    figure = f"{producers} producers x {batch}, {consumers} consumers x {batch}"
    yield Sample("throughput", figure, done / took, "jobs/s", more=more)
