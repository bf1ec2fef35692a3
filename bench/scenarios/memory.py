"""How much memory an agent uses, and whether that grows with the jobs it has run."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import psutil

from bench.measure import LEFT, fill, until
from bench.processes import agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Server

MIB = 2**20


@scenario("memory", rounds=1)
@click.option("--jobs", default=50_000, show_default=True)
@click.option("--steps", default=5, show_default=True, help="How often to measure.")
def memory(server: Server, jobs: int, steps: int) -> Iterator[Sample]:
    """Resident memory of an agent's parent process, idle and after many jobs, in MiB."""
    with server.database() as base, agents(base.dsn, 1) as started:
        process = psutil.Process(started[0].pid)
        until(lambda: base.value("select exists (select from qwf.sleepers)"), "a sleeper")
        time.sleep(0.5)
        seen = [process.memory_info().rss / MIB]
        for _ in range(steps):
            fill(base, jobs // steps)
            until(lambda: not base.value(LEFT), "the end of all jobs", 600)
            seen.append(process.memory_info().rss / MIB)
        children = sum(child.memory_full_info().uss for child in process.children()) / MIB
    more = {"idle": seen[0], "after_a_few": seen[1], "largest": max(seen),
            "own_of_children": children}  # fmt: skip
    yield Sample("memory", f"agent, after {jobs:,} jobs", seen[-1], "MiB", more=more)
