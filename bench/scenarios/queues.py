"""A fleet with a queue for each customer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import click

from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

CREATE = "select count(qwf.create_queue('q' || g)) from generate_series(1, %s) g"
JOBS = "select count(qwf.enqueue('noop', queue => 'q' || g)) from generate_series(1, %s) g"
LOOKS = {
    "queue_depth": "select count(*) from (select * from qwf.queue_depth) d",
    "a minute of history": "select _qwf.record_queues('2030-01-01'::timestamptz"
    " + random() * interval '1 year', qwf.now())",
    "tick": "select qwf.tick()",
}


@scenario("queues", rounds=1)
@click.option("--queues", "number", default=10_000, show_default=True)
@click.option("--calls", default=5, show_default=True, help="Timed calls of each kind.")
def queues(server: Server, number: int, calls: int) -> Iterator[Sample]:
    """Milliseconds of what looks at all queues, with none queued and with a job in each."""
    with server.database() as base:
        base.conn.execute("set client_min_messages = warning")
        base.value(CREATE, number)
        for content, fill in (("empty", None), ("with one job", JOBS)):
            if fill is not None:
                base.value(fill, number)
            for name, query in LOOKS.items():
                yield Sample("queues", f"{name}, {number:,} queues {content}",
                             median(base, query, calls), "ms")  # fmt: skip


def median(base: Database, query: str, calls: int) -> float:
    """Milliseconds of a call, after one that is not timed."""
    took = []
    for _ in range(calls + 1):
        began = time.perf_counter()
        base.value(query)
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took[1:])
