"""Cost of an idle fleet for Postgres."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from bench.measure import Meter, until
from bench.processes import agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Server

SETTLE_S = 45.0  # idle agents poll less and less often


@scenario("fleet", rounds=1)
@click.option("--agents", "number", default=100, show_default=True)
@click.option("--seconds", default=20.0, show_default=True)
@click.option("--settle", default=SETTLE_S, show_default=True, help="Seconds before measuring.")
def fleet(server: Server, number: int, seconds: float, settle: float) -> Iterator[Sample]:
    """CPU time of Postgres while this many real agents are idle, in percent of a core."""
    with server.database() as base, agents(base.dsn, number, "--grace", "0"):
        until(lambda: base.value("select count(*) >= %s from qwf.sleepers", number), "sleepers")
        time.sleep(settle)
        meter, used, began = Meter(base), server.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        percent = 100 * (server.cpu_seconds() - used) / took
        more = {
            "wal_bytes_per_s": meter.wal(took)["wal_bytes"],
            "commits_per_s": meter.commits(took)["commits"],
        }
    yield Sample("fleet", f"{number} idle agents", percent, "% of a core", more=more)
