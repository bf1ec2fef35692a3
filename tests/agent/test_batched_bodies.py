"""A body gets many jobs in one call."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent import App, Call
from qwf_agent.testing.run import run_until_idle
from support.harness import Database, StartAgent, until


def reasons(base: Database, job: int) -> list[tuple[str, str | None]]:
    return [(one["outcome"], one["reason"]) for one in base.attempts(job)]


def test_each_job_of_a_batch_has_an_end_of_its_own(base: Database, start: StartAgent) -> None:
    """Item 7 raises: the others are completed, and it is tried again, alone."""
    ids = [base.enqueue("double", {"number": n}, backoff="[0]") for n in range(31)]
    bad = base.enqueue("double", {"number": "bad"}, max_attempts=2, backoff="[0]")
    empty = base.enqueue("double", {"number": "nothing"})
    agent = start("--app", "many")
    done = [base.ended(job) for job in ids]
    assert [one["output"]["double"] for one in done] == [2 * n for n in range(31)]
    assert base.ended(bad)["status"] == "failed"
    assert base.job(bad)["last_error"].startswith("ValueError: no number")
    assert base.attempts(bad)[1]["log_tail"] == "1 calls\n"
    assert base.ended(empty)["output"] == {}
    largest = max(done, key=lambda one: one["output"]["together"])
    together = largest["output"]["together"]
    assert 8 <= together <= 32  # the first claims bring few
    attempt = base.attempts(largest["id"])[0]
    assert attempt["log_tail"] == f"{together} calls\n"
    assert attempt["batch"]["size"] == together
    assert len(attempt["batch"]["jobs"]) == min(20, together)
    assert base.attempts(bad)[1]["batch"] is None
    assert attempt["cpu_seconds"] >= 0
    assert base.one("select slots from qwf.workers") == 50
    assert base.invariants() == []
    assert agent.stop() == 0


def test_a_poison_job_kills_its_neighbours_once(base: Database, start: StartAgent) -> None:
    ids = [base.enqueue("double", {"number": n}) for n in range(40)]
    poison = base.enqueue("double", {"number": "poison"}, max_losses=1)
    ids += [base.enqueue("double", {"number": n}) for n in range(40)]
    start("--app", "many")
    for job in ids:
        done = base.ended(job)
        assert (done["status"], done["losses"]) == ("completed", 0)
        assert done["attempt"] <= 2
    assert base.ended(poison)["status"] == "failed"
    assert reasons(base, poison)[-1] == ("lost", "crashed")
    assert base.invariants() == []


def test_a_batch_waits_a_moment_to_be_full(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "many")
    args = {"file": str(tmp_path / "begun"), "seconds": 0.0}
    base.ended(base.enqueue("slow", args))  # so that the agent claims more than one
    ids = [base.enqueue("slow", args) for _ in range(4)]
    assert {base.ended(job)["output"]["together"] for job in ids} == {4}


def test_the_clock_of_a_batch_and_a_cancel_of_one_job(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The longest timeout counts. All are given back, and run alone; a cancelled job ends with its
    batch."""
    start("--app", "many")
    mark = tmp_path / "begun"
    base.ended(base.enqueue("slow", {"file": str(tmp_path / "x"), "seconds": 0.0}))
    long = {"file": str(mark), "seconds": 3.0}
    ids = [base.enqueue("slow", long, timeout=f"{1 + 30 * n} s") for n in range(3)]
    until(mark.exists, "the body")
    base.conn.execute("select qwf.cancel_job(%s)", [ids[1]])
    assert base.ended(ids[1])["status"] == "cancelled"
    for job in (ids[0], ids[2]):
        assert base.ended(job)["status"] == "completed", base.attempts(job)
        assert base.job(job)["output"]["cancelled"] is False
    mark.unlink()
    late = [base.enqueue("slow", {**long, "seconds": 30.0}, timeout="1 s", max_losses=1)
            for _ in range(2)]  # fmt: skip
    for job in late:
        assert base.ended(job)["status"] == "failed"
        assert reasons(base, job)[-1] == ("lost", "timeout")
    assert base.invariants() == []


def test_worker_off_and_a_killed_child_count_against_no_job_of_a_batch(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "many", "--host", "box")
    mark = tmp_path / "begun"
    base.ended(base.enqueue("slow", {"file": str(tmp_path / "x"), "seconds": 0.0}))
    ids = [base.enqueue("slow", {"file": str(mark), "seconds": 2.0}) for _ in range(4)]
    until(mark.exists, "the body")
    base.conn.execute("select qwf.worker_control('box', 'default', 'off', 'hard')")
    until(lambda: {base.job(job)["status"] for job in ids} == {"queued"}, "the release")
    assert {reasons(base, job)[0] for job in ids} == {("released", "stop")}, base.attempts(ids[0])
    base.conn.execute("select qwf.worker_control('box', 'default', 'on')")
    assert {base.ended(job)["status"] for job in ids} == {"completed"}
    mark.unlink()
    ids = [base.enqueue("slow", {"file": str(mark), "seconds": 2.0}) for _ in range(4)]
    until(mark.exists, "the body")
    os.kill(agent.children()[0], signal.SIGKILL)
    for job in ids:
        assert (base.ended(job)["status"], base.job(job)["losses"]) == ("completed", 0)


def test_a_batch_has_a_warm_model(base: Database, start: StartAgent) -> None:
    ids = [base.enqueue("infer", {"x": n}, model="doubler") for n in range(50)]
    start("--app", "many")
    done = [base.ended(job)["output"] for job in ids]
    assert [one["is"] for one in done] == [2 * n for n in range(50)]
    assert max(one["together"] for one in done) == 16
    stats: dict[str, Any] = until(
        lambda: (found := base.one("select stats from qwf.workers")) and found.get("model_loads")
        and found, "a heartbeat",
    )  # fmt: skip
    assert stats["model_loads"] == 1


def test_jobs_of_a_rate_run_in_batches(base: Database, start: StartAgent, tmp_path: Path) -> None:
    """They begin when they are claimed: in one body, not one after the other."""
    base.conn.execute("select qwf.create_limit('api', starts => 200, per => '1 min')")
    agent = start("--app", "many")
    for n in range(40):
        base.enqueue("double", {"number": n})
    until(lambda: not base.one("select count(*) from qwf.jobs where finished_at is null"))
    mark = tmp_path / "begun"
    blocks = base.enqueue("slow", {"file": str(mark), "seconds": 2.0})
    until(mark.exists, "a body to wait for")
    ids = [base.enqueue("double", {"number": n}, limit_by="api") for n in range(60)]
    together = [base.ended(job)["output"]["together"] for job in ids]
    assert max(together) >= 8
    assert base.ended(blocks)["status"] == "completed"
    assert agent.stop() == 0


def test_a_wrong_number_of_results_fails_all(base: Database, start: StartAgent) -> None:
    ids = [base.enqueue("wrong", max_attempts=1) for _ in range(3)]
    start("--app", "many")
    for job in ids:
        assert "must return a list with one result for each of its" in base.ended(job)["last_error"]


async def naps() -> None: ...


async def listens(cancel_event: Any) -> None: ...


def nothing() -> None: ...


def of_calls(calls: list[Call]) -> list[None]:
    return [None for _ in calls]


def with_out(calls: list[Call], out: Any) -> list[None]: ...  # type: ignore[empty-body]


def with_job(calls: list[Call], job: Any) -> list[None]: ...  # type: ignore[empty-body]


def with_more(calls: list[Call], factor: int) -> list[None]: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("options", "function", "reason"),
    [
        ({"concurrency": 0}, naps, "concurrency has to be 1 to 500, not 0"),
        ({"concurrency": 501}, naps, "concurrency has to be 1 to 500, not 501"),
        ({"concurrency": True}, naps, "concurrency has to be a whole number, not True"),
        ({"concurrency": 5}, nothing, "write async def nothing"),
        ({"concurrency": 5}, listens, "take out its parameter cancel_event"),
        ({"concurrency": 5, "batch": 5}, naps, "give it one of them"),
        ({"batch": 0}, of_calls, "batch has to be 1 to 500, not 0"),
        ({"batch": 5, "batch_wait": 1.5}, of_calls, "batch_wait has to be 0 to 1 second, not 1.5"),
        ({"batch": 5, "batch_wait": "1 s"}, of_calls, "batch_wait has to be a number of seconds"),
        ({"batch": 5}, nothing, "has one parameter, calls: list"),
        ({"batch": 5}, with_more, "write def with_more"),
        ({"batch": 5}, with_out, "no parameter out: write call.out"),
        ({"batch": 5}, with_job, "no parameter job: write call.job"),
    ],
)
def test_what_cannot_be_such_a_body_is_refused_when_it_is_registered(
    options: dict[str, Any], function: Any, reason: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=reason):
        App().task(**options)(function)


def test_the_arguments_of_a_batch_are_given_by_name(base: Database) -> None:
    task = App().task("t", batch=5)(of_calls)
    with psycopg.connect(base.dsn) as conn:
        job = task.enqueue(conn, text="a", priority_of_it=5)
        with pytest.raises(TypeError, match="give its arguments by their names"):
            task.enqueue(conn, "a")
    assert base.job(job)["inputs"] == {"text": "a", "priority_of_it": 5}
    assert task([Call({"text": "a"})]) == [None]


def test_a_test_runs_both_kinds_in_its_own_process(base: Database) -> None:
    ids = [base.enqueue("nap"), base.enqueue("double", {"number": 2})]
    ids += [base.enqueue("double", {"number": "bad"}, max_attempts=1)]
    done = run_until_idle(base.dsn, "many")
    assert [one.outcome for one in done.ran] == ["completed", "completed", "error"]
    assert {one.job_id for one in done.ran} == set(ids)


def test_a_batch_has_no_checkpoint_and_no_stream(base: Database, start: StartAgent) -> None:
    """The one is refused when the task is declared, the other when it is used."""
    app = App()
    with pytest.raises(TypeError, match="no checkpoint: a batch cannot save any"):

        @app.task(batch=2)
        def train(calls: list[Call], checkpoint: Any) -> list[None]:
            return [None for _ in calls]

    start("--app", "many")
    job = base.ended(base.enqueue("stream_in_batch", max_attempts=1))
    assert "job.stream is for bodies of one job" in job["last_error"]
