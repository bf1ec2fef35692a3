"""Answers against each other, against other nodes of the run, and against cancelling."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import Race, claim, finish

ANSWER = "select qwf.submit_input(%s, %s, '\"yes\"')"


@pytest.mark.parametrize("first_commits", [True, False])
def test_two_answers_at_once(race: Race, first_commits: bool) -> None:
    run = race.run("asked")
    one, other = race.session(), race.session()
    one.begin()
    one.rows(ANSWER, run, "ask")
    other.start(ANSWER, run, "ask")
    other.waits()
    one.commit() if first_commits else one.rollback()
    if first_commits:
        with pytest.raises(psycopg.Error) as refused:
            other.ends()
        assert refused.value.sqlstate == "QW002"
    else:
        other.ends()
    assert race.one("select count(*) from qwf.input_answers") == 1
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_answers_to_two_questions_at_once(race: Race) -> None:
    run = race.run("asked_twice")
    one, other = race.session(), race.session()
    one.begin()
    one.rows(ANSWER, run, "ask")
    other.start(ANSWER, run, "ask2")
    other.waits()
    one.commit()
    other.ends()
    race.healthy()
    assert race.statuses(run)["single/a"] == "queued"


@pytest.mark.parametrize("first", ["answer", "finish"])
@pytest.mark.parametrize("commits", [True, False])
def test_an_answer_and_the_finish_of_another_node(race: Race, first: str, commits: bool) -> None:
    run = race.run("asked_beside")
    held = claim(race, 2)
    finish(race, held[0])
    person, worker = race.session(), race.session(lock_timeout="5s")
    if first == "answer":
        person.begin()
        person.rows(ANSWER, run, "ask")
        assert finish(worker, held[1]) == [("ok", True)]
        race.healthy()
        person.commit() if commits else person.rollback()
        answered, finished = commits, True
    else:
        worker.begin()
        assert finish(worker, held[1]) == [("ok", False)]
        person.start(ANSWER, run, "ask")
        person.waits()
        worker.commit() if commits else worker.rollback()
        person.ends()
        answered, finished = True, commits
    race.settle()
    expected = "queued" if answered and finished else "blocked"
    assert race.statuses(run)["single/a"] == expected
    if not finished:
        finish(race, held[1])
    if not answered:
        assert race.run_status(run) == "awaiting_input"
        race.rows(ANSWER, run, "ask")
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_a_killed_answer_leaves_the_question_open(race: Race) -> None:
    run = race.run("asked")
    person = race.session()
    person.begin()
    person.rows(ANSWER, run, "ask")
    person.kill()
    assert race.rows("select node_id from qwf.pending_inputs") == [("ask",)]
    race.healthy()
    race.rows(ANSWER, run, "ask")
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("first", ["answer", "cancel"])
def test_an_answer_and_a_cancel_at_once(race: Race, first: str) -> None:
    run = race.run("asked")
    calls = {"answer": ANSWER, "cancel": "select qwf.cancel_run(%s, %s)"}
    then = "cancel" if first == "answer" else "answer"
    one, other = race.session(), race.session()
    one.begin()
    one.rows(calls[first], run, "ask")
    other.start(calls[then], run, "ask")
    other.waits()
    one.commit()
    if then == "answer":
        with pytest.raises(psycopg.Error) as refused:
            other.ends()
        assert refused.value.sqlstate == "QW002"
    else:
        other.ends()
    race.settle()
    assert race.run_status(run) == "cancelled"
    assert race.statuses(run)["single/a"] == "cancelled"


def test_an_answer_applies_events_that_waited_for_its_run(race: Race) -> None:
    run = race.run("asked_beside")
    held = claim(race, 2)
    holder = race.session()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    finish(race, *held)
    holder.rollback()
    race.rows(ANSWER, run, "ask")
    assert race.statuses(run)["single/a"] == "queued"
    assert race.rows("select * from qwf.outbox") == []
    race.healthy()
