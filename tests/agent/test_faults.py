"""A body, child, agent or Postgres dies at any point: nothing is lost, nothing happens twice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.agent.outage_log import INTERVAL_S
from support.harness import Database, StartAgent, alive, until


def pid_in(file: Path) -> int:
    return int(until(lambda: file.exists() and file.read_text(), f"{file.name}"))


def test_a_killed_child_is_replaced_and_its_job_runs_again(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 0.5})
    first = pid_in(file)
    os.kill(first, signal.SIGKILL)
    assert base.ended(job_id)["status"] == "completed"
    outcomes = [(a["outcome"], a["reason"], a["signal"]) for a in base.attempts(job_id)]
    assert outcomes == [("lost", "crashed", 9), ("completed", None, None)]
    assert int(file.read_text()) != first
    assert agent.process.poll() is None


def test_children_die_with_a_killed_agent_and_another_takes_over(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--lease", "3")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 2})
    body = pid_in(file)
    children = agent.children()
    assert body in children
    agent.signal(signal.SIGKILL)
    agent.ended()
    until(lambda: not any(alive(pid) for pid in children), "the death of the children")
    start("--app", "bodies", "--lease", "3")
    assert base.ended(job_id)["status"] == "completed"
    assert [a["outcome"] for a in base.attempts(job_id)] == ["lost", "completed"]
    assert base.invariants() == []


def test_a_timeout_kills_the_body_and_what_it_started(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("with_grandchild", {"file": str(file), "seconds": 600}, timeout="0.5 s")
    attempt = base.attempted(job_id)
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "timeout")
    assert "longer than 0.5 s" in attempt["error"]
    until(lambda: not alive(pid_in(file)), "the death of the grandchild")
    assert base.job(job_id)["losses"] >= 1


def test_a_timeout_counts_from_the_start_of_the_body_not_of_its_batch(
    base: Database, start: StartAgent
) -> None:
    start("--app", "bodies")
    ids = [base.enqueue("sleeping", {"seconds": 0.05}, timeout="2 s") for _ in range(60)]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert {len(base.attempts(job_id)) for job_id in ids} == {1}


def test_a_body_that_lost_its_lease_is_killed_and_not_reported(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--lease", "3")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 600}, queue="default")
    body = pid_in(file)
    base.conn.execute("update qwf.queues set paused = true")
    token = base.job(job_id)["token"]
    base.one("select qwf.finish(%s, %s, 'completed', '{\"by\": \"another\"}')", job_id, token)
    until(lambda: not alive(body), "the death of the body")
    job = base.job(job_id)
    assert (job["status"], job["output"]) == ("completed", {"by": "another"})
    assert len(base.attempts(job_id)) == 1


def test_an_agent_that_was_stopped_too_long_changes_nothing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    stopped = start("--app", "bodies", "--lease", "3")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 2})
    pid_in(file)
    stopped.signal(signal.SIGSTOP)
    start("--app", "bodies", "--lease", "3")
    assert base.ended(job_id)["attempt"] == 2
    stopped.signal(signal.SIGCONT)
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    until(lambda: "lost to another worker" in stopped.said(), "the verdict")
    assert [a["outcome"] for a in base.attempts(job_id)] == ["lost", "completed"]


def test_a_restart_of_postgres_loses_nothing(
    server: Any, base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--slots", "2", "--nodes", "steps")
    long_file = tmp_path / "long"
    ids = [base.enqueue("telling", {"file": str(long_file), "seconds": 1})]
    ids += [base.enqueue("mark", {"folder": str(tmp_path), "name": f"m{n}"}) for n in range(200)]
    pid_in(long_file)
    server.stop_immediate()
    server.start()
    base.conn = psycopg.connect(base.dsn, autocommit=True, row_factory=psycopg.rows.dict_row)
    for job_id in ids:
        assert base.ended(job_id)["status"] == "completed"
    assert agent.process.poll() is None
    assert base.invariants() == []
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_jobs_that_ended_while_the_database_was_down_are_reported_later(
    server: Any, base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "-v")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 0.2})
    body = pid_in(file)
    server.stop_immediate()
    log = tmp_path / "agent-0.log"
    until(lambda: f"job {job_id} telling: completed" in log.read_text(), "the end of the body")
    assert alive(body), "the child goes on"
    server.start()
    base.conn = psycopg.connect(base.dsn, autocommit=True, row_factory=psycopg.rows.dict_row)
    assert base.ended(job_id)["status"] == "completed"
    assert [a["outcome"] for a in base.attempts(job_id)] == ["completed"]


def test_sessions_cut_by_the_server_are_opened_again(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--lease", "2")  # a claim whose answer is cut off lapses
    cut = (
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where application_name ~ '^qwf agent' and datname = current_database()"
    )
    for _ in range(3):
        assert base.one(cut) == 2
        assert base.ended(base.enqueue("noop"))["status"] == "completed"
        until(lambda: base.one(cut.replace("pg_terminate_backend(pid)", "*")) == 2, "two sessions")


def test_a_start_whose_statement_is_cancelled_goes_on(base: Database, start: StartAgent) -> None:
    """It would end as misconfigured, and no service manager starts such an agent again."""
    cancel = (
        "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event_type = 'Lock'"
        " and application_name ~ '^qwf agent' and datname = current_database()"
    )
    with psycopg.connect(base.dsn) as other:
        other.execute("lock table qwf.workers in access exclusive mode")
        agent = start("--app", "bodies", ready=False)
        until(lambda: base.one(cancel), "a statement of the start that waits")
        until(lambda: "canceling statement" in agent.said(), "what the agent says of it")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert agent.stop() == 0


def test_an_outage_is_two_lines_in_the_log(server: Any, base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    began = time.monotonic()
    server.stop_immediate()
    until(lambda: "lost the database, connecting again: " in agent.said(), "the first line")
    server.start()
    until(lambda: "connected to the database again after " in agent.said(), "the second line")
    base.conn = psycopg.connect(base.dsn, autocommit=True, row_factory=psycopg.rows.dict_row)
    for _ in range(5):  # a connection that breaks all the time is no flood
        base.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name ~ '^qwf agent' and datname = current_database()"
        )
        assert base.ended(base.enqueue("noop"))["status"] == "completed"
    most = 1 + (time.monotonic() - began) // INTERVAL_S  # on a slow machine
    assert agent.said().count("lost the database") <= most
    assert agent.stop() == 0


def test_a_frozen_session_does_not_keep_the_agent_from_killing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The backends are stopped, as with a half-open connection: the agent goes on and kills in
    time."""
    agent = start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 600}, timeout="1 s")
    body = pid_in(file)
    query = (
        "select pid from pg_stat_activity where application_name ~ '^qwf agent'"
        " and datname = current_database()"
    )
    backends = [row["pid"] for row in base.conn.execute(query).fetchall()]
    for pid in backends:
        os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: not alive(body), "the death of the body")
        assert agent.process.poll() is None
    finally:
        for pid in backends:
            os.kill(pid, signal.SIGCONT)
    assert base.attempted(job_id)["reason"] == "timeout"


def test_a_child_that_dies_between_jobs_costs_no_attempt(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", "--slots", "2")
    until(lambda: len(agent.children()) == 2)
    for pid in agent.children():
        os.kill(pid, signal.SIGKILL)
    ids = [base.enqueue("noop") for _ in range(20)]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert {len(base.attempts(job_id)) for job_id in ids} == {1}
    said = [
        line for line in agent.said().splitlines() if "a child died while it ran no job" in line
    ]
    assert len(said) == 2
    assert all("killed by SIGKILL" in line for line in said), said


def test_the_jobs_behind_one_that_kills_its_child_are_unharmed(
    base: Database, start: StartAgent
) -> None:
    start("--app", "bodies")
    for _ in range(3):
        base.ended([base.enqueue("noop") for _ in range(60)][-1])
    ids = [base.enqueue("noop") for _ in range(100)]
    bad = base.enqueue("die", {"number": 9}, max_attempts=1)
    ids += [base.enqueue("noop") for _ in range(100)]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert {len(base.attempts(job_id)) for job_id in ids} == {1}
    assert base.ended(bad)["losses"] == 3


def test_the_agent_never_shares_its_sessions_with_a_child(
    base: Database, start: StartAgent
) -> None:
    start("--app", "bodies", "--fresh")
    query = (
        "select array_agg(pid order by pid) from pg_stat_activity"
        " where application_name ~ '^qwf agent' and datname = current_database()"
    )
    before = base.one(query)
    ids = [base.enqueue("hard_exit", {"code": 0}) for _ in range(5)]
    ids += [base.enqueue("noop") for _ in range(5)]
    for job_id in ids:
        base.ended(job_id)
    assert base.one(query) == before


@pytest.mark.parametrize("slots", ["1", "3"])
def test_every_job_runs_once(base: Database, start: StartAgent, tmp_path: Path, slots: str) -> None:
    folder = tmp_path / "marks"
    folder.mkdir()
    for _ in range(2):
        start("--app", "bodies", "--slots", slots)
    ids = [base.enqueue("mark", {"folder": str(folder), "name": str(n)}) for n in range(300)]
    for job_id in ids:
        assert base.ended(job_id)["status"] == "completed"
    assert {file.read_text() for file in folder.iterdir()} == {"x"}
    assert len(list(folder.iterdir())) == 300
    assert base.invariants() == []
