"""Claims while a session holds a snapshot, so that claimed jobs stay in the index."""

from __future__ import annotations

import pytest

from support.interleave import Race, Session, claim, finish, until

BEHIND = 3_000
LITTLE = BEHIND / 10
ENQUEUE = "select qwf.enqueue('t', queue => 'cpu')"
PRIORITY = "select qwf.enqueue('t', queue => 'cpu', priority => %s)"


@pytest.fixture
def holder(race: Race) -> Session:
    """Holds a snapshot of an empty queue."""
    holder = race.session()
    holder.begin("repeatable read")
    holder.rows("select 1")
    return holder


@pytest.fixture
def worker(race: Race, holder: Session) -> Session:
    """A session that claims with an index full of jobs claimed earlier."""
    race.rows(f"{ENQUEUE} from generate_series(1, {BEHIND})")
    worker = race.session()
    for _ in range(BEHIND // 1000):
        finish(worker, *claim(worker, 1000))
    assert claim(worker) == []
    assert race.one("select _qwf.find_floors()") == 1
    until(lambda: walked(worker, "w") < LITTLE)
    return worker


def tick(race: Race) -> bool:
    race.one("select _qwf.find_floors()")
    return False


def walked(worker: Session, *names: str, index: str = "jobs_claim") -> int:
    """How many index entries an empty claim of each of these workers reads, in total."""
    worker.begin()
    before = worker.one("select _qwf.index_entries_walked(%s)", f"qwf.{index}")
    assert all(claim(worker, 10, worker=name) == [] for name in names)
    after = worker.one("select _qwf.index_entries_walked(%s)", f"qwf.{index}")
    worker.commit()
    return int(after - before)


def test_claims_skip_most_of_it(race: Race, worker: Session) -> None:
    assert walked(worker, "w") < LITTLE
    job = race.one(ENQUEUE)
    assert [c.job for c in claim(worker, 10)] == [job]
    assert walked(worker, "w") < LITTLE
    assert walked(race.session(), "another") < LITTLE


def test_a_job_committed_late_below_the_floor_is_found(race: Race, worker: Session) -> None:
    late = race.session()
    late.begin()
    job = late.one(ENQUEUE)
    other = race.one(ENQUEUE)
    assert [c.job for c in claim(worker)] == [other]
    until(lambda: race.one("select _qwf.find_floors()") == 1)
    until(lambda: race.one("select max(found_at) < qwf.now() - interval '1.1 s' from _qwf.floors"))
    late.commit()
    assert claim(worker) == []  # its transaction was longer than a second
    until(lambda: tick(race) or [c.job for c in claim(worker)] == [job])


def test_an_old_snapshot_hides_no_job(race: Race, worker: Session) -> None:
    worker.begin("repeatable read")
    assert claim(worker) == []
    left = {race.one(ENQUEUE), race.one(ENQUEUE)}
    assert claim(worker) == []
    worker.commit()
    until(lambda: not left.difference_update(c.job for c in claim(worker)) and not left)


def test_each_priority_has_a_floor_of_its_own(race: Race, holder: Session) -> None:
    worker = race.session()
    for _ in range(3):  # in turn, so that each priority lies full of claimed jobs
        race.rows(
            "select qwf.enqueue('t', queue => 'cpu', priority => p)"
            f" from generate_series(1, {BEHIND // 6}), unnest('{{10, 20, 30}}'::int[]) p"
        )
        while claimed := claim(worker, 1000):
            finish(worker, *claimed)
    until(lambda: tick(race) or walked(worker, "w") < LITTLE)
    late = race.session()
    late.begin()
    hidden = late.one("select qwf.enqueue('t', queue => 'cpu', priority => 20)")
    jobs = {p: race.one(PRIORITY, p) for p in (30, 20, 15, 10)}
    until(lambda: race.one("select _qwf.find_floors()") == 1)
    until(lambda: race.one("select max(found_at) < qwf.now() - interval '1.1 s' from _qwf.floors"))
    assert [c.job for c in claim(worker, 10)] == [jobs[p] for p in (10, 15, 20, 30)]
    late.commit()
    until(lambda: tick(race) or [c.job for c in claim(worker)] == [hidden])


def test_what_comes_below_the_floor_comes_first(race: Race, worker: Session) -> None:
    last = race.one(ENQUEUE)
    (back,) = claim(worker)
    assert back.job == last
    later = race.one(ENQUEUE)
    urgent = race.one(PRIORITY, 5)
    until(lambda: race.one("select _qwf.find_floors()") == 1)
    finish(worker, back, outcome="released")
    ahead = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 500)")
    race.rows("select qwf.change_job(%s, run_next => true)", ahead)
    assert [c.job for c in claim(worker, 10)] == [ahead, urgent, last, later]


def test_a_worker_with_a_loaded_model_finds_its_jobs(race: Race, holder: Session) -> None:
    warm = race.session()
    model = '{"models": ["m"], "current_model": "m"}'
    box = race.one("select qwf.register_worker('box', 'cpu', %s)", model)
    add = "select qwf.enqueue('t', queue => 'cpu', model => 'm', priority => %s)"
    race.rows(f"{add} from generate_series(1, {BEHIND})", 20)
    for _ in range(BEHIND // 1000):
        finish(warm, *claim(warm, 1000, worker=box))
    tick(race)
    jobs = {p: race.one(add, p) for p in (30, 20, 10)}
    plain = race.one(PRIORITY, 5)
    assert [c.job for c in claim(warm, 10, worker=box)] == [*(jobs[p] for p in (10, 20, 30)), plain]


def test_the_floor_is_forgotten_once_vacuum_has_been_there(
    race: Race, worker: Session, holder: Session
) -> None:
    holder.commit()
    race.rows("vacuum qwf.jobs")
    until(
        lambda: (
            tick(race)
            or race.one("select not exists (select from _qwf.floors where until > qwf.now())")
        )
    )


def test_a_job_that_commits_while_a_floor_is_found_is_not_hidden(
    race: Race, worker: Session
) -> None:
    late = race.session()
    late.begin()
    job = late.one(ENQUEUE)
    other = race.one(ENQUEUE)
    assert [c.job for c in claim(worker)] == [other]
    until(lambda: race.one("select _qwf.find_floors()") == 1)
    late.commit()
    assert [c.job for c in claim(worker)] == [job]


def test_a_queue_of_many_priorities_gets_sixteen_floors_and_hides_no_job(
    race: Race, holder: Session
) -> None:
    worker = race.session()
    priorities = range(1, 31)
    race.rows(
        "select qwf.enqueue('t', queue => 'cpu', priority => p)"
        f" from generate_series(1, 30) p, generate_series(1, {BEHIND // 30})"
    )
    while claimed := claim(worker, 1000):
        finish(worker, *claimed)
    jobs = [race.one(PRIORITY, p) for p in priorities]
    assert race.one("select _qwf.find_floors()") == 1
    assert race.one("select cardinality(bands) from _qwf.floors") == 16
    until(lambda: race.one("select max(found_at) < qwf.now() - interval '1.1 s' from _qwf.floors"))
    assert [c.job for c in claim(worker, 100)] == jobs


def test_a_look_that_cost_much_rests_but_not_for_ever_if_the_clock_is_set_back(
    race: Race, worker: Session
) -> None:
    rest = "update _qwf.rests set until = qwf.now() + %s::interval where part = 'floors'"
    race.rows("delete from _qwf.floors")
    race.rows(rest, "9 s")
    assert race.one("select _qwf.find_floors()") == 0
    race.rows(rest, "1 h")
    assert race.one("select _qwf.find_floors()") == 1
