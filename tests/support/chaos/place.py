"""Where a run of faults happens: the server, a box for each agent with a network of its own, and
the files that everybody writes outside the database."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row

from qwf_agent import embedded
from support.harness import PACKAGE, TESTS, Agent, clean_environment
from support.notes import note, read
from support.processes import with_variable
from support.proxy import Proxy
from support.servers import Server

ENDS = (0, -signal.SIGKILL, -signal.SIGTERM)  # of an agent; the last: it had only just started
PATIENCE_S = 240.0  # until the server answers, or an agent has stopped, on a slow machine
DURABLE = "box-c"  # its claims survive a crash of the server
BOXES = {
    "box-a": ("--queue", "default", "--queue", "cpu", "--slots", "3"),
    "box-b": ("--queue", "default", "--slots", "2"),
    DURABLE: ("--queue", "cpu", "--slots", "2", "--durable-claims"),
}
QUEUES = [("box-a", "default"), ("box-a", "cpu"), ("box-b", "default"), (DURABLE, "cpu")]

RESUME = """
select qwf.resume_queue(h.queue, task => h.task) from qwf.held_tasks h where h.until is not null
"""


@dataclass
class Box:
    """An agent, the network between it and the server, and its folder for outputs."""

    name: str
    proxy: Proxy
    log: Path
    agent: Agent
    told_to_end: bool = False  # the next end of the agent is what a fault asked for
    starts: int = 1


@dataclass
class Place:
    """Everything that faults hit. Invariant: `boxes` have an agent each, until `close`."""

    server: Server
    dsn: str
    home: Path
    data_disk: Path | None  # a small disk of the server's data; None: not a small one
    out_disk: Path | None  # a small disk of the outputs; None: not a small one
    boxes: dict[str, Box] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    crashes: list[tuple[float, float]] = field(default_factory=list)  # when the server may crash
    wrong: list[str] = field(default_factory=list)  # what is not as it should be while it goes on
    over: threading.Event = field(default_factory=threading.Event)  # nobody goes on after this

    @property
    def mark(self) -> str:
        """The value of a variable that all our processes inherit."""
        return str(self.home)

    @property
    def out(self) -> Path:
        return self.out_disk or self.home / "out"

    def proxy(self) -> Proxy:
        return Proxy(f"{self.server.host}/.s.PGSQL.{embedded.PORT}")

    def address(self, proxy: Proxy) -> str:
        """The address of the server behind a proxy."""
        return make_conninfo(
            self.dsn, host="127.0.0.1", port=proxy.port, sslmode="disable", connect_timeout=5
        )

    def start(self) -> None:
        (self.home / "mended").mkdir()
        (self.home / "saved").mkdir()
        for name in BOXES:
            proxy, log = self.proxy(), self.home / f"{name}.log"
            self.boxes[name] = Box(name, proxy, log, self._agent(name, proxy, log))

    def _agent(self, name: str, proxy: Proxy, log: Path) -> Agent:
        words = ["-m", "qwf_agent", "--app", "support.chaos.bodies", "--host", name, *BOXES[name],
                 "--gpu", "none", "--out-root", str(self.out)]  # fmt: skip
        environment = {
            **clean_environment(self.home),
            "PYTHONPATH": os.pathsep.join(map(str, (PACKAGE, TESTS))),
            "QWF_DSN": self.address(proxy),
            "CHAOS_DSN": self.dsn,
            "CHAOS_HOME": self.mark,
            "CHAOS_BOX": name,
        }
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, *words], cwd=self.home, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, env=environment, start_new_session=True,
            )  # fmt: skip
        return Agent(process, log)

    def keep_agents(self) -> None:
        """Start every agent again that has ended, as a service manager does."""
        for box in self.boxes.values():
            code = box.agent.process.poll()
            if code is None:
                continue
            if not box.told_to_end or code not in ENDS:
                last = box.agent.said().splitlines()[-5:]
                self.wrong.append(f"the agent of {box.name} ended by itself, with {code}: {last}")
            box.told_to_end = False
            box.agent = self._agent(box.name, box.proxy, box.log)
            box.starts += 1

    def session(self, patience_s: float = PATIENCE_S) -> psycopg.Connection[DictRow]:
        """A session that goes through no proxy, with so long for a statement. Raises psycopg.Error
        while the server is down."""
        options = f"-c statement_timeout={int(patience_s * 1000)}"
        return psycopg.connect(
            self.dsn, autocommit=True, row_factory=dict_row, connect_timeout=10, options=options
        )

    def resume_tasks(self) -> None:
        """Let every task go on that is held back, as a person does."""
        with contextlib.suppress(psycopg.Error):  # the hold is over meanwhile
            self.ask(RESUME)

    def ask(self, query: Any, *params: Any) -> list[DictRow]:
        """Rows of a query in a session of its own, again and again until the server answers."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                with self.session() as conn:
                    done = conn.execute(query, params or None)
                    return done.fetchall() if done.description else []
            except psycopg.Error as error:
                passing = error.sqlstate is None or error.sqlstate[:2] in ("53", "57", "40", "55")
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def note(self, file: str, **one: Any) -> None:
        """Write down what was acknowledged, or what is tried, before anything else is done."""
        note(self.home / file, one, durable=True)

    def notes(self, file: str) -> list[dict[str, Any]]:
        return read(self.home / file)

    def stop_agents(self) -> None:
        """Stop all agents as a service manager does, and look that nothing is left of them."""
        for box in self.boxes.values():
            box.agent.signal(signal.SIGTERM)
        for box in self.boxes.values():
            try:
                code = box.agent.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                code = None
            if code != 0:
                self.wrong.append(
                    f"the agent of {box.name} was told to stop, and ended with {code}"
                )
        deadline = time.monotonic() + PATIENCE_S
        while left := with_variable("CHAOS_HOME", self.mark):
            if time.monotonic() > deadline:
                self.wrong.append(f"processes are left: {left}")
                return
            time.sleep(0.05)

    def close(self) -> None:
        """End what is left."""
        self.over.set()
        for box in self.boxes.values():
            box.agent.process.kill()
            box.agent.process.wait()
            box.proxy.close()
        for pid in with_variable("CHAOS_HOME", self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def place(
    server: Server, dsn: str, home: Path, data_disk: Path | None = None,
    out_disk: Path | None = None,
) -> Iterator[Place]:  # fmt: skip
    """A place that lives as long as the context. Its agents start with `start`."""
    made = Place(server, dsn, home, data_disk, out_disk)
    try:
        yield made
    finally:
        made.close()
