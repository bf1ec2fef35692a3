"""Ticks against each other, a hanging tick, and work that must not stop a tick."""

from __future__ import annotations

import pytest

from support.interleave import Race, claim, finish

LATE = "select setval('qwf.last_tick', (extract(epoch from qwf.now()) * 1000)::bigint - %s)"
AGED = LATE.replace("last_tick", "last_complete_tick")


def test_one_of_two_ticks_does_the_work(race: Race) -> None:
    race.rows(LATE, 0)
    first = race.session()
    first.begin()
    assert first.one("select qwf.tick() -> 'ran'") is True
    assert race.nonblocking().one("select qwf.tick() -> 'ran'") is False
    first.commit()
    assert race.one("select qwf.tick() -> 'ran'") is True


def test_ticks_continue_while_one_hangs(race: Race) -> None:
    """Only rows that the hanging one has touched wait for it."""
    held = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (lost,) = claim(race)
    race.expire_leases(held)
    hanging = race.session()
    hanging.begin()
    assert hanging.one("select qwf.tick() -> 'reclaimed'") == 1
    later = race.one("select qwf.enqueue('t', queue => 'cpu', run_at => '2100-01-01')")
    race.make_due(later)
    race.rows(LATE, 11_000)
    report = race.nonblocking().one("select qwf.tick()")
    assert report["ran"] is True
    assert (report["reclaimed"], report["promoted"], report.get("errors")) == (0, 1, None)
    hanging.commit()
    assert finish(race, lost) == [("lost", False)]
    race.settle()


def test_a_tick_that_hangs_costs_the_others_ten_seconds_once(race: Race) -> None:
    """Once it is known to hang, ticks run as often as before."""
    hanging = race.session()
    hanging.begin()
    hanging.one("select qwf.tick()")
    race.rows(LATE, 11_000)
    assert race.one("select qwf.tick() -> 'ran'") is True
    assert race.one("select qwf.tick() -> 'ran'") is True


def test_one_tick_of_a_fleet_does_the_work_and_the_others_do_not_wait(race: Race) -> None:
    first = race.session()
    first.begin()
    assert first.one("select qwf.tick('1 h') -> 'ran'") is True
    assert [race.nonblocking().one("select qwf.tick('1 h') -> 'ran'") for _ in range(5)] == [
        False
    ] * 5
    first.rollback()


def test_the_work_of_a_rolled_back_tick_is_done_again_at_once(race: Race) -> None:
    """No rollback takes the mark of a done tick back, but the mark names its transaction."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    claim(race)
    race.expire_leases(job)
    undone = race.session()
    undone.begin()
    assert undone.one("select qwf.tick('1 h') -> 'reclaimed'") == 1
    undone.rollback()
    assert race.one("select qwf.tick('1 h') -> 'reclaimed'") == 1
    assert race.one("select qwf.tick('1 h') -> 'ran'") is False


def test_statistics_are_rolled_up_though_ticks_are_rolled_back(race: Race) -> None:
    race.rows("select setval('qwf.next_roll_up', 0)")
    race.one("select qwf.enqueue('t', queue => 'cpu')")
    finish(race, *claim(race))
    undone = race.session()
    undone.begin()
    assert undone.one("select qwf.tick() -> 'rolled_up'") == 1
    undone.rollback()
    assert race.one("select qwf.tick() -> 'rolled_up'") == 1
    assert race.one("select qwf.tick() -> 'rolled_up'") == 0


def test_a_fleet_still_ticks_regularly_while_one_tick_hangs(race: Race) -> None:
    """A tick without the lock leaves a mark for the others, too."""
    hanging = race.session()
    hanging.begin()
    hanging.one("select qwf.tick('1 h')")
    race.rows(LATE, 11_000)
    race.rows(AGED, 800)
    call = "select qwf.tick('0.7 s') -> 'ran'"
    assert [race.nonblocking().one(call) for _ in range(3)] == [True, False, False]
    race.rows(AGED, 800)
    assert race.nonblocking().one(call) is True


def test_a_due_job_is_queued_while_a_tick_hangs(race: Race) -> None:
    hanging = race.session()
    hanging.begin()
    hanging.one("select qwf.tick('1 h')")
    race.make_due(race.one("select qwf.enqueue('t', queue => 'cpu', run_at => '2100-01-01')"))
    race.rows(LATE, 11_000)
    report = race.nonblocking().one("select qwf.tick('1 h')")
    assert (report["ran"], report["promoted"]) == (True, 1)


def test_a_worker_waits_for_a_hanging_tick_that_reclaims_its_job(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (late,) = claim(race)
    race.expire_leases(job)
    hanging = race.session()
    hanging.begin()
    assert hanging.one("select qwf.tick() -> 'reclaimed'") == 1
    worker = race.session()
    worker.start("select qwf.finish(%s, %s, 'completed')", late.job, late.token)
    worker.waits()  # only one of the two writes the end of the job
    hanging.rollback()
    assert worker.ends() == [("ok",)]
    race.settle()


@pytest.mark.parametrize("never", ["infinity", "294276-12-31"])
def test_a_job_for_the_end_of_time_does_not_stop_ticks(race: Race, never: str) -> None:
    """The part is refused or scheduled, and everything else continues."""
    call = "select qwf.enqueue('t', queue => 'cpu', run_at => %s)"
    assert race.sqlstate(call, never) in ("00000", "QW005")
    assert race.one("select qwf.tick() -> 'ran'") is True


def test_a_run_for_the_end_of_time_does_not_stop_ticks(race: Race) -> None:
    race.register("pair")
    call = "select qwf.enqueue_run('pair', run_at => 'infinity')"
    assert race.sqlstate(call) in ("00000", "QW005")
    assert race.one("select qwf.tick() -> 'ran'") is True


def test_a_part_that_takes_too_long_does_not_undo_the_others(race: Race) -> None:
    """A statement timeout in the draining of one run; leases are reclaimed all the same."""
    run = race.run("chain")
    (held,) = claim(race)
    keeper, worker = race.session(), race.session(statement_timeout="4s")
    keeper.begin()
    keeper.rows("select from qwf.runs where id = %s for no key update", run)
    assert finish(race, held) == [("ok", True)]
    keeper.rollback()
    late = race.one("select qwf.enqueue('t', queue => 'cpu')")
    claim(race)
    race.expire_leases(late)
    race.gate("qwf.jobs", f"old.id = {race.job(run, 'chain/b')}")
    worker.start("select qwf.tick()")
    worker.ends()
    assert race.status(late) == "queued"
    race.healthy()


def test_sleepers_that_never_woke_are_deleted(race: Race) -> None:
    race.rows("select qwf.sleep('gone:' || i, 'cpu') from generate_series(1, 100) i")
    race.rows("update qwf.sleepers set since = since - interval '1 day'")
    race.settle()
    assert race.one("select count(*) from qwf.sleepers") == 0
