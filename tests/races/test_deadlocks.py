"""Every two operations that lock more than one row, on the same rows, at the same time."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from interleave import Race, Session, claim, reports

# {run} is a run whose first nodes are held, {ask} one that asks, {tokens} and {reports} are of what
# is held, {failed} is a run that failed, {job} a standalone job that is held, {waiting} one that
# is queued, {node} a node that is queued, {gone} a failed standalone job.
OPERATIONS = {
    "finish_many": "select verdict from qwf.finish_many('{reports}')",
    "finish_backwards": "select verdict from qwf.finish_many('{stropper}')",
    "fail": "select verdict from qwf.finish_many('{failures}')",
    "heartbeat": "select verdict from qwf.heartbeat('w', '{{{tokens}}}')",
    "claim": "select job_id from qwf.claim('cpu', 'v', 3)",
    "reclaim": "select qwf.reclaim()",
    "promote_due": "select qwf.promote_due()",
    "drain_outbox": "select qwf.drain_outbox()",
    "tick": "select qwf.tick()",
    "prune": "select qwf.prune()",
    "expire_inputs": "select qwf.expire_inputs()",
    "cancel_run": "select qwf.cancel_run({run})",
    "cancel_node": "select qwf.cancel_job({node})",
    "cancel_job": "select qwf.cancel_job({job})",
    "submit_input": "select qwf.submit_input({ask}, 'ask', '\"yes\"')",
    "retry_run": "select qwf.retry_run({failed})",
    "retry_job": "select qwf.retry_job({gone})",
    "run_next": "select qwf.run_next({waiting})",
    "deregister_worker": "select qwf.deregister_worker('w')",
    "enqueue_many": 'select qwf.enqueue_many(\'[{{"task": "t", "key": "k{n}"}},'
    ' {{"task": "t", "key": "l{n}"}}]\')',
    "enqueue_backwards": 'select qwf.enqueue_many(\'[{{"task": "t", "key": "l{n}"}},'
    ' {{"task": "t", "key": "k{n}"}}]\')',
    "create_limit": "select qwf.create_limit('wide', 1 + mod({n}, 5))",
}
NEVER_WAIT = {"heartbeat", "claim", "reclaim", "promote_due", "drain_outbox", "prune", "tick"}
TABLES = ["jobs", "runs", "outbox", "cancel_requests", "job_attempts", "input_answers"]
TOO_LATE = ("QW001", "QW002")


def scene(race: Race, n: int) -> dict[str, Any]:
    """Work in every state, made anew."""
    for table in TABLES:
        race.rows(f"delete from qwf.{table}")
    race.rows("update qwf.limit_slots set job_id = null where job_id is not null")
    gone = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 1)")
    failed = race.run("pair", priority=1)
    for held in claim(race, 3):
        race.rows("select qwf.finish(%s, %s, 'fatal')", held.job, held.token)
    run, ask = race.run("fanin", priority=2), race.run("asked_beside", priority=2)
    job = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 2, key => %s)", f"j{n}")
    held = claim(race, 5)
    assert race.status(job) == "running"
    waiting = race.one("select qwf.enqueue('t', queue => 'cpu')")
    later = race.run("pair", run_at="2100-01-01")
    race.due(race.job(later, "pair/a"))
    race.lapse(held[0].job)
    race.run("pair")
    node = race.job(run, "fanin/c")
    return {
        "run": run,
        "ask": ask,
        "job": job,
        "waiting": waiting,
        "failed": failed,
        "gone": gone,
        "node": node,
        "tokens": ",".join(c.token for c in held),
        "reports": reports(*held),
        "stropper": reports(*reversed(held)),
        "failures": reports(*held, outcome="fatal", error="broken"),
        "n": n,
    }


def attempt(race: Session, query: str) -> str:
    """How a statement ended."""
    try:
        race.conn.execute(query)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "00000"


def ended(session: Session) -> str:
    """How the statement ended that the session was left with."""
    try:
        session.ends()
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "00000"


@pytest.mark.parametrize("first", OPERATIONS)
def test_two_operations_at_once_do_not_deadlock(race: Race, first: str) -> None:
    race.rows("select qwf.create_limit('wide', 2)")
    one, other, hurried = race.session(), race.session(), race.hurried()
    for n, second in enumerate(OPERATIONS):
        # the first is done, and not committed
        words = scene(race, 2 * n)
        one.begin()
        assert attempt(one, OPERATIONS[first].format(**words)) in ("00000", *TOO_LATE)
        if second in NEVER_WAIT:
            answer = attempt(hurried, OPERATIONS[second].format(**words))
            assert answer == "00000", f"{second} beside {first}"
            one.commit()
        else:
            other.start(OPERATIONS[second].format(**words))
            one.commit()
            assert ended(other) in ("00000", *TOO_LATE), f"{second} after {first}"
        race.healthy()
        # both at once
        words = scene(race, 2 * n + 1)
        queries = [OPERATIONS[name].format(**words) for name in (first, second)]
        other.start(queries[1])
        ends = [attempt(one, queries[0]), ended(other)]
        assert {*ends} <= {"00000", *TOO_LATE}, f"{first} and {second}"
        race.healthy()
    assert (
        race.one("select deadlocks from pg_stat_database where datname = current_database()") == 0
    )
