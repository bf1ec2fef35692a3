"""Operators switch a worker on and off without a restart."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.harness import Agent, Database, StartAgent, alive, until

BOX = ("--app", "bodies", "--host", "box")


def switch(base: Database, state: str, policy: str = "hard", **more: Any) -> None:
    named = "".join(f", {name} => %({name})s" for name in more)
    query = f"select qwf.worker_control('box', 'default', %(state)s, %(policy)s{named})"
    base.conn.execute(query, {"state": state, "policy": policy, **more})  # type: ignore[arg-type]


def running(base: Database, task: str, tmp_path: Path, **args: Any) -> tuple[int, int]:
    """A running job, and the pid of its body."""
    file = tmp_path / f"pid {task}"
    job_id = base.enqueue(task, {"file": str(file), **args})
    return job_id, int(until(lambda: file.exists() and file.read_text(), "the body"))


def parked(agent: Agent) -> None:
    until(lambda: not agent.children(), "the children to go")


def test_a_notification_is_not_an_order(base: Database, start: StartAgent, tmp_path: Path) -> None:
    """Anybody who can connect can send one. It only makes an agent ask the database."""
    start(*BOX)
    job_id, _ = running(base, "telling", tmp_path, seconds=1)
    worker = base.one("select claimed_by from qwf.jobs where id = %s", job_id)
    for payload in ("cancel", "off", "log", "models", "default", "'; drop schema qwf", "\x1b[2J"):
        base.conn.execute("select pg_notify(qwf.wake_channel(%s), %s)", (worker, payload))
        base.conn.execute("select pg_notify('worker_control', %s)", (payload,))
    base.conn.execute("select pg_notify('worker_control', 'box:default')")
    assert base.ended(job_id)["status"] == "completed"
    assert base.ended(base.enqueue("noop", {}))["attempt"] == 1


def test_off_hard_kills_the_job_and_a_peer_runs_it(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start(*BOX)
    job_id, pid = running(base, "stubborn", tmp_path)
    later = base.enqueue("noop", {})
    switch(base, "off", reason="needed for a game")
    until(lambda: not alive(pid), "the death of the body")
    until(lambda: base.job(job_id)["status"] == "queued", "the release")
    job = base.job(job_id)
    assert (job["losses"], job["failures"]) == (0, 0)
    assert base.attempts(job_id)[0]["outcome"] == "released"
    parked(agent)
    assert "needed for a game" in agent.said()
    (tmp_path / "pid stubborn").unlink()
    start("--app", "bodies", "--host", "peer")
    until(lambda: (tmp_path / "pid stubborn").exists(), "a peer to run it")
    assert base.job(later)["attempt"] == 0, "the released job comes first"
    assert agent.process.poll() is None


def test_a_parked_worker_sends_heartbeats_and_keeps_its_registration(
    base: Database, start: StartAgent
) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    agent = start(*BOX)
    base.ended(base.enqueue("noop"))
    switch(base, "off")
    parked(agent)
    seen = base.one("select last_seen from qwf.workers")
    until(lambda: base.one("select last_seen > %s from qwf.workers", seen), "a heartbeat")
    job_id = base.enqueue("noop")
    switch(base, "on")
    assert base.ended(job_id)["status"] == "completed"
    assert base.one("select count(*) from qwf.workers") == 1


def test_drain_lets_running_jobs_finish_and_parks(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start(*BOX)
    job_id, pid = running(base, "telling", tmp_path, seconds=0.5)
    switch(base, "off", "drain")
    later = base.enqueue("noop")
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1
    until(lambda: not alive(pid), "its child to go")
    parked(agent)
    assert base.job(later)["status"] == "queued"


def test_pause_keeps_the_child(base: Database, start: StartAgent) -> None:
    agent = start(*BOX)
    before = base.ended(base.enqueue("whoami"))["output"]["pid"]
    switch(base, "off", "pause")
    until(lambda: "is off (pause)" in agent.said(), "the agent to know")
    job_id = base.enqueue("whoami")
    assert alive(before)
    switch(base, "on")
    assert base.ended(job_id)["output"]["pid"] == before


def test_off_ends_at_its_time(base: Database, start: StartAgent) -> None:
    start(*BOX)
    base.conn.execute(
        "select qwf.worker_control('box', 'default', 'off', until => now() + interval '1 s')"
    )
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_an_agent_can_start_parked(base: Database, start: StartAgent) -> None:
    switch(base, "off")
    agent = start(*BOX)
    until(lambda: "is off (hard)" in agent.said(), "the agent to know")
    assert not agent.children()
    assert agent.stop() == 0


def test_a_plain_insert_switches_off_too(base: Database, start: StartAgent) -> None:
    agent = start(*BOX)
    until(agent.children)
    base.conn.execute(
        "insert into qwf.worker_controls (host_label, queue, desired_state)"
        " values ('box', 'default', 'off')"
    )
    parked(agent)


def test_jobs_given_to_a_child_and_not_started_go_back(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start(*BOX)
    for _ in range(3):  # so that it takes several jobs at a time
        base.ended([base.enqueue("noop") for _ in range(50)][-1])
    first, _ = running(base, "telling", tmp_path, seconds=0.5)
    ids = [base.enqueue("noop") for _ in range(20)]
    switch(base, "off", "drain")
    assert base.ended(first)["status"] == "completed"
    parked(agent)
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'running'") == 0)
    assert base.invariants() == []
    switch(base, "on")
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}


def test_one_queue_of_two_is_off(base: Database, start: StartAgent, tmp_path: Path) -> None:
    start(*BOX, "--queue", "default", "--queue", "cpu", "--slots", "2")
    _, pid = running(base, "telling", tmp_path, seconds=600)
    file = tmp_path / "other"
    other = base.enqueue("telling", {"file": str(file), "seconds": 0.5}, queue="cpu")
    until(file.exists)
    switch(base, "off")
    until(lambda: not alive(pid), "the death of the body")
    assert base.ended(other)["status"] == "completed"
    assert len(base.attempts(other)) == 1
    assert base.ended(base.enqueue("noop", {}, queue="cpu"))["status"] == "completed"


def test_a_worker_registers_again_when_its_row_is_lost(base: Database, start: StartAgent) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    start(*BOX)
    base.ended(base.enqueue("noop"))
    gone = base.one("delete from qwf.workers returning id")
    until(lambda: base.one("select id from qwf.workers"), "a new registration")
    assert base.one("select id from qwf.workers") != gone
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


# Workers whose jobs all fail ---------------------------------------------------------------------


def off_reason(base: Database) -> Any:
    return base.one("select reason from qwf.worker_controls where desired_state = 'off'")


def crashing(base: Database, jobs: int) -> list[int]:
    """Jobs of two tasks: one that crashes alone is held back, and its box goes on."""
    base.conn.execute("update qwf.settings set crash_hold = '0 s'")
    tasks = [("die", {"number": int(signal.SIGSEGV)}), ("short", {"kill": int(signal.SIGSEGV)})]
    return [base.enqueue(*tasks[n % 2]) for n in range(jobs)]


def move_what_is_left(base: Database) -> None:
    """Move queued jobs to another queue, after the worker has reported what it ran."""
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'running'") == 0)
    base.conn.execute("update qwf.jobs set queue = 'cpu' where status = 'queued'")


def test_a_worker_whose_jobs_crash_one_after_another_switches_itself_off(
    base: Database, start: StartAgent
) -> None:
    agent = start(*BOX)
    # The next job may be claimed before a crash is reported, so all five crashes may differ.
    ids = crashing(base, 6)
    reason = until(lambda: off_reason(base), "the worker to switch itself off")
    assert "in a row failed within 2 s (crashed)" in reason
    parked(agent)
    move_what_is_left(base)
    assert base.job(ids[-1])["attempt"] == 0, "it is left for others"
    waiting = base.enqueue("noop")
    base.conn.execute("update qwf.worker_controls set until = now() where desired_state = 'off'")
    assert base.ended(waiting)["status"] == "completed"


def test_a_trial_job_that_fails_switches_the_worker_off_again(
    base: Database, start: StartAgent
) -> None:
    start(*BOX)
    crashing(base, 5)
    until(lambda: off_reason(base), "the worker to switch itself off")
    move_what_is_left(base)
    trials = [base.enqueue("die", {"number": int(signal.SIGSEGV)}) for _ in range(3)]
    base.conn.execute("update qwf.worker_controls set until = now()")
    until(lambda: "after a pause" in (off_reason(base) or ""), "the job on trial to die")
    tried = [job_id for job_id in trials if base.job(job_id)["attempt"]]
    assert len(tried) == 1, "only one job is tried"


@pytest.mark.parametrize("kind", ["value", "permanent"])
def test_ordinary_errors_switch_nothing_off(base: Database, start: StartAgent, kind: str) -> None:
    start(*BOX)
    ids = [base.enqueue("raising", {"kind": kind}) for _ in range(10)]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"failed"}
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert off_reason(base) is None


def test_one_job_that_keeps_crashing_switches_nothing_off(
    base: Database, start: StartAgent
) -> None:
    """Nor do crashes between jobs that complete."""
    base.conn.execute("update qwf.settings set crash_hold = '0 s'")
    start(*BOX)
    for _ in range(4):
        assert base.ended(base.enqueue("die", {"number": 9}))["status"] == "failed"
        assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert off_reason(base) is None


def test_killed_idle_children_and_a_switch_off_do_no_harm(
    base: Database, start: StartAgent
) -> None:
    agent = start(*BOX)
    until(agent.children)
    for pid in agent.children():
        os.kill(pid, signal.SIGKILL)
    switch(base, "off")
    parked(agent)
    switch(base, "on")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
