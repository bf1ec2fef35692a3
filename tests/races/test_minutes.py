"""Ticks that write the history of hosts and queues at the same time."""

from __future__ import annotations

from support.interleave import Race, claim, finish

RECORD = "select _qwf.record_minutes()"
ROLL_UP = "select _qwf.roll_up_counts()"
QUEUES = "select count(*) from qwf.queue_minutes where queued is not null"
SAMPLE = "insert into qwf.host_metrics (host, sampled_at, cpu_percent) values ('box', %s, 7)"


def stop_the_clock(race: Race) -> None:
    """Keep the minute of the test, however long the test takes."""
    race.rows(
        "create or replace function qwf.now() returns timestamptz language sql volatile"
        " as 'select timestamptz ''2040-01-01 10:01:30Z'''"
    )


def test_two_ticks_write_a_minute_once_and_none_waits(race: Race) -> None:
    stop_the_clock(race)
    race.rows(SAMPLE, "2040-01-01 10:00:30Z")
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert first.one(RECORD) == 5
    assert second.one(RECORD) == 0
    first.commit()
    assert second.one(RECORD) == 0
    assert (race.one(QUEUES), race.one("select count(*) from qwf.host_minutes")) == (4, 1)


def test_a_minute_of_a_tick_that_is_rolled_back_is_written_by_the_next(race: Race) -> None:
    stop_the_clock(race)
    race.rows(SAMPLE, "2040-01-01 10:00:30Z")
    first = race.session()
    first.begin()
    assert first.one(RECORD) == 5
    first.kill()
    assert race.one(RECORD) == 5


def test_a_tick_with_an_old_snapshot_writes_nothing_twice(race: Race) -> None:
    stop_the_clock(race)
    race.rows(SAMPLE, "2040-01-01 10:00:30Z")
    old = race.session()
    old.rows("begin isolation level repeatable read")
    old.one("select count(*) from qwf.jobs")
    assert race.one(RECORD) == 5
    assert old.one("select qwf.tick() -> 'ran'") is True
    old.commit()
    assert (race.one(QUEUES), race.one("select count(*) from qwf.host_minutes")) == (4, 1)


def test_a_roll_up_and_a_record_of_the_same_minute_wait_for_nobody(race: Race) -> None:
    stop_the_clock(race)
    race.rows("select qwf.enqueue('a', queue => 'cpu') from generate_series(1, 2)")
    finish(race, *claim(race))
    rolling, other = race.session(), race.nonblocking()
    rolling.begin()
    assert rolling.one(ROLL_UP) == 1
    assert other.one(RECORD) == 0
    rolling.commit()
    recording = race.session()
    recording.begin()
    assert recording.one(RECORD) == 4
    finish(other, *claim(other))
    assert other.one(ROLL_UP) == 0
    recording.commit()
    assert race.one(ROLL_UP) == 1
    assert race.rows("select queued, completed from qwf.queue_minutes where queue = 'cpu'") == [
        (1, 2)
    ]


def test_an_open_prune_holds_up_no_tick(race: Race) -> None:
    race.rows("insert into qwf.queue_minutes (queue, minute) values ('cpu', '2020-01-01')")
    pruning, other = race.session(), race.nonblocking()
    pruning.begin()
    assert pruning.one("select qwf.prune() -> 'minutes'") == 1
    assert other.one("select qwf.prune() -> 'minutes'") == 0
    assert other.one(RECORD) > 0
    pruning.commit()
