"""A box is forgotten while it comes back: which of its workers stay, and who has its jobs."""

from __future__ import annotations

import pytest

from support.interleave import Claim, Race, claim, finish

DIE = "update qwf.workers set last_seen = last_seen - interval '1 hour' where id = %s"
FORGET = "select qwf.forget_host('box')"
REGISTER = "select qwf.register_worker('box', 'cpu')"
BEAT = "select verdict from qwf.heartbeat(%s, array[%s]::uuid[])"
STATES = "select worker, state from qwf.worker_overview where host = 'box' order by started_at"


@pytest.fixture
def dead(race: Race) -> tuple[str, Claim]:
    """A worker of the box that was not seen for an hour, and the job that it holds."""
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    race.rows("select qwf.worker_control('box', 'cpu', 'off', 'drain')")
    race.rows("select qwf.worker_control('box', 'cpu', 'on')")
    worker = race.one(REGISTER)
    (held,) = claim(race, worker=worker)
    race.rows(DIE, worker)
    return worker, held


def test_a_box_that_comes_back_meanwhile_keeps_its_new_worker(
    race: Race, dead: tuple[str, Claim]
) -> None:
    worker, held = dead
    operator, agent = race.session(), race.nonblocking()
    operator.begin()
    operator.rows(FORGET)
    back = agent.one(REGISTER)
    assert claim(agent, worker=back) == []  # the operator has not committed
    operator.commit()
    assert race.rows(STATES) == [(worker, "stopped"), (back, "idle")]
    assert [one.job for one in claim(agent, worker=back)] == [held.job]
    assert finish(agent, held) == [("lost", False)]
    race.healthy()


def test_a_box_that_has_just_come_back_is_not_forgotten(
    race: Race, dead: tuple[str, Claim]
) -> None:
    worker, held = dead
    agent, operator = race.session(), race.session()
    agent.begin()
    back = agent.one(REGISTER)
    operator.rows(FORGET)  # sees only the dead worker
    agent.commit()
    assert race.rows(STATES) == [(worker, "stopped"), (back, "idle")]
    assert operator.sqlstate(FORGET) == "QW002"
    assert [one.job for one in claim(agent, worker=back)] == [held.job]
    race.healthy()


def test_a_worker_that_is_heard_again_while_it_is_forgotten_loses_its_job(
    race: Race, dead: tuple[str, Claim]
) -> None:
    worker, held = dead
    operator, agent = race.session(), race.nonblocking()
    operator.begin()
    operator.rows(FORGET)
    assert agent.rows(BEAT, worker, held.token) == []  # it asks again with the next heartbeat
    operator.commit()
    assert agent.rows(BEAT, worker, held.token) == [("lost",)]
    assert finish(agent, held) == [("lost", False)]
    assert race.status(held.job) == "queued"
    assert race.one("select losses + failures from qwf.jobs") == 0
    race.healthy()


def test_a_worker_that_was_heard_first_waits_for_nobody_and_is_not_forgotten(
    race: Race, dead: tuple[str, Claim]
) -> None:
    worker, held = dead
    agent, operator = race.session(), race.session()
    assert agent.rows(BEAT, worker, held.token) == [("ok",)]
    assert operator.sqlstate(FORGET) == "QW002"
    assert finish(agent, held) == [("ok", False)]
    race.healthy()
