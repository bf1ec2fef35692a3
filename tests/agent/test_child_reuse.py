"""Many bodies run in one child, one after another: none changes the process of the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.harness import Database, StartAgent, until

CHANGES = [
    "alarm", "ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "folder", "umask", "mask", "handler",
    "environment", "recursion", "no streams", "closed streams", "limit",
]  # fmt: skip


def result(base: Database, task: str, **args: Any) -> dict[str, Any]:
    job = base.ended(base.enqueue(task, args))
    assert (job["status"], job["attempt"]) == ("completed", 1), job["last_error"]
    output: dict[str, Any] = job["output"]
    return output


def test_what_a_body_changes_is_put_back(base: Database, start: StartAgent) -> None:
    start("--app", "bodies")
    before = result(base, "state")
    for what in CHANGES:
        assert result(base, "changing", what=what) == {"pid": before["pid"]}
        job = base.ended(base.enqueue("state"))
        assert job["output"] == before, what
        (attempt,) = base.attempts(job["id"])
        assert attempt["log_tail"] == "printed\n", what


def test_the_environment_stays_if_a_module_was_imported(base: Database, start: StartAgent) -> None:
    """The module may rely on it."""
    start("--app", "bodies")
    result(base, "changing", what="module")
    assert result(base, "state")["environment"]["SET_BY_A_MODULE"] == "1"
    result(base, "changing", what="environment")
    assert result(base, "state")["environment"]["SET_BY_A_MODULE"] == "1"


@pytest.mark.parametrize("what", ["mask", "handler"])
def test_the_next_body_can_be_cancelled(
    base: Database, start: StartAgent, tmp_path: Path, what: str
) -> None:
    start("--app", "bodies")
    result(base, "changing", what=what)
    file = tmp_path / "said"
    job = base.enqueue("cooperative", {"file": str(file)})
    until(file.exists, "the body")
    base.conn.execute("select qwf.cancel_job(%s)", (job,))
    assert base.ended(job)["status"] == "cancelled"
    assert file.read_text() == "told to stop"


def test_a_short_body_costs_its_child_few_calls(base: Database, start: StartAgent) -> None:
    """Calls of Python functions and of C: what they take depends on the machine."""
    jobs = [base.enqueue("count") for _ in range(20)]
    start("--app", "counting")
    calls = [base.ended(job)["output"]["calls"] for job in jobs]
    assert 0 < sorted(calls)[10] <= 150, calls
