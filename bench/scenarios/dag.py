"""How fast runs progress: chains, fans, maps, many runs at once, and many sessions on one run."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import click

from bench import sessions
from bench.cpu import Cpu
from bench.measure import Meter, drained, fill, until
from bench.processes import agents, forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

Nodes = list[dict[str, Any]]
UNENDED = "select coalesce(sum(open_nodes), 0) from qwf.runs"
ASLEEP = "select exists (select from qwf.sleepers)"


@scenario("dag", rounds=2)
@click.option("--runs", default=1_000, show_default=True, help="Runs of the chain of five.")
@click.option("--length", default=100, show_default=True, help="Nodes of the long chain.")
@click.option("--width", default=1_000, show_default=True, help="Siblings in the fan.")
@click.option("--elements", default=10_000, show_default=True, help="Elements of the map.")
@click.option("--concurrent", default=200, show_default=True, help="Diamond runs at the same time.")
@click.option("--batch", default=100, show_default=True, help="Batch size of SQL sessions.")
def dag(
    server: Server,
    runs: int,
    length: int,
    width: int,
    elements: int,
    concurrent: int,
    batch: int,
) -> Iterator[Sample]:
    """Nodes per second through the SQL API and through agents, and the time of one hop."""
    with server.database() as base:
        register(base, "chain", chain(5))
        yield many(
            server, base, "chain", runs, f"{runs} chains of 5, SQL, 4 sessions", sql(base, 4, batch)
        )
    with server.database() as base:
        register(base, "chain", chain(5))
        mislead(base)
        figure = f"{runs} chains of 5, SQL, statistics of jobs without runs"
        yield many(server, base, "chain", runs, figure, sql(base, 4, batch))
    with server.database() as base:
        register(base, "chain", chain(5))
        yield many(server, base, "chain", runs, f"{runs} chains of 5, 1 agent", agents(base.dsn, 1))
    with server.database() as base:
        register(base, "chain", chain(length))
        yield alone(base, "chain", f"one chain of {length}, 1 agent, per hop", 1000 / length, "ms")
    with server.database() as base:
        register(base, "fan", fan(width))
        yield alone(base, "fan", f"1 to {width} to 1, 1 agent", 1, "s")
    with server.database() as base:
        register(base, "map", over(elements))
        yield alone(base, "map", f"map of {elements}, 1 agent", 1, "s")
    with server.database() as base:
        register(base, "diamond", diamond())
        figure = f"{concurrent} runs of diamonds, 2 agents"
        yield many(server, base, "diamond", concurrent, figure, agents(base.dsn, 2))
    for number in (1, 8):
        with server.database() as base:
            register(base, "fan", fan(width))
            figure = f"one run of {width} siblings, SQL, {number} sessions"
            yield many(server, base, "fan", 1, figure, sql(base, number, 10))


def sql(base: Database, number: int, batch: int) -> AbstractContextManager[None]:
    """Run `number` sessions that use the SQL API."""
    return forked(number, sessions.work, base.dsn, batch)


def mislead(base: Database) -> None:
    """Make the statistics claim that jobs never belong to a run."""
    fill(base, 2_000, queue="elsewhere")
    base.conn.execute("vacuum analyze qwf.jobs")
    base.conn.execute("alter table qwf.jobs set (autovacuum_enabled = off)")


def many(
    server: Server,
    base: Database,
    workflow: str,
    runs: int,
    figure: str,
    fleet: AbstractContextManager[object],
) -> Sample:
    """Nodes per second over runs that are all queued before the fleet starts."""
    base.value("select count(qwf.enqueue_run(%s)) from generate_series(1, %s)", workflow, runs)
    nodes = int(base.value(UNENDED))
    meter, cpu = Meter(base), Cpu(server)
    with fleet:
        rate = drained(base, nodes, UNENDED)
        more = meter.wal(nodes) | cpu.per_job(nodes)
    more |= meter.commits(nodes)
    return Sample("dag", figure, rate, "nodes/s", more=more)


def alone(base: Database, workflow: str, figure: str, scale: float, unit: str) -> Sample:
    """How long an idle agent takes for one run, from the enqueue to its end, by the database's
    clock. Of two runs it takes the second, so that nothing is done for the first time."""
    took = 0.0
    with agents(base.dsn, 1):
        for _ in range(2):
            until(lambda: base.value(ASLEEP), "a sleeper")
            run = base.value("select qwf.enqueue_run(%s)", workflow)
            query = (
                "select extract(epoch from finished_at - created_at) from qwf.runs"
                " where id = %s and finished_at is not null"
            )
            took = float(until(functools.partial(base.value, query, run), "the run"))
    return Sample("dag", figure, took * scale, unit)


def register(base: Database, name: str, nodes: Nodes) -> None:
    """Register a workflow with one pipeline of these nodes."""
    pipeline = {"name": name, "nodes": nodes}
    steps = [{"id": "s", "kind": "pipeline", "pipeline": name}]
    base.value("select qwf.register_pipeline(%s)", json.dumps(pipeline))
    base.value("select qwf.register_workflow(%s)", json.dumps({"name": name, "steps": steps}))


def node(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    """A node on the default queue that reads from the first of its dependencies."""
    inputs = {"inputs": {"x": {"$from": f"{depends_on[0]}.x"}}} if depends_on else {}
    return {
        "id": name, "node": "node", "queue": "default", "depends_on": list(depends_on),
        **inputs, **more,
    }  # fmt: skip


def chain(length: int) -> Nodes:
    return [node(f"n{i}", *([f"n{i - 1}"] if i else [])) for i in range(length)]


def diamond() -> Nodes:
    return [node("a"), node("b", "a"), node("c", "a"), node("d", "a"), node("e", "b", "c", "d")]


def fan(width: int) -> Nodes:
    """One node, then `width` siblings, then one node that waits for all of them."""
    middle = [f"m{i}" for i in range(width)]
    return [node("first"), *(node(name, "first") for name in middle), node("last", *middle)]


def over(elements: int) -> Nodes:
    """A list, then a map over it."""
    return [
        node("list", node="list", inputs={"count": elements}),
        node("each", "list", map={"$from": "list.items"}, inputs={"x": {"$from": "item"}}),
    ]
