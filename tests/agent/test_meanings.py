"""An exception means the same inside a group and as a cause, however its body runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.testing.run import run_until_idle
from support.harness import Database, StartAgent

FILE = Path(__file__).with_name("user") / "meanings.py"
SPEC = importlib.util.spec_from_file_location("meanings_here", FILE)
assert SPEC
assert SPEC.loader
meanings: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(meanings)

pytestmark = pytest.mark.skipif(meanings.Group is None, reason="Python 3.10 has no groups")


def ends(base: Database, ids: dict[str, int]) -> dict[str, tuple[str, str | None, float | None]]:
    detail = "select (detail -> 'retry_after_s')::float8 from qwf.job_attempts where job_id = %s"
    return {
        kind: (one["outcome"], one["reason"], base.one(detail + " and attempt = 1", job))
        for kind, job in ids.items()
        for one in [base.attempted(job)]
    }


def enqueued(base: Database, task: str) -> dict[str, int]:
    return {kind: base.enqueue(task, {"kind": kind}, max_losses=1) for kind in meanings.KINDS}


def test_it_means_the_same_alone_beside_others_and_in_a_batch(
    base: Database, start: StartAgent
) -> None:
    tasks = {task: enqueued(base, task) for task in ("alone", "beside", "batched")}
    group = base.enqueue("in_task_group")
    start("--app", "meanings", "--slots", "2")
    for task, ids in tasks.items():
        assert ends(base, ids) == meanings.KINDS, task
        put_off = base.job(ids["later"])
        assert (put_off["status"], put_off["failures"]) == ("scheduled", 0)
        assert put_off["last_error"] == "too early"
        assert "its __str__ raised ValueError" in base.job(ids["mute"])["last_error"]
    assert ends(base, {"": group}) == {"": ("tempfail", None, 9)}
    assert base.invariants() == []


def test_it_means_the_same_in_a_test(base: Database, capsys: pytest.CaptureFixture[str]) -> None:
    ids = enqueued(base, "alone")
    run_until_idle(base.dsn, meanings.app)
    assert ends(base, ids) == meanings.KINDS
    assert "no such page" in capsys.readouterr().err
