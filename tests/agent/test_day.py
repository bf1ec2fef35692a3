"""A day of operations on three different boxes: switched off and on, drained, paused, killed, cut
off and upgraded, while Postgres, PgBouncer and model servers die and work comes in. QWF_DAY_S sets
its length in seconds."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from support.bouncer import Bouncer, bouncer
from support.harness import Agent, Database, StartAgent, until
from support.llama import COMMAND, SERVE, tiny_model
from support.network import Box, boxes
from support.outcomes import ask, completed_runs, invariants, outcomes_per_node
from support.processes import with_variable

DAY_S = float(os.environ.get("QWF_DAY_S", "12"))
BOXES = {
    "attic": (
        *("--queue", "cpu", "--queue", "gpu", "--queue", "llm"),
        *("--gpu", "none", "--slots", "3"),
    ),
    "cellar": ("--queue", "gpu", "--gpu", "none", "--slots", "2"),
    "desk": ("--queue", "cpu", "--queue", "llm", "--slots", "2"),
}
QUEUES = [
    *(("attic", "cpu"), ("attic", "gpu"), ("attic", "llm")),
    *(("cellar", "gpu"), ("desk", "cpu"), ("desk", "llm")),
]
NODES = 5  # of a run
SERVER = """
[[server]]
name = "llama"
command = {command}
parallel = 2
[server.models.tiny]
path = "{path}"
"""
SERVER_KILLS_S = 150.0  # a server that fails five times in ten minutes is given up for a while
OLDEST = "desk"  # its agent runs all day: its memory shows leaks
POLLING = "cellar"  # without a session of its own, so nothing wakes it
CUT_S = (2.0, max(4.0, min(20.0, DAY_S / 20)))
WARM_UP_S = min(60.0, DAY_S / 2)  # until memory has reached its normal size
WARM_RUNS = 40  # and how many runs, on a slow machine
GROWTH_MB = 25.0
RECOVERY_S = 180.0
MARK = "TEST_DAY"  # model servers get no variables that begin with QWF_


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
                {"id": "say", "node": "llm", "queue": "llm", "model": "tiny",
                 "depends_on": ["prepare"], "inputs": {"prompt": "says", "max_tokens": 8}},
                {"id": "join", "node": "join", "depends_on": ["paint", "caption", "say"],
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

    def __init__(
        self, dsn: str, server: Any, pooler: Bouncer, places: dict[str, Box], start: StartAgent,
        home: Path,
    ) -> None:  # fmt: skip
        self.dsn, self.server, self.pooler, self.places = dsn, server, pooler, places
        self.mark = f"day-{os.getpid()}-{id(self)}"
        self.dice = random.Random(11)
        self.cut: dict[str, float] = {}  # when to reconnect the cable of a box
        self._start, self._home = start, home
        self._deck: list[Callable[[], str]] = []
        self.agents = {name: self.boot(name) for name in BOXES}
        self.events: Counter[str] = Counter()
        self.kill_server_at = 0.0
        self.complete = False  # everything has happened once

    def boot(self, name: str) -> Agent:
        address = self.places[name].gateway
        shared, own = (self.pooler.dsn(pool, address) for pool in ("shared", "own"))
        dsns = {"QWF_DSN": shared, "QWF_LISTEN_DSN": own} if name == OLDEST else {"QWF_DSN": own}
        return self._start(
            "--app", "modelling", "--host", name, *BOXES[name], "--lease", "5", "--grace", "5",
            "--out-root", str(self._home / "out"), inside=self.places[name].inside,
            **({"QWF_DSN": shared} if name == POLLING else dsns), **{MARK: self.mark},
        )  # fmt: skip

    def strike(self) -> None:
        """One event of the day. Each kind happens before any is repeated."""
        if not self._deck:
            self._deck = [
                *(self.switch, self.kill_child, self.kill_agent, self.upgrade),
                *(self.restart, self.restart_pooler, self.cut_off, self.kill_server),
                *(self.restart_pooler_gently, self.reload_pooler, self.pause_pooler),
                *([self.switch, self.switch, self.kill_child] if self.events else []),
            ]
            self.dice.shuffle(self._deck)
        self.mend()
        self.events[self._deck.pop()()] += 1
        self.complete = self.complete or not self._deck

    def enqueue(self, number: int) -> None:
        """Enqueue a run exactly once, even if the connection is lost."""
        workflow = self.dice.choice(["flux", "sdxl"])
        query = (
            "select qwf.enqueue_run(%s, context => jsonb_build_object('n', %s::int),"
            " key => %s, once => true)"
        )
        deadline = time.monotonic() + RECOVERY_S
        while True:
            try:
                with psycopg.connect(
                    self.pooler.shared, prepare_threshold=None, row_factory=dict_row
                ) as conn:
                    conn.execute(query, (workflow, number, str(number)))
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the pooler is not there"
                time.sleep(0.05)

    def switch(self) -> str:
        host, queue = self.dice.choice(QUEUES)
        policy = self.dice.choice(["hard", "drain", "pause"])
        order = (
            f"select qwf.worker_control('{host}', '{queue}', 'off', '{policy}', 'test',"
            f" until => qwf.now() + interval '2 s')"
        )
        ask(self.dsn, order)
        return f"off ({policy})"

    def kill_child(self) -> str:
        for child in self.agents[self.dice.choice(list(BOXES))].children()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return "child killed"

    def kill_server(self) -> str:
        serving = [pid for pid, command in self.processes().items() if str(SERVE) in command]
        if not serving or time.monotonic() < self.kill_server_at:
            return "no model server killed"
        self.kill_server_at = time.monotonic() + SERVER_KILLS_S
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.dice.choice(serving), signal.SIGKILL)
        return "model server killed"

    def kill_agent(self) -> str:
        name = self.mortal()
        self.agents[name].signal(signal.SIGKILL)
        self.agents[name].ended()
        self.agents[name] = self.boot(name)
        return "agent killed"

    def upgrade(self) -> str:
        name = self.mortal()
        assert self.agents[name].stop() == 0
        self.agents[name] = self.boot(name)
        return "agent upgraded"

    def restart(self) -> str:
        self.server.stop_immediate()
        self.server.start()
        return "Postgres killed"

    def restart_pooler(self) -> str:
        self.pooler.restart()
        return "PgBouncer killed"

    def restart_pooler_gently(self) -> str:
        self.pooler.restart_gently()
        return "PgBouncer restarted"

    def reload_pooler(self) -> str:
        self.pooler.reload()
        return "PgBouncer reloaded"

    def pause_pooler(self) -> str:
        self.pooler.pause()
        time.sleep(self.dice.uniform(0.1, 1.0))
        self.pooler.resume()
        return "PgBouncer paused"

    def cut_off(self) -> str:
        if not self.cut and self.places[OLDEST].namespace is not None:
            name = self.dice.choice(list(BOXES))
            self.places[name].cut()
            self.cut[name] = time.monotonic() + self.dice.uniform(*CUT_S)
            return "box cut off"
        return "nobody cut off"

    def mend(self, at_once: bool = False) -> None:
        for name, when in list(self.cut.items()):
            if at_once or time.monotonic() >= when:
                self.places[name].mend()
                del self.cut[name]

    def mortal(self) -> str:
        return self.dice.choice([name for name in BOXES if name not in (OLDEST, *self.cut)])

    def processes(self) -> dict[int, str]:
        """The processes of this day that run, and their commands."""
        return with_variable(MARK, self.mark)


def rss_mb(agent: Agent) -> float:
    text = Path(f"/proc/{agent.pid}/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_day_of_operations(dsn: str, server: Any, start: StartAgent, tmp_path: Path) -> None:
    base = Database(dsn)
    base.conn.execute("update qwf.settings set max_losses = 100, heartbeat = '1 s'")
    register(base)
    base.conn.close()
    path = tiny_model(tmp_path / "tiny.gguf")
    (tmp_path / "qwf.toml").write_text(SERVER.format(command=json.dumps(COMMAND), path=path))
    with boxes(list(BOXES)) as places, bouncer(dsn, {b.gateway for b in places.values()}) as pooler:
        day = Day(dsn, server, pooler, places, start, tmp_path)
        morning = time.monotonic()
        runs, warm_mb = 0, None
        while time.monotonic() < morning + DAY_S or not day.complete:
            for _ in range(8):
                runs += 1
                day.enqueue(runs)
            keep_up(dsn, runs - 24)
            day.strike()
            assert invariants(dsn) == [], day.events
            if warm_mb is None and runs > WARM_RUNS and time.monotonic() > morning + WARM_UP_S:
                warm_mb = rss_mb(day.agents[OLDEST])
        day.mend(at_once=True)
        finish(day, runs)
        grown_mb = rss_mb(day.agents[OLDEST]) - (warm_mb or 0.0)
        assert warm_mb is not None
        assert grown_mb < GROWTH_MB
        assert [agent.stop() for agent in day.agents.values()] == [0] * len(BOXES)
        until(lambda: not day.processes(), f"the end of {day.processes()}")
    attempts = "select coalesce(outcome, '') as outcome, count(*) from qwf.job_attempts group by 1"
    print(f"{runs} runs in {time.monotonic() - morning:.0f} s; events {dict(day.events)}; attempts",
          {row["outcome"]: row["count"] for row in ask(dsn, attempts)},
          f"memory of the oldest agent {warm_mb:.1f} MB + {grown_mb:.1f} MB")  # fmt: skip


def keep_up(dsn: str, runs: int) -> None:
    deadline = time.monotonic() + RECOVERY_S
    while completed_runs(dsn) < runs:
        assert time.monotonic() < deadline, "the work does not keep up"
        time.sleep(0.05)


def finish(day: Day, runs: int) -> None:
    """Wait until every run has completed; each outcome exists once and is correct."""
    deadline = time.monotonic() + RECOVERY_S
    while completed_runs(day.dsn) < runs:
        said = [agent.said()[-3000:] for agent in day.agents.values()]
        assert time.monotonic() < deadline, (day.events, said)
        time.sleep(0.2)
    assert invariants(day.dsn) == []
    assert outcomes_per_node(day.dsn) == {1: runs * NODES}
    wrong = (
        "select count(*) as n from qwf.jobs j join qwf.runs r on r.id = j.run_id"
        " where j.node_id = 'draw/join'"
        " and (j.output ->> 'sum')::int is distinct from 2 * ((r.context ->> 'n')::int + 1) + 110"
    )
    assert ask(day.dsn, wrong)[0]["n"] == 0


def test_boxes_keep_the_model_they_have_loaded(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Two boxes, two models, alternating jobs: each box runs most of its jobs with one model."""
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
    assert loads <= 12, "far fewer than the 40 jobs"
