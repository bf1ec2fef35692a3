"""Claims while a session holds a snapshot, so that claimed jobs stay in the index."""

from __future__ import annotations

import time

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
    assert worker.one("select _qwf.read_hints('qwf.floors') ? 'cpu '")
    return worker


def base(worker: Session) -> int | None:
    """Where the walks of the worker's session begin; None for the start."""
    found = worker.one("select max(base) from unnest((_qwf.read_floor('cpu ')).bands)")
    return None if found is None else int(found)


def make_base(worker: Session) -> None:
    """Let the worker claim until its floor has a base."""
    until(lambda: claim(worker) or base(worker) is not None)


def walked(worker: Session, *names: str, index: str = "jobs_claim") -> int:
    """How many index entries an empty claim of each of these workers reads, in total."""
    worker.begin()
    before = worker.one("select _qwf.index_entries_walked(%s)", f"qwf.{index}")
    assert all(claim(worker, 10, worker=name) == [] for name in names)
    after = worker.one("select _qwf.index_entries_walked(%s)", f"qwf.{index}")
    worker.commit()
    return int(after - before)


def test_claims_skip_most_of_it(race: Race, worker: Session) -> None:
    until(lambda: walked(worker, "w") < LITTLE)
    job = race.one(ENQUEUE)
    assert [c.job for c in claim(worker, 10)] == [job]
    until(lambda: walked(worker, "w") < LITTLE)


@pytest.mark.parametrize("based", [False, True])
def test_a_job_committed_late_below_the_floor_is_found(
    race: Race, worker: Session, based: bool
) -> None:
    if based:
        make_base(worker)
    late = race.session()
    late.begin()
    job = late.one(ENQUEUE)
    other = race.one(ENQUEUE)
    assert [c.job for c in claim(worker)] == [other]
    time.sleep(0.2)  # the floor expires; the next one is above the job
    assert claim(worker) == []
    late.commit()
    until(lambda: [c.job for c in claim(worker)] == [job])


def test_a_job_uncommitted_when_a_base_was_made_is_found(race: Race, worker: Session) -> None:
    """The next walk from the start finds it."""
    late = race.session()
    late.begin()
    job = late.one(ENQUEUE)
    other = race.one(ENQUEUE)
    assert [c.job for c in claim(worker)] == [other]
    above = race.one("select position from qwf.jobs where id = %s", other)
    until(lambda: claim(worker) or (base(worker) or 0) >= above)
    late.commit()
    assert claim(worker) == []
    until(lambda: [c.job for c in claim(worker)] == [job])


def test_an_old_snapshot_makes_no_base(race: Race, worker: Session) -> None:
    """It does not see later commits, and the base would be above them."""
    worker.begin("repeatable read")
    before = base(worker)  # on a slow machine there is one already
    assert claim(worker) == []
    left = {race.one(ENQUEUE), race.one(ENQUEUE)}
    for _ in range(4):
        time.sleep(0.15)
        assert claim(worker) == []
    assert base(worker) in (None, before)
    worker.commit()
    until(lambda: not left.difference_update(c.job for c in claim(worker)) and not left)


def test_workers_that_share_a_session_have_separate_floors(race: Race, worker: Session) -> None:
    pool = [race.one("select qwf.register_worker(%s, 'cpu')", box) for box in ("a", "b")]
    until(lambda: walked(worker, *pool) < LITTLE)


def test_one_job_of_another_priority_does_not_move_the_floor(race: Race, worker: Session) -> None:
    make_base(worker)
    for _ in range(3):
        race.rows("select qwf.enqueue('t', queue => 'cpu', priority => 50)")
        time.sleep(0.15)  # the next claim searches for a floor, and finds this one
        assert len(claim(worker)) == 1
        time.sleep(0.15)
        assert claim(worker) == []
    until(lambda: walked(worker, "w") < LITTLE)


def test_each_priority_has_a_floor_of_its_own(race: Race, holder: Session) -> None:
    worker = race.session()
    for _ in range(3):  # in turn, so that each priority lies full of claimed jobs
        race.rows(
            "select qwf.enqueue('t', queue => 'cpu', priority => p)"
            f" from unnest('{{10, 20, 30}}'::int[]) p, generate_series(1, {BEHIND // 6})"
        )
        while claimed := claim(worker, 1000):
            finish(worker, *claimed)
    until(lambda: walked(worker, "w") < LITTLE)
    late = race.session()
    late.begin()
    hidden = late.one("select qwf.enqueue('t', queue => 'cpu', priority => 20)")
    jobs = {p: race.one(PRIORITY, p) for p in (30, 20, 15, 10)}
    assert [c.job for c in claim(worker, 10)] == [jobs[p] for p in (10, 15, 20, 30)]
    late.commit()
    until(lambda: [c.job for c in claim(worker)] == [hidden])


def test_a_worker_with_a_loaded_model_starts_at_the_floor(race: Race, holder: Session) -> None:
    warm = race.session()
    model = '{"models": ["m"], "current_model": "m"}'
    box = race.one("select qwf.register_worker('box', 'cpu', %s)", model)
    add = "select qwf.enqueue('t', queue => 'cpu', model => 'm', priority => %s)"
    race.rows(f"{add} from generate_series(1, {BEHIND})", 20)
    for _ in range(BEHIND // 1000):
        finish(warm, *claim(warm, 1000, worker=box))
    until(lambda: walked(warm, box, index="jobs_claim_lane") < LITTLE)
    until(lambda: walked(warm, box) < LITTLE)
    jobs = {p: race.one(add, p) for p in (30, 20, 10)}
    plain = race.one(PRIORITY, 5)
    assert [c.job for c in claim(warm, 10, worker=box)] == [*(jobs[p] for p in (10, 20, 30)), plain]


def test_the_floor_is_forgotten_once_vacuum_has_been_there(
    race: Race, worker: Session, holder: Session
) -> None:
    make_base(worker)
    holder.commit()
    race.rows("vacuum qwf.jobs")
    until(lambda: claim(worker) or worker.one("select current_setting('qwf.floors')") == "")
