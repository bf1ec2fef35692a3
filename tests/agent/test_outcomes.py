"""Every end of a body becomes an outcome that says why."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from support.harness import Database


@pytest.mark.parametrize(
    ("task", "args", "output"),
    [
        ("noop", {}, {}),
        ("add", {"a": 1}, {"sum": 3}),
        ("add", {"a": 1, "b": None}, {"sum": 3}),
        ("later", {"x": 5}, {"x": 5}),
        ("system_exit", {"code": 0}, {}),
        ("returning", {"what": "path"}, {"x": "/a/b"}),
        ("returning", {"what": "escaped"}, {"x": "\\u0000"}),
        ("forking", {}, {"who": 1}),
    ],
)
def test_a_body_that_returns_completes(
    shared: Database, task: str, args: dict[str, Any], output: dict[str, Any]
) -> None:
    job = shared.ended(shared.enqueue(task, args))
    assert (job["status"], job["output"]) == ("completed", output)
    (attempt,) = shared.attempts(job["id"])
    assert attempt["outcome"] == "completed"
    assert attempt["max_rss_bytes"] > 1_000_000
    assert attempt["cpu_seconds"] >= 0


def test_files_is_no_key_of_the_output_of_a_node(shared: Database) -> None:
    alone = shared.ended(shared.enqueue("returning", {"what": "files"}))
    assert alone["output"] == {"files": ["a.txt"]}
    node = {"id": "returning", "queue": "cpu", "inputs": {"what": "files"}}
    step = {"id": "s", "kind": "pipeline", "pipeline": "listing"}
    shared.one("select qwf.register_pipeline(%s)", json.dumps({"name": "listing", "nodes": [node]}))
    shared.one("select qwf.register_workflow(%s)", json.dumps({"name": "listing", "steps": [step]}))
    run = shared.one("select qwf.enqueue_run('listing')")
    job = shared.ended(shared.one("select id from qwf.jobs where run_id = %s", run))
    assert job["status"] == "failed"
    assert "the output has a key 'files'" in job["last_error"]


@pytest.mark.parametrize(
    ("task", "args", "outcome", "says"),
    [
        ("raising", {"kind": "value"}, "error", "ValueError: as asked\nTraceback"),
        ("raising", {"kind": "permanent"}, "fatal", "PermanentError: as asked"),
        ("raising", {"kind": "temporary"}, "tempfail", "TemporaryError: as asked"),
        ("raising_nul", {}, "error", "ValueError: ab ? c"),
        ("add", {}, "fatal", "needs the argument 'a'"),
        ("system_exit", {"code": 75}, "tempfail", "exited with code 75"),
        ("system_exit", {"code": 3}, "error", "exited with code 3"),
        ("system_exit", {"code": "so long"}, "error", "exited: so long"),
        ("hard_exit", {"code": 0}, "error", "exited with code 0 before the body returned"),
        ("hard_exit", {"code": 7}, "error", "exited with code 7 before the body returned"),
        ("hard_exit", {"code": 75}, "tempfail", "exited with code 75"),
        ("returning", {"what": "list"}, "error", "not a list"),
        ("returning", {"what": "text"}, "error", "not a str"),
        ("returning", {"what": "set"}, "error", "a value of type set"),
        ("returning", {"what": "nan"}, "error", "the output is not JSON"),
        ("returning", {"what": "infinity"}, "error", "the output is not JSON"),
        ("returning", {"what": "nul"}, "error", "a NUL character"),
        ("returning", {"what": "nul key"}, "error", "a NUL character"),
        ("returning", {"what": "surrogate"}, "error", "the output is not JSON"),
        ("returning", {"what": "deep"}, "error", "the output is not JSON"),
        ("returning", {"what": "10 MB"}, "error", "the limit is 1048576 (QW005)"),
        ("unimportable", {}, "lost", "there_is_no_such_module"),
        ("norun", {}, "lost", "has no function run()"),
    ],
)
def test_a_body_that_fails_is_reported(
    shared: Database, task: str, args: dict[str, Any], outcome: str, says: str
) -> None:
    attempt = shared.attempted(shared.enqueue(task, args))
    assert attempt["outcome"] == outcome
    assert says in attempt["error"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_child_that_is_killed_is_a_loss(shared: Database, number: signal.Signals) -> None:
    job = shared.ended(shared.enqueue("die", {"number": int(number)}))
    assert (job["status"], job["attempt"], job["losses"]) == ("failed", 3, 3)
    for attempt in shared.attempts(job["id"]):
        assert (attempt["outcome"], attempt["reason"]) == ("lost", "crashed")
        assert attempt["signal"] == number
        assert number.name in attempt["error"]
        assert attempt["log_tail"] == "last words\n"


def test_the_traceback_starts_in_the_body(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("raising", {"kind": "value"}))
    assert "bodies.py" in attempt["error"]
    assert "qwf_agent" not in attempt["error"]


def test_a_transient_failure_is_retried(shared: Database, tmp_path: Path) -> None:
    args = {"file": str(tmp_path / "tries"), "fail": 2}
    job = shared.ended(shared.enqueue("attempts_file", args, backoff="[0]"))
    assert (job["status"], job["output"]) == ("completed", {"tries": 3})
    outcomes = [attempt["outcome"] for attempt in shared.attempts(job["id"])]
    assert outcomes == ["tempfail", "tempfail", "completed"]


def test_an_error_is_retried_as_often_as_the_job_allows(shared: Database) -> None:
    job = shared.ended(shared.enqueue("raising", {"kind": "value"}, max_attempts=2, backoff="[0]"))
    assert (job["status"], job["failures"]) == ("failed", 2)


def test_an_exit_code_is_kept(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("hard_exit", {"code": 7}))
    assert attempt["exit_code"] == 7


def test_an_output_that_postgres_refuses_fails_that_job_alone(shared: Database) -> None:
    ids = [shared.enqueue("add", {"a": n}) for n in range(5)]
    refused = shared.enqueue("returning_a_number_postgres_refuses")
    ids += [shared.enqueue("add", {"a": n}) for n in range(5)]
    assert {shared.ended(job)["status"] for job in ids} == {"completed"}
    attempt = shared.attempted(refused)
    assert attempt["outcome"] == "error"
    assert attempt["error"].startswith("the output cannot be stored: ")


def test_around_wraps_every_body(shared: Database) -> None:
    labels = '{"announce": true}'
    for task, args in (("noop", {}), ("command", {"command": ["print.sh", "in"]})):
        job_id = shared.enqueue(task, args, labels=labels)
        attempt = shared.attempted(job_id)
        assert attempt["log_tail"].startswith(f"before {job_id}\n")
        assert attempt["log_tail"].endswith(f"after {job_id}\n")
    job_id = shared.enqueue("raising", {"kind": "value"}, labels=labels)
    assert shared.attempted(job_id)["log_tail"] == f"before {job_id}\nafter {job_id}\n"


@pytest.mark.parametrize(
    ("task", "args", "outcome"),
    [
        ("raising", {"kind": "value"}, "error"),
        ("raising", {"kind": "temporary"}, "tempfail"),
        ("system_exit", {"code": 3}, "error"),
        ("command", {"command": ["exit.sh", 65]}, "fatal"),
        ("system_exit", {"code": 0}, "completed"),
    ],
)
def test_an_around_that_does_not_raise_again_makes_no_success(
    shared: Database, task: str, args: dict[str, Any], outcome: str
) -> None:
    options = {"max_attempts": 1, "labels": '{"catch": "swallow"}'}
    attempt = shared.attempted(shared.enqueue(task, args, **options))
    assert attempt["outcome"] == outcome
    assert "warning: an @app.around has caught the exception of the body" in attempt["log_tail"]


def test_an_around_may_raise_another_exception(shared: Database) -> None:
    options = {"max_attempts": 1, "labels": '{"catch": "translate"}'}
    attempt = shared.attempted(shared.enqueue("raising", {"kind": "value"}, **options))
    assert attempt["outcome"] == "tempfail"
    assert attempt["error"].startswith("TemporaryError: as another one")


def test_a_body_runs_in_the_main_thread_of_a_child_of_the_agent(shared: Database) -> None:
    output = shared.ended(shared.enqueue("whoami"))["output"]
    assert output["main"]
    assert not output["set"]
    pid = shared.one("select pid from qwf.workers limit 1")
    assert output["parent"] == pid != output["pid"]
