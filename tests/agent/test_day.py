"""A day of operations on three unequal boxes: switched off and on, drained, paused, killed,
restarted, while work comes in. QWF_DAY_S makes it as long as one likes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Agent, Database, StartAgent, alive, until
from test_fleet import ask, completed_runs, invariants, outcomes_per_node

DAY_S = float(os.environ.get("QWF_DAY_S", "20"))
BOXES = {
    "attic": ("--queue", "cpu", "--queue", "gpu", "--gpu", "none", "--slots", "3"),
    "cellar": ("--queue", "gpu", "--gpu", "none", "--slots", "2"),
    "desk": ("--queue", "cpu", "--slots", "2"),
}
QUEUES = [("attic", "cpu"), ("attic", "gpu"), ("cellar", "gpu"), ("desk", "cpu")]
GROWTH_MB = 60
RECOVERY_S = 180.0


def register(base: Database) -> None:
    def pipeline(model: str) -> dict[str, Any]:
        n: Callable[[str], dict[str, str]] = lambda node: {"$from": f"{node}.n"}  # noqa: E731
        return {
            "name": f"draw_{model}",
            "nodes": [
                {"id": "prepare", "node": "prepare", "inputs": {"n": {"$from": "pipeline.n"}}},
                {"id": "paint", "node": "paint", "gpu": True, "model": model,
                 "depends_on": ["prepare"], "inputs": {"n": n("prepare")}},
                {"id": "caption", "node": "caption", "gpu": True, "light": True,
                 "depends_on": ["prepare"], "inputs": {"n": n("prepare")}},
                {"id": "join", "node": "join", "depends_on": ["paint", "caption"],
                 "inputs": {"painted": n("paint"), "captioned": n("caption")}},
            ],
        }  # fmt: skip

    for model in ("flux", "sdxl"):
        base.one("select qwf.register_pipeline(%s)", json.dumps(pipeline(model)))
        step = {"id": "draw", "kind": "pipeline", "pipeline": f"draw_{model}",
                "inputs": {"n": {"$from": "n"}}}  # fmt: skip
        workflow = {"name": model, "steps": [step]}
        base.one("select qwf.register_workflow(%s)", json.dumps(workflow))


class Day:
    """The boxes, and what happens to them."""

    def __init__(self, dsn: str, server: Any, start: StartAgent, home: Path) -> None:
        self.dsn, self.server = dsn, server
        self._start, self._home = start, home
        self.dice = random.Random(11)
        self.boxes = {name: self.boot(name) for name in BOXES}
        self.seen: set[int] = set()

    def boot(self, name: str) -> Agent:
        return self._start(
            "--app", "modelling", "--host", name, *BOXES[name], "--lease", "5", "--grace", "5",
            "--out-root", str(self._home / "out"),
        )  # fmt: skip

    def strike(self) -> str:
        """One event of the day; everything that is down comes up again by itself or in the next."""
        for agent in self.boxes.values():
            self.seen |= {agent.pid, *agent.processes()}
        event = self.dice.choice(
            [self.switch, self.switch, self.kill_child, self.kill_agent, self.upgrade, self.restart]
        )
        return event()

    def switch(self) -> str:
        host, queue = self.dice.choice(QUEUES)
        policy = self.dice.choice(["hard", "drain", "pause"])
        order = (
            f"select qwf.worker_control('{host}', '{queue}', 'off', '{policy}', 'test',"
            f" until => qwf.now() + interval '2 s')"
        )
        ask(self.dsn, order)
        return f"{host} {queue} off ({policy})"

    def kill_child(self) -> str:
        name = self.dice.choice(list(BOXES))
        for child in self.boxes[name].children()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return f"a child of {name} killed"

    def kill_agent(self) -> str:
        name = self.dice.choice(list(BOXES))
        self.boxes[name].signal(signal.SIGKILL)
        self.boxes[name].ended()
        self.boxes[name] = self.boot(name)
        return f"{name} killed"

    def upgrade(self) -> str:
        name = self.dice.choice(list(BOXES))
        assert self.boxes[name].stop() == 0
        self.boxes[name] = self.boot(name)
        return f"{name} stopped and started anew"

    def restart(self) -> str:
        self.server.stop_immediate()
        self.server.start()
        return "Postgres killed"


def rss_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def wait_for_runs(dsn: str, number: int) -> None:
    until(lambda: completed_runs(dsn) >= number, "the work to keep up")


def test_a_day_of_operations(dsn: str, server: Any, start: StartAgent, tmp_path: Path) -> None:
    base = Database(dsn)
    base.conn.execute("update qwf.settings set max_losses = 100, heartbeat = '1 s'")
    register(base)
    base.conn.close()
    day = Day(dsn, server, start, tmp_path)
    survivor = day.boxes["desk"].pid, rss_mb(day.boxes["desk"].pid)
    runs, events = 0, []
    evening = time.monotonic() + DAY_S
    while time.monotonic() < evening:
        workflow = day.dice.choice(["flux", "sdxl"])
        for _ in range(8):
            runs += 1
            query = f"select qwf.enqueue_run('{workflow}', context => '{{\"n\": {runs}}}')"
            ask(dsn, query)
        wait_for_runs(dsn, runs - 24)
        events.append(day.strike())
        assert invariants(dsn) == [], events

    deadline = time.monotonic() + RECOVERY_S
    while completed_runs(dsn) < runs:
        assert time.monotonic() < deadline, (events, [b.said()[-3000:] for b in day.boxes.values()])
        time.sleep(0.2)
    assert invariants(dsn) == []
    assert outcomes_per_node(dsn) == {1: runs * 4}
    wrong = (
        "select count(*) as n from qwf.jobs j join qwf.runs r on r.id = j.run_id"
        " where j.node_id = 'draw/join'"
        " and (j.output ->> 'sum')::int is distinct from 2 * ((r.context ->> 'n')::int + 1) + 110"
    )
    assert ask(dsn, wrong)[0]["n"] == 0
    if survivor[0] == day.boxes["desk"].pid:
        assert rss_mb(survivor[0]) < survivor[1] + GROWTH_MB
    for agent in day.boxes.values():
        day.seen |= {agent.pid, *agent.processes()}
        assert agent.stop() == 0
    until(lambda: not any(alive(pid) for pid in day.seen), "the end of every process")
    print(f"{runs} runs, {len(events)} events: {', '.join(events)}")


def test_a_fleet_shares_out_models(base: Database, start: StartAgent, tmp_path: Path) -> None:
    """Two boxes, two models, jobs in turn: each box stays with one model for most of them."""
    journals = [tmp_path / f"journal {n}" for n in range(2)]
    for number, journal in enumerate(journals):
        start("--app", "modelling", "--queue", "gpu", "--gpu", "none", "--host", f"box {number}",
              JOURNAL=str(journal))  # fmt: skip
    with base.conn.transaction():
        ids = [
            base.enqueue("paint", {"n": n}, queue="gpu", model=("flux", "sdxl")[n % 2])
            for n in range(40)
        ]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    loads = sum(journal.read_text().count("\nload") + 1 for journal in journals if journal.exists())
    assert loads <= 12, "not one for each of the 40"
