"""A retry with the definitions of now, or another context, beside whoever else uses the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Race, Session, claim, finish

LATEST = "select qwf.retry_run(%s, latest => true)"
REGISTER = "select qwf.register_pipeline(%s)"
PLAN = "select string_agg(verdict, ' ') from qwf.retry_plan(%s, latest => true)"
RUN = (
    "select r.node_count, d.version from qwf.runs r"
    " join qwf.run_definitions d on d.run_id = r.id and d.kind = 'pipeline' where r.id = %s"
)


def nodes(*more: str, **b: Any) -> str:
    """A pipeline of a, b after it, and others after b."""
    listed = [{"id": "a"}, {"id": "b", "depends_on": ["a"], **b}]
    listed += [{"id": name, "depends_on": ["b"]} for name in more]
    return json.dumps({"name": "p", "nodes": listed})


def failed_run(race: Race, *more: str, **options: Any) -> int:
    """A run whose node b has failed."""
    race.rows(REGISTER, nodes(*more))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": [step]}))
    named = "".join(f", {name} => %s" for name in options)
    run = int(race.one(f"select qwf.enqueue_run('w'{named})", *options.values()))
    finish(race, *claim(race))
    finish(race, *claim(race), outcome="fatal")
    race.healthy()
    return run


def registering(race: Race, *more: str) -> Session:
    """A session that has registered another version, and has not committed."""
    session = race.session()
    session.begin()
    session.rows(REGISTER, nodes(*more, inputs={"x": 1}))
    return session


@pytest.mark.parametrize("commits", [True, False])
def test_a_version_that_is_not_committed_is_not_waited_for(race: Race, commits: bool) -> None:
    """The run moves to the version that everybody sees, whatever becomes of the other."""
    run = failed_run(race)
    race.rows(REGISTER, nodes("c", inputs={"x": 0}))
    register = registering(race, "c", "d")
    assert race.nonblocking().one(LATEST, run) == 2
    register.commit() if commits else register.rollback()
    assert race.rows(RUN, run) == [(3, 2)]
    race.complete_all()
    assert race.statuses(run) == dict.fromkeys(("s/a", "s/b", "s/c"), "completed")


def test_a_version_that_is_registered_meanwhile_does_not_change_the_retry(race: Race) -> None:
    """The definitions are read once: an open retry and a newer version do not meet."""
    run = failed_run(race)
    race.rows(REGISTER, nodes("c"))
    operator = race.session()
    operator.begin()
    assert operator.one(LATEST, run) == 2
    race.nonblocking().rows(REGISTER, nodes("c", "d"))
    operator.commit()
    assert race.rows(RUN, run) == [(3, 2)]
    race.complete_all()
    assert race.run_status(run) == "completed"
    assert race.one(PLAN, run) == "reused reused reused new"


@pytest.mark.parametrize("commits", [True, False])
def test_two_retries_of_a_run(race: Race, commits: bool) -> None:
    """The second waits, and does nothing unless the first is rolled back."""
    run = failed_run(race, "c")
    race.rows(REGISTER, nodes("d", inputs={"x": 1}))
    one, other = race.session(), race.session()
    one.begin()
    assert one.one(LATEST, run) == 2
    other.start("select qwf.retry_run(%s)", run)
    other.waits()
    one.commit() if commits else one.rollback()
    if commits:
        with pytest.raises(Exception, match="the run is not over"):
            other.ends()
        assert set(race.statuses(run)) == {"s/a", "s/b", "s/d"}
    else:
        assert other.ends() == [(2,)]
        assert set(race.statuses(run)) == {"s/a", "s/b", "s/c"}
    race.healthy()
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_a_run_of_the_key_that_is_enqueued_meanwhile(race: Race) -> None:
    """Whoever is first has the key; the other changes nothing of its run."""
    run = failed_run(race, "c", key="k")
    race.rows(REGISTER, nodes("d"))
    one, other = race.session(), race.session()
    one.begin()
    one.rows(LATEST, run)
    other.start("select qwf.enqueue_run('w', key => 'k')")
    other.waits()
    one.rollback()
    ((second,),) = other.ends()
    assert second != run
    assert race.sqlstate(LATEST, run) == "QW008"
    assert set(race.statuses(run)) == {"s/a", "s/b", "s/c"}, "it has not moved"
    race.rows("select qwf.cancel_run(%s)", second)
    one.begin()
    one.rows(LATEST, run)
    other.start("select qwf.enqueue_run('w', key => 'k')")
    other.waits()
    one.commit()
    assert other.ends() == [(run,)]
    race.complete_all()
    assert race.run_status(run) == "completed"


@pytest.mark.parametrize("outcome", ["completed", "cancelled"])
def test_a_body_that_still_stops(race: Race, outcome: str) -> None:
    """It is refused until the body has reported; what it reports then counts."""
    race.rows(REGISTER, json.dumps({"name": "p", "nodes": [{"id": "a"}, {"id": "b"}]}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": [step]}))
    run = int(race.one("select qwf.enqueue_run('w')"))
    a, b = claim(race, 2)
    finish(race, a, outcome="fatal")
    race.rows(REGISTER, json.dumps({"name": "p", "nodes": [{"id": "b"}, {"id": "c"}]}))
    assert race.sqlstate(PLAN, run) == "QW002"
    reporting = race.session()
    reporting.begin()
    finish(reporting, b, outcome=outcome)
    assert race.nonblocking().sqlstate(LATEST, run) in ("QW002", "55P03")
    reporting.commit()
    race.settle()
    verdict = "reused" if outcome == "completed" else "runs again"
    assert race.one(PLAN, run) == f"{verdict} new removed"
    race.rows(LATEST, run)
    race.complete_all()
    assert race.statuses(run) == {"s/b": "completed", "s/c": "completed"}


@pytest.mark.parametrize("commits", [True, False])
def test_a_run_that_moves_is_not_pruned(race: Race, commits: bool) -> None:
    """Prune passes it over; a run that is being deleted is waited for, and then not there."""
    run = failed_run(race)
    race.rows(REGISTER, nodes("c"))
    race.rows("update qwf.runs set finished_at = finished_at - interval '60 days'")
    one, other = race.session(), race.session()
    one.begin()
    one.rows(LATEST, run)
    assert race.nonblocking().one("select qwf.prune() -> 'runs'") == 0
    one.rollback()
    one.begin()
    assert one.one("select qwf.prune() -> 'runs'") == 1
    other.start(LATEST, run)
    other.waits()
    one.commit() if commits else one.rollback()
    if commits:
        with pytest.raises(Exception, match="no such run"):
            other.ends()
    else:
        assert other.ends() == [(2,)]
    race.healthy()
