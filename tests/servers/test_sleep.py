"""A server that can sleep does so instead of being stopped, and wakes up for the next request."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from qwf_agent.servers.server import Demand
from support.harness import alive
from support.stepped import Driver

Drive = Callable[..., Driver]


def is_sleeping(one: Driver) -> bool:
    url = f"http://127.0.0.1:{one.server.stats(one.now)['port']}/is_sleeping"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bool(json.load(answer)["is_sleeping"])


def asleep(drive: Drive, hurry: float = 20) -> Driver:
    """A server that was idle for a second."""
    one = drive(hurry, sleep=True, idle="1 s")
    one.start()
    one.becomes("ready")
    one.becomes("asleep")
    return one


def test_an_idle_server_sleeps_in_its_process_and_wakes_up(drive: Drive) -> None:
    one = asleep(drive)
    pid = one.pid
    assert is_sleeping(one)
    assert not one.server.is_ready_for("tiny")
    one.demand = Demand(waiting={"tiny": one.now})
    one.server.wake(one.now, 1200.0)
    one.becomes("ready")
    assert not is_sleeping(one)
    assert one.server.is_ready_for("tiny")
    assert (one.pid, one.server.starts, one.server.crashes) == (pid, 1, 0)
    one.demand = Demand()
    one.becomes("asleep")


@pytest.mark.parametrize("refusal", ["sleep", "never sleep"])
def test_a_server_that_refuses_to_sleep_is_stopped_from_then_on(
    drive: Drive, tmp_path: Path, caplog: pytest.LogCaptureFixture, refusal: str
) -> None:
    (tmp_path / refusal).touch()
    one = drive(50, sleep=True, idle="1 s")
    one.start()
    one.becomes("ready")
    one.becomes("off")
    (tmp_path / refusal).unlink()
    one.start()
    one.becomes("ready")
    one.becomes("off")
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1, warnings
    why = "status 404" if refusal == "sleep" else "no answer within 60 s"
    assert f"does not sleep: /sleep?level=1: {why}" in warnings[0]
    assert one.server.crashes == 0


def test_a_server_that_refuses_to_wake_up_is_stopped_and_can_start_again(
    drive: Drive, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = asleep(drive)
    pid = one.pid
    (tmp_path / "wake_up").touch()
    one.server.wake(one.now, 1200.0)
    one.becomes("off")
    assert not alive(pid)
    assert "/wake_up: status 404" in caplog.text
    one.start()
    one.becomes("ready")
    one.becomes("off")
    assert (one.server.starts, one.server.crashes) == (2, 0)


def test_a_server_that_dies_asleep_is_off_and_not_failed(
    drive: Drive, caplog: pytest.LogCaptureFixture
) -> None:
    one = drive(20, sleep=True, idle="1 s")
    for count in range(1, 7):
        one.start()
        one.becomes("ready")
        one.becomes("asleep")
        os.kill(one.pid, signal.SIGKILL)
        one.until(lambda: one.server.state != "asleep", "its end")
        assert one.server.state == "off"
        assert (one.server.crashes, one.server.failures.broken) == (count, False)
    assert one.server.error == "signal 9 while it was asleep"
    assert caplog.text.count("ended: signal 9 while it was asleep") == 6


def test_a_server_that_dies_when_it_is_to_sleep_is_off(drive: Drive, tmp_path: Path) -> None:
    (tmp_path / "never sleep").touch()
    one = drive(sleep=True, idle="0.1 s")
    one.start()
    one.becomes("ready")
    one.becomes("draining")
    os.kill(one.pid, signal.SIGKILL)
    one.until(lambda: one.server.state != "draining", "its end")
    assert one.server.state == "off"
    assert one.server.error == "signal 9 while it was asleep"


@pytest.mark.parametrize("order", ["drain", "kill"])
def test_a_server_that_is_asleep_can_be_stopped(drive: Drive, order: str) -> None:
    one = asleep(drive)
    pid = one.pid
    getattr(one.server, order)(one.now)
    one.becomes("off")
    assert not alive(pid)
    assert (one.server.crashes, one.server.error) == (0, None)


@pytest.mark.parametrize(("order", "path"), [("sleep", "draining"), ("wake_up", "starting")])
def test_a_stop_does_not_wait_for_an_answer_of_the_server(
    drive: Drive, tmp_path: Path, order: str, path: str
) -> None:
    (tmp_path / f"never {order}").touch()
    one = drive(sleep=True, idle="0.1 s") if order == "sleep" else asleep(drive, 1)
    if order == "sleep":
        one.start()
        one.becomes("ready")
    else:
        one.server.wake(one.now, 1200.0)
    one.becomes(path)
    one.server.drain(one.now)
    one.step()
    assert one.server.state in ("stopping", "off")
    one.becomes("off")
    assert one.server.crashes == 0


def test_a_server_that_has_requests_in_flight_sleeps_after_them(drive: Drive) -> None:
    one = drive(20, sleep=True)
    one.start()
    one.becomes("ready")
    one.demand = Demand(inflight=1)
    one.step()
    one.server.give_way(one.now)
    begin = one.now
    one.until(lambda: one.now > begin + 5, "some time")
    assert one.server.state == "draining"
    assert one.server.is_alive(1)
    one.demand = Demand()
    one.becomes("asleep")
