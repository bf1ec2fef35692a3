"""A model server that fails is started again, more and more rarely, and given up for a while."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from support.harness import Database, StartAgent, alive, until
from support.llama import COMMAND
from support.served import ask, chats, holders, request, server, state

CANNOT = ("sh", "-c", 'test -e works && exec "$@"; echo no such card >&2; exit 3', "start")


@pytest.mark.parametrize("task", ["chat_until", "ask_until"])
def test_a_request_that_loses_its_server_is_lost_and_runs_again(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, task: str
) -> None:
    configure()
    start()
    folder = tmp_path / "running"
    jobs = chats(base, folder, 4, task)
    until(lambda: folder.is_dir() and len(list(folder.iterdir())) == 4, "four in flight")
    os.kill(state(base, "ready")["pid"], signal.SIGKILL)
    for job in jobs:
        attempt = base.attempted(job)
        assert (attempt["outcome"], attempt["reason"]) == ("lost", "server")
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    found = state(base, "ready")
    assert (found["starts"], found["crashes"]) == (2, 1)


def test_a_body_that_does_not_see_the_end_of_its_server_is_ended(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    start()
    folder = tmp_path / "running"
    (job,) = holders(base, folder, 1)
    until(lambda: folder.is_dir() and list(folder.iterdir()), "one in flight")
    os.kill(state(base, "ready")["pid"], signal.SIGKILL)
    attempt = base.attempted(job)
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "server")
    assert "model server" in attempt["error"]
    (tmp_path / "gate").touch()
    assert base.ended(job)["status"] == "completed"


def test_a_server_that_serves_another_model_fails(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure(command=(*COMMAND[:-1], "wrong"))
    agent = start()
    ask(base)
    until(lambda: "serves wrong, not tiny" in (server(base).get("error") or ""), "the failure")
    assert "failed, trying again in 1 s: serves wrong, not tiny" in agent.said()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("no-such-server", "there is no program no-such-server in the PATH of the agent"),
        ("/no/such/server", "there is no program /no/such/server"),
        ("/", "cannot start /: Permission denied"),
    ],
)
def test_a_program_that_is_not_there_is_named(
    base: Database, start: StartAgent, configure: Any, program: str, said: str
) -> None:
    configure(command=(program, "{path}", "{port}"))
    start()
    ask(base)
    assert state(base, "failed")["error"] == f"exit code 127 at its start: {said}"


def test_what_a_server_printed_is_part_of_its_error(
    base: Database, start: StartAgent, configure: Any
) -> None:
    say = "echo loading tiny; echo out of memory; exit 1"
    configure(command=("sh", "-c", say, "{path}", "{port}"))
    start()
    ask(base)
    error = "exit code 1 at its start: out of memory\nloading tiny\nout of memory"
    assert state(base, "failed")["error"] == error


def test_a_server_that_is_never_healthy_fails_after_its_time(
    base: Database, start: StartAgent, configure: Any
) -> None:
    web = (sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "{port}")
    configure(command=web, start_timeout="6 s")
    start()
    ask(base)
    until(lambda: "not ready within 6 s" in (server(base).get("error") or ""), "the failure")
    assert "status 404" in server(base)["error"]


def test_a_server_that_hangs_is_killed(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    start()
    assert base.ended(ask(base))["status"] == "completed"
    found = state(base, "ready")
    os.kill(found["pid"], signal.SIGSTOP)
    until(lambda: not alive(found["pid"]), "the server to be killed")
    until(lambda: "no answer to 3 checks" in (server(base).get("error") or ""), "the reason")
    assert base.ended(ask(base))["status"] == "completed"


def test_a_server_that_fails_at_every_start_is_broken_and_can_be_healed(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(command=(*CANNOT, *COMMAND))
    agent = start()
    job = ask(base)
    found = state(base, "failed")
    until(lambda: f"waits there for its model server llama: failed: {found['error']}, next start"
          in base.one("select qwf.why_not(%s)", job), "the reason")  # fmt: skip
    assert found["error"] == "exit code 3 at its start: no such card"
    found = state(base, "broken")
    assert found["crashes"] == 5
    until(lambda: base.one("select models from qwf.workers") == [], "the model to be withdrawn")
    until(lambda: base.job(job)["status"] == "queued", "the job to be released")
    assert "is broken" in agent.said()
    event = base.one("select detail from _qwf.event_log where kind = 'server_broken'")
    assert (event["server"], event["error"]) == ("llama", found["error"])
    # A claim that was under way with the model takes the job once more, and it is released again.
    until(lambda: "is broken: exit code 3 at its start: no such card"
          in base.one("select qwf.why_not(%s)", job), "the reason")  # fmt: skip
    assert "no such card" in request(base, "load", "tiny")["error"]
    (tmp_path / "works").touch()
    assert request(base, "load", "tiny")["error"] is None
    assert base.ended(job)["status"] == "completed"
    assert state(base, "ready")["error"] is None
    assert base.one("select models from qwf.workers") == ["tiny"]


def test_a_port_that_another_process_took_is_no_failure(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    take = Path(__file__).parent / "user" / "take_port.py"
    configure(command=(sys.executable, str(take), str(tmp_path / "taken"), "{port}", *COMMAND))
    agent = start()
    assert base.ended(ask(base))["status"] == "completed"
    assert server(base)["crashes"] == 0
    assert "was taken, trying another" in agent.said()
