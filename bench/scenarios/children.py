"""Cost of runs inside a map, beside elements of a plain map, and finishes while runs are served.

The first figures are the CPU time of one session that drains a map, per element: of a plain map,
and of a map over a workflow with one node. Each batch of them is one call of finish_and_claim. With
--beside, the SQL of another checkout is measured in turn with this one.

The next figures are the time that one agent with four slots takes for such maps, per element, from
the enqueue to the end of the run by the clock of the database. Both kinds in turn, with bodies that
do nothing and with bodies that sleep.

The last figures are the times of finish_many in a session that works on runs of many nodes, in
a map of thousands, while a second session makes a tick each second. The end of a run opens the next
one, within the same call.
"""

from __future__ import annotations

import functools
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psutil

from bench.measure import percentiles, until
from bench.processes import agents, forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.hop import Tree
from bench.server import BenchError, Database, Server
from bench.sessions import FINISH, completed, connect
from qwf_agent import migrate

NODE = {"id": "n", "node": "node", "queue": "default", "inputs": {"x": {"$from": "x"}}}
EACH = {"id": "each", "map": {"$from": "items"}, "inputs": {"x": {"$from": "item"}}}
MAPS: dict[str, dict[str, Any]] = {
    "element of a plain map": {**EACH, "node": "node", "queue": "default", "max_parallel": 100},
    "run of one node": {**EACH, "kind": "workflow", "workflow": "one", "max_parallel": 100},
}
# The items are the seconds that the body of each element sleeps.
NAP = {"node": "nap", "queue": "default"}
NAPS: dict[str, dict[str, Any]] = {
    "element of a plain map": {**EACH, **NAP, "inputs": {"seconds": {"$from": "item"}}},
    "run of one node": {
        **EACH, "kind": "workflow", "workflow": "nap", "inputs": {"seconds": {"$from": "item"}},
    },
}  # fmt: skip
SLOTS = 4
BODIES_S = (0.0, 0.01)
TOOK = (
    "select extract(epoch from finished_at - created_at) from qwf.runs"
    " where id = %s and status = 'completed'"
)
ITEMS = "select jsonb_build_object('items', jsonb_agg(n)) from generate_series(1, %s) n"
# Each call reports the jobs that the one before has claimed, until there are none.
DRAIN = """
create procedure public.drain(p_batch int) language plpgsql as $$
declare
  v_reports jsonb := '[]';
begin
  loop
    select jsonb_agg(jsonb_build_object(
      'job_id', c.job_id, 'token', c.token, 'outcome', 'completed', 'output', '{"x": 1}'::jsonb,
      'detail', jsonb_build_object('cpu_seconds', 0.0001, 'max_rss_bytes', 12345678)))
      into v_reports
    from qwf.finish_and_claim(v_reports, 'default', 'drain', p_batch) c where c.verdict is null;
    commit;
    exit when v_reports is null;
  end loop;
end $$
"""
CLAIM = "select job_id, token, task, run_id from qwf.claim(%s, %s, %s)"
TICK_S = 1.0


@scenario("children")
@click.option("--elements", default=2_000, show_default=True, help="Elements of each map.")
@click.option("--batch", "batches", multiple=True, type=int, default=(1, 10), show_default=True)
@click.option(
    "--maps", default=5, show_default=True, help="Maps of each kind that an agent executes."
)
@click.option("--runs", default=10_000, show_default=True, help="Runs that are being served.")
@click.option("--nodes", default=50, show_default=True, help="Nodes of each of them.")
@click.option("--seconds", default=20.0, show_default=True, help="How long they are watched.")
@click.option(
    "--beside", "other", type=click.Path(exists=True, path_type=Path), metavar="PLAN",
    help="The sql/sqitch.plan of another checkout, measured in turn.",
)  # fmt: skip
def children(
    server: Server, elements: int, batches: tuple[int, ...], maps: int, runs: int, nodes: int,
    seconds: float, other: Path | None,
) -> Iterator[Sample]:  # fmt: skip
    """CPU time and time of a run inside a map, and finishes while thousands of runs are served."""
    trees = [Tree("qwf"), *([Tree("other checkout", other)] if other else [])]
    for batch in batches:
        for tree in trees:
            took = {}
            for name, each in MAPS.items():
                with server.database(tree.deploy if tree.plan else migrate.deploy) as base:
                    took[name] = cpu_us(base, each, elements, batch)
            plain_us, run_us = took.values()
            more = {"times_plain": run_us / plain_us}
            for name, value in took.items():
                yield Sample(
                    "children", f"{name}, batch {batch}", value, "us", system=tree.name,
                    more=more if value == run_us else {},
                )  # fmt: skip
    for body_s in BODIES_S if maps else ():
        with server.database() as base:
            yield from through_agent(base, maps, elements // 10, body_s)
    if seconds:
        with server.database() as base:
            yield from served(base, runs, nodes, seconds)


def register(base: Database, name: str, *steps: dict[str, Any]) -> None:
    base.value("select qwf.register_workflow(%s)", json.dumps({"name": name, "steps": steps}))


def start(base: Database, elements: int) -> None:
    base.value(f"select qwf.enqueue_run('map', ({ITEMS}))", elements)


def cpu_us(base: Database, each: dict[str, Any], elements: int, batch: int) -> float:
    """Microseconds of CPU time that a session needs per element, after some that do not count."""
    register(base, "one", NODE)
    register(base, "map", each)
    base.conn.execute("set synchronous_commit = off")
    base.conn.execute(DRAIN)
    start(base, 200)
    base.conn.execute(f"call public.drain({int(batch)})")
    process = psutil.Process(base.conn.info.backend_pid)
    before = sum(process.cpu_times()[:2])
    start(base, elements)
    base.conn.execute(f"call public.drain({int(batch)})")
    took = sum(process.cpu_times()[:2]) - before
    left = base.value("select count(*) from qwf.runs where status <> 'completed'")
    if left or not took:
        raise BenchError(
            f"{left} runs have not completed" if left
            else "too few elements: CPU time is read in hundredths of a second"
        )  # fmt: skip
    return 1e6 * took / elements


def through_agent(base: Database, maps: int, elements: int, body_s: float) -> Iterator[Sample]:
    """The time per element that an agent takes for maps of both kinds, in turn; the first of each
    do not count. The medians of this round."""
    register(base, "nap", {**NAP, "id": "n", "inputs": {"seconds": {"$from": "seconds"}}})
    for number, each in enumerate(NAPS.values()):
        register(base, f"map{number}", each)
    took: dict[str, list[float]] = {name: [] for name in NAPS}
    with agents(base.dsn, 1, "--slots", str(SLOTS)):
        for turn in range(maps + 1):
            for number, name in enumerate(NAPS):
                context = json.dumps({"items": [body_s] * elements})
                run = base.value("select qwf.enqueue_run(%s, %s)", f"map{number}", context)
                look = functools.partial(base.value, TOOK, run)
                if turn:
                    took[name].append(1e6 * float(until(look, "the map")) / elements)
                else:
                    until(look, "the first map")
    plain_us, run_us = (statistics.median(values) for values in took.values())
    for name, value in zip(NAPS, (plain_us, run_us), strict=True):
        yield Sample(
            "children", f"{name}, 1 agent, {SLOTS} slots, body {body_s * 1000:g} ms", value, "us",
            more={"times_plain": run_us / plain_us} if value == run_us else {},
        )  # fmt: skip


def ticking(index: int, dsn: str) -> None:
    """Make a tick each second until killed."""
    conn = connect(dsn)
    while True:
        conn.execute("select * from qwf.tick()")
        time.sleep(TICK_S)


def served(base: Database, runs: int, nodes: int, seconds: float) -> Iterator[Sample]:
    """The times of finishes of nodes of these runs, and of plain jobs, in one session."""
    register(base, "many", *({**NODE, "id": f"n{number}"} for number in range(nodes)))
    register(base, "map", {**MAPS["run of one node"], "workflow": "many"})
    base.value("select qwf.create_queue('plain')")
    start(base, runs)
    times: dict[str, list[float]] = {"a node": [], "the last node of a run": [], "a plain job": []}
    ended: Counter[int] = Counter()
    process = psutil.Process(base.conn.info.backend_pid)
    before, until = sum(process.cpu_times()[:2]), time.monotonic() + seconds
    with forked(1, ticking, base.dsn):
        while time.monotonic() < until:
            plain = ended.total() % 10 == 0 and len(times["a plain job"]) <= ended.total() / 10
            if plain:
                base.value("select qwf.enqueue('noop', queue => 'plain')")
            call = ("plain" if plain else "default", "session", 1)
            claimed = base.conn.execute(CLAIM, call).fetchone()
            if not claimed and ended.total() == runs * nodes:
                break
            if not claimed:  # the tick starts the next runs
                time.sleep(0.001)
                continue
            began = time.monotonic()
            base.conn.execute(FINISH, (completed([claimed[:3]]),))
            took = time.monotonic() - began
            ended.update([] if plain else [claimed[3]])
            last = not plain and ended[claimed[3]] == nodes
            kind = "a plain job" if plain else "the last node of a run" if last else "a node"
            times[kind].append(took)
    cpu_s = sum(process.cpu_times()[:2]) - before
    for name, found in times.items():
        if not found:
            raise BenchError(f"no finish of {name}: give it more seconds")
        ms = percentiles(found)
        yield Sample(
            "children", f"finish of {name}, {runs} runs of {nodes} nodes", ms.pop("p99"), "ms p99",
            more={**ms, "finishes": float(len(found))},
        )  # fmt: skip
    calls = sum(len(found) for found in times.values())
    yield Sample("children", "claim and finish of one of their nodes", 1e6 * cpu_s / calls, "us")
