"""Makes jobs, workers and failures through the functions that producers and agents call."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from support.poison import one

Db = psycopg.Connection[Any]


def enqueue(db: Db, task: str, **arguments: Any) -> int:
    """Enqueue a job; its id."""
    named = [
        sql.SQL("{} => {}").format(
            sql.Identifier(name), sql.Literal(Jsonb(v) if isinstance(v, dict | list) else v)
        )
        for name, v in {"task": task, **arguments}.items()
    ]
    row = db.execute(sql.SQL("select qwf.enqueue({})").format(sql.SQL(", ").join(named))).fetchone()
    assert row is not None
    return int(row[0])


def worker(db: Db, queue: str, host: str = "box-a", **info: Any) -> str:
    """Register a worker; its id."""
    return str(one(db, "select qwf.register_worker(%s, %s, %s)", host, queue, Jsonb(info)))


def claim(db: Db, queue: str, by: str, jobs: int = 1) -> list[tuple[int, str]]:
    """Claim jobs; their ids and tokens."""
    query = "select job_id, token from qwf.claim(%s, %s, %s)"
    return [(int(job), str(token)) for job, token in db.execute(query, (queue, by, jobs))]


def finish(
    db: Db, claimed: tuple[int, str], outcome: str, error: str | None = None, output: Any = None,
    **detail: Any,
) -> str:  # fmt: skip
    """Report the end of an attempt; the verdict."""
    given = (*claimed, outcome, Jsonb(output or {}), error, Jsonb(detail))
    return str(one(db, "select qwf.finish(%s, %s, %s, %s, %s, %s)", *given))


def fail(db: Db, by: str, task: str, error: str, queue: str = "default", **detail: Any) -> int:
    """Enqueue a job and fail it for good; its id."""
    job = enqueue(db, task, queue=queue)
    (claimed,) = claim(db, queue, by)
    assert claimed[0] == job
    finish(db, claimed, "fatal", error, **detail)
    return job


def start_run(db: Db, *nodes: dict[str, Any], context: Any = None) -> int:
    """Start a run whose only step `s` has these nodes; its id."""
    one(db, "select qwf.register_pipeline(%s)", Jsonb({"name": "p", "nodes": nodes}))
    steps = [{"id": "s", "kind": "pipeline", "pipeline": "p"}]
    one(db, "select qwf.register_workflow(%s)", Jsonb({"name": "w", "steps": steps}))
    return int(one(db, "select qwf.enqueue_run('w', %s)", Jsonb(context or {})))
