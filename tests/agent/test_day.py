"""A day of operations on three boxes: switched off and on, killed, restarted, and nothing is lost.

QWF_DAY_SECONDS says how long the day is; a real one takes ten minutes.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from harness import Agent, StartAgent, agents, until
from test_fleet import ask, invariants

import bouncer as pgbouncer

DAY_S = float(os.environ.get("QWF_DAY_SECONDS", "12"))
EVENING_S = 120.0
BACKLOG = 6  # runs that are enqueued ahead
GROWN_MB = 40.0  # what a parent may grow in a day
BOXES = {"box-a": ("cpu", "gpu"), "box-b": ("cpu", "gpu"), "box-c": ("cpu",)}
LOOSE = {"retry": {"max_attempts": 9, "max_losses": 99, "backoff": [0.1]}}

PIPELINE = {
    "name": "day",
    "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "nodes": [
        {"id": "prepare", "inputs": {"n": {"$from": "pipeline.n"}}},
        {"id": "part", "depends_on": ["prepare"], "map": {"$from": "prepare.items"},
         "max_parallel": 4, "inputs": {"item": {"$from": "item"}}},
        {"id": "draw", "depends_on": ["prepare"], "gpu": True, "model": "flux"},
        {"id": "doubtful", "depends_on": ["prepare"]},
        {"id": "hopeless", "depends_on": ["prepare"], "on_failure": "continue",
         "retry": {"max_attempts": 1, "max_losses": 99}},
        {"id": "total", "depends_on": ["part", "draw", "doubtful", "hopeless"],
         "inputs": {"parts": {"$from": "part"}}},
        {"id": "tidy", "depends_on": ["total"], "run_if": "all_done"},
    ],
}  # fmt: skip
WORKFLOW = {
    "name": "day",
    "steps": [
        {"id": "ok", "kind": "input", "widget": "confirm", "target": "yes"},
        {"id": "day", "kind": "pipeline", "pipeline": "day", "depends_on": ["ok"],
         "inputs": {"n": {"$from": "n"}}},
    ],
}  # fmt: skip


class Fleet:
    """Three boxes, and what an operator does to them."""

    def __init__(self, dsn: str, start: StartAgent, home: Path) -> None:
        self.dsn = dsn
        self.start = start
        self.home = home
        self.dice = random.Random(11)
        self.agents = {box: self.boot(box) for box in BOXES}
        self.grown: dict[str, float] = {}

    def boot(self, box: str) -> Agent:
        queues = [word for queue in BOXES[box] for word in ("--queue", queue)]
        card = ["--gpu", "none"] if "gpu" in BOXES[box] else []
        return self.start(
            "--host", box, *queues, *card, "--app", "daily", "--slots", "2", "--lease", "5",
            "--out-root", str(self.home / "out"),
        )  # fmt: skip

    def switch(self, state: str, policy: str = "hard") -> None:
        box = self.dice.choice(list(BOXES))
        queue = self.dice.choice(BOXES[box])
        ask(
            self.dsn,
            f"select qwf.worker_control('{box}', '{queue}', '{state}', '{policy}',"
            " until => qwf.now() + interval '2 s')",
        )

    def kill_parent(self) -> None:
        box = self.dice.choice(list(BOXES))
        self.agents[box].process.kill()
        self.agents[box].ended()
        self.agents[box] = self.boot(box)

    def kill_child(self) -> None:
        for child in self.dice.choice(list(self.agents.values())).children()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def stop_politely(self) -> None:
        box = self.dice.choice(list(BOXES))
        assert self.agents[box].stop() == 0
        self.agents[box] = self.boot(box)

    def memory_mb(self) -> dict[str, float]:
        return {
            box: psutil.Process(agent.pid).memory_info().rss / 1e6
            for box, agent in self.agents.items()
        }


@pytest.fixture
def pool(dsn: str) -> Iterator[Any]:
    """A PgBouncer between the agents and the database, where there is one."""
    if pgbouncer.PROGRAM is None:
        yield None
    else:
        with pgbouncer.bouncer(dsn) as running:
            yield running


def test_a_day_of_operations_loses_nothing(
    dsn: str, server: Any, pool: Any, tmp_path: Path
) -> None:
    for kind, definition in (("pipeline", PIPELINE), ("workflow", WORKFLOW)):
        if kind == "pipeline":
            definition = {**definition, "nodes": [LOOSE | node for node in PIPELINE["nodes"]]}
        ask(dsn, f"select qwf.register_{kind}('{json.dumps(definition)}')")

    def restart_postgres() -> None:
        server.stop_immediate()
        server.start()

    with agents(pool.own if pool else dsn, tmp_path) as start:
        fleet = Fleet(dsn, start, tmp_path)
        operations: list[Callable[[], None]] = [
            lambda: fleet.switch("off", "hard"), fleet.kill_child,
            lambda: fleet.switch("off", "drain"), fleet.kill_parent,
            lambda: fleet.switch("off", "pause"), restart_postgres,
            lambda: fleet.switch("on"), fleet.stop_politely,
            pool.restart if pool else fleet.kill_child,
        ]  # fmt: skip
        begun = fleet.memory_mb()
        evening = time.monotonic() + DAY_S
        runs = strikes = 0
        next_strike = time.monotonic() + DAY_S / 20
        while time.monotonic() < evening:
            runs += enqueue_ahead(dsn, runs)
            if time.monotonic() >= next_strike:
                operations[strikes % len(operations)]()
                strikes += 1
                next_strike = time.monotonic() + min(3.0, DAY_S / 15)
                assert invariants(dsn) == []
            time.sleep(0.1)

        ask(dsn, "delete from qwf.worker_controls returning host_label")
        until_all_end(dsn, fleet)
        assert invariants(dsn) == []
        assert ask(dsn, "select status::text, count(*)::int as n from qwf.runs group by 1") == [
            {"status": "completed", "n": runs}
        ]
        assert ask(dsn, OUTCOMES) == []
        assert wrong_totals(dsn) == 0
        for box, megabytes in fleet.memory_mb().items():
            assert megabytes - begun[box] < GROWN_MB, f"{box} has grown"
        for agent in fleet.agents.values():
            assert agent.stop() == 0
    until(lambda: not left_behind(tmp_path), "the end of every process")


# Jobs with a number of completed attempts that their state does not explain.
OUTCOMES = """
    select j.node_id, j.status::text, count(a.*)::int as completed
    from qwf.jobs j
    left join qwf.job_attempts a on a.job_id = j.id and a.outcome = 'completed'
    where j.queue is not null and j.elements is null
    group by j.id
    having count(a.*) <> (j.status = 'completed')::int
"""


def enqueue_ahead(dsn: str, runs: int) -> int:
    """Answers what is asked and keeps a few runs in the queue; how many it added."""
    ask(dsn, "select qwf.submit_input(run_id, node_id, 'true') from qwf.pending_inputs")
    waiting = ask(dsn, "select count(*)::int as n from qwf.runs where finished_at is null")
    new = max(0, BACKLOG - waiting[0]["n"])
    for number in range(runs, runs + new):
        ask(dsn, f"select qwf.enqueue_run('day', '{{\"n\": {number}}}', key => 'run {number}')")
    return new


def until_all_end(dsn: str, fleet: Fleet) -> None:
    deadline = time.monotonic() + EVENING_S
    while ask(dsn, "select 1 as n from qwf.runs where finished_at is null limit 1"):
        ask(dsn, "select qwf.submit_input(run_id, node_id, 'true') from qwf.pending_inputs")
        assert time.monotonic() < deadline, [a.said()[-1500:] for a in fleet.agents.values()]
        time.sleep(0.2)


def wrong_totals(dsn: str) -> int:
    rows = ask(
        dsn,
        "select r.context -> 'n' as n, j.output -> 'total' as total"
        " from qwf.runs r join qwf.jobs j on j.run_id = r.id and j.node_id = 'day/total'",
    )
    return sum(row["total"] != sum((row["n"] + k) ** 2 for k in range(8)) for row in rows)


def left_behind(home: Path) -> list[int]:
    """Processes with the environment of our agents that still run."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("QWF_HOME") == str(home / "qwf"):
                found.append(process.pid)
    return found
