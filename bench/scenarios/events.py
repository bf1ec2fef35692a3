"""How long after its commit a reader has an event, at a high rate of ends of runs.

One process writes events as the ends of runs write them, another calls tick() as the agents do,
and a reader follows. The runs exist, so that numbering looks up their names.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import psycopg

from bench.measure import percentiles
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.dag import chain, register
from bench.server import Database, Server
from qwf_agent import events

TURNS = 20  # of the writer, in a second
RUNS = "select count(qwf.enqueue_run('w')) from generate_series(1, %s)"
ENDS = """
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select clock_timestamp(), (%s::bigint[])[1 + n %% %s], 'run_ended', 'w',
      '{"status": "completed", "seconds": 1.5}'
    from generate_series(1, %s) n
"""


@scenario("events", rounds=1)
@click.option("--rate", default=5_000, show_default=True, help="Events in a second.")
@click.option("--seconds", default=60.0, show_default=True)
@click.option("--runs", default=2_000, show_default=True, help="Runs that the events are about.")
def followed(server: Server, rate: int, seconds: float, runs: int) -> Iterator[Sample]:
    """Time from the commit of an event to its reader, while many runs end."""
    with server.database() as base:
        register(base, "w", chain(1))
        base.conn.execute(RUNS, [runs])
        ids = [row[0] for row in base.conn.execute("select id from qwf.runs").fetchall()]
        with forked(1, tick, base.dsn), forked(1, end, base.dsn, rate, ids, seconds):
            lags = list(read(base, seconds))
    ranks = percentiles(lags)
    more = ranks | {"events": float(len(lags))}
    yield Sample("events", f"{rate:,} a second", more.pop("p50"), "ms", more=more)


def end(_: int, dsn: str, rate: int, runs: list[int], seconds: float) -> None:
    """Write events at this rate; what is late is written with the next turn."""
    began = time.monotonic()
    written = 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while (passed := time.monotonic() - began) < seconds:
            due = int(passed * rate) - written
            conn.execute(ENDS, [runs, len(runs), due])
            written += due
            time.sleep(1 / TURNS)
        conn.execute("select qwf.create_queue('over')")


def tick(_: int, dsn: str) -> None:
    """Call tick() when it is due, as an agent does."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set client_min_messages = error")
        while True:
            row = conn.execute("select (qwf.tick() ->> 'next_due_s')::float8").fetchone()
            assert row
            time.sleep(1.0 if row[0] is None else min(1.0, row[0]))


def read(base: Database, seconds: float) -> Iterator[float]:
    """Seconds from the time of each event to its reader; ends with the event of the writer."""
    with psycopg.connect(base.dsn, autocommit=True) as conn:
        for event in events.follow(conn, after=0, look_s=min(10.0, seconds)):
            if event.subject == "over":
                return
            if event.kind == "run_ended":
                yield time.time() - event.at.timestamp()
