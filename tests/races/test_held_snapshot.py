"""Claims while somebody holds a snapshot: what was claimed before stays in the index."""

from __future__ import annotations

import time

import pytest
from interleave import Race, Session, claim, finish, until

BEHIND = 3_000
ENQUEUE = "select qwf.enqueue('t', queue => 'cpu')"


@pytest.fixture
def holder(race: Race) -> Session:
    """Holds a snapshot of an empty queue."""
    holder = race.session()
    holder.begin("repeatable read")
    holder.rows("select 1")
    return holder


@pytest.fixture
def worker(race: Race, holder: Session) -> Session:
    """A session that claims with an index full of what has been claimed before."""
    race.rows(f"{ENQUEUE} from generate_series(1, {BEHIND})")
    worker = race.session()
    for _ in range(BEHIND // 1000):
        finish(worker, *claim(worker, 1000))
    assert claim(worker) == []
    assert worker.one("select current_setting('qwf.floors')::jsonb ? 'cpu'")
    return worker


def base(worker: Session) -> int | None:
    """Where the walks of the worker's session begin; None: at the start."""
    found = worker.one(
        "select (current_setting('qwf.floors')::jsonb -> 'cpu' ->> 'base_position')::bigint"
    )
    return None if found is None else int(found)


def lay_a_base(worker: Session) -> None:
    """Have the worker look until its floor has a base."""
    until(lambda: claim(worker) or base(worker) is not None)


def test_claims_walk_past_little_of_it(race: Race, worker: Session) -> None:
    lay_a_base(worker)
    worker.begin()
    before = worker.one("select qwf._walked()")
    job = race.one(ENQUEUE)
    assert [c.job for c in claim(worker, 10)] == [job]
    assert claim(worker, 10) == []
    assert worker.one("select qwf._walked()") - before < BEHIND / 10
    worker.commit()


@pytest.mark.parametrize("based", [False, True])
def test_what_commits_late_below_the_floor_is_found(
    race: Race, worker: Session, based: bool
) -> None:
    if based:
        lay_a_base(worker)
    late = race.session()
    late.begin()
    job = late.one(ENQUEUE)
    other = race.one(ENQUEUE)
    assert [c.job for c in claim(worker)] == [other]
    time.sleep(0.2)  # the floor lapses; the next lies above the job
    assert claim(worker) == []
    late.commit()
    until(lambda: [c.job for c in claim(worker)] == [job])


def test_what_was_in_the_making_when_a_base_was_laid_is_found(race: Race, worker: Session) -> None:
    """By the next walk from the start."""
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


def test_the_floor_is_forgotten_once_vacuum_has_been_there(
    race: Race, worker: Session, holder: Session
) -> None:
    lay_a_base(worker)
    holder.commit()
    race.rows("vacuum qwf.jobs")
    until(lambda: claim(worker) or worker.one("select current_setting('qwf.floors')") == "")
