"""The states of one server, with real processes and a clock that runs faster."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.servers.config import read_servers
from qwf_agent.servers.own_server import OwnServer
from qwf_agent.servers.process import ServerProcess
from qwf_agent.servers.program import STOP_S
from qwf_agent.servers.server import Demand
from qwf_agent.system.guardian import Guardian
from support.harness import alive, until
from support.stepped import Driver, obeying


def test_pauses_between_starts_become_longer_until_it_is_broken_and_tried_every_five_minutes(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    (tmp_path / "dead").touch()
    one = drive(hurry=100)
    pauses, failures = [], one.server.failures
    while not failures.broken:
        one.start()
        one.until(lambda: one.server.state in ("failed", "broken"), "timed out waiting")
        failed_at = one.server.since
        one.until(lambda: one.server.state == "off" or failures.broken, "timed out waiting")
        pauses.append(one.server.since - failed_at)
    wanted = [1.0, 2.0, 4.0, 8.0, 0.0]
    assert [at >= least for at, least in zip(pauses, wanted, strict=True)] == [True] * 5
    assert one.server.error == "exit code 1 at its start: dead"
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
    one.until(lambda: not one.server.program.exists, "timed out waiting for the command")
    assert said.read_text() == f"{port}\n"


def test_the_command_stop_runs_when_the_server_ends_by_itself(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    """As of a container whose client was killed: the next start would meet it."""
    stop = ["sh", "-c", f"echo stop >> {tmp_path}/said"]
    one = drive(stop=stop)
    one.start()
    one.becomes("ready")
    os.kill(one.pid, signal.SIGKILL)
    one.becomes("failed")
    one.becomes("off")
    assert (tmp_path / "said").read_text() == "stop\n"


def test_a_stop_that_hangs_is_killed_and_the_next_start_waits_for_it(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    said = tmp_path / "said"
    one = drive(hurry=20, stop=["sh", "-c", f"echo stop >> {said}; exec sleep 600"])
    one.start()
    one.becomes("ready")
    os.kill(one.pid, signal.SIGKILL)
    one.until(said.exists, "timed out waiting for the command")
    failed_at = one.server.since
    one.becomes("off")
    assert one.server.since >= failed_at + STOP_S
    assert not one.server.program.exists


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


def test_a_server_that_says_it_is_healthy_is_killed_when_no_request_makes_progress(
    drive: Callable[..., Driver],
) -> None:
    one = drive(hurry=50)
    one.start()
    one.becomes("ready")
    one.demand = Demand(inflight=2)
    for given_up, step in ("stalled", 1), ("timeout", 1), ("cancelled", 0):
        begin = one.now

        def wait(begin: float = begin, step: int = step) -> bool:
            one.demand.progress += step
            return one.now > begin + 20

        one.until(wait, "timed out")
        one.server.job_ended(given_up, 10.0)
        one.step()
        assert one.server.state == "ready", "another request made progress, or nobody gave up"
    one.server.job_ended(None, 10.0)
    one.server.job_ended("timeout", 10.0)
    one.step()
    assert one.server.state == "ready", "another one has just ended well"
    begin = one.now
    one.until(lambda: one.now > begin + 20, "timed out")
    one.server.job_ended("stalled", 10.0)
    one.becomes("failed")
    assert "no request made progress for 2" in str(one.server.error)


def test_a_server_that_lost_a_request_gets_no_other_one_before_it_is_healthy_again(
    drive: Callable[..., Driver], tmp_path: Path
) -> None:
    one = drive(hurry=5)
    one.start()
    one.becomes("ready")
    assert one.server.is_ready_for("tiny")
    one.server.job_ended("server", 10.0)
    begin = one.now
    assert not one.server.is_ready_for("tiny")
    one.until(lambda: one.server.is_ready_for("tiny"), "timed out")
    assert one.now >= begin + 1
    (tmp_path / "deaf").touch()
    one.server.job_ended("server", 10.0)
    one.until(lambda: one.server.state != "ready", "timed out")
    assert not one.server.is_ready_for("tiny")
    assert "no answer to 3 checks" in str(one.server.error)


def test_a_heartbeat_stays_short_whatever_a_server_says(drive: Callable[..., Driver]) -> None:
    one = drive(models={f"model-{number:04}": {} for number in range(2000)})
    one.server.start("model-0000", one.now, 1200.0)
    one.becomes("failed")
    assert "and 1995 more" in str(one.server.error)
    one.server.error = "x" * 100_000
    one.server.listed = frozenset({"tiny"})
    sent = one.server.stats(one.now)
    assert len(json.dumps(sent)) < 8_000
    assert len(sent["lacks"]) == 10


def test_what_a_stop_does_is_not_killed_with_the_group_of_the_server(tmp_path: Path) -> None:
    selector, guardian = selectors.DefaultSelector(), Guardian(None)
    members: list[int] = []

    class Group:  # of the system's control groups, which tests may not make
        def enter(self) -> None:
            (tmp_path / "member").write_text(str(os.getpid()))

        def kill(self) -> None:
            members.append(int((tmp_path / "member").read_text()))
            with contextlib.suppress(ProcessLookupError):
                os.kill(members[-1], signal.SIGKILL)

    group: Any = Group()
    table = {**obeying(tmp_path), "stop": ["sh", "-c", f"sleep 1; echo done > {tmp_path}/said"]}
    server = OwnServer(
        read_servers([table])[0], selector, partial(ServerProcess, selector, guardian, group),
        partial(ServerProcess, selector, guardian, None),
    )  # fmt: skip
    server.start("tiny", time.monotonic(), 60.0)

    def step() -> bool:
        for key, _ in selector.select(0.01):
            key.data()
        server.step(time.monotonic(), Demand())
        return server.state == "ready"

    until(step, "it to be ready")
    server.kill(time.monotonic())
    until(lambda: step() or not server.program.exists, "its end")
    guardian.close()
    assert members
    assert (tmp_path / "said").read_text() == "done\n"
