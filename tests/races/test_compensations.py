"""Compensation nodes: the end of their run against bodies that run, other ends, and retries."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Claim, Race, both_end, claim, finish, run_of
from support.planted_bugs import UNDO_BUGS, put_in

VERDICT = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"
CANCEL = "select qwf.cancel_run(%s)"
OUTCOMES = ["completed", "error", "fatal", "tempfail", "lost", "released", "cancelled"]
SHIPPING = ({"id": "charge"}, {"id": "refund", "compensates": ["charge"]})


def charged(race: Race) -> tuple[int, Claim, Claim]:
    """A run that has charged, and in which two bodies run after that: a, and b with tries left."""
    run = run_of(
        race,
        *SHIPPING,
        {"id": "a", "depends_on": ["charge"]},
        {"id": "b", "depends_on": ["charge"], "retry": {"max_attempts": 3}},
        {"id": "c", "depends_on": ["a"]},
    )
    finish(race, *claim(race))
    a, b = claim(race, 2)
    return run, a, b


def refund(race: Race, run: int, status: str) -> None:
    """Refund once, and assert that the run ends with `status`, and can be retried."""
    race.settle()
    race.healthy()
    held = claim(race, 10)
    assert [c.name for c in held] == ["s/refund"]
    assert race.run_status(run) == "running"
    finish(race, *held)
    race.settle()
    assert race.run_status(run) == status
    assert claim(race, 10) == []
    race.healthy()


@pytest.mark.parametrize("first", ["the failure", "the other"])
def test_a_refund_waits_for_all_that_follows_from_the_charge(race: Race, first: str) -> None:
    """It opens once, after both bodies, in any order of commits and however the other ends."""
    for outcome in OUTCOMES:
        run, a, b = charged(race)
        ends = [(a, "fatal"), (b, outcome)]
        if first == "the other":
            ends.reverse()
        both_end(race, *ends[0], *ends[1])
        cancelled = outcome == "cancelled" and first == "the other"
        refund(race, run, "cancelled" if cancelled else "failed")


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("outcome", ["completed", "cancelled", "lost"])
def test_a_charge_that_ends_while_its_run_is_cancelled(
    race: Race, commits: bool, outcome: str
) -> None:
    """A charge that completes all the same is refunded; one that does not is not."""
    run = run_of(race, *SHIPPING, {"id": "ship", "depends_on": ["charge"]})
    (charge,) = claim(race)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    producer.rows(CANCEL, run)
    assert finish(worker, charge, outcome=outcome) == [("ok", True)]
    worker.one("select qwf.tick()")
    race.healthy()
    producer.commit() if commits else producer.rollback()
    race.settle()
    race.healthy()
    if not commits:
        assert race.statuses(run)["s/refund"] == "skipped"
    elif outcome == "completed":
        refund(race, run, "cancelled")
    else:
        assert race.statuses(run)["s/refund"] == "skipped"
        assert race.run_status(run) == "cancelled"


def test_a_charge_that_is_claimed_while_its_run_fails(race: Race) -> None:
    """The end of the run does not see the claim, and the refund waits for that body."""
    run = run_of(race, {"id": "x"}, *SHIPPING)
    x, charge = sorted(claim(race, 2), key=lambda one: one.name == "s/charge")
    finish(race, charge, outcome="released")
    claiming = race.session()
    claiming.begin()
    (again,) = claim(claiming)
    assert finish(race.nonblocking(), x, outcome="fatal") == [("ok", False)]
    race.healthy()
    race.one("select qwf.tick()")
    claiming.commit()
    race.settle()
    assert race.statuses(run)["s/refund"] == "blocked"
    assert race.one(VERDICT, again.token) == "cancel"
    finish(race, again)
    refund(race, run, "failed")


@pytest.mark.parametrize("first", ["cancel", "fail"])
def test_two_ends_at_once_refund_once(race: Race, first: str) -> None:
    run, a, b = charged(race)
    one, other = race.session(), race.session()
    one.begin()
    if first == "cancel":
        one.rows(CANCEL, run)
        assert finish(race.nonblocking(), a, outcome="fatal") == [("ok", True)]
        one.commit()
    else:
        assert finish(one, a, outcome="fatal") == [("ok", False)]
        other.start(CANCEL, run)
        other.waits()
        one.commit()
        assert other.ends() == [(False,)]
    race.settle()
    finish(race, b, outcome="cancelled")
    refund(race, run, "cancelled" if first == "cancel" else "failed")


def test_a_cancel_while_the_refund_runs_changes_nothing(race: Race) -> None:
    run, a, b = charged(race)
    finish(race, a, outcome="fatal")
    finish(race, b, outcome="cancelled")
    (held,) = claim(race, 10)
    producer = race.session()
    producer.begin()
    assert producer.rows(CANCEL, run) == [(False,)]
    assert finish(race.nonblocking(), held) == [("ok", True)]
    producer.commit()
    race.settle()
    assert race.run_status(run) == "failed"
    assert race.statuses(run)["s/refund"] == "completed"


def test_an_end_that_is_yet_to_be_applied_is_waited_for(race: Race) -> None:
    """The end of a is an event in the outbox when the run is cancelled."""
    run, a, b = charged(race)
    locking = race.session()
    locking.begin()
    locking.rows("select from qwf.runs where id = %s for update", run)
    assert finish(race.nonblocking(), a) == [("ok", True)]
    locking.rollback()
    race.rows(CANCEL, run)
    race.healthy()
    assert race.statuses(run)["s/refund"] == "blocked"
    finish(race, b)
    refund(race, run, "cancelled")


@pytest.mark.parametrize("first", ["the refund", "the cancellation"])
@pytest.mark.parametrize("commits", [True, False])
def test_a_run_that_takes_back_first_is_cancelled_as_the_last_refund_ends(
    race: Race, first: str, commits: bool
) -> None:
    """It goes on in the transaction of the last refund, or not at all."""
    run = run_of(race, *SHIPPING)
    finish(race, *claim(race))
    race.rows("select qwf.retry_run(%s, 's/charge', completed => 'compensate')", run)
    (refunds,) = claim(race)
    worker, producer = race.session(), race.session()
    if first == "the refund":
        worker.begin()
        finish(worker, refunds)
        producer.start(CANCEL, run)
        producer.waits()
        worker.commit() if commits else worker.rollback()
        assert producer.ends() == [(True,)]
        if not commits:
            finish(race, refunds)
    else:
        producer.begin()
        producer.rows(CANCEL, run)
        assert finish(worker, refunds)[0][0] == "ok"
        producer.commit() if commits else producer.rollback()
    race.settle()
    race.healthy()
    if first == "the refund" and commits:
        assert race.statuses(run) == {"s/charge": "cancelled", "s/refund": "skipped"}
    elif commits or first == "the refund":
        assert race.statuses(run) == {"s/charge": "completed", "s/refund": "completed"}
    else:
        assert race.statuses(run) == {"s/charge": "queued", "s/refund": "skipped"}
        return
    assert race.run_status(run) == "cancelled"


def test_two_retries_at_once_charge_once(race: Race) -> None:
    """The second waits for the first, and finds the run live."""
    run, a, b = charged(race)
    finish(race, a, outcome="fatal")
    with pytest.raises(psycopg.Error, match="the run is not over"):
        race.rows("select qwf.retry_run(%s)", run)  # b still stops, and the refund waits for it
    finish(race, b, outcome="cancelled")
    refund(race, run, "failed")
    one, other = race.session(), race.session()
    one.begin()
    assert one.rows("select qwf.retry_run(%s)", run) == [(4,)]
    other.start("select qwf.retry_run(%s)", run)
    other.waits()
    one.commit()
    with pytest.raises(psycopg.Error, match="the run is not over"):
        other.ends()
    race.healthy()
    assert race.statuses(run) == {
        "s/charge": "queued",
        "s/a": "blocked",
        "s/b": "blocked",
        "s/c": "blocked",
        "s/refund": "skipped",
    }
    finish(race, *claim(race, 10))
    finish(race, *claim(race, 10))
    finish(race, *claim(race, 10))
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("case", UNDO_BUGS, ids=str)
def test_a_planted_bug_is_found(race: Race, case: tuple[str, ...]) -> None:
    put_in(race.conn.info.dsn, *UNDO_BUGS[case])
    with pytest.raises((AssertionError, psycopg.Error)):
        globals()[case[0]](race, *case[1:])
