"""A node whose references raise fails alone: it costs no other job its claim or its turn.

The context of a run is made deep behind the back of enqueue_run, which would refuse it; sessions
with a small stack cannot read it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.interleave import Race, claim, finish, step

SMALL_STACK = "400kB"
WHO = {"who": {"$from": "pipeline.who"}}
SLOW_PATTERN = r"^(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5$"
SLOW = {"x": {"$from": "pipeline.rows", "$filter": {"matches:name": SLOW_PATTERN}}}


def register(race: Race, name: str, nodes: list[dict[str, Any]], *names: str) -> None:
    """A workflow of one pipeline, which takes the named values of the context."""
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": name, "nodes": nodes}))
    only = step(name, inputs={n: {"$from": n} for n in names})
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": name, "steps": [only]}))


def enqueue(race: Race, name: str, **context: Any) -> int:
    return int(race.one("select qwf.enqueue_run(%s, %s)", name, json.dumps(context)))


def deepen(race: Race, run: int) -> None:
    deep = '{"who": ' + "[" * 5000 + "]" * 5000 + "}"
    race.rows("update qwf.runs set context = %s where id = %s", deep, run)


def error_of(race: Race, run: int, node: str) -> str:
    return str(race.one("select last_error from qwf.jobs where id = %s", race.job(run, node)))


def test_a_claim_hands_out_everything_but_the_node_that_raises(race: Race) -> None:
    register(race, "greet", [{"id": "a", "inputs": WHO}], "who")
    poison = enqueue(race, "greet", who="?")
    deepen(race, poison)
    runs = [enqueue(race, "greet", who=n) for n in range(5)]
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 5)")
    first, second = (race.session(max_stack_depth=SMALL_STACK) for _ in range(2))
    first.begin()
    taken = claim(first, 6)
    others = claim(second, 6)
    first.commit()
    assert (len(taken), len(others)) == (5, 5)
    assert [race.statuses(run) for run in runs] == [{"greet/a": "running"}] * 5
    assert race.statuses(poison) == {"greet/a": "failed"}
    assert error_of(race, poison, "greet/a").startswith("QW004: 54001 stack depth")
    finish(race, *taken, *others)
    race.settle()
    assert race.run_status(poison) == "failed"
    assert [race.run_status(run) for run in runs] == ["completed"] * 5


@pytest.mark.parametrize("place", ["skip_if", "map", "elements"])
def test_a_node_that_cannot_be_opened_fails_alone(race: Race, place: str) -> None:
    """The worker that finishes the node before it hears of no error."""
    deep, item = {"$from": "pipeline.who"}, {"$from": "item"}
    guarded = {
        "skip_if": {"node": "t", "skip_if": {**deep, "$eq": 1}},
        "map": {"node": "t", "map": deep},
        "elements": {"node": "t", "map": {"$from": "a.list"}, "inputs": {"i": [item, deep]}},
    }[place]
    register(race, "after", [{"id": "a"}, {"id": "b", "depends_on": ["a"], **guarded}], "who")
    poison, healthy = (enqueue(race, "after", who=[1]) for _ in range(2))
    deepen(race, poison)
    worker = race.session(max_stack_depth=SMALL_STACK)
    assert finish(worker, *claim(worker, 2), output={"list": [1, 2]}) == [("ok", False)] * 2
    assert race.statuses(poison)["after/b"] == "failed"
    assert error_of(race, poison, "after/b").startswith("QW004: 54001 stack depth")
    assert race.statuses(healthy)["after/b"] != "failed"
    race.settle()
    assert race.run_status(poison) == "failed"


def test_a_node_that_takes_as_long_as_a_statement_may_fails_alone(race: Race) -> None:
    """A pattern of a definition can take years, and the claim has only one timeout."""
    register(race, "search", [{"id": "a", "inputs": SLOW}], "rows")
    before = race.run("single")
    poison = enqueue(race, "search", rows=[{"name": "a" * 300}])
    after = race.run("single")
    worker = race.session(statement_timeout="8s")
    assert [c.job for c in claim(worker, 3)] == [race.job(before, "single/a")]
    assert error_of(race, poison, "search/a").startswith("QW004: 57014")
    assert (race.run_status(before), race.run_status(after)) == ("running", "queued")
    race.healthy()
    assert [c.job for c in claim(worker, 3)] == [race.job(after, "single/a")]
    race.settle()
    assert race.run_status(poison) == "failed"


def test_a_claim_of_many_slow_nodes_hands_out_those_it_had_time_for(race: Race) -> None:
    race.rows(
        "create or replace function _qwf.is_plain_pattern(p_pattern text) returns boolean"
        " language sql as 'select pg_sleep(1) is not null'"
    )
    given = {"$from": "pipeline.rows", "$filter": {"matches:name": {"$from": "pipeline.q"}}}
    register(race, "search", [{"id": "a", "inputs": {"x": given}}], "rows", "q")
    runs = [enqueue(race, "search", rows=[], q="a") for _ in range(6)]
    worker = race.session(statement_timeout="4s")
    jobs = [race.job(run, "search/a") for run in runs]
    handed_out = [c.job for c in claim(worker, 6)]
    had_time = len(handed_out)
    assert 0 < had_time < 6
    assert {race.status(job) for job in jobs[had_time:]} == {"queued"}
    while len(handed_out) < 6:
        handed_out += [c.job for c in claim(worker, 6)]
    assert handed_out == jobs
    race.healthy()


def test_a_claim_that_is_cancelled_at_once_blames_no_node(race: Race) -> None:
    register(race, "search", [{"id": "a", "inputs": SLOW}], "rows")
    run = enqueue(race, "search", rows=[{"name": "a" * 300}])
    hasty = race.session(statement_timeout="200ms")
    assert hasty.sqlstate("select * from qwf.claim('cpu', 'w')") == "57014"
    assert race.statuses(run) == {"search/a": "queued"}
    race.healthy()
