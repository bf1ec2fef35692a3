"""Who changed what, when two do it at the same time."""

from __future__ import annotations

import pytest

from support.interleave import Race, claim, finish

SETTINGS = "select qwf.change_settings(%s)"
CHANGES = "select detail -> 'old' ->> %s, detail -> 'new' ->> %s from qwf.audit order by id"


def test_of_two_changes_of_one_setting_the_second_names_what_the_first_wrote(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows(SETTINGS, '{"max_losses": 5}')
    second.start(SETTINGS, '{"max_losses": 7}')
    second.waits()
    first.commit()
    second.ends()
    assert race.rows(CHANGES, "max_losses", "max_losses") == [("3", "5"), ("5", "7")]


def test_a_change_that_is_rolled_back_leaves_no_event(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows("select qwf.create_queue('cpu', max_running => 5)")
    second.start("select qwf.create_queue('cpu', max_running => 7)")
    second.waits()
    first.rollback()
    second.ends()
    assert race.rows(CHANGES, "max_running", "max_running") == [(None, "7")]


@pytest.mark.parametrize("commits", [True, False])
def test_of_two_who_pause_a_queue_one_is_named(race: Race, commits: bool) -> None:
    first, second = race.session(), race.session()
    first.rows("set qwf.acting_for = 'ada'")
    second.rows("set qwf.acting_for = 'bob'")
    first.begin()
    first.rows("select qwf.pause_queue('cpu')")
    second.start("select qwf.pause_queue('cpu')")
    second.waits()
    first.commit() if commits else first.rollback()
    second.ends()
    said = race.rows("select acting_for, detail -> 'new' ->> 'paused' from qwf.audit")
    assert said == [("ada" if commits else "bob", "true")]


def test_two_orders_for_one_box_each_name_who_gave_them(race: Race) -> None:
    first, second = race.session(), race.session()
    first.begin()
    first.rows("select qwf.worker_control('box', 'cpu', 'off', 'drain', acting_for => 'ada')")
    second.start("select qwf.worker_control('box', 'cpu', 'off', 'hard', acting_for => 'bob')")
    second.waits()
    first.commit()
    second.ends()
    assert race.rows(
        "select acting_for, detail -> 'old' ->> 'stop_policy', detail -> 'new' ->> 'stop_policy'"
        " from qwf.audit order by id"
    ) == [("ada", None, "drain"), ("bob", "drain", "hard")]
    assert race.rows("select acting_for, stop_policy from qwf.switched_off") == [("bob", "hard")]


def test_a_job_is_cancelled_and_retried_at_once(race: Race) -> None:
    """Neither waits for the other. What took effect is an event; a refusal is none."""
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    finish(race, held, outcome="fatal")
    ada, bob = race.session(), race.session()
    ada.rows("set qwf.acting_for = 'ada'")
    bob.rows("set qwf.acting_for = 'bob'")
    ada.begin()
    ada.rows("select qwf.retry_job(%s)", job)
    assert bob.sqlstate("select qwf.cancel_job(%s)", job) == "QW002"  # it has failed
    ada.commit()
    bob.begin()
    assert bob.one("select qwf.cancel_job(%s)", job) == "cancelled"
    assert ada.sqlstate("select qwf.retry_job(%s)", job) == "QW002"  # it is queued
    bob.commit()
    ada.rows("select qwf.retry_job(%s)", job)
    acts = race.rows("select kind, acting_for from qwf.audit order by id")
    assert acts == [("retried", "ada"), ("cancelled", "bob"), ("retried", "ada")]
    race.healthy()
