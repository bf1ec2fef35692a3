"""How long an idle and a busy fleet take from an enqueue to the start of the body.

The clock starts before the call of enqueue, whose commit waits for the disk. A disk that
sometimes flushes slowly causes the tail, so the time after that call is reported as well.

For the busy case, the agent's full rate is measured just before, on the same machine with many
jobs waiting, so it includes all overhead. Jobs then arrive at random at the given share of that
rate, in the same pattern every time, whether or not earlier ones have started. Queueing theory
predicts how long they wait: half a service time times load / (1 - load), on average.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

import click

from bench.claimers import serve_all
from bench.measure import drained, percentiles, until
from bench.processes import agents, forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

STARTED = """
    select id, (output ->> 'started')::float8
    from qwf.jobs where id = any (%s) and finished_at is not null
"""
ASLEEP = "select count(*) >= %s from qwf.sleepers"
NAP = "select qwf.enqueue('nap', '{\"seconds\": 0.005}')"
NAPS = """
    select count(*) from qwf.enqueue_many((
      select jsonb_agg('{"task": "nap", "args": {"seconds": 0.005}}'::jsonb)
      from generate_series(1, %s)))
"""


class Asked(NamedTuple):
    """When an enqueue was called, and when it returned."""

    at: float
    returned: float


class Delay(NamedTuple):
    """Seconds to the start of the body: in total, and since the enqueue returned."""

    whole: float
    after: float


@scenario("latency", rounds=1)
@click.option("--samples", default=200, show_default=True, help="Idle; ten times that when busy.")
@click.option("--claimers", default=20, show_default=True, help="Size of the large idle fleet.")
@click.option("--load", default=0.8, show_default=True, help="Load of the agent when busy.")
def latency(server: Server, samples: int, claimers: int, load: float) -> Iterator[Sample]:
    """Time from enqueue to body: one idle agent, many idle claimers, and a busy agent."""
    with server.database() as base:
        found = idle(base, agents(base.dsn, 1), 1, samples)
    yield sample("idle, 1 agent", found)
    with server.database() as base:
        found = idle(base, forked(1, serve_all, base.dsn, claimers), claimers, samples)
    yield sample(f"idle, {claimers} claimers", found)
    with server.database() as base, agents(base.dsn, 1):
        rate = capacity(base, samples)
        found = busy(base, 10 * samples, load * rate)
    yield sample(f"agent at {load:.0%} load", found, service=1000 / rate)


def sample(figure: str, delays: list[Delay], **more: float) -> Sample:
    """A sample of the p50, with the other percentiles as details."""
    ranks = percentiles([delay.whole for delay in delays])
    after = percentiles([delay.after for delay in delays])
    more = {"after_enqueue_p50": after["p50"], "after_enqueue_p99": after["p99"], **more}
    return Sample("latency", figure, ranks.pop("p50"), "ms", more=ranks | more)


def idle(
    base: Database, fleet: AbstractContextManager[object], size: int, samples: int
) -> list[Delay]:
    """Delays while the whole fleet sleeps."""
    with fleet:
        until(lambda: base.value(ASLEEP, size), "sleepers")
        time.sleep(0.5)
        asked: dict[int, Asked] = {}
        for _ in range(samples):
            ask(base, "select qwf.enqueue('stamp')", asked)
            time.sleep(0.03 + 0.03 * random.random())
        return delays(base, asked)


def capacity(base: Database, jobs: int) -> float:
    """How many naps of 5 ms the agent runs per second when many are queued, after it has learned
    how short they are."""
    for some in (jobs, 2 * jobs):
        base.value(NAPS, some)
        rate = drained(base, some)
    return rate


def busy(base: Database, samples: int, rate: float) -> list[Delay]:
    """Delays while naps arrive at this rate per second."""
    until(lambda: base.value(ASLEEP, 1), "a sleeper")
    gaps = random.Random(1)
    asked: dict[int, Asked] = {}
    next_at = time.monotonic()
    for _ in range(samples):
        time.sleep(max(0.0, next_at - time.monotonic()))
        next_at += gaps.expovariate(rate)
        ask(base, NAP, asked)
    return delays(base, asked)


def ask(base: Database, enqueue: str, asked: dict[int, Asked]) -> None:
    """Enqueue a job and record when."""
    at = time.time()
    job = int(base.value(enqueue))
    asked[job] = Asked(at, time.time())


def delays(base: Database, asked: dict[int, Asked]) -> list[Delay]:
    """The delays of all these jobs, once they have ended."""
    unfinished = "select not exists (select from qwf.jobs where finished_at is null)"
    until(lambda: base.value(unfinished), "the end of all jobs")
    started = dict(base.conn.execute(STARTED, (list(asked),)).fetchall())
    return [Delay(started[job] - one.at, started[job] - one.returned) for job, one in asked.items()]
