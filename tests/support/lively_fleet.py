"""A fleet in which every state that somebody can look at is there.

tools/pictures.py takes its pictures; `tools/pictures.py --look FOLDER` takes those of every page.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from support import lively
from support.made_jobs import claim, enqueue, fail, finish, worker
from support.poison import one

Db = psycopg.Connection[Any]
ORDER = {
    "name": "order",
    "display_name": "Take an order",
    "steps": [
        {"id": "charge", "node": "charge", "queue": "shop",
         "inputs": {"of": {"$from": "customer"}}},
        {"id": "refund", "node": "refund", "queue": "shop", "compensates": ["charge"]},
        {"id": "ship", "node": "ship", "queue": "shop", "depends_on": ["charge"]},
    ],
}  # fmt: skip
POLL = {
    "name": "poll",
    "nodes": [
        {"id": "look", "node": "look", "queue": "shop", "inputs": {"turn": {"$from": "index"}},
         "repeat": {"until": {"$from": "item.ready"}, "max": 20, "every": "10 min"}},
        {"id": "use", "node": "use", "queue": "shop", "depends_on": ["look"]},
    ],
}  # fmt: skip
WAIT_FOR_IT = {
    "name": "wait-for-it",
    "steps": [{"id": "poll", "kind": "pipeline", "pipeline": "poll"}],
}


def fill(db: Db) -> None:
    """Fill the database through the functions that producers, agents and people call."""
    lively.fill(db)
    one(db, "select qwf.create_queue('shop')")
    shop = worker(
        db,
        "shop",
        "box-c",
        slots=40,
        tasks=[
            "charge",
            "refund",
            "ship",
            "look",
            "use",
            "sync",
            "mail",
            "write",
            "report",
            "embed",
        ],
    )
    _alerts(db)
    for error in ("timed out after 30 s", "timed out after 31 s"):
        fail(db, shop, "sync", f"TimeoutError: {error}", queue="shop")
    fail(db, shop, "mail", "SMTPError: mailbox unavailable", queue="shop")
    _history(db, shop)
    _compensated(db, shop)
    _turns(db, shop)
    _limits(db, shop)
    _batch(db, shop)
    _tracked(db)
    _late(db)
    signature = "TimeoutError: timed out after # s"
    one(
        db,
        "select qwf.mark_failures('sync', %s, seen => true, note => 'ask the vendor')",
        signature,
    )
    one(
        db,
        "select qwf.mark_failures('mail', 'SMTPError: mailbox unavailable', until_release => true)",
    )
    one(db, "select qwf.worker_control('box-c', 'shop', 'off', 'drain', reason => 'new disk')")
    db.execute("select qwf.tick()")


def keep_alive(db: Db) -> None:
    """Let the workers have been seen now, as their agents would: somebody looks for minutes."""
    db.execute("update qwf.workers set last_seen = clock_timestamp()")
    for host in ("box-a", "box-b", "box-c"):
        one(db, "select qwf.report_metrics(%s, %s)", host, Jsonb(lively.SAMPLE))


def _compensated(db: Db, shop: str) -> None:
    """A run that failed, after its compensation node has taken back what was done."""
    one(db, "select qwf.register_workflow(%s)", Jsonb(ORDER))
    one(db, "select qwf.enqueue_run('order', '{\"customer\": \"acme\"}')")
    for outcome, error in (("completed", None), ("fatal", "ValueError: no such street")):
        (job,) = claim(db, "shop", shop)
        finish(db, job, outcome, error, output={"payment": "p-1"})
    db.execute("select qwf.tick()")
    for job in claim(db, "shop", shop, 4):
        finish(db, job, "completed", output={"refund": "r-1"})
    one(db, "select qwf.enqueue_run('order', '{\"customer\": \"globex\"}')")


def _turns(db: Db, shop: str) -> None:
    """A run whose node looks again and again."""
    one(db, "select qwf.register_pipeline(%s)", Jsonb(POLL))
    one(db, "select qwf.register_workflow(%s)", Jsonb(WAIT_FOR_IT))
    one(db, "select qwf.enqueue_run('wait-for-it')")
    for job in claim(db, "shop", shop, 4):
        finish(db, job, "completed", output={"ready": False})
    db.execute("select qwf.tick()")


def _limits(db: Db, shop: str) -> None:
    """A limit that counts by key, with a rate: of one key jobs run and wait, of another they wait
    for the rate."""
    one(db, "select qwf.create_limit('customer', 1, starts => 2, per => '1 h', keyed => true)")
    for key in ("acme", "acme", "acme", "globex"):
        enqueue(db, "report", queue="shop", limit_by=f"customer:{key}", args={"customer": key})
    claim(db, "shop", shop, 2)


def _batch(db: Db, shop: str) -> None:
    """Jobs that one call has enqueued, of which a body runs several at once."""
    jobs = [{"task": "embed", "queue": "shop", "args": {"text": f"page {n}"}} for n in range(6)]
    db.execute("select * from qwf.enqueue_many(%s)", (Jsonb(jobs),))
    for job in claim(db, "shop", shop, 4)[:2]:
        finish(db, job, "completed", output={"of": 2})


def _history(db: Db, shop: str) -> None:
    """Forty runs that have ended, so that there is a usual time."""
    quick = {"name": "nightly-report", "steps": [{"id": "write", "node": "write", "queue": "shop"}]}
    one(db, "select qwf.register_workflow(%s)", Jsonb(quick))
    for number in range(40):
        run = one(db, "select qwf.enqueue_run('nightly-report')")
        (job,) = claim(db, "shop", shop)
        db.execute(
            "update qwf.runs set started_at = started_at - (20 + id %% 17) * interval '1 s'"
            " where id = %s",
            (run,),
        )
        fails = number % 13 == 7
        finish(db, job, "fatal" if fails else "completed", "disk full" if fails else None)
    db.execute("select qwf.tick()")


def _tracked(db: Db) -> None:
    """A running body of run 1 that tracks two numbers, one with a gap."""
    loss = [[step, None if step == 200 else round(2 * 0.99**step + 0.1, 4)] for step in range(400)]
    rate = [[step, 0.01 if step < 250 else 0.001] for step in range(400)]
    names = {"loss": {"points": loss, "reported": 4000}, "rate": {"points": rate, "reported": 400}}
    one(
        db,
        "select qwf.progress(id, token, 0.4, series => %s) from qwf.jobs"
        " where run_id = 1 and status = 'running' order by id limit 1",
        Jsonb({"names": names, "left_out": 1}),
    )


def _late(db: Db) -> None:
    """A queue whose job starts later than it should, and a schedule that has not succeeded."""
    one(db, "select qwf.create_queue('billing', expect => '{\"starts_within\": \"1 s\"}')")
    late = enqueue(db, "invoice", queue="billing")
    db.execute(
        "update qwf.jobs set queued_at = queued_at - interval '9 min' where id = %s", (late,)
    )


def _alerts(db: Db) -> None:
    """A rule; alerts open when something has failed."""
    rule = {"when": ["job_failed", "run_ended"], "do": {"receiver": "ops"}}
    one(db, "select qwf.set_alert('night', %s)", Jsonb(rule))
