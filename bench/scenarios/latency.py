"""How long an idle fleet takes from an enqueue to the start of the body, and a busy one."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import click

from bench.claimers import serve_all
from bench.measure import percentiles, until
from bench.processes import agents, forked
from bench.results import Sample
from bench.scenario import scenario
from bench.server import Database, Server

STARTED = """
    select (output ->> 'started')::float8
    from qwf.jobs where id = any (%s) and finished_at is not null order by id
"""
ASLEEP = "select count(*) >= %s from qwf.sleepers"


@scenario("latency", rounds=1)
@click.option("--samples", default=200, show_default=True)
@click.option("--claimers", default=20, show_default=True, help="Of the large idle fleet.")
@click.option("--load", default=0.8, show_default=True, help="Of the agent in the busy case.")
def latency(server: Server, samples: int, claimers: int, load: float) -> Iterator[Sample]:
    """Enqueue to start of the body: one idle agent, many idle claimers, and a busy agent."""
    with server.database() as base:
        found = idle(base, agents(base.dsn, 1), 1, samples)
    yield sample("idle, 1 agent", found)
    with server.database() as base:
        found = idle(base, forked(1, serve_all, base.dsn, claimers), claimers, samples)
    yield sample(f"idle, {claimers} claimers", found)
    with server.database() as base:
        found = busy(base, samples, load)
    yield sample(f"agent at {load:.0%} load", found)


def sample(figure: str, seconds: list[float]) -> Sample:
    """p50, and the others besides."""
    ranks = percentiles(seconds)
    return Sample("latency", figure, ranks.pop("p50"), "ms", more=ranks)


def idle(
    base: Database, fleet: AbstractContextManager[object], size: int, samples: int
) -> list[float]:
    """Seconds from before the enqueue to the start of the body, while all sleep."""
    with fleet:
        until(lambda: base.value(ASLEEP, size), "sleepers")
        time.sleep(0.5)
        asked = {}
        for _ in range(samples):
            at = time.time()
            asked[int(base.value("select qwf.enqueue('stamp')"))] = at
            time.sleep(0.03 + 0.03 * random.random())
        return delays(base, asked)


def busy(base: Database, samples: int, load: float) -> list[float]:
    """The same with one agent that naps of 5 ms keep busy for that part of its time."""
    nap_s = 0.005
    with agents(base.dsn, 1):
        until(lambda: base.value(ASLEEP, 1), "a sleeper")
        asked: dict[int, float] = {}
        next_at = time.monotonic()
        while len(asked) < samples:
            base.value(
                "select qwf.enqueue('nap', jsonb_build_object('seconds', %s::float8))", nap_s
            )
            next_at += random.expovariate(load / nap_s)
            if random.random() < 0.1:
                at = time.time()
                asked[int(base.value("select qwf.enqueue('stamp')"))] = at
            time.sleep(max(0.0, next_at - time.monotonic()))
        return delays(base, asked)


def delays(base: Database, asked: dict[int, float]) -> list[float]:
    """Seconds from asking to starting, once all have ended."""
    ids = list(asked)
    unfinished = "select not exists (select from qwf.jobs where finished_at is null)"
    until(lambda: base.value(unfinished), "the end of all jobs")
    started = [row[0] for row in base.conn.execute(STARTED, (ids,)).fetchall()]
    return [at - asked[job] for at, job in zip(started, sorted(ids), strict=True)]
