"""Servers share a card with models that children load, and an agent with each other."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.harness import DRIVER, Agent, Database, StartAgent, alive, lines, until
from support.llama import COMMAND
from support.served import ask, holders, request, server, state

USER = Path(__file__).parent / "user"
OBEYING = (sys.executable, str(USER / "obeying_server.py"))


@pytest.fixture
def card(start: StartAgent, tmp_path: Path) -> Callable[..., Agent]:
    """Starts an agent that serves the queues llm and gpu with a card of 80 GiB."""
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 80 << 30]]))
    path = os.pathsep.join([DRIVER, str(USER)])

    def serve(*options: str) -> Agent:
        return start("--app", "drawing", "--queue", "gpu", "--gpu", "0", *options, PYTHONPATH=path,
                     FAKE_CARDS=str(cards), JOURNAL=str(tmp_path / "journal"))  # fmt: skip

    return serve


def draw(base: Database, **args: Any) -> int:
    return base.enqueue("draw", args, queue="gpu", model="flux")


def test_an_idle_server_and_an_idle_model_of_a_child_make_room_for_each_other(
    base: Database, card: Callable[..., Agent], configure: Any, tmp_path: Path
) -> None:
    configure(card=0, vram_gb=50)
    card()
    assert base.ended(ask(base))["status"] == "completed"
    assert base.ended(draw(base))["output"] == {"model": "flux"}
    assert state(base, "off")["crashes"] == 0
    assert base.ended(ask(base))["status"] == "completed"
    loaded = "select stats -> 'models' -> 0 ->> 'model' from qwf.workers where queue = 'gpu'"
    until(lambda: base.one(loaded) is None, "the heartbeat")
    assert base.ended(draw(base))["output"] == {"model": "flux"}
    assert lines(tmp_path / "journal") == ["load", "load"]
    assert state(base, "off")["starts"] == 2


def test_a_server_in_use_and_a_model_in_use_take_turns(
    base: Database, card: Callable[..., Agent], configure: Any, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set affinity_max_wait = '1 s'")
    configure(card=0, vram_gb=50)
    card()
    (request_,) = holders(base, tmp_path / "running", 1)
    until(lambda: list((tmp_path / "running").iterdir()), "one in flight")
    mark, gate = tmp_path / "drawing", tmp_path / "drawn"
    drawing = draw(base, mark=str(mark), until=str(gate))
    state(base, "draining")
    assert not mark.exists()
    (tmp_path / "gate").touch()
    assert base.ended(request_)["status"] == "completed"
    until(mark.exists, "the drawing to begin")
    later = [draw(base) for _ in range(3)]
    asked = ask(base)
    until(lambda: "no room" in (server(base)["error"] or ""), "the server to wait")
    gate.touch()
    for job in (drawing, asked, *later):
        assert base.ended(job)["status"] == "completed"
    assert [len(base.attempts(job)) for job in (request_, drawing, asked)] == [1, 1, 1]


def test_a_server_that_shares_its_card_gets_one_request_less_beside_a_job_on_it(
    base: Database, card: Callable[..., Agent], configure: Any, tmp_path: Path
) -> None:
    configure(card=0, vram_gb=20, parallel=2, share="minus one")
    card("--slots", "6")
    mark, gate = tmp_path / "drawing", tmp_path / "drawn"
    drawing = draw(base, mark=str(mark), until=str(gate))
    until(mark.exists, "the drawing to begin")
    running = tmp_path / "running"
    jobs = holders(base, running, 2)
    until(lambda: server(base).get("inflight") == 1, "one in flight")
    assert base.ended(base.enqueue("plain", {}, queue="llm"))["status"] == "completed"
    assert len(list(running.iterdir())) == 1
    gate.touch()
    until(lambda: len(list(running.iterdir())) == 2, "two in flight")
    (tmp_path / "gate").touch()
    for job in (drawing, *jobs):
        assert base.ended(job)["status"] == "completed"


def test_a_full_server_leaves_room_for_jobs_of_another_one(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure("full", parallel=1)
    configure("free", ("other",), parallel=1)
    start()
    with base.conn.transaction():
        jobs = holders(base, tmp_path / "running", 30)
    until(lambda: list((tmp_path / "running").iterdir()), "one in flight")
    other = base.ended(ask(base, "other"))
    assert other["output"]["model"] == "other"
    models = "select models from qwf.workers"
    until(lambda: base.one(models) == ["other"], "the model of the full server to be withdrawn")
    running = "select count(*) from qwf.jobs where status = 'running'"
    until(lambda: base.one(running) == 2, "one in flight, and one that waits")
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    assert base.one(models) == ["other", "tiny"]


def test_an_agent_lets_its_server_sleep_and_wakes_it_for_jobs_and_operators(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(command=(*OBEYING, str(tmp_path), "{port}"), idle="0.3 s", sleep=True)
    start()
    (tmp_path / "gate").touch()
    (job,) = holders(base, tmp_path / "running", 1)
    assert base.ended(job)["status"] == "completed"
    pid = state(base, "asleep")["pid"]
    (job,) = holders(base, tmp_path / "running", 1)
    assert base.ended(job)["status"] == "completed"
    found = state(base, "asleep")
    assert (found["pid"], found["starts"]) == (pid, 1)
    assert base.one("select models from qwf.workers") == ["tiny"]
    base.one("select qwf.configure_server('box', 'llm', idle => '0 s')")
    assert request(base, "load", "tiny")["error"] is None
    assert state(base, "ready")["pid"] == pid
    base.one("select qwf.configure_server('box', 'llm', idle => '0.3 s')")
    state(base, "asleep")
    assert request(base, "unload", "tiny")["error"] is None
    state(base, "off")
    assert not alive(pid)


def test_off_hard_kills_a_server_that_is_asleep(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(command=(*OBEYING, str(tmp_path), "{port}"), idle="0.3 s", sleep=True)
    start()
    assert request(base, "load", "tiny")["error"] is None
    pid = state(base, "asleep")["pid"]
    base.one("select qwf.worker_control('box', 'llm', 'off', 'hard')")
    until(lambda: not alive(pid), "the server to be killed")
    assert state(base, "off")["crashes"] == 0


def test_what_can_sleep_is_started_in_development_mode(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    command = ("sh", "-c", f'env > {tmp_path}/"$0"; exec "$@"')
    configure("awake", command=(*command, "awake.env", *COMMAND))
    configure("sleepy", ("other",), command=(*command, "sleepy.env", *COMMAND), sleep=True)
    start()
    for model in ("tiny", "other"):
        assert base.ended(ask(base, model))["status"] == "completed"
    assert "VLLM_SERVER_DEV_MODE=1\n" in (tmp_path / "sleepy.env").read_text()
    assert "VLLM_SERVER_DEV_MODE" not in (tmp_path / "awake.env").read_text()
