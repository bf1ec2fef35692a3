"""Keys take turns over all sessions that claim, and queues do not disturb each other's turns."""

from __future__ import annotations

import json

import pytest

from support.interleave import Race, Session, claim, finish

FILL = """
    select count(qwf.enqueue('t', queue => %s, limit_by => 'customer:' || k, requires => %s))
    from generate_series(1, %s) k cross join generate_series(1, %s)"""
OWN = "select setval('_qwf.turn_owner_' || n, 7::bigint << 32 | (extract(epoch from qwf.now()) / 60)::bigint - %s) from generate_series(0, 15) n"  # noqa: E501


def fill(race: Race, keys: int, each: int, queue: str = "cpu", host: str | None = None) -> None:
    race.rows("select qwf.create_queue(%s)", queue)
    race.rows("select qwf.create_limit('customer', 2, keyed => true)")
    race.rows(FILL, queue, json.dumps({"host": host} if host else {}), keys, each)


def worker(race: Race, host: str, queue: str = "cpu") -> str:
    return str(race.one("select qwf.register_worker(%s, %s)", host, queue))


def served(session: Session, queue: str = "cpu", worker: str = "w") -> str | None:
    """The key of the job that a claim gets, which ends at once."""
    got = claim(session, 1, queue, worker)
    if not got:
        return None
    name = session.one("select limit_by from qwf.jobs where id = %s", got[0].job)
    finish(session, *got)
    return str(name)


@pytest.mark.parametrize("sessions", [4, 20])
def test_each_key_has_its_turn_over_all_sessions(race: Race, sessions: int) -> None:
    fill(race, 100, 4)
    opened = [(race.session(), worker(race, f"box{n // 2}")) for n in range(sessions)]
    for among in (sessions, 3):  # then the others have gone away
        turns = [opened[n % among] for n in range(100)]
        assert len({served(session, worker=name) for session, name in turns}) == 100


def test_each_key_has_its_turn_while_claims_are_open_and_rolled_back(race: Race) -> None:
    fill(race, 60, 4)
    held = race.session()
    held.begin()
    assert len(claim(held, 5)) == 5
    opened = [race.nonblocking() for _ in range(4)]
    seen = [served(opened[n % 4]) for n in range(55)]
    assert len(set(seen)) == 55
    held.rollback()
    seen += [served(opened[n % 4]) for n in range(5)]
    assert len(set(seen)) == 60
    race.healthy()


def test_seventeen_queues_keep_their_turns(race: Race) -> None:
    queues = [f"queue{n}" for n in range(17)]
    for queue in queues:
        fill(race, 5, 2, queue)
    seen = [(queue, served(race, queue)) for _ in range(5) for queue in queues]
    assert len(set(seen)) == 5 * len(queues)
    slots = "select count(distinct pg_sequence_last_value(('_qwf.turn_owner_' || n)::regclass) >> 32) from generate_series(0, 15) n"  # noqa: E501
    assert race.one(slots) == 16  # so one of them has its turns in the session


def test_turns_that_nobody_asks_for_in_an_hour_make_room(race: Race) -> None:
    fill(race, 20, 2)
    race.rows(OWN, 59)
    assert len({served(race) for _ in range(20)}) == 20  # a session of its own keeps them, too
    race.rows("delete from qwf.jobs")
    fill(race, 20, 2)
    race.rows(OWN, 61)
    opened = [race.session() for _ in range(4)]
    assert len({served(opened[n % 4]) for n in range(20)}) == 20


def test_a_key_of_another_host_leads_nobody_past_the_others(race: Race) -> None:
    """A worker with one key full of jobs for its host does not move the turns of the others."""
    fill(race, 30, 2, host="b")
    race.rows(FILL.replace("'customer:' || k", "'customer:hog'"), "cpu", '{"host": "a"}', 1, 60)
    a, b = worker(race, "a"), worker(race, "b")
    opened = [(race.session(), a), (race.session(), b)]
    seen = [served(session, worker=name) for _ in range(30) for session, name in opened]
    assert len(set(seen[1::2])) == 30
    assert set(seen[::2]) == {"customer:hog"}


def test_a_claim_that_ends_late_does_not_move_the_turn_back(race: Race) -> None:
    find = "select _qwf.read_turn(1, _qwf.turn_slot(1))::text"
    store = "select _qwf.store_turn(%s::_qwf.turn, %s, false)"
    race.rows(store, race.one(find), 100)
    early, late = race.one(find), race.one(find)
    race.rows(store, early, 300)
    race.rows(store, late, 200)
    assert race.one(find).endswith(",300,)")
    race.rows(store, late, -5)  # it has come round, and further
    assert race.one(find).endswith(",-5,)")
    race.rows(store, late, 300)
    assert race.one(find).endswith(",-5,)")


def test_a_claim_that_finds_nothing_writes_nothing(race: Race) -> None:
    fill(race, 5, 3)
    assert len(claim(race, 100)) == 10  # now all keys are full
    race.begin()
    assert claim(race) == []
    assert race.one("select pg_current_xact_id_if_assigned()") is None
    race.rollback()


@pytest.mark.parametrize("keys", [5, 10])
def test_a_key_whose_job_was_left_out_keeps_its_turn(race: Race, keys: int) -> None:
    """Jobs without a key take the last places of a claim, each time those of the same key."""
    fill(race, keys, 300)
    race.rows("select count(qwf.enqueue('t', queue => 'cpu')) from generate_series(1, 300)")
    session = race.session()
    served: dict[str, int] = {}
    for _ in range(60):
        got = claim(session, keys)
        for (name,) in session.rows(
            "select limit_by from qwf.jobs where id = any (%s) and limit_by is not null",
            [c.job for c in got],
        ):
            served[name] = served.get(name, 0) + 1
        finish(session, *got)
    assert len(served) == keys
    assert min(served.values()) > 0.7 * max(served.values()), served


def test_claims_that_take_a_second_job_of_some_keys_go_on_with_the_next_key(race: Race) -> None:
    fill(race, 12, 30)
    race.rows("select qwf.create_limit('customer', 9, keyed => true)")
    for _ in range(24):
        finish(race, *claim(race, 10))
    left = "select count(*) from qwf.jobs where status = 'queued' group by limit_by order by 1"
    counts = [n for (n,) in race.rows(left)]
    assert len(counts) == 12
    assert counts[-1] - counts[0] <= 1
