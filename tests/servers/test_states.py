"""The states of one server, with real processes and a clock that runs faster."""

from __future__ import annotations

import selectors
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.servers.config import read_servers
from qwf_agent.servers.process import ServerProcess
from qwf_agent.servers.server import Demand, OwnServer
from qwf_agent.system.guardian import Guardian
from support.harness import alive

PROGRAM = Path(__file__).parent / "user" / "obeying_server.py"
DEADLINE_S = 40.0


class Driver:
    """One server, stepped by a clock that is `hurry` times as fast."""

    def __init__(self, folder: Path, hurry: float, **keys: Any) -> None:
        command = [sys.executable, str(PROGRAM), str(folder), "{port}"]
        table = {"name": "one", "command": command, "models": {"tiny": {}}, **keys}
        self.demand = Demand()
        self.selector = selectors.DefaultSelector()
        self.guardian = Guardian(None)
        self.server = OwnServer(
            read_servers([table])[0],
            self.selector,
            partial(ServerProcess, self.selector, self.guardian, None),
        )
        self.hurry = hurry
        self._begin = time.monotonic()

    @property
    def now(self) -> float:
        return (time.monotonic() - self._begin) * self.hurry

    @property
    def pid(self) -> int:
        return int(self.server.stats(self.now)["pid"])

    def start(self) -> None:
        self.server.start("tiny", self.now, 1200.0)

    def step(self) -> None:
        for key, _ in self.selector.select(0.002):
            key.data()
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
        self.until(lambda: not self.server.has_process, "timed out waiting for its end")
        self.guardian.close()


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Makes servers that obey the files in `tmp_path`."""
    made = []

    def make(hurry: float = 1.0, **keys: Any) -> Driver:
        made.append(Driver(tmp_path, hurry, **keys))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_pauses_between_starts_become_longer_until_it_is_broken_and_tried_every_five_minutes(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    (tmp_path / "dead").touch()
    one = drive(hurry=100)
    pauses = []
    while not one.server.broken:
        one.start()
        one.until(lambda: one.server.state in ("failed", "broken"), "timed out waiting")
        failed_at = one.server.since
        one.until(lambda: one.server.state == "off" or one.server.broken, "timed out waiting")
        pauses.append(one.server.since - failed_at)
    wanted = [1.0, 2.0, 4.0, 8.0, 0.0]
    assert [at >= least for at, least in zip(pauses, wanted, strict=True)] == [True] * 5
    assert one.server.error == "exit code 1 at its start\ndead"
    assert not one.server.may_serve("tiny")
    broken_at = one.server.since
    one.until(lambda: one.server.due_for_retry(one.now), "timed out waiting for the next try")
    assert one.now >= broken_at + 300
    (tmp_path / "dead").unlink()
    one.start()
    one.becomes("ready")
    assert one.server.may_serve("tiny")


def test_a_clean_stop_forgets_earlier_failures(
    drive: Callable[..., Driver], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = drive(hurry=100, idle="1 s")
    for _ in range(2):
        (tmp_path / "dead").touch()
        one.start()
        one.becomes("failed")
        one.becomes("off")
        (tmp_path / "dead").unlink()
        one.start()
        one.becomes("ready")
        one.becomes("off")
    assert caplog.text.count("trying again in 1 s") == 2


def test_a_busy_server_that_answers_no_check_lives_while_its_requests_make_progress(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    one = drive(hurry=50)
    one.start()
    one.becomes("ready")
    one.demand = Demand(inflight=1)
    (tmp_path / "deaf").touch()
    begin = one.now

    def wait() -> bool:
        one.demand.progress += 1
        return one.now > begin + 60

    one.until(wait, "timed out")
    assert one.server.state == "ready"
    one.becomes("failed")
    assert "no answer to 3 checks: /health: no answer within 3 s" in str(one.server.error)


def test_a_server_that_ignores_sigterm_is_killed_after_ten_seconds(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    (tmp_path / "stubborn").touch()
    one = drive(hurry=50, idle="1 s")
    one.start()
    one.becomes("ready")
    pid = one.pid
    one.becomes("stopping")
    stopped_at = one.server.since
    one.becomes("off")
    assert one.server.since >= stopped_at + 10
    assert not alive(pid)
    assert one.server.crashes == 0


def test_the_command_stop_ends_what_is_no_process_of_it(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    said = tmp_path / "said"
    stop = ["sh", "-c", f'echo "$1" >> {said}; kill $(cat {tmp_path}/pid)', "stop", "{port}"]
    one = drive(idle="0.2 s", stop=stop)
    one.start()
    one.becomes("ready")
    (tmp_path / "pid").write_text(str(one.pid))
    port = one.server.stats(one.now)["port"]
    one.becomes("off")
    one.until(lambda: not one.server.has_process, "timed out waiting for the command")
    assert said.read_text() == f"{port}\n"


def test_requests_in_flight_are_waited_for_before_it_stops(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    one = drive(hurry=20)
    one.start()
    one.becomes("ready")
    one.demand = Demand(inflight=1)
    one.server.drain(one.now)
    begin = one.now
    one.until(lambda: one.now > begin + 5, "timed out")
    assert one.server.state == "draining"
    one.demand = Demand()
    one.becomes("off")
