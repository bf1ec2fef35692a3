"""An agent starts the model server that a job needs, shares it between jobs, and stops it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.harness import Database, StartAgent, until
from support.llama import COMMAND
from support.served import ask, busy, chats, holders, server, state


def test_the_first_job_starts_the_server_and_the_second_shares_it(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure()
    start()
    assert server(base)["state"] in (None, "off")
    first = base.ended(ask(base))
    assert first["output"]["model"] == "tiny"
    assert base.ended(ask(base))["output"] == first["output"], "the same address"
    found = state(base, "ready")
    assert (found["starts"], found["crashes"], found["error"]) == (1, 0, None)
    assert found["model"] == "tiny"
    assert base.one("select current_model from qwf.workers") == "tiny"


def test_what_it_can_serve_is_registered(base: Database, start: StartAgent, configure: Any) -> None:
    configure(idle="10min", card="none")
    start()
    row = base.conn.execute("select models, slots, servers, tasks from qwf.workers").fetchone()
    assert row is not None
    assert (row["models"], row["slots"]) == (["tiny"], 4)
    assert "llm" in row["tasks"]
    assert row["servers"] == [{
        "name": "llama", "kind": "openai", "external": False, "parallel": 4, "idle_s": 600,
        "card": "none", "models": {"tiny": None},
    }]  # fmt: skip


def test_no_more_requests_are_in_flight_than_the_server_takes(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(parallel=2)
    start("--slots", "6")
    folder = tmp_path / "running"
    jobs = holders(base, folder, 5)
    until(lambda: len(list(folder.iterdir())) == 2, "two in flight")
    other = base.ended(base.enqueue("plain", {}, queue="llm"))
    assert other["status"] == "completed", "jobs that wait for the server delay no other"
    look = "select (stats ->> 'backlog')::int from qwf.workers"
    until(lambda: base.one(look) == 2, "as many to wait as it takes at once")
    running = "select count(*) from qwf.jobs where status = 'running'"
    until(lambda: base.one(running) == 4, "the last one to be released")
    assert state(base, "ready")["inflight"] == len(list(folder.iterdir())) == 2
    why = "and waits there for its model server llama: ready, 2 of 2 requests in flight"
    until(lambda: len(server(base)["waiting"]) == 2, "a heartbeat about those that wait")
    reasons = [base.one("select qwf.why_not(%s)", job) for job in jobs]
    assert [why in reason for reason in reasons].count(True) == 2, reasons
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"


def test_its_requests_run_side_by_side(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    """The server itself would take eight."""
    configure(command=(*COMMAND[:-2], "8", COMMAND[-1]), parallel=4)
    start("--slots", "8")
    jobs = chats(base, tmp_path / "running", 8)
    port = state(base, "ready")["port"]
    until(lambda: busy(port) == 4, "four at once")
    assert max(busy(port) for _ in range(100)) == 4
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"


def test_jobs_that_wait_for_a_start_leave_room_for_others(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    slow = 'until test -e ready; do sleep 0.1; done; exec "$@"'
    configure("slow", ("other",), command=("sh", "-c", slow, "start", *COMMAND), parallel=4)
    configure("quick", parallel=2)
    start("--slots", "2")
    with base.conn.transaction():
        others = [ask(base, "other") for _ in range(30)]
    models = "select models from qwf.workers"
    until(lambda: base.one(models) == ["tiny"], "the model to be withdrawn until it is ready")
    assert base.ended(ask(base))["output"]["model"] == "tiny"
    running = "select count(*) from qwf.jobs where status = 'running'"
    until(lambda: base.one(running) == 2, "the rest to be released")
    (tmp_path / "ready").touch()
    for job in others:
        assert base.ended(job)["status"] == "completed"
    assert base.one(models) == ["other", "tiny"]


def test_a_box_takes_no_more_jobs_than_it_has_places_while_its_server_starts(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    slow = 'until test -e ready; do sleep 0.1; done; exec "$@"'
    configure(command=("sh", "-c", slow, "start", *COMMAND), parallel=4)
    start("--slots", "5")
    with base.conn.transaction():
        jobs = [ask(base) for _ in range(20)]
    until(lambda: base.one("select models from qwf.workers") == [], "no more to be wanted")
    claimed = "select count(*) from qwf.jobs where attempt > 0"
    assert base.one(claimed) <= 5
    (tmp_path / "ready").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed"


def test_an_idle_server_is_stopped_and_starts_again_when_it_is_needed(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure(idle="0.3 s")
    start()
    first = base.ended(ask(base))
    assert first["status"] == "completed"
    stopped = state(base, "off")
    assert (stopped["starts"], stopped["pid"], stopped["port"]) == (1, None, None)
    assert base.ended(ask(base))["status"] == "completed"
    assert state(base, "off")["starts"] == 2


def test_a_server_that_serves_one_model_at_a_time_switches(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure(models=("tiny", "other"))
    start()
    assert base.ended(ask(base))["output"]["model"] == "tiny"
    assert base.ended(ask(base, "other"))["output"]["model"] == "other"
    found = state(base, "ready")
    assert (found["model"], found["starts"], found["crashes"]) == ("other", 2, 0)


def test_a_model_waits_for_the_one_in_use_but_not_longer_than_affinity_max_wait(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set affinity_max_wait = '1 s'")
    configure(models=("tiny", "other"))
    start()
    folder = tmp_path / "running"
    jobs = holders(base, folder, 1)
    until(lambda: folder.is_dir() and list(folder.iterdir()), "the first in flight")
    other = ask(base, "other")
    state(base, "draining")
    late = ask(base)
    assert base.job(other)["status"] == "running", "claimed, and waiting here"
    (tmp_path / "gate").touch()
    assert base.ended(jobs[0])["status"] == "completed"
    assert base.ended(other)["output"]["model"] == "other"
    assert base.ended(late)["output"]["model"] == "tiny"
