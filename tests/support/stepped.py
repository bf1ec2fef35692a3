"""Real model servers without an agent, stepped by a clock that may run faster."""

from __future__ import annotations

import selectors
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from qwf_agent.servers.config import read_servers
from qwf_agent.servers.own_server import OwnServer
from qwf_agent.servers.process import ServerProcess
from qwf_agent.servers.server import Demand
from qwf_agent.system.guardian import Guardian

PROGRAM = Path(__file__).resolve().parents[1] / "servers" / "user" / "obeying_server.py"
DEADLINE_S = 60.0
MOST_S = 0.02  # what the clock of a test takes note of at once
SILENT = ("deaf", "never *")  # files that keep the server from answering


def obeying(folder: Path, name: str = "one", **model: Any) -> dict[str, Any]:
    """The table of a server that obeys the files in the folder."""
    command = [sys.executable, str(PROGRAM), str(folder), "{port}"]
    return {"name": name, "command": command, "models": {"tiny": model}}


def awaits_answer(selector: selectors.BaseSelector) -> bool:
    """Return True if a request is under way: its answer takes as long as the machine likes."""
    return any(isinstance(key.fileobj, socket.socket) for key in selector.get_map().values())


class Clock:
    """Goes on with real time, or faster, but stands still while this process gets no turn."""

    def __init__(self) -> None:
        self.now = 0.0
        self._seen = time.monotonic()

    def go_on(self, hurry: float) -> None:
        seen, self._seen = self._seen, time.monotonic()
        self.now += min(self._seen - seen, MOST_S) * hurry


class Driver:
    """One server, stepped by a clock that is `hurry` times as fast, except while an answer is
    awaited."""

    def __init__(self, folder: Path, hurry: float, **keys: Any) -> None:
        table = {**obeying(folder), **keys}
        self.demand = Demand()
        self.selector = selectors.DefaultSelector()
        self.guardian = Guardian(None)
        self.server = OwnServer(
            read_servers([table])[0],
            self.selector,
            partial(ServerProcess, self.selector, self.guardian, None),
        )
        self._hurry = hurry
        self._folder = folder
        self._clock = Clock()

    @property
    def now(self) -> float:
        return self._clock.now

    @property
    def pid(self) -> int:
        return int(self.server.stats(self.now)["pid"])

    def start(self) -> None:
        self.server.start("tiny", self.now, 1200.0)

    def step(self) -> None:
        for key, _ in self.selector.select(0.002):
            key.data()
        silent = any(file for name in SILENT for file in self._folder.glob(name))
        patient = awaits_answer(self.selector) and not silent
        self._clock.go_on(1.0 if patient else self._hurry)
        self.server.step(self.now, self.demand)

    def until(self, look: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not look():
            assert time.monotonic() < deadline, f"{what}; it is {self.server.stats(self.now)}"
            self.step()

    def becomes(self, state: str) -> None:
        self.until(lambda: self.server.state == state, f"timed out waiting for {state}")

    def close(self) -> None:
        self.server.kill(self.now)
        self.until(lambda: not self.server.program.exists, "timed out waiting for its end")
        self.guardian.close()
