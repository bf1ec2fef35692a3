"""Whatever a caller gives, no value without a bound is stored, and the next job is handed out.

Each text, JSON value and list that a public function takes is replaced in turn, in an otherwise
valid call, by one that is far too large or far too deep.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from support.servers import Server, Session

# Arguments as SQL of a call that is valid in the scene below. A new function needs a line here.
RUNNING = "(select id from qwf.jobs where task = 'run')"
TOKEN = "(select token from qwf.jobs where task = 'run')"
WORKER = "(select id from qwf.workers where queue = 'cpu')"
ASKING = "(select max(id) from qwf.runs)"
CALLS: dict[str, dict[str, str]] = {
    "after_failures": {"jobs": "'{1}'", "attempts": "'{1}'", "outcomes": "'{lost}'"},
    "agent_settings": {"queue": "'cpu'"},
    "answer_job": {
        "job_id": "(select id from qwf.jobs where status = 'awaiting_input')",
        "value": "'1'",
        "acting_for": "'Ada'",
        "asked": "(select since from qwf.pending_inputs)",
    },
    "answer_model_request": {
        "id": "(select id from qwf.model_requests)",
        "worker": WORKER,
        "error": "'broken'",
        "progress": "'half'",
    },
    "cancel_job": {"job_id": RUNNING, "reason": "'late'"},
    "cancel_jobs": {"jobs": "'{1}'", "reason": "'late'"},
    "cancel_run": {"run_id": ASKING, "reason": "'late'"},
    "cancel_runs": {"runs": "'{1}'", "reason": "'late'"},
    "change_settings": {"changes": "'{}'"},
    "change_job": {
        "job_id": "(select id from qwf.jobs where task = 'next')",
        "queue": "'gpu'",
        "limit_by": "'l'",
    },
    "change_jobs": {
        "jobs": "'{1}'",
        "queue": "'gpu'",
        "run_at": "'2100-01-01'",
        "limit_by": "'l'",
    },
    "busiest_keys": {"name": "'customer'", "max_rows": "20"},
    "first_in_line": {"queue": "'default'", "max_rows": "20"},
    "claim": {"queue": "'cpu'", "worker": "'w'"},
    "configure_server": {
        "host": "'box'",
        "queue": "'cpu'",
        "server": "'vllm'",
        "acting_for": "'Ada'",
    },
    "create_limit": {"name": "'api'", "max_running": "2", "starts": "5", "per": "'1 s'"},
    "create_queue": {"name": "'mail'"},
    "create_schedule": {
        "name": "'nightly'",
        "task": "'t'",
        "cron": "'@daily'",
        "timezone": "'UTC'",
        "args": "'{}'",
        "queue": "'cpu'",
        "catch_up": "'one'",
        "overlap": "'skip'",
        "project": "''",
        "options": "'{}'",
    },
    "deregister_worker": {"worker": WORKER},
    "doctor": {"checks": "'{tick}'"},
    "drop_limit": {"name": "'l'"},
    "hold_limit": {"name": "'customer'", "until": "qwf.now()", "key": "'acme'"},
    "drop_schedule": {"name": "'hourly'"},
    "echo": {"worker": WORKER},
    "enable_schedule": {"name": "'hourly'"},
    "forget_host": {"host": "'box-9'"},
    "fire_schedule": {"name": "'hourly'"},
    "due_times": {"name": "'hourly'"},
    "backfill": {"name": "'hourly'", "since": "'2026-01-01'", "until": "'2026-01-02'"},
    "ended": {"job_ids": "'{1}'", "run_ids": "'{1}'"},
    "enqueue": {
        "task": "'t'",
        "args": "'{}'",
        "queue": "'cpu'",
        "priority": "-9",
        "key": "'k'",
        "backoff": "'[1]'",
        "model": "null",
        "requires": "'{}'",
        "limit_by": "'l'",
        "on_failure": "'ask'",
        "project": "'p'",
        "labels": "'{}'",
    },
    "enqueue_many": {"jobs": "'[]'"},
    "enqueue_run": {
        "workflow": "'question'",
        "context": "'{}'",
        "key": "'k'",
        "out_dir": "'/tmp'",
        "project": "'p'",
        "labels": "'{}'",
    },
    "failure_groups": {},
    "find_inputs": {"project": "'p'"},
    "erase": {"filter": "'{\"ids\": [1]}'", "parts": "'{logs}'"},
    "find_jobs": {"filter": "'{}'"},
    "open_questions": {"project": "'p'"},
    "find_missing_options": {"schedule": "'hourly'", "workflow": "'question'"},
    "find_runs": {"filter": "'{}'"},
    "finish": {
        "job_id": RUNNING,
        "token": TOKEN,
        "outcome": "'completed'",
        "output": "'{}'",
        "error": "null",
        "detail": "'{}'",
    },
    "finish_many": {"reports": "'[]'"},
    "finish_and_claim": {"reports": "'[]'", "queue": "'gpu'", "worker": "'w'"},
    "followed_logs": {"worker": WORKER},
    "heartbeat": {"worker": WORKER, "tokens": "'{}'", "stats": "'{}'"},
    "mark_failures": {
        "task": "'t'",
        "signature": "'no'",
        "seen": "true",
        "snooze": "'1 h'",
        "until_release": "false",
        "note": "'known'",
    },
    "losses": {"queue": "'cpu'"},
    "pause_queue": {"name": "'mail'"},
    "progress": {"job_id": RUNNING, "token": TOKEN, "fraction": "0.5", "message": "'half'"},
    "register_pipeline": {"definition": """'{"name": "p", "nodes": []}'"""},
    "register_worker": {"host": "'box'", "queue": "'cpu'", "info": "'{}'"},
    "register_workflow": {"definition": """'{"name": "w", "steps": []}'"""},
    "report_log": {"job_id": RUNNING, "token": TOKEN, "end_offset": "7", "tail": "'printed'"},
    "report_metrics": {"host": "'box'", "sample": "'{}'"},
    "report_broken_server": {"worker": WORKER, "server": "'vllm'", "error": "'late'"},
    "request_model": {
        "host": "'box'",
        "queue": "'cpu'",
        "model": "'m'",
        "action": "'load'",
        "acting_for": "'Ada'",
    },
    "report_event": {
        "job_id": RUNNING,
        "token": TOKEN,
        "kind": "'folder_moved'",
        "detail": "'{}'",
    },
    "resolve": {"value": "'{}'", "scope": "'{}'"},
    "resume_queue": {"name": "'cpu'"},
    "retry_job": {"job_id": "(select id from qwf.jobs where task = 'stopped')", "args": "'{}'"},
    "retry_jobs": {"jobs": "'{1}'"},
    "retry_plan": {
        "run_id": "(select min(id) from qwf.runs)",
        "from_node": "'ask'",
        "context": "'{}'",
    },
    "retry_run": {
        "run_id": "(select min(id) from qwf.runs)",
        "from_node": "'ask'",
        "context": "'{}'",
        "named": "'{ask}'",
    },
    "retry_runs": {"runs": "'{1}'"},
    "sleep": {"worker": WORKER, "queue": "'cpu'"},
    "stay_asleep": {"worker": WORKER, "queue": "'cpu'", "stats": "'{}'"},
    "set_alert": {"name": "'r'", "rule": """'{"when": ["lost"], "do": {"receiver": "ops"}}'"""},
    "signal": {"name": "'paid'", "payload": "'{}'"},
    "submit_input": {"run_id": ASKING, "node_id": "'ask'", "value": "'1'", "acting_for": "'Ada'"},
    "withdraw_worker": {"worker": WORKER, "reason": "'it is broken'"},
    "take_model_requests": {"worker": WORKER},
    "context_notes": {"run_id": ASKING, "context": "'{}'"},
    "test_alert": {"name": "'told'"},
    "update_worker": {"worker": WORKER, "info": "'{}'"},
    "wake": {"worker": WORKER},
    "wake_channel": {"worker": WORKER},
    "worker_alive": {"host": "'box'", "queue": "'cpu'"},
    "worker_control": {
        "host": "'box'",
        "queue": "'gpu'",
        "state": "'off'",
        "policy": "'drain'",
        "acting_for": "'Ada'",
        "reason": "'new card'",
    },
    "worker_orders": {"worker": WORKER},
    "workflow_graph": {"workflow": "'{}'", "pipelines": "'{}'"},
}
CALLS_WITHOUT_SIZE = {"tick": {"max_age": "'1 s'"}}
# An argument that is given instead of another, and one that another needs.
INSTEAD_OF = {
    ("create_schedule", "workflow"): "task",
    ("create_schedule", "hours"): "cron",
    ("create_schedule", "every"): "cron",
    ("create_schedule", "anchor"): "cron",
}
BESIDE = {
    ("create_schedule", "hours"): "minute => 7",
    ("create_schedule", "anchor"): "every => '1 h'",
}

# What may be accepted, because it is cut, or because it is only looked up. All else is refused.
CUT = {
    ("answer_model_request", "error"),
    ("answer_model_request", "progress"),
    ("finish", "detail"),
    ("finish", "error"),
    ("finish", "output"),  # the job fails instead, and says why
    ("finish_many", "reports"),
    ("finish_and_claim", "reports"),
    ("progress", "message"),
    ("report_broken_server", "error"),
    ("report_log", "stream"),
    ("report_log", "tail"),
    ("withdraw_worker", "reason"),
}
STORED_NOWHERE = {
    ("report_broken_server", "worker"),
    ("after_failures", "attempts"),
    ("after_failures", "jobs"),
    ("after_failures", "outcomes"),
    ("answer_model_request", "worker"),
    ("deregister_worker", "worker"),
    ("forget_host", "host"),
    *(("failure_groups", argument) for argument in ("task", "queue", "host", "workflow")),
    ("find_inputs", "project"),
    ("open_questions", "project"),
    ("find_missing_options", "schedule"),
    ("find_missing_options", "workflow"),
    ("followed_logs", "worker"),
    ("heartbeat", "worker"),
    ("wake", "worker"),
    ("wake_channel", "worker"),
    ("worker_alive", "host"),
    ("worker_alive", "queue"),
    ("worker_orders", "worker"),
}

# Bad values, as SQL of type jsonb; the large ones are above max_value_bytes, and `deepest` is the
# deepest that the parser takes.
BAD = {
    "random": "(select to_jsonb(string_agg(md5(i::text), '')) from generate_series(1, 37500) i)",
    "repeated": "to_jsonb(repeat(chr(1), 1200000))",
    "deep": "(repeat('[', 600) || repeat(']', 600))::jsonb",
    "deep_object": """(repeat('{"a":', 600) || 1 || repeat('}', 600))::jsonb""",
    "deepest": "attack.deepest()",
}
DEEPEST = """
create schema attack;
create function attack.deepest() returns jsonb language plpgsql as $$
begin
  for v_depth in reverse 20000 .. 1000 by 500 loop
    begin
      return (repeat('[', v_depth) || repeat(']', v_depth))::jsonb;
    exception
      when statement_too_complex then  -- the stack of the parser
        continue;
    end;
  end loop;
end $$;
"""
KEYS_OF_INFO = (
    "pid version slots tasks models current_model vram_mb labels rank project servers"
    " cards task_options x"
)
KEYS_OF_JOB = "task args queue key backoff model requires limit_by on_failure project labels x"
KEYS_OF_JOB_FILTER = (
    "status queue task run_id node worker host project labels key error args since until x"
)
KEYS_OF_RUN_FILTER = "status workflow project labels key error since until x"
KEYS_OF_DETAIL = "reason exit_code signal max_rss_bytes log_tail host files readings retry_after_s"
REPORT = f"jsonb_build_object('job_id', {RUNNING}, 'token', {TOKEN}, 'outcome', %s, %s)"
# Places for a bad value inside a JSON argument, as SQL; also: the value itself, and as value or
# key in an object.
PLACES = {
    ("change_settings", "changes"): [
        "jsonb_build_object('error_backoff', BAD)",
        "jsonb_build_object('error_backoff', jsonb_build_array(1, BAD))",
        "jsonb_build_object('error_backoff', (select jsonb_agg(1) from generate_series(1, 9999)))",
        "jsonb_build_object('timeout', BAD)",
    ],
    ("enqueue", "backoff"): [
        "jsonb_build_array(1, BAD)",
        "(select jsonb_agg(1) from generate_series(1, 100000))",
    ],
    ("enqueue_many", "jobs"): [
        place
        for key in KEYS_OF_JOB.split()
        for place in (
            f"""jsonb_build_array(jsonb '{{"task": "t"}}' || jsonb_build_object('{key}', BAD))""",
            "jsonb_build_array(jsonb_build_object('task', 't') ||"
            f" jsonb_build_object('{key}', jsonb_build_object('x', BAD)))",
        )
    ],
    ("finish", "detail"): [
        *(f"jsonb_build_object('{key}', BAD)" for key in KEYS_OF_DETAIL.split()),
        "jsonb_build_object('files', jsonb_build_array("
        "jsonb_build_object('rel_path', 'a', 'kind', BAD, 'size_bytes', BAD)))",
        "jsonb_build_object('host', BAD, 'files', jsonb_build_array("
        "jsonb_build_object('rel_path', BAD)))",
    ],
    ("finish_many", "reports"): [
        f"jsonb_build_array({REPORT % (outcome, member)})"
        for outcome, member in (
            ("'completed'", "'output', BAD"),
            ("'completed'", "'output', jsonb_build_object('x', BAD)"),
            ("'lost'", "'detail', jsonb_build_object('signal', BAD, 'readings', BAD)"),
            ("'lost'", "'detail', jsonb_build_object('readings', jsonb_build_object('x', BAD))"),
            ("'error'", "'detail', jsonb_build_object('reason', BAD)"),
            ("'error'", "'error', BAD"),
            ("BAD", "'error', 'broken'"),
        )
    ],
    **{
        ("find_" + what, "filter"): [
            place
            for key in keys.split()
            for place in (
                f"jsonb_build_object('{key}', BAD)",
                f"jsonb_build_object('{key}', jsonb_build_array(BAD))",
                f"jsonb_build_object('{key}', jsonb_build_object('x', BAD))",
            )
        ]
        for what, keys in (("jobs", KEYS_OF_JOB_FILTER), ("runs", KEYS_OF_RUN_FILTER))
    },
    ("register_pipeline", "definition"): [
        "jsonb_build_object('name', 'p', 'nodes', jsonb_build_array(jsonb_build_object("
        "'id', 'a', 'inputs', jsonb_build_object('x', BAD))))"
    ],
    ("register_workflow", "definition"): [
        "jsonb_build_object('name', 'w', 'steps', jsonb_build_array(jsonb_build_object("
        "'id', 'a', 'kind', 'input', 'widget', 'any', 'target', 'x', 'hint', BAD)))"
    ],
    ("report_metrics", "sample"): ["jsonb_build_object('gpus', jsonb_build_array(BAD))"],
    **{
        (function, "info"): [
            place
            for key in KEYS_OF_INFO.split()
            for place in (
                f"jsonb_build_object('{key}', BAD)",
                f"jsonb_build_object('{key}', jsonb_build_array(BAD))",
                f"jsonb_build_object('{key}', jsonb_build_object('x', BAD))",
            )
        ]
        for function in ("register_worker", "update_worker")
    },
}
PLACES["finish_and_claim", "reports"] = PLACES["finish_many", "reports"]
ARGUMENTS = """
select p.proname, a.name, format_type(p.proargtypes[a.n - 1], null)
from pg_proc p
cross join lateral unnest(p.proargnames) with ordinality a (name, n)
where p.pronamespace = 'qwf'::regnamespace and p.prokind = 'f'
  and a.n <= p.pronargs and format_type(p.proargtypes[a.n - 1], null) ~ %s
order by 1, 2
"""
SIZED = "^(text|character|json|bytea|.*[[]])"
# By days of 24 hours and months of 30 days, as Postgres compares them, this is a minute. By its
# seconds, which agents read, it is 85102 years.
LONG = "make_interval(months => 71000000, days => -2129999999, hours => -23, mins => -59)"
ERROR_LETTERS = 10_000  # of which the log of the server gets a copy
STORED_BYTES = 300_000  # an error may have 256 KiB


def something_for_every_call(db: Session) -> None:
    """A running job, a question, a worker, a schedule, an ended run."""
    for statement in (
        DEEPEST,
        "create table attack.bad (name text, value jsonb)",
        *(f"insert into attack.bad values ('{name}', {value})" for name, value in BAD.items()),
        "select qwf.create_limit('l', 2), qwf.create_limit('customer', 2, keyed => true)",
        "select qwf.create_queue('mail')",
        "select qwf.create_schedule('hourly', 't', cron => '@hourly')",
        """select qwf.set_alert('told', '{"when": ["lost"], "do": {"receiver": "ops"}}')""",
        """select qwf.register_worker('box', 'cpu', '{"models": ["m"], "servers": [
            {"name": "vllm", "kind": "openai", "parallel": 1, "models": {"m": null}}]}')""",
        "select qwf.request_model('box', 'cpu', 'm')",
        f"select qwf.take_model_requests({WORKER})",
        """select qwf.register_workflow('{"name": "question", "steps": [
            {"id": "ask", "kind": "input", "widget": "any"}]}')""",
        "select qwf.cancel_run(qwf.enqueue_run('question'))",
        "select qwf.enqueue_run('question')",
        "select qwf.enqueue('run', queue => 'cpu', max_attempts => 1)",
        f"select qwf.claim('cpu', {WORKER})",
        f"select qwf.follow_log({RUNNING})",
        "select qwf.cancel_job(qwf.enqueue('stopped', queue => 'mail'))",
        "select qwf.enqueue('next', queue => 'cpu')",
    ):
        db.execute(statement)


@pytest.fixture(scope="module")
def place(server: Server, template: str) -> Iterator[Session]:
    """A session on a database with something for every call."""
    with server.session(template) as db:
        something_for_every_call(db)
        db.execute("set client_min_messages = error; set statement_timeout = '60s'")
        yield db


@pytest.fixture
def shared(place: Session) -> Session:
    """That session, for a test that takes back all it does: a new one compiles every function."""
    place.execute(f"select count(*) from qwf.heartbeat({WORKER}, array[{TOKEN}])")  # minutes later
    return place


@pytest.fixture
def scene(shared: Session) -> Iterator[Session]:
    """That session, in a transaction that is taken back after the test."""
    with shared.transaction(force_rollback=True):
        yield shared


def call_with(function: str, argument: str, value: str) -> str:
    """A call that is valid except for this argument."""
    given = {**CALLS, **CALLS_WITHOUT_SIZE}[function]
    left_out = {argument, INSTEAD_OF.get((function, argument))}
    others = [f"{name} => {value}" for name, value in given.items() if name not in left_out]
    others += [BESIDE[function, argument]] if (function, argument) in BESIDE else []
    return f"select * from qwf.{function}({', '.join([*others, f'{argument} => {value}'])})"


def bad_values(function: str, argument: str, kind: str) -> Iterator[str]:
    match kind:
        case "text":
            yield from (f"{stored_bad(name)} #>> '{{}}'" for name in ("random", "repeated"))
        case "uuid[]":
            yield "(select array_agg(gen_random_uuid()) from generate_series(1, 100000))"
        case "text[]":
            yield f"array[{stored_bad('random')} #>> '{{}}']"
        case "integer[]" | "bigint[]":
            yield "(select array_agg(i) from generate_series(1, 150000) i)"
        case "jsonb":
            places = ["BAD", "jsonb_build_object('x', BAD)"]
            places += PLACES.get((function, argument), [])
            for name in BAD:
                yield from (place.replace("BAD", stored_bad(name)) for place in places)
            for name in ("random", "repeated"):
                yield f"jsonb_build_object({stored_bad(name)} #>> '{{}}', 1)"
        case _:
            pytest.fail(f"no bad values for {kind}: add some")


def arguments(session: Session, kind: str) -> list[tuple[str, str, str]]:
    """Function, name and type of each argument of a public function whose type matches."""
    return session.execute(ARGUMENTS, (kind,)).fetchall()


def stored_bad(name: str) -> str:
    return f"(select value from attack.bad where name = '{name}')"


def tables(session: Session) -> list[str]:
    query = "select oid::regclass::text from pg_class where relnamespace = %s::regnamespace"
    return [row[0] for row in session.execute(f"{query} and relkind in ('r', 'p')", ("qwf",))]


def stored(session: Session) -> tuple[int, bool]:
    """The bytes of the largest row as text, and whether a value in any row is nested too deeply."""
    deep = "bool_or(jsonb_path_exists(to_jsonb(t), 'lax $.**{510}'))"
    each = [
        f"select max(octet_length(t::text)) as bytes, {deep} as deep from {table} t"
        for table in tables(session)
    ]
    query = f"select max(bytes), bool_or(deep) from ({' union all '.join(each)}) s"
    row = session.execute(query).fetchone()
    assert row is not None
    return row[0], row[1]


def answer(session: Session, call: str) -> str:
    """`refused`, `taken`, or what is wrong with how the call was answered or what it stored."""
    try:
        with session.transaction(force_rollback=True):
            session.execute(call)
            bytes_stored, deep = stored(session)
            if bytes_stored > STORED_BYTES or deep:
                return f"it stored {bytes_stored} bytes" + " and nests too deeply" * deep
            found = session.execute("select task from qwf.claim('cpu', 'other', 9)").fetchall()
            return "taken" if ("next",) in found else f"the next claim found {found}"
    except psycopg.Error as error:
        refused = error.sqlstate.startswith("QW") and bool(error.diag.message_hint)
        if refused and len(str(error)) > ERROR_LETTERS:
            return f"an error of {len(str(error))} letters: {str(error)[:200]}"
        return "refused" if refused else f"{error.sqlstate} {str(error)[:200]}"


@pytest.mark.parametrize("function", CALLS)
def test_a_public_function_bounds_what_it_takes(shared: Session, function: str) -> None:
    for argument, value in CALLS[function].items():  # the call itself is valid
        with shared.transaction(force_rollback=True):
            shared.execute(call_with(function, argument, value))
    problems = []
    for argument, kind in [row[1:] for row in arguments(shared, SIZED) if row[0] == function]:
        calls = [call_with(function, argument, v) for v in bad_values(function, argument, kind)]
        answers = {call: answer(shared, call) for call in calls}
        may_take = (function, argument) in CUT | STORED_NOWHERE
        expected = {"taken", "refused"} if may_take else {"refused"}
        problems += [f"{a}: {call[:300]}" for call, a in answers.items() if a not in expected]
        if may_take and "taken" not in answers.values():
            problems.append(f"{argument} is always refused: it needs no exception")
    assert not problems, "\n".join(problems)


def test_every_public_function_with_such_an_argument_is_called(db: Session) -> None:
    sized = {(function, argument) for function, argument, _ in arguments(db, SIZED)}
    assert set(CALLS) == {function for function, _ in sized}
    assert sized >= CUT | STORED_NOWHERE | set(PLACES)


def test_an_interval_is_compared_by_its_seconds(shared: Session) -> None:
    calls = [call_with(f, argument, LONG) for f, argument, _ in arguments(shared, "^interval$")]
    assert len(calls) >= 10
    taken = [call for call in calls if answer(shared, call) != "refused"]
    assert not taken, "\n".join(taken)


# Wrong values of at most 1 MiB, and schemas with long texts that each problem would repeat.
WRONG = {
    "zeros": "(select jsonb_agg(0) from generate_series(1, 300000))",
    "texts": "(select jsonb_agg(repeat('x', 1000)) from generate_series(1, 900))",
    "many keys": "(select jsonb_object_agg('k' || i, 1) from generate_series(1, 60000) i)",
    "long keys": "(select jsonb_object_agg(repeat('k', 50000) || i, 1)"
    " from generate_series(1, 19) i)",
    "a long text": "to_jsonb(repeat('x', 1000000))",
    "lists in lists": "(select jsonb_agg(l) from generate_series(1, 1000),"
    " (select jsonb_agg(0) as l from generate_series(1, 200)) l)",
}
OPTIONS = "(select jsonb_agg('option number ' || i) from generate_series(1, 2000) i)"
ENUM = f"jsonb_build_object('enum', {OPTIONS})"
OBJECT = 'jsonb \'{"additionalProperties": false, "properties": {}}\''
SCHEMAS = [
    ENUM,
    f"jsonb_build_object('items', {ENUM} || {OBJECT} || jsonb_build_object('items', {ENUM}))",
    f"jsonb_build_object('pattern', '^' || repeat('y', 5000) || '$') || {OBJECT}",
]
DETAIL_BYTES = 65_536


@pytest.mark.parametrize("wrong", WRONG)
def test_the_refusal_of_an_answer_is_short(scene: Session, wrong: str) -> None:
    """The log of the server repeats it, so whoever may answer could fill the disk."""
    specs = [
        *(f"jsonb_build_object('widget', 'any', 'schema', {schema})" for schema in SCHEMAS),
        *(
            f"jsonb_build_object('widget', 'choose_one', 'options', {OPTIONS}, 'multiple', {many})"
            for many in ("true", "false")
        ),
        *(f"jsonb_build_object('widget', '{widget}')" for widget in ("confirm", "text", "number")),
        'jsonb \'{"widget": "file", "multiple": true}\'',
    ]
    refused = 0
    for spec in specs:
        job = CALLS["answer_job"]["job_id"]
        scene.execute(f"update qwf.jobs set input_spec = {spec} where id = {job}")
        said = ""
        try:
            with scene.transaction(force_rollback=True):
                scene.execute(f"select qwf.answer_job({job}, {WRONG[wrong]})")
        except psycopg.DatabaseError as error:
            said = f"{error.sqlstate} {error.diag.message_detail} {error.diag.message_hint}"
        assert said == "" or said.startswith("QW005"), said[:500]
        assert len(said.encode()) < DETAIL_BYTES, spec
        refused += said != ""
    assert refused >= 6


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_the_next_step_leaves_a_short_error(
    scene: Session, wrong: str, schema: str
) -> None:
    """The claim that finds it stores the error, and hands out the next job."""
    for definition in (
        """'{"name": "first", "nodes": [{"id": "a", "node": "make", "queue": "cpu"}],
            "outputs": {"x": {"$from": "a.x"}}}'""",
        f"""jsonb '{{"name": "second", "nodes": [{{"id": "b", "node": "use", "queue": "cpu",
            "inputs": {{"x": {{"$from": "pipeline.x"}}}}}}]}}' || jsonb_build_object('inputs',
            jsonb_build_object('type', 'object', 'properties', jsonb_build_object('x', {schema})))
        """,
    ):
        scene.execute(f"select qwf.register_pipeline({definition})")
    scene.execute("""select qwf.register_workflow('{"name": "two", "steps": [
        {"id": "one", "kind": "pipeline", "pipeline": "first"},
        {"id": "two", "kind": "pipeline", "pipeline": "second", "depends_on": ["one"],
         "inputs": {"x": {"$from": "one.x"}}}]}')""")
    scene.execute("select qwf.enqueue_run('two')")
    scene.execute("update qwf.jobs set priority = -5 where task in ('make', 'use')")
    take = "select job_id, token, task from qwf.claim('cpu', 'other')"
    job, token, task = scene.execute(take).fetchone() or (None, None, None)
    assert task == "make"
    output = f"jsonb_build_object('x', {WRONG[wrong]})"
    scene.execute(f"select qwf.finish(%s, %s, 'completed', {output})", (job, token))
    claimed = [row[2] for _ in range(2) for row in scene.execute(take).fetchall()]
    assert "next" in claimed
    found = scene.execute("""select j.status, octet_length(j.last_error),
        (select max(octet_length(a.error)) from qwf.job_attempts a where a.job_id = j.id)
        from qwf.jobs j where j.task = 'use'""").fetchone()
    assert found is not None
    if "use" not in claimed:
        assert found[0] == "failed"
        assert max(found[1:]) < DETAIL_BYTES
    assert stored(scene)[0] < 1_200_000
    assert scene.execute("select * from qwf.check_invariants()").fetchall() == []


def test_an_error_that_is_too_long_breaks_an_invariant(scene: Session) -> None:
    scene.execute(f"update qwf.jobs set last_error = repeat('x', 300000) where id = {RUNNING}")
    found = scene.execute("select invariant from qwf.check_invariants()").fetchall()
    assert ("an error has at most max_error_bytes",) in found


@pytest.mark.parametrize("time", ["20000-01-01", "0044-03-15 BC"])
def test_a_time_that_no_client_can_read_is_refused(shared: Session, time: str) -> None:
    calls = [
        call_with(function, argument, f"'{time}'")
        for function, argument, _ in arguments(shared, "^timestamp")
        if function != "worker_control"  # what it takes stands in its own tests
        and (function, time[-2:]) != ("hold_limit", "BC")  # a time that has passed ends a hold
    ]
    assert len(calls) >= 4
    taken = [call for call in calls if answer(shared, call) != "refused"]
    assert not taken, "\n".join(taken)


def test_an_unknown_key_of_a_detail_is_named_in_a_warning(scene: Session) -> None:
    """The report counts all the same: how the body ended matters more."""
    said: list[str] = []
    scene.execute("set client_min_messages = warning")
    scene.add_notice_handler(
        lambda d: said.append(f"{d.severity} {d.message_primary}: {d.message_detail}")
    )
    for detail in ("'{}'", '\'{"log_tail": "x", "log_tial": "x"}\''):
        with scene.transaction(force_rollback=True):
            scene.execute(call_with("finish", "detail", detail))
            done = scene.execute("select status from qwf.jobs where task = 'run'").fetchone()
            assert done == ("completed",)
    job = scene.execute(f"select {RUNNING}").fetchone()
    assert job is not None
    assert said == [f"WARNING unknown keys in the detail of a report: job {job[0]}: log_tial"]
