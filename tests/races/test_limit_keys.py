"""Limits that count by key, while several sessions claim, finish, crash and change them."""

from __future__ import annotations

import pytest

from support.interleave import Race, Session, claim, finish
from support.planted_bugs import put_in

ENQUEUE = "select qwf.enqueue('t', queue => %s, limit_by => %s)"


def keyed(race: Session, key: str, count: int = 1, queue: str = "cpu") -> list[int]:
    """Enqueue `count` jobs of a key; returns their ids in order."""
    return [race.one(ENQUEUE, queue, f"customer:{key}") for _ in range(count)]


def limit(race: Race, max_running: int = 2, **rate: object) -> None:
    race.rows(
        "select qwf.create_limit('customer', %s, %s, %s::interval, keyed => true)",
        max_running,
        rate.get("starts"),
        rate.get("per"),
    )


def test_claims_that_are_open_count(race: Race) -> None:
    limit(race)
    jobs = keyed(race, "acme", 5)
    rivals = [race.nonblocking() for _ in range(3)]
    for rival in rivals:
        rival.begin()
    assert [c.job for c in claim(rivals[0])] == jobs[:1]
    assert claim(rivals[1], 9) == []  # the first holds the key, and may still take more
    rivals[0].commit()
    assert [c.job for c in claim(rivals[2], 9)] == jobs[1:2]
    rivals[1].commit()
    rivals[2].commit()
    assert claim(race, 9) == []
    race.healthy()


def test_an_open_claim_delays_only_the_keys_that_it_picked(race: Race) -> None:
    limit(race)
    for key in ("a", "b", "c", "d", "e"):
        keyed(race, key, 4)
    open_claim = race.session()
    open_claim.begin()
    (held,) = claim(open_claim)
    (name,) = race.rows("select limit_by from qwf.jobs where id = %s", held.job)[0]
    other = race.nonblocking()
    taken = claim(other, 9)
    names = {r[0] for r in race.rows("select limit_by from qwf.jobs where status = 'running'")}
    assert len(taken) == 8
    assert names == {f"customer:{k}" for k in "abcde"} - {name}
    keyed(other, "new")
    assert len(claim(other, 9)) == 1
    open_claim.rollback()
    assert len(claim(other, 9)) == 2
    race.healthy()


@pytest.mark.parametrize("end", ["rollback", "kill"])
def test_a_failed_claim_holds_no_place(race: Race, end: str) -> None:
    limit(race, 1)
    jobs = keyed(race, "acme", 2)
    worker = race.session()
    worker.begin()
    assert claim(worker)
    getattr(worker, end)()
    assert [c.job for c in claim(race)] == jobs[:1]
    race.healthy()


def test_a_claim_that_picks_twice_counts_what_it_picked(race: Race) -> None:
    limit(race)
    keyed(race, "acme", 9)
    keyed(race, "bob")
    assert len(claim(race, 9)) == 3
    race.healthy()


def test_two_producers_of_a_new_key_do_not_wait_for_each_other(race: Race) -> None:
    limit(race)
    first, second = race.nonblocking(), race.nonblocking()
    first.begin()
    second.begin()
    keyed(first, "new")
    keyed(second, "new")
    second.commit()
    assert len(claim(race, 9)) == 1
    first.commit()
    assert len(claim(race, 9)) == 1
    race.healthy()


def test_a_job_that_commits_while_the_last_one_ends_is_found(race: Race) -> None:
    limit(race, 1)
    keyed(race, "acme")
    (held,) = claim(race)
    producer, worker = race.session(), race.session()
    producer.begin()
    (late,) = keyed(producer, "acme")
    worker.begin()
    finish(worker, held)
    producer.commit()
    assert claim(race) == []  # the end has not committed: the job still runs
    worker.commit()
    assert [c.job for c in claim(race)] == [late]
    race.healthy()


def test_a_job_that_is_given_back_comes_first(race: Race) -> None:
    limit(race, 1)
    jobs = keyed(race, "acme", 3)
    (held,) = claim(race)
    finish(race, held, outcome="released")
    assert [c.job for c in claim(race)] == jobs[:1]
    race.healthy()


def test_places_are_free_when_the_lease_of_a_dead_worker_lapses(race: Race) -> None:
    limit(race, 1)
    jobs = keyed(race, "acme", 2)
    (dead,) = claim(race)
    race.expire_leases(dead.job)
    assert claim(race, 9) == []
    race.settle()
    assert [c.job for c in claim(race, 9)] == jobs[:1]
    race.healthy()


def test_keys_take_turns(race: Race) -> None:
    limit(race, 50)
    keyed(race, "acme", 30)
    for key in ("bob", "cleo"):
        keyed(race, key, 5)
    worker = race.session()
    for _ in range(5):
        three = [c.job for _ in range(3) for c in claim(worker)]
        names = race.rows("select limit_by from qwf.jobs where id = any (%s)", three)
        assert len(set(names)) == 3
    race.healthy()


def test_priority_comes_before_turns_and_first_in_first_out_within_a_key(race: Race) -> None:
    limit(race, 9)
    late = keyed(race, "acme", 2)
    urgent = [
        race.one(
            "select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || %s, priority => 1)",
            key,
        )
        for key in ("acme", "acme", "bob")
    ]
    race.rows("select qwf.change_job(%s, run_next => true)", late[1])
    assert [c.job for c in claim(race)] == [late[1]]
    taken = [c.job for _ in range(3) for c in claim(race)]
    assert sorted(taken) == urgent
    assert taken.index(urgent[0]) < taken.index(urgent[1])
    assert [c.job for c in claim(race, 9)] == [late[0]]


def test_keys_that_a_worker_cannot_serve_do_not_starve_it(race: Race) -> None:
    limit(race)
    race.rows(
        "select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || k,"
        ' requires => \'{"gpu": "yes"}\') from generate_series(1, 700) k'
    )
    for nth in range(3):
        (fits,) = keyed(race, f"fits {nth}")
        assert [c.job for c in claim(race.session())] == [fits]


def test_jobs_without_a_key_count_as_one_more_key(race: Race) -> None:
    limit(race, 50)
    for key in range(9):
        keyed(race, str(key), 40)
    race.rows("select qwf.enqueue('plain', queue => 'cpu') from generate_series(1, 100)")
    taken = [c.name for _ in range(20) for c in claim(race, 10)]
    assert 10 <= taken.count("plain") <= 30


def test_keys_and_a_plain_limit_with_rates_take_turns(race: Race) -> None:
    """A job left out because a worker could begin fewer has the next turn."""
    limit(race, 50, starts=50, per="1 h")
    race.rows("select qwf.create_limit('api', 50, 50, '1 h')")
    for key in ("customer:a", "customer:b", "api"):
        race.rows(
            "select qwf.enqueue(%s, queue => 'cpu', limit_by => %s) from generate_series(1, 20)",
            key,
            key,
        )
    taken = [c.name for _ in range(12) for c in claim(race, 2, startable=1)]
    assert sorted(taken) == ["api"] * 4 + ["customer:a"] * 4 + ["customer:b"] * 4


def test_a_claim_with_an_old_snapshot_takes_no_limited_job(race: Race) -> None:
    limit(race, 1)
    keyed(race, "acme", 2)
    old = race.session()
    old.begin("repeatable read")
    old.rows("select 1 from qwf.jobs")
    (held,) = claim(race)
    finish(race, held)
    assert claim(old, 9) == []
    old.commit()
    assert len(claim(race, 9)) == 1


def test_a_rate_holds_over_open_claims(race: Race) -> None:
    limit(race, 50, starts=3, per="1 h")
    keyed(race, "acme", 9)
    keyed(race, "bob", 9)
    first, second = race.session(), race.session()
    first.begin()
    second.begin()
    assert len(claim(first, 4)) == 4
    assert claim(second, 9) == []  # the first has both keys
    first.commit()
    second.commit()
    assert len(claim(race, 9)) == 2
    assert claim(race, 9) == []
    assert race.one("select count(*) from qwf.limit_keys where opens_at > qwf.now()") == 2
    race.healthy()


def test_a_start_of_a_released_job_stays_used(race: Race) -> None:
    limit(race, 50, starts=1, per="1 h")
    keyed(race, "acme", 2)
    (held,) = claim(race)
    finish(race, held, outcome="released")
    assert claim(race, 9) == []
    race.healthy()


def test_a_rate_goes_on_a_period_after_the_clock_was_set_back(race: Race) -> None:
    limit(race, 50, starts=1, per="10 s")
    keyed(race, "acme", 2)
    assert len(claim(race)) == 1
    race.rows(
        "update qwf.limit_keys set starts = array[qwf.now() + interval '1 day'],"
        " opens_at = qwf.now() + interval '1 day 10 s', ends_at = qwf.now() + interval '1 day 10 s'"
    )
    race.one("select qwf.tick()")
    assert race.one(
        "select opens_at between qwf.now() + interval '5 s' and qwf.now() + interval '10 s'"
        " from qwf.limit_keys"
    )


def test_a_lowered_limit_hands_out_nothing_until_fewer_run(race: Race) -> None:
    limit(race, 3)
    keyed(race, "acme", 6)
    held = claim(race, 9)
    assert len(held) == 3
    race.rows("select qwf.create_limit('customer', 1)")
    race.healthy()
    for one in held[:2]:
        finish(race, one)
        assert claim(race, 9) == []
    finish(race, held[2])
    assert len(claim(race, 9)) == 1
    race.rows("select qwf.create_limit('customer', 3)")
    assert len(claim(race, 9)) == 2
    race.healthy()


def test_an_end_wakes_a_sleeper_for_the_next_job_of_its_key(race: Race) -> None:
    limit(race, 1)
    keyed(race, "acme", 2)
    (held,) = claim(race)
    sleeper = race.session()
    channel = sleeper.one("select qwf.sleep('sleeper', 'cpu')")
    sleeper.rows(f"listen {channel}")
    finish(race, held)
    assert [n.payload for n in sleeper.conn.notifies(timeout=5, stop_after=1)] == ["cpu"]


def test_a_merged_job_moves_to_the_key_that_replaces_its_own(race: Race) -> None:
    limit(race, 1)
    keyed(race, "acme")
    assert claim(race)
    query = (
        "select qwf.enqueue('t', queue => 'cpu', key => 'k', key_mode => 'replace', limit_by => %s)"
    )
    job = race.one(query, "customer:acme")
    assert claim(race, 9) == []
    assert race.one(query, "customer:bob") == job
    assert [c.job for c in claim(race, 9)] == [job]
    race.healthy()


def test_a_key_with_a_long_past_is_counted_exactly_while_a_snapshot_is_held(race: Race) -> None:
    limit(race, 3)
    holder, worker = race.session(), race.session()
    holder.begin("repeatable read")
    holder.rows("select count(*) from qwf.jobs")
    race.rows(
        "select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:acme')"
        " from generate_series(1, 1500)"
    )
    for _ in range(430):
        finish(worker, *claim(worker, 9))
    held = claim(worker, 1)
    assert len(claim(race, 9)) == 2
    assert claim(worker, 9) == []
    assert race.one("select count(*) from qwf.jobs where status = 'running'") == 3
    finish(worker, *held)
    assert len(claim(worker, 9)) == 1
    holder.commit()
    race.healthy()


def test_a_claim_locks_at_most_a_hundred_keys(race: Race) -> None:
    limit(race, 1)
    race.rows(
        "select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || k)"
        " from generate_series(1, 300) k"
    )
    worker = race.session()
    worker.begin()
    assert len(claim(worker, 1000)) == 100
    held = "select count(*) from _qwf.hash_locks where xmax = pg_current_xact_id()::xid"
    assert worker.one(held) in (99, 100)  # two keys of a hundred share a row now and then
    assert len(claim(race, 1000)) == 100
    worker.commit()
    race.healthy()


def test_more_jobs_of_a_key_than_its_limit_are_found_by_the_invariants(race: Race) -> None:
    limit(race, 1)
    keyed(race, "acme", 2)
    claim(race)
    race.rows(
        "update qwf.jobs set status = 'running', token = gen_random_uuid(), claimed_by = 'w',"
        " claimed_at = qwf.now(), lease_expires_at = qwf.now() + interval '1 min', attempt = 1"
        " where status = 'queued'"
    )
    found = race.rows("select invariant from qwf.check_invariants()")
    assert ("no more jobs of a key run than its limit allows",) in found


@pytest.mark.parametrize(
    ("function", "text", "bug"),
    [
        ("_qwf.room_of_key", "select count(*) from (", "select 0 * count(*) from ("),
        (
            "_qwf.pick_keyed",
            "where h.number = r.place & 16383 for update skip locked",
            "where h.number = r.place & 16383",
        ),
    ],
    ids=[
        "what runs is not counted",
        "the key is not locked",
    ],
)
def test_the_invariants_find_what_they_are_there_to_find(
    race: Race, function: str, text: str, bug: str
) -> None:
    put_in(race.conn.info.dsn, function, text, bug)
    limit(race)
    keyed(race, "acme", 9)
    first, second = race.session(), race.session()
    first.begin()
    second.begin()
    claim(first)
    claim(second, 9)
    first.commit()
    second.commit()
    claim(race, 9)
    found = race.rows("select invariant from qwf.check_invariants()")
    assert found == [("no more jobs of a key run than its limit allows",)]


def test_an_old_job_that_is_claimed_late_is_counted(race: Race) -> None:
    limit(race)
    old = keyed(race, "acme", 2)
    race.rows("update qwf.jobs set priority = 900")
    keyed(race, "acme", 3)
    worker = race.session()
    finish(worker, *claim(worker))
    race.rows("update qwf.jobs set priority = 1 where id = any (%s)", old)
    assert [c.job for c in claim(race, 9)] == old
    assert claim(worker, 9) == []
    race.healthy()


def test_an_open_claim_holds_only_the_keys_of_a_rate_that_it_could_begin(race: Race) -> None:
    limit(race, 9, starts=2, per="1 hour")
    for key in ("a", "b", "c"):
        keyed(race, key, 4)
    first, second = race.nonblocking(), race.nonblocking()
    first.begin()
    second.begin()
    assert len(claim(first, 9, startable=1)) == 1
    assert claim(second, 9, startable=0) == []
    assert len(claim(second, 9, startable=9)) == 4
    first.rollback()
    second.commit()
    assert len(claim(race, 9, startable=1)) == 1
    assert len(claim(race, 9)) == 1
    assert claim(race, 9) == []
    race.healthy()
