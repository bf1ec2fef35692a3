"""A body that runs at most once does so, however its agent ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import App
from qwf_agent.app.bodies import Call
from support.harness import Agent, Database, StartAgent, lines, until

QUICK = "select qwf.create_queue('default', lease => '1.5 s')"
GATE = """
create function public.tg_gate() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(815);
  return new;
end $$;
create trigger gate before update on qwf.jobs for each row
  when (new.begun and not old.begun) execute function public.tg_gate()
"""
WAITS = (
    "select pid from pg_stat_activity"
    " where wait_event_type = 'Lock' and datname = current_database()"
)
STOPS = """
create function public.tg_stop() returns trigger language plpgsql security definer as $$
begin
  perform qwf.cancel_job(new.id);
  return null;
end $$;
create trigger stop after update on qwf.jobs for each row
  when (old.status = 'queued' and new.status = 'running') execute function public.tg_stop()
"""


def mail(base: Database, tmp_path: Path, **more: Any) -> tuple[int, Path]:
    """A job that sends a mail, and where it notes that it did."""
    file = tmp_path / "sent"
    given = {"file": str(file), **more}
    return base.enqueue("mailing", given, at_most_once=True, max_losses=5), file


def is_not_sent_again(base: Database, start: StartAgent, job_id: int, file: Path) -> dict[str, Any]:
    """The job, after another agent has looked for work."""
    start("--app", "bodies", "--host", "later")
    base.ended(job_id)
    base.ended(base.enqueue("noop"))
    assert lines(file) == ["sent"]
    assert base.invariants() == []
    job = base.job(job_id)
    assert (job["status"], job["begun"]) == ("failed", True)
    assert [one["reason"] for one in base.attempts(job_id)] == ["maybe_run"]
    return job


@contextmanager
def waiting_to_begin(base: Database, start: StartAgent) -> Iterator[tuple[Agent, int]]:
    """An agent with a child that waits until it is stored that its body begins; and the session
    that stores it."""
    base.conn.execute(GATE)
    base.conn.execute("select pg_advisory_lock(815)")
    try:
        agent = start("--app", "bodies", "--host", "first")
        yield agent, until(lambda: base.one(WAITS), "the body to begin")
    finally:
        base.conn.execute("select pg_advisory_unlock_all()")


def test_a_deployment_that_cuts_it_short_sends_nothing_twice(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--grace", "0.2")
    job_id, file = mail(base, tmp_path, seconds=600)
    until(file.exists, "the mail")
    assert agent.stop() == 0
    job = is_not_sent_again(base, start, job_id, file)
    assert job["last_error"] == "it may have run: given back by its worker"


def test_a_worker_that_is_switched_off_sends_nothing_twice(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--host", "box")
    job_id, file = mail(base, tmp_path, seconds=600)
    until(file.exists, "the mail")
    base.conn.execute("select qwf.worker_control('box', 'default', 'off')")
    job = is_not_sent_again(base, start, job_id, file)
    assert job["last_error"] == "it may have run: given back by its worker (worker_off)"


def test_an_agent_that_is_killed_sends_nothing_twice(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.one(QUICK)
    agent = start("--app", "bodies")
    job_id, file = mail(base, tmp_path, seconds=600)
    until(file.exists, "the mail")
    agent.signal(signal.SIGKILL)
    assert "lapsed" in is_not_sent_again(base, start, job_id, file)["last_error"]


def test_a_child_that_is_killed_sends_nothing_twice(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    job_id, file = mail(base, tmp_path, seconds=600)
    until(file.exists, "the mail")
    os.kill(agent.children()[0], signal.SIGKILL)
    assert "SIGKILL" in is_not_sent_again(base, start, job_id, file)["last_error"]


def test_an_agent_that_is_killed_before_it_begins_loses_an_ordinary_job(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Nothing was sent, so another agent sends it."""
    base.one(QUICK)
    job_id, file = mail(base, tmp_path)
    with waiting_to_begin(base, start) as (agent, session):
        agent.signal(signal.SIGKILL)
        base.conn.execute("select pg_terminate_backend(%s)", [session])
    start("--app", "bodies", "--host", "later")
    assert base.ended(job_id)["status"] == "completed"
    assert lines(file) == ["sent"]
    assert [one["outcome"] for one in base.attempts(job_id)] == ["lost", "completed"]


def test_it_begins_when_the_database_is_back(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """A call that failed is sent again; until then the body does not begin."""
    job_id, file = mail(base, tmp_path)
    with waiting_to_begin(base, start) as (_, session):
        for _ in range(2):
            base.conn.execute("select pg_terminate_backend(%s)", [session])
            gone = session
            session = until(
                lambda gone=gone: base.one(WAITS + f" and pid <> {gone}"),  # type: ignore[misc]
                "the next try to begin",
            )
        assert not file.exists()
    assert base.ended(job_id)["status"] == "completed"
    assert lines(file) == ["sent"]
    assert [one["outcome"] for one in base.attempts(job_id)] == ["completed"]


def test_what_is_cancelled_before_it_begins_has_not_run(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute(STOPS)
    start("--app", "bodies")
    job_id, file = mail(base, tmp_path)
    job = base.ended(job_id)
    assert (job["status"], job["begun"]) == ("cancelled", False)
    assert "may have run" not in job["last_error"]
    assert not file.exists()


@pytest.mark.parametrize(("kind", "tries"), [("temporary", 3), ("value", 1), ("permanent", 1)])
def test_what_the_body_says_counts(shared: Database, kind: str, tries: int) -> None:
    """TemporaryError says that nothing has happened; any other error is the end."""
    options = {"at_most_once": True, "max_attempts": 3, "backoff": "[0]"}
    job = shared.ended(shared.enqueue("raising", {"kind": kind}, **options))
    assert (job["status"], job["attempt"]) == ("failed", tries)
    assert job["begun"] == (kind != "temporary")


def test_one_of_many_bodies_begins_beside_the_others(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "many", "--grace", "0.2")
    once = [base.enqueue("nap", {"seconds": 0.1}, at_most_once=True) for _ in range(5)]
    assert {base.ended(job)["status"] for job in once} == {"completed"}
    mark = tmp_path / "begun"
    args = {"seconds": 600, "file": str(mark)}
    cut, ordinary = base.enqueue("nap", args, at_most_once=True), base.enqueue("nap", args)
    until(lambda: base.job(cut)["begun"] and mark.exists(), "the body")
    assert agent.stop() == 0
    assert (base.job(cut)["status"], base.job(ordinary)["status"]) == ("failed", "queued")


def test_a_batch_refuses_it(base: Database, start: StartAgent) -> None:
    """Where the task is declared, and where a job says it."""
    app = App()
    with pytest.raises(TypeError, match="runs in batches"):

        @app.task(batch=10, at_most_once=True)
        def sum_up(calls: list[Call]) -> list[None]:
            return [None for _ in calls]

    start("--app", "many")
    job = base.ended(base.enqueue("double", {"number": 2}, at_most_once=True))
    assert (job["status"], job["begun"]) == ("failed", False)
    assert "runs in batches" in job["last_error"]
    assert base.ended(base.enqueue("double", {"number": 2}))["status"] == "completed"
