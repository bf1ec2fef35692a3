"""Operators switch model servers off and on, choose between them, and load and unload models."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from support.harness import DRIVER, Database, StartAgent, alive, until
from support.llama import COMMAND, served
from support.served import ask, holders, request, server, state

# Starts a process in a session of its own whose parent ends at once, and becomes the server.
ORPHAN = """(setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" &); exec "$@\""""
SWITCH = "select qwf.worker_control('box', 'llm', %s, %s)"


def in_flight(base: Database, tmp_path: Path, count: int = 1) -> tuple[list[int], int]:
    """Jobs in flight, and the pid of their server."""
    folder = tmp_path / "running"
    jobs = holders(base, folder, count)
    until(lambda: len(list(folder.iterdir())) == count, "the jobs in flight")
    return jobs, int(state(base, "ready")["pid"])


def test_off_hard_kills_the_server_at_once_and_releases_its_jobs(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    start()
    (job,), pid = in_flight(base, tmp_path)
    base.one(SWITCH, "off", "hard")
    attempt = base.attempted(job)
    assert (attempt["outcome"], attempt["reason"]) == ("released", "worker_off")
    until(lambda: not alive(pid), "the server to be killed")
    assert state(base, "off")["crashes"] == 0
    (tmp_path / "gate").touch()
    base.one(SWITCH, "on", "drain")
    assert base.ended(job)["status"] == "completed"


def test_off_drain_lets_requests_finish_and_stops_the_server(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    start()
    (job,), pid = in_flight(base, tmp_path)
    base.one(SWITCH, "off", "drain")
    state(base, "draining")
    assert alive(pid)
    (tmp_path / "gate").touch()
    assert base.ended(job)["status"] == "completed"
    assert len(base.attempts(job)) == 1
    until(lambda: not alive(pid), "the server to be stopped")
    assert state(base, "off")["crashes"] == 0


def test_off_pause_keeps_the_server(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(idle="0.3 s")
    start()
    (job,), pid = in_flight(base, tmp_path)
    base.one(SWITCH, "off", "pause")
    (tmp_path / "gate").touch()
    assert base.ended(job)["status"] == "completed"
    until(lambda: server(base)["since_s"] > 1.5, "time without a request")
    assert state(base, "ready")["pid"] == pid
    base.one(SWITCH, "on", "drain")
    until(lambda: not alive(pid), "the idle server to be stopped")


def test_an_operator_loads_and_unloads_a_served_model(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure(models=("tiny", "other"))
    start()
    assert request(base, "load", "other")["error"] is None
    pid = state(base, "ready")["pid"]
    assert server(base)["model"] == "other"
    assert request(base, "unload", "tiny")["error"] is None, "it is not loaded"
    assert request(base, "load", "other")["error"] is None, "it is loaded already"
    assert alive(pid)
    assert request(base, "unload", None)["error"] is None
    until(lambda: not alive(pid), "the server to be stopped")


def test_limits_and_the_idle_time_are_changed_without_a_restart(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(parallel=1)
    agent = start()
    jobs, pid = in_flight(base, tmp_path)
    jobs += holders(base, tmp_path / "more", 2)
    change = "select qwf.configure_server('box', 'llm', parallel => %s, idle => %s)"
    base.one(change, 3, "0.3 s")
    until(lambda: len(list((tmp_path / "more").iterdir())) == 2, "three in flight")
    found = until(lambda: (now := server(base))["inflight"] == 3 and now, "the heartbeat")
    assert (found["pid"], found["parallel"], len(agent.children())) == (pid, 3, 3)
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    until(lambda: not alive(pid), "the idle server to be stopped")


def test_one_of_several_servers_is_chosen(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure("first")
    configure("second", models=("tiny", "other"))
    start()
    models = "select models from qwf.workers where stopped_at is null"
    assert base.one(models) == ["other", "tiny"]
    base.ended(ask(base))
    pid = state(base, "ready", "first")["pid"]
    base.one("select qwf.configure_server('box', 'llm', 'second')")
    until(lambda: not alive(pid), "the other server to be stopped")
    assert base.ended(ask(base))["status"] == "completed"
    state(base, "ready", "second")
    base.one("select qwf.configure_server('box', 'llm', 'first')")
    until(lambda: base.one(models) == ["tiny"], "models of others to be withdrawn")


def test_sigterm_drains_and_stops_the_server(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    agent = start()
    (job,), pid = in_flight(base, tmp_path)
    agent.signal(signal.SIGTERM)
    until(lambda: "stopping" in agent.said(), "the agent to drain")
    assert alive(pid)
    (tmp_path / "gate").touch()
    assert agent.ended() == 0
    assert not alive(pid)
    assert base.job(job)["status"] == "completed"


def test_a_second_sigterm_kills_the_server(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    agent = start()
    (job,), pid = in_flight(base, tmp_path)
    agent.signal(signal.SIGTERM)
    until(lambda: "stopping" in agent.said(), "the agent to drain")
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    assert not alive(pid)
    assert base.job(job)["status"] == "queued"


def test_a_killed_agent_takes_its_server_and_all_it_started_along(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    configure(command=("sh", "-c", ORPHAN, str(outside), *COMMAND))
    agent = start()
    base.ended(ask(base))
    pids = [state(base, "ready")["pid"], int(outside.read_text())]
    assert all(map(alive, pids))
    agent.signal(signal.SIGKILL)
    agent.ended()
    for pid in pids:
        until(lambda pid=pid: not alive(pid), "its processes to be killed")  # type: ignore[misc]


def test_what_a_server_started_in_a_session_of_its_own_ends_with_it(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    configure(command=("sh", "-c", ORPHAN, str(outside), *COMMAND), idle="0.3 s")
    start()
    base.ended(ask(base))
    pid = int(outside.read_text())
    state(base, "off")
    until(lambda: not alive(pid), "it to be killed")


def test_an_external_server_is_used_while_it_answers(
    base: Database, start: StartAgent, configure: Any, weights: Path
) -> None:
    with served(weights) as llama:
        configure("ours", url=llama.url)
        start()
        found = state(base, "ready", "ours")
        assert (found["port"], found["starts"]) == (llama.port, 0)
        assert base.ended(ask(base))["output"]["model"] == "tiny"
        llama.kill()
        job = base.enqueue("llm", {"prompt": "says"}, queue="llm", model="tiny")
        assert base.attempted(job)["reason"] == "server"
        state(base, "gone", "ours")
        until(lambda: base.one("select models from qwf.workers") == [], "the model to be withdrawn")
    with served(weights, port=llama.port):
        assert base.ended(job)["status"] == "completed"


def test_an_external_server_may_have_a_name(
    base: Database, start: StartAgent, configure: Any, weights: Path
) -> None:
    with served(weights) as llama:
        configure("ours", url=f"http://localhost:{llama.port}")
        configure("lost", url="http://nowhere.invalid", models=("other",))
        start()
        state(base, "ready", "ours")
        output = base.ended(ask(base))["output"]
        assert output["url"] == f"http://localhost:{llama.port}/v1"
        until(lambda: "no address" in (server(base, "lost")["error"] or ""), "the reason")
        assert base.one("select models from qwf.workers") == ["tiny"]


def test_two_servers_of_one_card_make_room_for_each_other(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set affinity_max_wait = '1 s'")
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 80 << 30]]))
    configure("first", models=("tiny",), card=0, vram_gb=50)
    configure("second", models=("other",), card=0, vram_gb=50)
    path = os.pathsep.join([DRIVER, str(Path(__file__).parent / "user")])
    start(FAKE_CARDS=str(cards), PYTHONPATH=path)
    base.ended(ask(base))
    assert base.ended(ask(base, "other"))["output"]["model"] == "other"
    assert state(base, "off", "first")["starts"] == 1
    folder = tmp_path / "running"
    (busy,) = holders(base, folder, 1, model="other")
    until(lambda: list(folder.iterdir()), "one in flight")
    job = ask(base)
    until(lambda: "no room for 51200 MiB" in (server(base, "first")["error"] or ""), "the wait")
    state(base, "draining", "second")
    (tmp_path / "gate").touch()
    assert base.ended(busy)["status"] == "completed"
    assert base.ended(job)["output"]["model"] == "tiny"


def test_the_server_sees_its_card_and_no_address_of_the_database(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    command = ("sh", "-c", f'env > {seen}; exec "$@"', "start", *COMMAND)
    configure(command=command, card=3, env={"OLLAMA_KEEP_ALIVE": "24h"})
    start()
    base.ended(ask(base))
    names = dict(line.partition("=")[::2] for line in seen.read_text().splitlines())
    assert names["CUDA_VISIBLE_DEVICES"] == names["HIP_VISIBLE_DEVICES"] == "3"
    assert names["HF_HUB_OFFLINE"] == "1"
    assert names["OLLAMA_KEEP_ALIVE"] == "24h"
    assert [name for name in names if name.startswith(("QWF_", "PG"))] == ["QWF_AGENT"]
