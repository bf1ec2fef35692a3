"""A database with work in every state, and all else that a move to another server has to keep."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from support.made_jobs import Db, claim, enqueue, finish, worker
from support.poison import one

NODES: list[dict[str, Any]] = [
    {"id": "first", "node": "add", "queue": "later", "inputs": {"a": 1}},
    {"id": "second", "node": "add", "queue": "later", "depends_on": ["first"],
     "inputs": {"a": {"$from": "first.sum"}}},
]  # fmt: skip
STEPS: list[dict[str, Any]] = [
    {"id": "ask", "kind": "input", "widget": "number", "target": "n"},
    {"id": "never", "kind": "pipeline", "pipeline": "two", "skip_if": {"$value": True}},
    {"id": "do", "kind": "pipeline", "pipeline": "two", "depends_on": ["ask"]},
]


def fill(db: Db) -> int:
    """Make jobs in every state; the run that waits for an answer."""
    for queue in ("made", "later"):  # agents of the tests serve neither
        one(db, "select qwf.create_queue(%s)", queue)
    one(db, "select qwf.create_limit('few', 2)")
    one(db, "select qwf.change_settings('{\"max_losses\": 5}')")
    one(db, "select qwf.create_schedule('nightly', task => 'noop', cron => '0 0 29 2 *')")
    one(db, "select qwf.worker_control('attic', 'gpu', 'off', 'drain', 'test', 'is being moved')")
    by = worker(db, "made", "attic", slots=4)
    for outcome in ("completed", "fatal"):
        enqueue(db, "noop", queue="made")
        (claimed,) = claim(db, "made", by)
        finish(db, claimed, outcome, "broken" if outcome == "fatal" else None)
    enqueue(db, "noop", queue="made")
    one(db, "select job_id from qwf.claim('made', %s, 1, '1 day')", by)
    one(db, "select qwf.cancel_job(%s)", enqueue(db, "noop", queue="made"))
    enqueue(db, "noop", queue="made", run_at="2100-01-01")
    enqueue(db, "noop", queue="made", key="only one", limit_by="few", labels={"a": "b"})
    one(db, "select qwf.register_pipeline(%s)", Jsonb({"name": "two", "nodes": NODES}))
    one(db, "select qwf.register_workflow(%s)", Jsonb({"name": "asking", "steps": STEPS}))
    run = int(one(db, "select qwf.enqueue_run('asking')"))
    states = "select array_agg(distinct status) @> enum_range(null::qwf.job_status) from qwf.jobs"
    assert one(db, states), "a state is missing"
    return run


def contents(db: Db) -> dict[str, Any]:
    """The number of rows of each logged table and a hash of them, and the value of each sequence
    that numbers rows."""
    db.execute("set timezone = utc")
    tables = db.execute(
        "select oid::regclass::text from pg_class where relkind = 'r' and relpersistence = 'p'"
        " and relnamespace::regnamespace::text in ('qwf', '_qwf') order by 1"
    ).fetchall()
    counted = "select count(*), sum(hashtextextended(t::text, 0)) from {} t"
    found: dict[str, Any] = {t: db.execute(counted.format(t)).fetchone() for (t,) in tables}
    sequences = (
        "select sequencename, start_value, increment_by, last_value from pg_sequences"
        " where schemaname = 'qwf' and sequencename ~ '_id_seq$|^job_position$'"
    )
    return {**found, **{name: rest for name, *rest in db.execute(sequences)}}
