"""The clock of the server is set back by an hour: nothing is lost, nothing runs or fires twice, and
what other times wait for comes in time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from support.harness import Database

THEN = datetime(2030, 1, 1, 12, 30, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
CLOCK = """
create or replace function qwf.now() returns timestamptz language sql volatile
as $$ select pg_catalog.current_setting('qwf_test.now')::pg_catalog.timestamptz $$
"""
CLAIM = "select job_id, token::text from qwf.claim('default', %s, %s)"
FINISH = "select qwf.finish(%s, %s, 'completed')"


class Clock:
    """The clock of the engine, and one worker that lives on while it goes."""

    def __init__(self, base: Database) -> None:
        self.base, self.now = base, THEN
        base.conn.execute(CLOCK)
        self.set(THEN)
        self.worker: str = base.one("select qwf.register_worker('alive', 'default')")
        self.held: dict[int, str] = {}

    def set(self, now: datetime) -> None:
        self.now = now
        self.base.one("select set_config('qwf_test.now', %s, false)", now.isoformat())

    def pass_by(self, seconds: int, step: int = 5) -> list[int]:
        """Let time pass as an agent does: beats, ticks, claims and finishes. What has started."""
        started: list[int] = []
        for _ in range(0, seconds, step):
            self.set(self.now + timedelta(seconds=step))
            beat = "select verdict from qwf.heartbeat(%s, %s::uuid[])"
            said = self.base.conn.execute(beat, [self.worker, list(self.held.values())]).fetchall()
            assert [row["verdict"] for row in said] == ["ok"] * len(self.held)
            assert "errors" not in self.base.one("select qwf.tick()")
            for job, token in self.claim(self.worker, 100).items():
                started.append(job)
                assert self.base.one(FINISH, job, token) == "ok"
            assert self.base.invariants() == []
        return started

    def claim(self, worker: str, count: int = 1) -> dict[int, str]:
        found = self.base.conn.execute(CLAIM, [worker, count]).fetchall()
        return {row["job_id"]: row["token"] for row in found}


@pytest.fixture
def clock(dsn: str) -> Iterator[Clock]:
    base = Database(dsn)
    with base.conn:
        yield Clock(base)


def dead(clock: Clock) -> str:
    return str(clock.base.one("select qwf.register_worker('dead', 'default')"))


def test_the_job_of_a_dead_worker_is_taken_back_in_time_and_that_of_a_live_one_goes_on(
    clock: Clock,
) -> None:
    lost, kept = clock.base.enqueue("noop"), clock.base.enqueue("noop")
    assert list(clock.claim(dead(clock))) == [lost]
    clock.held = clock.claim(clock.worker)
    assert list(clock.held) == [kept]
    clock.pass_by(10)
    clock.set(clock.now - HOUR)
    assert clock.pass_by(60) == [lost]
    assert clock.base.job(lost)["losses"] == 1
    assert clock.base.one(FINISH, kept, clock.held[kept]) == "ok"
    assert clock.base.job(kept)["losses"] == 0


def test_the_job_of_a_program_that_never_registered_is_taken_back(clock: Clock) -> None:
    job = clock.base.enqueue("noop")
    clock.claim("somebody")
    clock.pass_by(5)
    clock.set(clock.now - HOUR)
    assert clock.pass_by(60) == [job]


def test_a_lease_that_was_given_after_that_lapses_in_time(clock: Clock) -> None:
    job = clock.base.enqueue("noop")
    worker = dead(clock)
    clock.set(clock.now - timedelta(seconds=10))
    clock.claim(worker)
    assert clock.pass_by(25) == []
    assert clock.pass_by(15) == [job]


def test_a_lease_survives_a_small_step(clock: Clock) -> None:
    clock.base.enqueue("noop")
    clock.held = clock.claim(clock.worker)
    for _ in range(10):
        clock.pass_by(5)
        clock.set(clock.now - timedelta(seconds=4))
    assert clock.base.one("select count(*) from qwf.jobs where losses > 0") == 0


def test_a_schedule_fires_each_time_once_and_goes_on(clock: Clock) -> None:
    for name, when in (("minutely", "every => '1 min'"), ("five", "cron => '*/5 * * * *'")):
        clock.base.one(f"select qwf.create_schedule('{name}', 'noop', {when})")
    clock.pass_by(600, 20)
    before = fired(clock)
    clock.set(clock.now - HOUR)
    clock.pass_by(4200, 100)
    twice = "select schedule, due_at from qwf.firings group by 1, 2 having count(*) > 1"
    assert clock.base.conn.execute(twice).fetchall() == []
    assert all(count > before[name] for name, count in fired(clock).items())


def fired(clock: Clock) -> dict[str, int]:
    rows = clock.base.conn.execute("select name, fired from qwf.schedules").fetchall()
    return {row["name"]: row["fired"] for row in rows}


def test_a_rate_starts_no_more_and_goes_on(clock: Clock) -> None:
    clock.base.one("select qwf.create_limit('calls', 10, 1, '20 s')")
    jobs = [clock.base.enqueue("noop", limit_by="calls") for _ in range(4)]
    assert clock.pass_by(5) == jobs[:1]
    clock.set(clock.now - HOUR)
    assert clock.pass_by(15) == []
    assert clock.pass_by(60) == jobs[1:]


def test_a_held_task_is_tried_in_time(clock: Clock) -> None:
    job = clock.base.enqueue("killer", max_losses=100)
    for box in ("box-a", "box-b"):
        worker = clock.base.one("select qwf.register_worker(%s, 'default')", box)
        ((claimed, token),) = clock.claim(worker).items()
        died = "select qwf.finish(%s, %s, 'lost', detail => '{\"reason\": \"crashed\"}')"
        assert clock.base.one(died, claimed, token) == "ok"
    clock.pass_by(5)
    clock.set(clock.now - HOUR)
    assert clock.pass_by(270) == []
    assert clock.pass_by(60) == [job]


def test_a_job_that_was_put_off_and_one_whose_limit_is_held_start_when_it_was_said(
    clock: Clock,
) -> None:
    """These times are those of a clock on the wall."""
    clock.base.one("select qwf.create_limit('smtp', 1)")
    at = clock.now + timedelta(minutes=5)
    late = clock.base.enqueue("noop", run_at=at)
    clock.base.one("select qwf.hold_limit('smtp', %s)", at)
    held = clock.base.enqueue("noop", limit_by="smtp")
    clock.set(clock.now - HOUR)
    assert clock.pass_by(3800, 100) == []
    started: Any = clock.pass_by(200, 20)
    assert sorted(started) == [late, held]
