"""A body that is told to stop saves what it has and gives its job back; another agent goes on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.harness import Agent, Database, StartAgent, alive, until


def begin(base: Database, folder: Path, how: str = "release", **options: Any) -> int:
    """Enqueue a training, and wait until it runs. `how`: what its first attempt does when told."""
    job_id = base.enqueue("training", {"folder": str(folder), "how": how}, **options)
    until((folder / "runs").exists, "the training")
    return job_id


def ends(base: Database, job_id: int) -> list[tuple[str, str | None]]:
    """Outcome and reason of each attempt."""
    return [(a["outcome"], a["reason"]) for a in base.attempts(job_id)]


def counts(base: Database, job_id: int) -> tuple[int, int]:
    job = base.job(job_id)
    return job["failures"], job["losses"]


def told(folder: Path) -> tuple[str, float]:
    """The reason that the body was given, and the seconds that it had left."""
    file = folder / "told"
    until(file.exists, "the body to be told")
    reason, left = file.read_text().split()
    return reason, float(left)


def test_a_stopped_training_is_resumed_by_another_agent(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--host", "a", "--grace", "30")
    job_id = begin(base, tmp_path)
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    reason, left_s = told(tmp_path)
    assert reason == "stop"
    assert 25 < left_s <= 30
    job = base.job(job_id)
    assert (job["status"], job["last_error"]) == ("queued", "saved after step 1")
    start("--app", "bodies", "--host", "b")
    assert base.ended(job_id)["output"] == {"resumed_after": 1, "by_job": False}
    assert ends(base, job_id) == [("released", "stop"), ("completed", None)]
    assert counts(base, job_id) == (0, 0)
    assert base.one("select avoid_host from qwf.jobs where id = %s", job_id) is None
    assert base.invariants() == []


def drained(base: Database, _: Agent) -> None:
    base.one("select qwf.worker_control('a', 'default', 'off', policy => 'drain')")


def switched_off(base: Database, _: Agent) -> None:
    base.one("select qwf.worker_control('a', 'default', 'off', policy => 'hard')")


@pytest.mark.parametrize(
    ("stop", "reason", "left"),
    [(drained, "drain", (3000, 3600)), (switched_off, "stop", (5, 10))],
)
def test_a_worker_that_is_switched_off_gives_it_back(
    base: Database, start: StartAgent, tmp_path: Path, stop: Callable[..., None], reason: str,
    left: tuple[float, float],
) -> None:  # fmt: skip
    agent = start("--app", "bodies", "--host", "a")
    job_id = begin(base, tmp_path)
    stop(base, agent)
    base.attempted(job_id)
    assert ends(base, job_id) == [("released", reason)]
    assert told(tmp_path)[0] == reason
    assert left[0] < told(tmp_path)[1] <= left[1]
    start("--app", "bodies", "--host", "b")
    assert base.ended(job_id)["status"] == "completed"
    assert counts(base, job_id) == (0, 0)


def test_off_kills_what_does_not_listen_at_once_and_the_others_after_the_grace(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set cancel_grace = '1 s'")
    start("--app", "bodies", "--host", "a", "--slots", "2")
    listening = begin(base, tmp_path, "ignore")
    deaf = base.enqueue("stubborn", {"file": str(tmp_path / "pid")})
    until((tmp_path / "pid").exists, "the other body")
    switched_off(base, start)  # type: ignore[arg-type]
    base.attempted(deaf)
    assert ends(base, listening) == [], "it still has time"
    base.attempted(listening)
    assert ends(base, listening) == ends(base, deaf) == [("released", "worker_off")]
    assert told(tmp_path)[0] == "stop"


def test_giving_back_before_the_timeout_counts_as_one_loss(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set cancel_grace = '1.5 s'")
    start("--app", "bodies")
    job_id = begin(base, tmp_path, timeout="3 s")
    assert base.ended(job_id)["output"]["resumed_after"] == 1
    reason, left_s = told(tmp_path)
    assert reason == "timeout"
    assert 1 < left_s <= 1.5
    assert ends(base, job_id) == [("lost", "timeout"), ("completed", None)]
    assert "before its end: saved after step 1" in base.attempts(job_id)[0]["error"]
    assert counts(base, job_id) == (0, 1)


def test_a_release_that_comes_after_the_timeout_changes_nothing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    job_id = begin(base, tmp_path, "late", timeout="1 s")
    assert base.ended(job_id)["status"] == "completed"
    assert ends(base, job_id) == [("lost", "timeout"), ("completed", None)]
    assert "was killed" in base.attempts(job_id)[0]["error"]
    assert counts(base, job_id) == (0, 1)


def test_nobody_gives_a_job_back_unasked(shared: Database, tmp_path: Path) -> None:
    job_id = begin(shared, tmp_path, "unasked")
    job = shared.ended(job_id)
    assert (job["status"], job["failures"]) == ("failed", 1)
    assert ends(shared, job_id) == [("error", None)]
    assert "nobody has told the body to stop" in job["last_error"]


def test_a_cancelled_job_is_cancelled_even_if_it_is_given_back(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    job_id = begin(base, tmp_path, "release")
    base.one("select qwf.cancel_job(%s)", job_id)
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    assert base.job(job_id)["status"] == "cancelled"
    (attempt,) = base.attempts(job_id)
    assert attempt["outcome"] in ("cancelled", "released"), "the agent may not know of the cancel"
    assert told(tmp_path)[0] == "stop"


def test_an_agent_that_dies_before_the_release_loses_the_attempt_once(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set lease = '2 s', heartbeat = '0.5 s'")
    agent = start("--app", "bodies", "--host", "a")
    job_id = begin(base, tmp_path, "ignore")
    agent.signal(signal.SIGTERM)
    assert told(tmp_path)[0] == "stop"
    body = int((tmp_path / "runs").read_text())
    os.kill(agent.pid, signal.SIGKILL)
    agent.ended()
    until(lambda: not alive(body), "the end of the body")
    start("--app", "bodies", "--host", "b")
    assert base.ended(job_id)["output"]["resumed_after"] == 1
    assert ends(base, job_id) == [("lost", "lease_lapsed"), ("completed", None)]
    assert counts(base, job_id) == (0, 1)


def test_a_second_stop_kills_a_body_that_still_saves(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    job_id = begin(base, tmp_path, "ignore")
    agent.signal(signal.SIGTERM)
    assert told(tmp_path)[0] == "stop"
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    assert base.job(job_id)["status"] == "queued"
    assert [outcome for outcome, _ in ends(base, job_id)] == ["released"]
    assert counts(base, job_id) == (0, 0)


def test_a_body_may_ask_its_job_and_the_next_one_is_not_told(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--host", "a")
    job_id = begin(base, tmp_path, "by job", timeout="2 s")
    assert base.ended(job_id)["output"] == {"resumed_after": 1, "by_job": False}
    assert ends(base, job_id)[0] == ("lost", "timeout")


def test_a_body_that_does_not_ask_gets_no_signal(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    file = tmp_path / "file"
    job_id = base.enqueue("blocking_signals", {"file": str(file), "seconds": 0.7})
    until(file.exists, "the body")
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    assert base.job(job_id)["output"] == {"pending": []}


def command(base: Database, *argv: str, **options: Any) -> int:
    inputs = {"command": [*argv], "stop_signal": "TERM"}
    query = "select qwf.enqueue('command', %s, timeout => %s)"
    return int(base.one(query, json.dumps(inputs), options.get("timeout", "1 h")))


def test_a_command_that_asks_for_it_is_told_by_a_signal(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    commands = Path(__file__).parent / "user" / "commands"
    options = ("--allow-commands", str(commands), "--out-root", str(tmp_path / "out"))
    agent = start(*options, "--host", "a")
    job_id = command(base, "resume.sh", str(tmp_path / "checkpoint"))
    until((tmp_path / "checkpoint").exists, "the command")
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    assert ends(base, job_id) == [("released", "stop")]
    start(*options, "--host", "b")
    assert base.ended(job_id)["output"] == {"resumed_after": "saved"}
    assert counts(base, job_id) == (0, 0)


def test_exit_75_without_a_signal_is_a_failure_that_passes(shared: Database) -> None:
    job_id = command(shared, "exit.sh", "75")
    assert shared.attempted(job_id)["outcome"] == "tempfail"
    shared.one("select qwf.cancel_job(%s)", job_id)


def test_only_one_signal_can_be_asked_for(shared: Database) -> None:
    inputs = {"command": ["exit.sh", "0"], "stop_signal": "KILL"}
    job = shared.ended(shared.enqueue("command", inputs))
    assert job["status"] == "failed"
    assert '"stop_signal" must be "TERM"' in job["last_error"]
