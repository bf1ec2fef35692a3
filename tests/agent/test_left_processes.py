"""Processes that a body has left behind end with its attempt; those that the code keeps on purpose
stay for the next one."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from qwf_agent.system.processes import children_of
from support.harness import Database, StartAgent, alive, until

WAYS = [
    *("program", "own session", "daemon", "stubborn family", "process", "fork"),
    "fork in its own session",
]


def log_of(base: Database, job_id: int) -> str:
    return base.attempts(job_id)[-1]["log_tail"] or ""


@pytest.mark.parametrize("how", WAYS)
def test_what_a_completed_body_left_ends_with_it(
    base: Database, start: StartAgent, how: str
) -> None:
    agent = start("--app", "bodies")
    base.ended(base.enqueue("noop"))
    child = agent.children()
    job = base.ended(base.enqueue("returning_before_its_programs", {"how": how}))
    assert job["status"] == "completed", job["last_error"]
    assert not alive(job["output"]["pid"])
    log = log_of(base, job["id"])
    assert log.startswith("warning: ended the process "), log
    assert how == "stubborn family" or f"(pid {job['output']['pid']})" in log
    assert agent.children() == child, "the child runs the next job"
    assert children_of(child[0]) == []
    base.ended(quiet := base.enqueue("noop"))
    assert log_of(base, quiet) == ""


def test_what_a_failed_body_left_ends_too(base: Database, start: StartAgent) -> None:
    start("--app", "bodies")
    args = {"how": "daemon", "fails": True}
    attempt = base.attempted(base.enqueue("returning_before_its_programs", args))
    assert not alive(int(attempt["error"].partition("\n")[0].split()[-1]))
    assert "warning: ended the process sleep" in attempt["log_tail"]


@pytest.mark.parametrize("task", ["using_a_pool", "using_a_kept_program"])
def test_what_the_code_holds_stays_and_is_told_once(
    base: Database, start: StartAgent, task: str
) -> None:
    start("--app", "bodies")
    outputs: list[dict[str, Any]] = []
    logs = []
    for _ in range(3):
        job = base.ended(base.enqueue(task))
        assert job["status"] == "completed", job["last_error"]
        outputs.append(job["output"])
        logs.append(log_of(base, job["id"]))
    assert outputs[1:] == outputs[:1] * 2
    assert alive(outputs[0]["pid"])
    assert logs[0].startswith("note: the process ")
    assert logs[1:] == ["", ""]


def test_what_a_model_loader_started_stays(base: Database, start: StartAgent) -> None:
    start("--app", "modelling", "--queue", "gpu", "--gpu", "none")
    outputs = [
        base.ended(base.enqueue("with_helper", queue="gpu", model="helped"))["output"]
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1]
    assert alive(outputs[0]["pid"])


def test_a_child_that_is_replaced_takes_with_it_what_its_code_kept(
    base: Database, start: StartAgent
) -> None:
    agent = start("--app", "bodies")
    output = base.ended(base.enqueue("using_a_kept_program"))["output"]
    agent.signal(signal.SIGHUP)
    until(lambda: not alive(output["pid"]), "its end")
    assert base.ended(base.enqueue("using_a_kept_program"))["output"]["child"] != output["child"]
