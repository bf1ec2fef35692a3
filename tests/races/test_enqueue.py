"""Two producers at once, with one key or without."""

from __future__ import annotations

import pytest

from support.interleave import Race, claim

ENQUEUE = "select qwf.enqueue('t', queue => 'cpu', key => 'k')"
MANY = 'select job_id from qwf.enqueue_many(\'[{"task":"t","queue":"cpu","key":"k"}]\')'


@pytest.mark.parametrize("call", [ENQUEUE, MANY])
@pytest.mark.parametrize("first_commits", [True, False])
def test_the_same_key_at_once_is_one_job(race: Race, call: str, first_commits: bool) -> None:
    one, other = race.session(), race.session()
    one.begin()
    first = one.one(call)
    other.start(call)
    other.waits()
    one.commit() if first_commits else one.rollback()
    ((second,),) = other.ends()
    assert (second == first) == first_commits
    assert race.rows("select id from qwf.jobs") == [(second,)]


@pytest.mark.parametrize("first_commits", [True, False])
def test_the_same_key_at_once_is_one_run(race: Race, first_commits: bool) -> None:
    race.register("pair")
    call = "select qwf.enqueue_run('pair', key => 'k')"
    one, other = race.session(), race.session()
    one.begin()
    first = one.one(call)
    other.start(call)
    other.waits()
    one.commit() if first_commits else one.rollback()
    ((second,),) = other.ends()
    assert (second == first) == first_commits
    assert race.one("select count(*) from qwf.jobs") == 2
    race.healthy()


def test_many_keys_in_opposite_order_do_not_deadlock(race: Race) -> None:
    one, other = race.session(), race.session()
    job = '{{"task":"t","key":"{}"}}'
    forward = "[" + ",".join(job.format(k) for k in "abc") + "]"
    backward = "[" + ",".join(job.format(k) for k in "cba") + "]"
    one.begin()
    first = [i for (i,) in one.rows("select job_id from qwf.enqueue_many(%s)", forward)]
    other.start("select job_id from qwf.enqueue_many(%s)", backward)
    other.waits()
    one.commit()
    assert [i for (i,) in other.ends()] == first[::-1]


def test_producers_share_no_locks(race: Race) -> None:
    """Producers with open transactions do not wait for each other."""
    race.register("diamond")
    one, other = race.session(), race.nonblocking()
    one.begin()
    for session in (one, other):
        session.rows("select qwf.enqueue('t', queue => 'cpu')")
        session.rows(MANY.replace('"k"', f'"{session.pid}"'))
        session.rows("select qwf.enqueue_run('diamond')")
    one.rollback()
    assert race.one("select count(*) from qwf.jobs") == 6
    race.healthy()


def test_a_run_being_enqueued_is_invisible_until_it_commits(race: Race) -> None:
    race.register("diamond")
    producer = race.session()
    producer.begin()
    producer.rows("select qwf.enqueue_run('diamond')")
    assert claim(race.nonblocking(), 10) == []
    race.nonblocking().rows("select qwf.tick()")
    race.healthy()
    producer.commit()
    assert len(claim(race, 10)) == 1
