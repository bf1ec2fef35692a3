"""Each role can do its work, and no more, with the functions that run as their owner."""

from __future__ import annotations

import psycopg
import pytest

from support.interleave import FINISH, Race, claim, reports

PRODUCER = ["select qwf.enqueue('t')", "select qwf.cancel_run(-1)", "select qwf.cancel_job(-1)"]
WORKER = [
    "select * from qwf.claim('cpu', 'w')",
    "select * from qwf.heartbeat('w')",
    "select qwf.tick()",
    "select qwf.drain_outbox()",
    "select qwf.deregister_worker('w')",
]
PRIVATE = [
    "select * from qwf.jobs",
    "update qwf.jobs set status = 'queued'",
    "delete from qwf.outbox",
    "insert into qwf.cancel_requests (job_id) values (1)",
    "select _qwf.end_attempts(null)",
    "select _qwf.apply_events(null)",
    "select _qwf.take_events(null)",
    "select _qwf.lock_runs('{}')",
    "select _qwf.new_token(1, 'x')",
    "select nextval('qwf.job_position')",
    "select setval('qwf.last_tick', 1)",
    "select from _qwf.locks for no key update",
    "select from _qwf.hash_locks for update",
    "insert into _qwf.floors values ('cpu', now(), now(), '{}')",
    "create table qwf.mine ()",
    "create function qwf.mine() returns int language sql as 'select 1'",
]


def refused(race: Race, role: str, query: str) -> bool:
    session = race.session()
    session.rows(f"set role {role}")
    state = session.sqlstate(query)
    assert state in ("00000", "42501") or state.startswith("QW"), f"{query}: {state}"
    return state == "42501"


@pytest.mark.parametrize(
    ("role", "allowed", "forbidden"),
    [
        ("qwf_producer", PRODUCER, WORKER + PRIVATE),
        ("qwf_worker", WORKER, PRODUCER + PRIVATE),
        ("qwf_viewer", ["select * from qwf.check_invariants()"], PRODUCER + WORKER + PRIVATE[1:]),
        ("qwf_admin", PRODUCER + WORKER, PRIVATE[1:]),
    ],
)
def test_a_role_may_do_its_own_work_and_nothing_else(
    race: Race, role: str, allowed: list[str], forbidden: list[str]
) -> None:
    assert [q for q in allowed if refused(race, role, q)] == []
    assert [q for q in forbidden if not refused(race, role, q)] == []


def test_a_caller_cannot_replace_objects_that_the_functions_use(race: Race) -> None:
    """Temporary objects and the caller's search_path do not affect functions of the owner."""
    run = race.run("fanin")
    worker = race.session()
    worker.rows("create temp table jobs (id int, status text, queue text)")
    worker.rows("create temp table runs (id int)")
    worker.rows("create temp table settings (lease interval)")
    worker.rows("create schema evil")
    worker.rows(
        "create function evil.now() returns timestamptz language sql"
        " as $$select 'infinity'::pg_catalog.timestamptz$$"
    )
    worker.rows(
        "create function evil.jsonb_typeof(jsonb) returns text language sql as $$select 'evil'$$"
    )
    worker.rows("grant usage on schema evil to public")
    worker.rows("set search_path = evil, pg_temp, pg_catalog")
    worker.rows("set role qwf_worker")
    held = claim(worker, 2)
    assert worker.rows(FINISH, reports(*held)) == [("ok", False)] * 2
    assert race.statuses(run)["fanin/c"] == "queued"
    assert race.one("select count(*) from qwf.jobs where finished_at = 'infinity'") == 0
    race.healthy()


def test_a_worker_without_the_token_can_do_nothing_to_a_job(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    stranger = race.session()
    stranger.rows("set role qwf_worker")
    before = race.rows("select * from qwf.jobs")
    for token in (None, "00000000-0000-0000-0000-000000000000", held.token[:-1] + "g"):
        try:
            assert stranger.one("select qwf.finish(%s, %s, 'completed')", held.job, token) == "lost"
            assert stranger.one("select qwf.progress(%s, %s, 0.1)", held.job, token) == "lost"
        except psycopg.errors.InvalidTextRepresentation:
            assert token is not None
    assert race.rows("select * from qwf.jobs") == before


NOTHING = [
    "select * from qwf.claim(null, null)",
    "select * from qwf.claim('cpu', 'w', null)",
    "select * from qwf.claim('cpu', 'w', 1000000)",
    "select * from qwf.claim('cpu', 'w', -1)",
    "select * from qwf.heartbeat(null, null)",
    "select * from qwf.heartbeat('w', array[null]::uuid[])",
    "select qwf.progress(null, null, null)",
    "select qwf.progress(1, gen_random_uuid(), 'NaN')",
    "select qwf.finish(null, null, null)",
    "select * from qwf.finish_many(null)",
    "select * from qwf.finish_many('{}')",
    "select * from qwf.finish_many('[null]')",
    """select * from qwf.finish_many('[{"job_id": 1e400, "token": 7, "outcome": []}]')""",
    """select * from qwf.finish_many('[{"job_id": 99999999999999999999, "token": "x"}]')""",
    "select * from qwf.finish_and_claim(null, null, null)",
    "select * from qwf.finish_and_claim('[null]', 'cpu', 'w')",
    "select * from qwf.finish_and_claim('[]', 'cpu', 'w', null)",
    "select qwf.enqueue(null)",
    "select qwf.enqueue('t', args => null)",
    "select qwf.enqueue('t', queue => null)",
    "select qwf.enqueue('t', priority => null, requires => null, labels => null, project => null)",
    "select * from qwf.enqueue_many(null)",
    "select * from qwf.enqueue_many('[null]')",
    "select qwf.enqueue_run(null)",
    "select qwf.enqueue_run('nothing', context => null)",
    "select qwf.cancel_run(null)",
    "select qwf.cancel_job(null)",
    "select qwf.submit_input(null, null, null)",
    "select qwf.run_status(null)",
    "select qwf.result(null)",
    "select qwf.drain_outbox(null)",
    "select qwf.wake(null)",
    "select qwf.deregister_worker(null)",
    "select qwf.register_worker(null, 'cpu')",
    "select qwf.register_worker('h', 'cpu', null)",
    "select qwf.register_worker('h', 'cpu', '{\"slots\": 1e10}')",
    "select qwf.sleep(null, null)",
    "select qwf.agent_settings(null)",
    "select qwf.enqueue('t', key => public.long())",
    "select * from qwf.claim('cpu', public.long())",
    "select qwf.sleep(public.long(), 'cpu')",
]


@pytest.mark.parametrize("query", NOTHING)
def test_null_and_nonsense_are_answered_or_refused_with_a_known_sqlstate(
    race: Race, query: str
) -> None:
    race.rows(
        "create function public.long() returns text language sql as"
        " $$select string_agg(md5(i::text), '') from generate_series(1, 300) i$$"
    )
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    state = race.sqlstate(query)
    assert state == "00000" or state.startswith("QW")
    race.healthy()


HELD = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"


@pytest.mark.parametrize(
    "call",
    [
        """select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}')""",
        "select qwf.create_schedule('nightly', task => 't', every => '1 day')",
        "select qwf.tick()",
        "select job_id from qwf.claim('cpu', 'w')",
        "select qwf.enqueue('t', queue => 'cpu')",
    ],
)
def test_no_function_uses_an_advisory_lock(race: Race, call: str) -> None:
    """Any login can hold an advisory lock for ever, and pg_locks shows its number to all."""
    race.rows("select qwf.create_limit('customer', 2, keyed => true)")
    race.rows("select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:acme')")
    race.rows("select qwf.sleep('asleep', 'cpu')")
    race.rows("select setval('qwf.next_roll_up', 0)")
    race.begin()
    race.rows(call)
    assert race.one(HELD) == 0


def test_one_of_two_sessions_creates_a_schedule_and_the_other_sees_it(race: Race) -> None:
    call = "select qwf.create_schedule('nightly', task => 't', every => '1 day')"
    first, second = race.session(), race.session()
    first.begin()
    due = first.one(call)
    second.start(call)
    second.waits()
    first.commit()
    assert second.ends() == [(due,)]
    other = race.nonblocking()
    first.begin()
    first.one(call)
    assert other.one(call.replace("nightly", "weekly"))
