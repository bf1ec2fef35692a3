"""An idle agent sleeps until it is woken; the poll is only a fallback."""

from __future__ import annotations

from pathlib import Path

from support.harness import Database, StartAgent, until


def asleep(base: Database) -> int:
    return int(base.one("select count(*) from qwf.sleepers"))


def test_new_work_wakes_a_sleeper(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--poll", "600")
    for _ in range(3):
        until(lambda: asleep(base) == 1, "the agent to fall asleep")
        assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_a_job_that_falls_due_wakes_it_too(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--poll", "600")
    until(lambda: asleep(base) == 1)
    when = base.one("select clock_timestamp() + interval '1.5 s'")
    job = base.ended(base.enqueue("noop", run_at=when))
    assert job["status"] == "completed"
    assert job["started_at"] >= when


def test_the_poll_finds_work_without_a_wake_up(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--poll", "0.2")
    until(lambda: asleep(base) == 1)
    base.conn.execute("alter table qwf.jobs disable trigger user")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_a_tick_finds_work_without_a_wake_up_before_the_poll(
    base: Database, start: StartAgent
) -> None:
    start("--app", "bodies", "--poll", "600")
    until(lambda: asleep(base) == 1)
    base.conn.execute("alter table qwf.jobs disable trigger user")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_another_agent_ticks_when_the_one_that_did_has_died(
    base: Database, start: StartAgent
) -> None:
    base.conn.execute("update qwf.settings set tick = '0.1 s'")
    agents = [start("--app", "bodies", "--queue", "cpu") for _ in range(3)]
    until(lambda: asleep(base) == 3, "the agents to fall asleep")
    job = base.enqueue("noop")
    assert base.one("select count(*) from qwf.claim('default', 'lost', 1, '1 s')") == 1
    for agent in agents[:2]:
        agent.process.kill()
    until(lambda: base.one("select status from qwf.jobs where id = %s", job) == "queued")


def test_a_busy_agent_is_not_asleep(base: Database, start: StartAgent, tmp_path: Path) -> None:
    start("--app", "bodies", "--queue", "default", "--queue", "cpu")
    until(lambda: asleep(base) == 2, "both workers to fall asleep")
    file = tmp_path / "pid"
    base.enqueue("telling", {"file": str(file), "seconds": 600})
    until(file.exists)
    until(lambda: asleep(base) == 0, "wake-ups to go to others")


def test_a_body_may_run_longer_than_its_lease(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--lease", "5")
    job = base.ended(base.enqueue("sleeping", {"seconds": 11}))
    assert (job["status"], job["attempt"], job["losses"]) == ("completed", 1, 0)


def test_one_agent_serves_several_queues(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--queue", "default", "--queue", "cpu", "--queue", "gpu")
    queues = ("default", "cpu", "gpu")
    ids = [base.enqueue("noop", queue=queue) for _ in range(10) for queue in queues]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert base.one("select count(*) from qwf.workers") == 3
