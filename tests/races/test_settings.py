"""Settings that two administrators change at the same time."""

from __future__ import annotations

from support.interleave import Race, claim

CHANGE = "select qwf.change_settings(%s)"


def test_both_changes_stay(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows(CHANGE, '{"stall_samples": 7}')
    second.start(CHANGE, '{"max_losses": 9}')
    second.waits()
    first.commit()
    second.ends()
    assert race.rows("select stall_samples, max_losses from qwf.settings") == [(7, 9)]


def test_an_uncommitted_change_holds_nobody_up(race: Race) -> None:
    race.run("single")
    first, rival = race.session(), race.nonblocking()
    first.begin()
    first.rows(CHANGE, '{"lease": "1 min"}')
    assert len(claim(rival)) == 1
    rival.rows("select qwf.tick()")
    first.rollback()


def test_a_queue_that_is_made_meanwhile_gets_the_new_lease(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows(CHANGE, '{"lease": "50 s"}')
    second.start("select qwf.create_queue('fresh')")
    second.waits()
    first.commit()
    second.ends()
    first.begin()
    first.rows("select qwf.create_queue('later')")
    second.start(CHANGE, '{"lease": "40 s"}')
    second.waits()
    first.commit()
    second.ends()
    leases = race.rows("select distinct effective_lease::text from qwf.queues")
    assert leases == [("00:00:40",)]
    race.healthy()
