"""Engines that run and can be given workflows: qwf, and peers with a program of their own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil

from bench.processes import agents
from bench.server import BenchError, Database, of_tree
from bench.workflows.talk import ANSWER_S, Talk
from bench.workflows.work import STEP, Answer, Nodes, Work, leaves, marks, nodes

Processes = list[subprocess.Popen[bytes]]
LOOK_S = (0.001, 0.05)  # least and longest time between two looks whether a run has ended
UNENDED = "select array_agg(id) from qwf.runs where id = any (%s) and finished_at is null"
SUMS = """
    select jsonb_agg(output -> 'done') from qwf.jobs
    where run_id = any (%s) and node_id = any (%s) and parent_id is null
"""


@dataclass(frozen=True)
class Setting:
    """How many bodies run at once, and for how many seconds a worker that disappeared keeps its
    work; None: as long as the system itself sets."""

    workers: int = 2
    lease: float | None = None
    queued: bool = False  # the works are loose steps, for a fleet of processes


class Running(Protocol):
    """An engine with its workers."""

    base: Database | None  # where the engine keeps its state, if that is Postgres

    def ask(self, work: Work) -> Answer:
        """Run workflows, and wait for their end."""

    def begin(self, steps: int, path: Path) -> None:
        """Start a chain whose steps write to a file, and return at once."""

    def cpu_seconds(self) -> tuple[float, float]:
        """CPU time so far: of the servers, and of everything else."""

    def written(self) -> dict[str, float]:
        """Size of a log without commits, such as that of Redis, in bytes."""

    def stop(self) -> None:
        """Ask the workers to stop, and wait for their end."""

    def kill(self) -> None:
        """Kill the workers with all their processes, without warning."""

    def start(self) -> None:
        """Start the workers."""


class Qwf:
    """One agent with forked children; this process starts the runs, one call for each."""

    def __init__(self, server_pid: int, base: Database, setting: Setting) -> None:
        self.base: Database | None = base
        self._conn, self._dsn, self._server_pid = base.conn, base.dsn, server_pid
        self._options = ["--app", "bench.workflows.tasks", "--slots", str(setting.workers)]
        if setting.lease is not None:
            self._options += ["--lease", f"{setting.lease:g}"]
        self._workers = Workers(lambda: agents(self._dsn, 1, *self._options))
        self.stop, self.kill, self.start = (
            self._workers.stop, self._workers.kill, self._workers.start,
        )  # fmt: skip
        self._known: dict[str, str] = {}

    def ask(self, work: Work) -> Answer:
        name = self._registered(nodes(work))
        began, runs = time.perf_counter(), [self._enqueue(name) for _ in range(work.runs)]
        self._wait(runs)
        seconds = time.perf_counter() - began
        many = self._value(SUMS, runs, leaves(work))
        return Answer(seconds, [sum(one[place] for one in many) for place in range(3)])

    def begin(self, steps: int, path: Path) -> None:
        self._enqueue(self._registered(marks(steps, str(path))))

    def cpu_seconds(self) -> tuple[float, float]:
        return of_tree(self._server_pid), cpu_of(self._workers.started) + time.process_time()

    def written(self) -> dict[str, float]:
        return {}

    def _registered(self, those: Nodes) -> str:
        """The name of a workflow with these nodes."""
        text = json.dumps(those)
        if text not in self._known:
            name = self._known[text] = f"workflow-{len(self._known)}"
            steps = [{"id": STEP, "kind": "pipeline", "pipeline": name}]
            pipeline = json.dumps({"name": name, "nodes": those})
            self._value("select qwf.register_pipeline(%s)", pipeline)
            workflow = json.dumps({"name": name, "steps": steps})
            self._value("select qwf.register_workflow(%s)", workflow)
        return self._known[text]

    def _enqueue(self, name: str) -> int:
        return int(self._value("select qwf.enqueue_run(%s)", name))

    def _wait(self, runs: list[int]) -> None:
        began = time.monotonic()
        left: list[int] | None = runs
        while left := self._value(UNENDED, left):
            waited = time.monotonic() - began
            if waited > ANSWER_S:
                raise BenchError(f"qwf: {len(left)} of {len(runs)} runs have not ended")
            time.sleep(min(LOOK_S[1], max(LOOK_S[0], waited / 50)))

    def _value(self, query: str, *params: Any) -> Any:
        row = self._conn.execute(query, params).fetchone()
        return row[0] if row else None


class Peer:
    """A program that is asked, and workers beside it, unless the program itself runs the steps."""

    def __init__(
        self,
        servers: list[int],
        base: Database | None,
        program: Callable[[], AbstractContextManager[Talk]],
        workers: Callable[[], AbstractContextManager[Processes]] | None = None,
        written: Callable[[], dict[str, float]] = dict,
    ) -> None:
        self.base, self.written, self._servers = base, written, servers
        self._program = Program(program)
        self._workers = Workers(workers) if workers else None

    def ask(self, work: Work) -> Answer:
        return self._program.talk.ask(work)

    def begin(self, steps: int, path: Path) -> None:
        self._program.talk.begin(steps, path)

    def cpu_seconds(self) -> tuple[float, float]:
        others = [self._program.talk.process, *(self._workers.started if self._workers else [])]
        return sum(of_tree(pid) for pid in self._servers), cpu_of(others)

    def start(self) -> None:
        if self._workers:
            self._workers.start()
        if not (self._workers and self._program.started):
            self._program.start()

    def stop(self) -> None:
        self._program.stop()
        if self._workers:
            self._workers.stop()

    def kill(self) -> None:
        (self._workers or self._program).kill()


class Workers:
    """Processes that can be started, stopped and killed."""

    def __init__(self, make: Callable[[], AbstractContextManager[Processes]]) -> None:
        self._make, self._stack = make, contextlib.ExitStack()
        self.started: Processes = []

    def start(self) -> None:
        self.started = self._stack.enter_context(self._make())

    def stop(self) -> None:
        self._stack.close()

    def kill(self) -> None:
        kill_all(self.started)
        self._stack.close()


class Program:
    """A peer's program that can be started, stopped and killed."""

    def __init__(self, make: Callable[[], AbstractContextManager[Talk]]) -> None:
        self._make, self._stack = make, contextlib.ExitStack()
        self.started = False

    def start(self) -> None:
        self.talk = self._stack.enter_context(self._make())
        self.started = True

    def stop(self) -> None:
        self._stack.close()

    def kill(self) -> None:
        kill_all([self.talk.process])
        self._stack.close()


def kill_all(started: Processes) -> None:
    """Kill processes and all their descendants."""
    found = [psutil.Process(one.pid) for one in started]
    found += [child for one in found for child in one.children(recursive=True)]
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()


def cpu_of(started: Processes) -> float:
    """CPU seconds of processes and all their descendants."""
    return sum(of_tree(process.pid) for process in started)
