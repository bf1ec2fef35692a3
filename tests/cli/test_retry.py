"""qwf retry run: the plan, and what it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.welcome import Cli

Db = psycopg.Connection[Any]
Report = Callable[..., str]


def definition(pattern: str, **send: Any) -> str:
    nodes = [
        {"id": "fetch", "inputs": {"day": {"$from": "day"}, "photo": {"$from": "photo.path"}}},
        {"id": "read", "depends_on": ["fetch"]},
        {"id": "find", "depends_on": ["read"], "inputs": {"pattern": pattern}},
        {"id": "count", "depends_on": ["find"]},
        {"id": "send", "depends_on": ["count"], **send},
    ]
    return json.dumps({"name": "night", "nodes": nodes})


WORKFLOW = {"name": "nightly", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "night"}]}


@pytest.fixture
def register(on_db: Cli, tmp_path: Path) -> Callable[..., None]:
    (tmp_path / "nightly.json").write_text(json.dumps(WORKFLOW))

    def apply(pattern: str, **send: Any) -> None:
        (tmp_path / "night.json").write_text(definition(pattern, **send))
        assert on_db("apply", tmp_path).exit_code == 0

    return apply


@pytest.fixture
def report(db: Db) -> Report:
    """Works on the next job, and returns its node."""

    def work(outcome: str = "completed", error: str | None = None) -> str:
        row = db.execute(
            "select c.node_id, qwf.finish(c.job_id, c.token, %s, '{}', %s)"
            " from qwf.claim('cpu', 'w') c",
            (outcome, error),
        ).fetchone()
        assert row is not None
        return str(row[0])

    return work


@pytest.fixture
def failed(on_db: Cli, register: Callable[..., None], report: Report) -> str:
    """A run whose third node of five has a wrong pattern."""
    register("[0-9")
    run = on_db("run", "nightly", "--set", "day=1", "--set", "photo.path=a", "--set", "photo.w=3")
    assert [report(), report(), report("fatal", "bad pattern")][-1] == "s/find"
    return run.stdout.strip()


def test_a_corrected_node_runs_again_and_what_came_before_is_kept(
    on_db: Cli, failed: str, register: Callable[..., None], report: Report
) -> None:
    """The plan says it before; the errors of both tries stay readable."""
    register("[0-9]", timeout="9 s")
    old = on_db("retry", "run", failed)
    assert old.exit_code == 2
    assert "run 1 executes nightly@1 with pipeline night@1, version 2 is current" in old.stderr
    assert "qwf retry run 1 --latest" in old.stderr
    plan = on_db("retry", "run", failed, "--latest", "--dry-run")
    assert plan.exit_code == 0
    assert [line.split() for line in plan.stdout.splitlines()] == [
        ["node", "what", "why"],
        ["s/fetch", "reused"],
        ["s/read", "reused"],
        ["s/find", "runs", "again", "its", "definition", "changed"],
        ["s/count", "runs", "again", "it", "was", "cancelled"],
        ["s/send", "runs", "again", "it", "was", "cancelled"],
        ["run", "1:", "2", "reused,", "3", "run", "again"],
    ]
    assert "moves to version 2" in plan.stderr
    done = on_db("retry", "run", failed, "--latest", "--yes")
    assert done.stdout.endswith("run 1 goes on: 3 nodes to run\n")
    assert [report(), report("fatal", "nothing found")] == ["s/find", "s/count"]
    shown = on_db("show", failed).stdout
    assert "try 1 ✗ failed" in shown
    assert "s/find failed: bad pattern" in shown
    assert "s/count failed: nothing found" in shown
    assert f"qwf retry run {failed}" in shown
    on_db("retry", "run", failed, "--yes")
    assert [report(), report()] == ["s/count", "s/send"]
    shown = on_db("show", failed).stdout
    assert "✓ completed" in shown
    assert shown.index("bad pattern") < shown.index("nothing found")


def test_a_changed_value_of_the_context_runs_what_reads_it(on_db: Cli, db: Db, failed: str) -> None:
    """A part of a value is changed in the value that the run has."""
    asked = on_db("retry", "run", failed, "--set", "photo.w=4", "--json")
    assert asked.exit_code == 0
    (plan,) = json.loads(asked.stdout)
    assert (plan["run_id"], plan["retried"]) == (1, None)
    assert [row["verdict"] for row in plan["nodes"]] == ["reused"] * 2 + ["runs again"] * 3
    done = on_db("retry", "run", failed, "--set", "photo.path=b", "--json", "--yes")
    (plan,) = json.loads(done.stdout)
    assert plan["retried"] == 5
    assert plan["nodes"][0]["because"] == "it reads photo.path of the context, which changed"
    row = db.execute("select context from qwf.runs").fetchone()
    assert row == ({"day": 1, "photo": {"path": "b", "w": 3}},)


def test_a_value_that_nothing_reads_is_named(on_db: Cli, failed: str) -> None:
    """A key that is misspelt changes nothing without a word."""
    said = on_db("retry", "run", failed, "--set", "dya=2", "--dry-run").stderr
    assert "no node of run 1 reads dya of its context" in said
    assert "did you mean day?" in said


def test_all_that_failed_move_to_the_definitions_of_now(
    on_db: Cli, db: Db, failed: str, register: Callable[..., None]
) -> None:
    """--latest is for many runs, too; the context is for one."""
    register("[0-9]")
    bulk = ("retry", "run", "--failed", "--workflow", "nightly")
    assert on_db(*bulk, "--set", "day=2").exit_code == 2
    assert on_db(*bulk, "--latest", "--yes").stdout == "retry: 1 run\n"
    row = db.execute("select inputs from qwf.jobs where node_id = 's/find'").fetchone()
    assert row == ({"pattern": "[0-9]"},)


def test_what_may_have_run_has_to_be_named(
    on_db: Cli, db: Db, register: Callable[..., None], report: Report
) -> None:
    register("[a-z]+", at_most_once=True)
    run = int(on_db("run", "nightly", "--set", "day=1", "--set", "photo.path=/a").stdout)
    for _ in range(4):
        report()
    report("lost", "gone")
    plan = on_db("retry", "run", str(run), "--yes")
    assert "it failed; it may have run" in " ".join(plan.stdout.split())
    assert "error: it may have run" in plan.stderr
    assert f"name it: qwf retry run {run} --named 's/send'" in plan.stderr
    assert on_db("retry", "run", "--failed", "--yes").exit_code == 1
    done = on_db("retry", "run", str(run), "--named", "s/send", "--yes")
    assert done.exit_code == 0, done.output
    assert report() == "s/send"


def test_a_job_that_may_have_run_is_named_before_it_runs_again(on_db: Cli, db: Db) -> None:
    job = on_db("enqueue", "mail", "--at-most-once").stdout.strip()
    db.execute("select qwf.finish(c.job_id, c.token, 'lost') from qwf.claim('default', 'w') c")
    refused = on_db("retry", "job", "--failed", "--yes")
    assert f"job {job}: it may have run" in refused.stderr
    done = on_db("retry", "job", job, "--yes")
    assert f"note: it may have run: job {job}" in done.stderr
    assert done.exit_code == 0, done.output
