"""Notices in plain SQL: enqueued work waits for what is not there, or a box is not known."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

Db = psycopg.Connection[Any]
WORKER = "select qwf.register_worker('box', 'cpu', %s)"


@pytest.fixture
def heard(db: Db) -> list[str]:
    """Notices that the database has sent."""
    said: list[str] = []
    db.add_notice_handler(lambda n: said.append(f"{n.message_primary}; {n.message_hint}"))
    return said


def test_nobody_serves_the_queue(db: Db, heard: list[str]) -> None:
    db.execute("select qwf.enqueue('resize', queue => 'cpu')")
    (said,) = heard
    assert said.startswith("no live worker serves queue cpu; ")


def test_no_worker_of_the_queue_has_the_task(db: Db, heard: list[str]) -> None:
    db.execute(WORKER, [json.dumps({"tasks": ["resize", "send"]})])
    db.execute("select qwf.enqueue('rezise', queue => 'cpu')")
    assert heard == ["no live worker of queue cpu has task 'rezise'; did you mean resize?"]
    heard.clear()
    db.execute("select qwf.enqueue('x', queue => 'cpu')")
    (said,) = heard
    assert said.endswith("start an agent that has it, or cancel the job")


def test_no_worker_of_the_queue_works_for_the_project(db: Db, heard: list[str]) -> None:
    db.execute(WORKER, [json.dumps({"project": "alpha"})])
    db.execute("select qwf.enqueue('a', queue => 'cpu', project => 'alpha')")
    assert heard == []
    db.execute("select qwf.enqueue('a', queue => 'cpu', project => 'beta')")
    db.execute("""select qwf.enqueue_many('[{"task": "a", "queue": "cpu"}]')""")
    wait = "the job waits until one does: qwf agent --queue cpu"
    assert heard == [
        f"no live worker of queue cpu works for project beta; {wait} --project beta",
        f"no live worker of queue cpu works for jobs without a project; {wait}",
    ]
    db.execute(WORKER, [json.dumps({})])
    db.execute("select qwf.enqueue('a', queue => 'cpu', project => 'beta')")
    assert len(heard) == 2, "a worker that names no project takes all"


@pytest.mark.parametrize("tasks", [["resize"], None])
def test_a_worker_that_has_the_task_or_says_nothing_is_enough(
    db: Db, heard: list[str], tasks: list[str] | None
) -> None:
    db.execute(WORKER, [json.dumps({"tasks": ["send"]})])
    db.execute(WORKER.replace("box", "other"), [json.dumps({"tasks": tasks} if tasks else {})])
    db.execute("select qwf.enqueue('resize', queue => 'cpu')")
    db.execute("""select qwf.enqueue_many('[{"task": "resize", "queue": "cpu"}]')""")
    assert heard == []


def test_many_jobs_give_one_notice_for_each_task_and_ten_at_most(db: Db, heard: list[str]) -> None:
    db.execute(WORKER, [json.dumps({"tasks": ["resize"]})])
    jobs = [{"task": f"t{n % 20}", "queue": "cpu"} for n in range(200)]
    jobs += [{"task": f"t{n % 20}", "queue": "gpu"} for n in range(200)]
    db.execute(
        "select qwf.enqueue_many(%s)", [json.dumps([*jobs, {"task": "resize", "queue": "cpu"}])]
    )
    assert sum("queue cpu has task" in said for said in heard) == 10
    assert sum("serves queue gpu" in said for said in heard) == 1
    assert len(heard) == 11


def test_forgetting_a_box_that_is_not_known_is_told(db: Db, heard: list[str]) -> None:
    db.execute(WORKER, ["{}"])
    db.execute("select qwf.forget_host('bxo')")
    assert heard == ["box bxo has no worker and no order; did you mean box?"]
    heard.clear()
    db.execute("select qwf.worker_control('gone', 'cpu', 'off')")
    heard.clear()
    db.execute("select qwf.forget_host('gone')")
    assert heard == []


@pytest.mark.parametrize(("name", "said"), [
    ("retention", "what ended longer ago than the new retention is deleted soon"),
    ("events_keep", "events older than the new events_keep are deleted soon"),
])  # fmt: skip
def test_what_is_kept_for_a_shorter_time(db: Db, heard: list[str], name: str, said: str) -> None:
    change = "select qwf.change_settings(%s)"
    db.execute(change, [json.dumps({name: "200 days"})])
    assert heard == []
    db.execute(change, [json.dumps({name: "20 days"})])
    assert [one.partition(";")[0] for one in heard] == [said]
    assert f'{{"{name}": "200 days"}}' in heard[0]


def test_open_alerts_that_a_changed_or_dropped_rule_is_not_about(db: Db, heard: list[str]) -> None:
    rule = {"when": ["worker_dead", "job_failed"], "do": {"task": "tell", "queue": "cpu"}}
    db.execute("select qwf.set_alert('r', %s)", [json.dumps(rule)])
    db.execute(
        "insert into _qwf.event_log (kind, subject) values"
        " ('worker_dead', 'a'), ('job_failed', 'b'), ('job_failed', 'c')"
    )
    db.execute("select count(*) from _qwf.number_and_match()")
    heard.clear()
    text = "open alerts that the rule is no longer about, deleted: {}"
    for changed, gone in (({}, None), ({"when": ["worker_dead"]}, 2), (None, 1), (rule, None)):
        given = None if changed is None else json.dumps({**rule, **changed})
        db.execute("select qwf.set_alert('r', %s)", [given])
        assert [said for said in heard if "alerts" in said] == (
            [f"{text.format(gone)}; no message will say that they are over"] if gone else []
        )
        heard.clear()


def test_a_retry_that_had_not_begun_is_dropped_by_a_cancel(db: Db, heard: list[str]) -> None:
    """Only what the next retry has to give again is told: definitions or a context."""
    db.execute("""select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a",
      "inputs": {"x": {"$from": "x"}}}]}'), qwf.create_limit('line', 1)""")
    enqueue = """select qwf.enqueue_run('w', '{"x": 1}', limit_by => 'line')"""
    (one,), _ = (db.execute(enqueue).fetchone() for _ in range(2))
    db.execute("select qwf.cancel_run(%s)", [one])
    heard.clear()
    for context in ({}, {"x": 2}):
        db.execute("select qwf.retry_run(%s, context => %s)", [one, json.dumps(context)])
        db.execute("select qwf.cancel_run(%s)", [one])
    assert heard == [f"the retry of run {one} had not begun; give them again with its next retry"]
