"""Every two operations that lock rows, on the same rows, concurrently; and transactions of two."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish, reports
from support.servers import Server
from support.thorough import THOROUGH

# {run} is a run whose first nodes are claimed, {ask} a run that asks, {tokens} and {reports} belong
# to the claimed jobs, {failed} and {broken} are failed runs whose keys are in the opposite order to
# their ids, {job} a claimed standalone job, {waiting} a queued
# one, {node} a queued node, {gone} a failed standalone job, {asking} one that asks what to do about
# its failure, {worker} a registered worker, {ended} failed jobs: {gone}, the nodes of {failed}, and
# two whose keys are in the opposite order to their ids; {dne} are the same, from last to first.
OPERATIONS = {
    "finish_many": "select verdict from qwf.finish_many('{reports}')",
    "finish_backwards": "select verdict from qwf.finish_many('{stropper}')",
    "fail": "select verdict from qwf.finish_many('{failures}')",
    "finish_and_claim": "select job_id from qwf.finish_and_claim('{reports}', 'cpu', 'v', 3)",
    "heartbeat": "select verdict from qwf.heartbeat('w', '{{{tokens}}}')",
    "claim": "select job_id from qwf.claim('cpu', 'v', 3)",
    "reclaim": "select _qwf.reclaim()",
    "promote_due": "select _qwf.promote_due()",
    "drain_outbox": "select qwf.drain_outbox()",
    "tick": "select qwf.tick()",
    "prune": "select qwf.prune()",
    "expire_inputs": "select _qwf.expire_inputs()",
    "cancel_run": "select qwf.cancel_run({run})",
    "cancel_node": "select qwf.cancel_job({node})",
    "cancel_job": "select qwf.cancel_job({job})",
    "cancel_jobs": "select code from qwf.cancel_jobs('{{{job},{waiting},{node},{asking}}}')",
    "cancel_backwards": "select code from qwf.cancel_jobs('{{{asking},{node},{waiting},{job}}}')",
    "cancel_runs": "select code from qwf.cancel_runs('{{{run},{ask}}}')",
    "cancel_runs_backwards": "select code from qwf.cancel_runs('{{{ask},{run}}}')",
    "submit_input": "select qwf.submit_input({ask}, 'ask', '\"yes\"')",
    "answer_job": "select qwf.answer_job({asking}, '\"retry\"')",
    "retry_run": "select qwf.retry_run({failed})",
    "retry_job": "select qwf.retry_job({gone})",
    "retry_jobs": "select code from qwf.retry_jobs('{{{ended}}}')",
    "retry_backwards": "select code from qwf.retry_jobs('{{{dne}}}')",
    "retry_runs": "select code from qwf.retry_runs('{{{failed},{broken}}}')",
    "retry_runs_backwards": "select code from qwf.retry_runs('{{{broken},{failed}}}')",
    "run_next": "select qwf.change_job({waiting}, run_next => true)",
    "change_job": "select qwf.change_job({waiting}, priority => 5)",
    "change_jobs": "select code from qwf.change_jobs('{{{job},{waiting},{gone}}}', priority => 5)",
    "change_backwards": "select code from qwf.change_jobs('{{{gone},{waiting},{job}}}',"
    " run_next => true)",
    "deregister_worker": "select qwf.deregister_worker('w')",
    "enqueue_many": 'select qwf.enqueue_many(\'[{{"task": "t", "key": "k{n}"}},'
    ' {{"task": "t", "key": "l{n}"}}]\')',
    "enqueue_backwards": 'select qwf.enqueue_many(\'[{{"task": "t", "key": "l{n}"}},'
    ' {{"task": "t", "key": "k{n}"}}]\')',
    "enqueue_run": "select qwf.enqueue_run('pair', key => 'k{n}')",
    "create_limit": "select qwf.create_limit('wide', 1 + mod({n}, 5),"
    " starts => 90 + mod({n}, 5), per => '0.01 s')",
    "create_queue": "select qwf.create_queue('cpu', max_running => 20 + mod({n}, 5))",
    "drop_limit": "select qwf.drop_limit('queue:cpu')",
    "pause_queue": "select qwf.pause_queue('cpu')",
    "worker_control": "select qwf.worker_control('box', 'cpu', 'off')",
    "withdraw_worker": "select qwf.withdraw_worker('{worker}', 'it only fails')",
    "request_model": "select qwf.request_model('box', 'cpu', 'm')",
    "take_model_requests": "select from qwf.take_model_requests('{worker}')",
}
NEVER_WAIT = {"heartbeat", "claim", "reclaim", "promote_due", "drain_outbox", "prune", "tick"}
# What takes a list of jobs or runs stands alone: it locks several runs and jobs at once.
# Operations of which a person or a program may put several into one transaction, each with the
# locks of docs/concepts.md that it waits for. Transactions that keep their order do not deadlock.
WAITS_FOR = {
    "worker_control": (0,),
    "withdraw_worker": (0,),
    "pause_queue": (1,),
    "create_queue": (1,),
    "drop_limit": (1,),
    "create_limit": (2,),
    "cancel_run": (3, "run"),
    "cancel_node": (3, "run"),
    "submit_input": (3, "ask"),
    "retry_job": (4, "gone"),
    "answer_job": (4, "asking"),
    "cancel_job": (5,),
    "retry_run": (6, "failed"),  # its last lock is the key of the run
    "enqueue_run": (7,),
    "enqueue_many": (8,),
    "enqueue_backwards": (8,),
    "run_next": (9,),
    "change_job": (9,),
    "request_model": (9,),
}
BUDGET_S = 20.0 if THOROUGH else 3.0  # for transactions of two
SHARE = 1 if THOROUGH else 10  # every pair at once, or every tenth, others each time
TABLES = ["jobs", "runs", "outbox", "cancel_requests", "job_attempts", "input_answers"]
TABLES += ["waits", "worker_controls", "model_requests"]
TOO_LATE, WAITED_IN_VAIN = ("QW001", "QW002", "QW008"), "55P03"  # QW008: the key is taken


def empty(race: Race) -> None:
    race.rows(";".join(f"delete from qwf.{table}" for table in TABLES))


def scene(race: Race, n: int) -> dict[str, Any]:
    """Create work in every state."""
    empty(race)
    race.rows(
        "update qwf.limit_slots set job_id = null where job_id is not null;"
        "select qwf.resume_queue('cpu'), qwf.create_queue('cpu', max_running => 20)"
    )
    worker = race.one("select min(id) from qwf.workers") or race.one(
        "select qwf.register_worker('box', 'cpu', '{\"models\": [\"m\"]}')"
    )
    race.rows("select qwf.heartbeat(%s)", worker)
    asking = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 1, on_failure => 'ask')")
    gone = race.one("select qwf.enqueue('t', queue => 'cpu', priority => 1)")
    keyed = [
        race.one("select qwf.enqueue('t', queue => 'cpu', priority => 1, key => %s)", f"{key}{n}")
        for key in "lk"
    ]
    broken = race.run("pair", priority=1, key=f"l{n}")
    failed = race.run("pair", priority=1, key=f"k{n}")
    ending = claim(race, 8)
    assert len(ending) == 8
    finish(race, *ending, outcome="fatal")
    ended = [gone, race.job(failed, "pair/a"), race.job(failed, "pair/b"), *keyed]
    run, ask = race.run("fanin", priority=2), race.run("asked_beside", priority=2)
    job = race.one(
        "select qwf.enqueue('t', queue => 'cpu', priority => 2, key => %s, limit_by => 'wide')",
        f"j{n}",
    )
    held = claim(race, 5)
    assert race.status(job) == "running"
    waiting = race.one("select qwf.enqueue('t', queue => 'cpu')")
    later = race.run("pair", run_at="2100-01-01")
    race.make_due(race.job(later, "pair/a"))
    race.expire_leases(held[0].job)
    race.run("pair")
    node = race.job(run, "fanin/c")
    return {
        "run": run,
        "ask": ask,
        "job": job,
        "waiting": waiting,
        "failed": failed,
        "ended": ",".join(map(str, ended)),
        "dne": ",".join(map(str, reversed(ended))),
        "broken": broken,
        "gone": gone,
        "asking": asking,
        "worker": worker,
        "node": node,
        "tokens": ",".join(c.token for c in held),
        "reports": reports(*held),
        "stropper": reports(*reversed(held)),
        "failures": reports(*held, outcome="fatal", error="broken"),
        "n": n,
    }


def attempt(race: Session, query: str) -> str:
    """Run a statement and return how it ended."""
    try:
        race.conn.execute(query)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "00000"


def ended(session: Session) -> str:
    """Wait for the started statement of a session and return how it ended."""
    try:
        session.ends()
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return "00000"


@pytest.fixture(scope="module")
def place(server: Server, template: str) -> Iterator[Race]:
    """A database for all tests here, which make their scenes in it: in a new one, each session
    compiles every function again."""
    with (
        server.database(server.new_name(), template) as janitor,
        contextlib.ExitStack() as stack,
    ):
        dsn = server.dsn(janitor.dbname)
        race = Race(lambda: stack.enter_context(psycopg.connect(dsn, autocommit=True)))
        yield race
        race.end()


@pytest.fixture(scope="module")
def pair(place: Race) -> tuple[Session, Session, Session]:
    """Two sessions, and one that waits only a moment for a lock."""
    return place.session(), place.session(), place.session(lock_timeout="100ms")


@pytest.mark.parametrize("first", OPERATIONS)
def test_two_operations_at_once_do_not_deadlock(
    place: Race, pair: tuple[Session, Session, Session], first: str
) -> None:
    race, (one, other, nonblocking) = place, pair
    for session in pair:
        session.rollback()  # what a test that failed has left
    empty(race)
    race.rows("select qwf.drop_limit(l.name) from qwf.limits l where l.name = 'wide'")
    race.rows("select qwf.create_limit('wide', 2)")
    # the first has run, but is not committed
    words = scene(race, 0)
    one.begin()
    assert attempt(one, OPERATIONS[first].format(**words)) in ("00000", *TOO_LATE)
    waiting = []
    for second in OPERATIONS:
        nonblocking.begin()
        answer = attempt(nonblocking, OPERATIONS[second].format(**words))
        nonblocking.rollback()
        if second in NEVER_WAIT:
            assert answer == "00000", f"{second} beside {first}"
        elif answer == WAITED_IN_VAIN:
            waiting.append(second)
        else:
            assert answer in ("00000", *TOO_LATE), f"{second} beside {first}"
    one.commit()
    race.healthy()
    for n, second in enumerate(waiting, 1):
        words = scene(race, n)
        one.begin()
        attempt(one, OPERATIONS[first].format(**words))
        other.start(OPERATIONS[second].format(**words))
        other.waits()
        one.commit()
        assert ended(other) in ("00000", *TOO_LATE), f"{second} after {first}"
        race.healthy()
    # both at once
    names = list(OPERATIONS)
    beside = names[: names.index(first) + 1]
    beside = random.sample(beside, -(-len(beside) // SHARE))
    for n, second in enumerate(beside, len(OPERATIONS)):
        words = scene(race, n)
        queries = [OPERATIONS[name].format(**words) for name in (first, second)]
        other.start(queries[1])
        ends = [attempt(one, queries[0]), ended(other)]
        assert {*ends} <= {"00000", *TOO_LATE}, f"{first} and {second}"
        race.healthy()


def transaction(dice: random.Random, words: dict[str, Any]) -> list[str]:
    """Two operations in the order of the locks."""
    names = dice.sample(list(WAITS_FOR), 2)
    return sorted(names, key=lambda name: (WAITS_FOR[name][0], words.get(WAITS_FOR[name][-1], 0)))


def test_transactions_of_two_operations_do_not_deadlock(race: Race) -> None:
    """The engine does not wait for them either."""
    race.rows("select qwf.create_limit('wide', 2)")
    one, other, nonblocking = race.session(), race.session(), race.nonblocking()
    seed = random.randrange(1 << 32)
    dice, n = random.Random(seed), 0
    deadline = time.monotonic() + BUDGET_S
    while time.monotonic() < deadline:
        n += 1
        words = scene(race, n)
        first, second = transaction(dice, words), transaction(dice, words)
        engine = dice.choice(sorted(NEVER_WAIT))
        what = f"seed {seed}, scene {n}: {first}, {second}, {engine}"
        mine, others = ([OPERATIONS[name].format(**words) for name in p] for p in (first, second))
        one.begin()
        ends = [attempt(one, mine[0])]
        other.start(";".join(["begin", *others, "commit"]))
        other.waits_or_ends()
        assert attempt(nonblocking, OPERATIONS[engine].format(**words)) == "00000", what
        if ends == ["00000"]:
            ends.append(attempt(one, mine[1]))
        one.rollback() if dice.random() < 0.2 else one.commit()
        ends.append(ended(other))
        other.rollback()
        assert {*ends} <= {"00000", *TOO_LATE}, (what, ends)
        race.healthy()
    print(f"{n} scenes")
