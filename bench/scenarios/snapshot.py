"""The rate while an open transaction keeps vacuum from removing dead rows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import click
import psycopg

from bench import sessions
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.throughput import BEHIND
from bench.server import Database, Server

# Counts committed rows afterwards, so that counting does not disturb the measurement.
ENDS = """
    select count(*) from qwf.jobs
    where finished_at >= to_timestamp(%s) and finished_at < to_timestamp(%s)
"""


@scenario("snapshot", rounds=1)
@click.option("--seconds", default=20.0, show_default=True, help="With a snapshot; also without.")
@click.option("--producers", default=1, show_default=True)
@click.option("--consumers", default=5, show_default=True)
@click.option("--batch", default=10, show_default=True)
def snapshot(
    server: Server, seconds: float, producers: int, consumers: int, batch: int
) -> Iterator[Sample]:
    """Throughput with and without a held snapshot: the last quarter compared with the first."""
    for held in (False, True):
        with server.database() as base:
            with (
                holding(base.dsn) if held else contextlib.nullcontext(),
                forked(producers, sessions.produce, base.dsn, batch, BEHIND),
                forked(consumers, sessions.work, base.dsn, batch),
            ):
                time.sleep(min(1.0, seconds))
                began = time.time()
                time.sleep(seconds)
            yield rates(base, "held" if held else "not held", began, seconds)


def rates(
    base: Database, how: str, began: float, seconds: float, ends: str = ENDS, system: str = "qwf"
) -> Sample:
    """The rate in the last quarter of the time; as details, in the first quarter and overall."""
    quarter = seconds / 4
    first = int(base.value(ends, began, began + quarter)) / quarter
    last = int(base.value(ends, began + 3 * quarter, began + seconds)) / quarter
    number = int(base.value(ends, began, began + seconds))
    more = {"first_quarter": first, "overall": number / seconds, "jobs": float(number)}
    return Sample("snapshot", f"snapshot {how}, last quarter", last, "jobs/s", system, more)


@contextlib.contextmanager
def holding(dsn: str) -> Iterator[None]:
    """Hold a snapshot open."""
    with psycopg.connect(dsn) as conn:
        conn.execute("set transaction isolation level repeatable read")
        conn.execute("select 1")
        yield
