"""A fleet with many kills and restarts: nothing is lost, nothing is written twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.harness import Agent, Database, StartAgent, until
from support.outcomes import RECOVERY_S, ask, completed_runs, invariants, outcomes_per_node
from support.thorough import THOROUGH

RUNS = 200 if THOROUGH else 120
NODES = ["first", "second", "third", "fourth", "fifth"]


def test_runs_survive_kills_and_restarts(
    dsn: str, server: Any, start: StartAgent, tmp_path: Path
) -> None:
    """Runs of five nodes, agents and children killed with -9, Postgres restarted immediately."""
    base = Database(dsn)
    register(base)
    for number in range(RUNS):
        base.one("select qwf.enqueue_run('relay', context => %s)", json.dumps({"n": number}))
    base.conn.close()

    fleet = [new_agent(start, tmp_path) for _ in range(3)]
    dice = random.Random(7)
    for strike in range(8):
        wait_for_progress(dsn, (strike + 1) * RUNS * len(NODES) // 12)
        victim = dice.randrange(len(fleet))
        if strike % 4 == 1:
            fleet[victim].process.kill()
            fleet[victim].process.wait()
            fleet[victim] = new_agent(start, tmp_path)
        elif strike % 4 == 3:
            server.stop_immediate()
            server.start()
        else:
            for child in fleet[victim].children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        assert invariants(dsn) == []

    deadline = time.monotonic() + RECOVERY_S
    while completed_runs(dsn) < RUNS:
        assert time.monotonic() < deadline, [agent.said()[-2000:] for agent in fleet]
        assert invariants(dsn) == []
        time.sleep(0.2)

    assert invariants(dsn) == []
    assert outcomes_per_node(dsn) == {1: RUNS * len(NODES)}
    assert wrong_outputs(dsn) == 0
    for agent in fleet:
        assert agent.stop() == 0


def register(base: Database) -> None:
    nodes: list[dict[str, Any]] = [
        {"id": NODES[0], "node": "relay", "inputs": {"baton": {"$from": "pipeline.n"}}}
    ]
    nodes += [
        {"id": node, "node": "relay", "depends_on": [before],
         "inputs": {"baton": {"$from": f"{before}.baton"}}}
        for before, node in pairwise(NODES)
    ]  # fmt: skip
    base.one("select qwf.register_pipeline(%s)", json.dumps({"name": "relay", "nodes": nodes}))
    step = {"id": "relay", "kind": "pipeline", "pipeline": "relay", "inputs": {"n": {"$from": "n"}}}
    base.one("select qwf.register_workflow(%s)", json.dumps({"name": "relay", "steps": [step]}))


def new_agent(start: StartAgent, home: Path) -> Agent:
    return start(
        "--queue", "cpu", "--nodes", "steps", "--slots", "2", "--lease", "5",
        "--out-root", str(home / "out"),
    )  # fmt: skip


def wait_for_progress(dsn: str, nodes: int) -> None:
    """Wait until this many nodes have completed, so that strikes hit the work, not the clock."""
    query = "select count(*) n from qwf.jobs where status = 'completed'"
    until(lambda: ask(dsn, query)[0]["n"] >= nodes, f"{nodes} nodes")


def wrong_outputs(dsn: str) -> int:
    """Number of jobs whose output does not match their position in the relay."""
    query = (
        "select count(*) n from qwf.jobs j join qwf.runs r on r.id = j.run_id"
        " where (j.output -> 'baton')::int"
        "   is distinct from (r.context -> 'n')::int + j.node_idx + 1"
    )
    return int(ask(dsn, query)[0]["n"])
