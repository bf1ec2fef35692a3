"""Events are applied once, left while the run is locked, and never lost."""

from __future__ import annotations

import pytest

from support.interleave import Race, Session, claim, finish


def hold(race: Race, run: int) -> Session:
    """A session that holds the run's lock in an open transaction."""
    holder = race.session()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    return holder


def test_two_drains_apply_an_event_once(race: Race) -> None:
    run = race.run("diamond")
    holder = hold(race, run)
    assert finish(race, *claim(race)) == [("ok", True)]
    holder.rollback()
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert first.one("select qwf.drain_outbox()") == 1
    assert second.one("select qwf.drain_outbox()") == 0
    race.healthy()
    first.commit()
    assert second.one("select qwf.drain_outbox()") == 0
    race.healthy()
    assert race.one("select array_agg(remaining_deps order by id) from qwf.jobs") == [0, 0, 0, 2]


def test_a_killed_drain_leaves_the_event(race: Race) -> None:
    run = race.run("diamond")
    holder = hold(race, run)
    finish(race, *claim(race))
    holder.rollback()
    open_gate = race.gate("qwf.jobs", f"old.id = {race.job(run, 'diamond/c')}")
    draining = race.session()
    draining.start("select qwf.drain_outbox()")
    draining.waits()
    race.healthy()
    draining.kill()
    open_gate()
    race.healthy()
    assert race.one("select qwf.drain_outbox()") == 1
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_events_of_a_locked_run_do_not_delay_other_runs(race: Race) -> None:
    """An open submit_input locks a run of which more nodes finish than one drain reads."""
    busy, other = race.run("asked_beside_many"), race.run("guarded", run_at="2100-01-01")
    race.complete_queued(busy)
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.submit_input(%s, 'ask', '\"x\"')", busy)
    done = claim(race, 200)
    assert len(done) > 100
    assert {pending for _, pending in finish(race, *done)} == {True}
    race.make_due(race.job(other, "single/a"))
    for _ in range(3):
        race.one("select qwf.tick()")
    assert race.statuses(other)["single/a"] == "queued"
    producer.commit()
    race.settle()


def test_events_of_a_deleted_run_do_not_delay_other_runs(race: Race) -> None:
    race.rows(
        "insert into qwf.outbox (run_id, kind) select -1, 'stop' from generate_series(1, 150)"
    )
    other = race.run("guarded", run_at="2100-01-01")
    race.make_due(race.job(other, "single/a"))
    race.one("select qwf.tick()")
    race.one("select qwf.tick()")
    assert race.statuses(other)["single/a"] == "queued"


@pytest.mark.parametrize("after", ["finish", "drain"])
def test_an_error_in_the_fan_out_does_not_roll_back_the_end_of_the_job(
    race: Race, after: str
) -> None:
    run = race.run("chain")
    (held,) = claim(race)
    race.rows(
        "alter table qwf.jobs add constraint broken"
        " check (node_id <> 'chain/b' or status <> 'queued')"
    )
    assert finish(race, held) == [("ok", True)]
    assert race.status(held.job) == "completed"
    race.healthy()
    if after == "drain":
        assert race.one("select qwf.drain_outbox()") == 0
        race.healthy()
        race.rows("update qwf.outbox set next_try_at = null")
    race.rows("alter table qwf.jobs drop constraint broken")
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("stopping_works", [True, False])
def test_an_event_that_never_applies_fails_its_run_and_no_other(
    race: Race, stopping_works: bool
) -> None:
    bad, good = race.run("chain"), race.run("diamond")
    forbidden = "'queued'" if stopping_works else "'queued', 'cancelled'"
    race.rows(
        "alter table qwf.jobs add constraint broken "
        f"check (node_id <> 'chain/b' or status not in ({forbidden}))"
    )
    holder = hold(race, good)
    finish(race, *claim(race, 2))
    holder.rollback()
    for _ in range(6):
        race.rows("update qwf.outbox set next_try_at = null")
        race.one("select qwf.tick()")
    assert race.statuses(good)["diamond/b"] == "queued"
    assert race.run_status(bad) == "failed"
    assert "broken" in race.one("select error from qwf.runs where id = %s", bad)


def test_a_conflict_does_not_poison_an_event(race: Race) -> None:
    """A deadlock or serialization failure with another session is not the event's fault."""
    run = race.run("chain")
    holder = hold(race, run)
    finish(race, *claim(race))
    holder.rollback()
    race.rows(
        "create function public.conflict() returns trigger language plpgsql as $$begin "
        "raise exception using errcode = '40P01', message = 'deadlock detected'; end$$"
    )
    race.rows(
        "create trigger conflict before update on qwf.jobs for each row"
        " when (new.node_id = 'chain/b' and new.status = 'queued')"
        " execute function public.conflict()"
    )
    for _ in range(8):
        race.rows("update qwf.outbox set next_try_at = null")
        race.one("select qwf.tick()")
    race.rows("drop trigger conflict on qwf.jobs")
    race.rows("update qwf.outbox set next_try_at = null")
    race.complete_all()
    assert race.run_status(run) == "completed"
