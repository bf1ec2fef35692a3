"""A producer in Python enqueues many jobs and runs, waits for them and answers questions."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timedelta, timezone
from typing import Any, cast, get_args

import psycopg
import pytest
from bodies import add, noop, say_hello
from psycopg.types.json import Jsonb

from qwf_agent import NotCompleted, jobs, runs
from qwf_agent.app import waiting
from qwf_agent.app.options import KINDS, RUN_KINDS, Options
from qwf_agent.app.statuses import JobState, JobStatus, RunState, RunStatus
from support.drivers import ASYNC, SYNC, Opened
from support.harness import Database, StartAgent

TEXT = "50% of $1 :x \\ 'q'"
LIMIT = timedelta(seconds=60)
NONE = timedelta(0)

PIPELINE = {
    "name": "greet",
    "nodes": [{"id": "hello", "node": "hello", "inputs": {"who": {"$from": "pipeline.who"}}}],
}
WORKFLOW = {
    "name": "greet",
    "steps": [
        {
            "id": "greet", "kind": "pipeline", "pipeline": "greet",
            "inputs": {"who": {"$from": "who"}},
        },
        {
            "id": "ok", "kind": "input", "widget": "confirm", "prompt": "Send it?",
            "target": "yes", "depends_on": ["greet"],
        },
    ],
}  # fmt: skip

Call = Callable[..., Awaitable[Any]]
Commit = Callable[[], Coroutine[Any, Any, None]]


@pytest.fixture
def workflow(base: Database) -> str:
    base.one("select qwf.register_pipeline(%s)", Jsonb(PIPELINE))
    base.one("select qwf.register_workflow(%s)", Jsonb(WORKFLOW))
    return "greet"


class Asked(Exception):
    """The run asks a person."""


class Worker:
    """Claims and reports jobs from a session of its own."""

    def __init__(self, base: Database) -> None:
        self.base = base
        self.held: dict[int, Any] = {}

    def claim(self, queue: str = "default") -> int:
        row = self.base.conn.execute("select * from qwf.claim(%s, 'w')", (queue,)).fetchone()
        assert row is not None
        self.held[row["job_id"]] = row["token"]
        return int(row["job_id"])

    def args(self, job_id: int) -> Any:
        return self.base.one("select inputs from qwf.jobs where id = %s", job_id)

    def progress(self, job_id: int, fraction: float, message: str) -> None:
        call = "select qwf.progress(%s, %s, %s::real, %s)"
        self.base.one(call, job_id, self.held[job_id], fraction, message)

    def finish(self, job_id: int, outcome: str = "completed", **more: Any) -> None:
        given = json.dumps(more.get("output")), more.get("error")
        token = self.held[job_id]
        self.base.one("select qwf.finish(%s, %s, %s, %s, %s)", job_id, token, outcome, *given)


@pytest.fixture
def worker(base: Database) -> Worker:
    return Worker(base)


# Each kind of connection -------------------------------------------------------------------------


async def live(call: Call, commit: Commit, base: Database, worker: Worker) -> None:
    """All that a producer calls, on one connection. The worker acts between two looks."""
    hello = say_hello.options(queue="default")
    first, second = await call(jobs.enqueue_many, [hello.job(TEXT), add.options(key="k").job(1)])
    run = await call(runs.enqueue, "greet", {"who": TEXT}, key="r", labels={"a": TEXT})
    assert base.one("select count(*) from qwf.jobs") == 0, "not before the commit"
    with pytest.raises(RuntimeError, match="commit it before you wait"):
        await call(jobs.wait, first, timeout=LIMIT)
    await commit()

    seen: list[Any] = []

    def work(status: JobStatus) -> None:
        seen.append((status.status, status.progress, status.message))
        if status.status == "queued":
            assert worker.claim() == first
            worker.progress(first, 0.5, TEXT)
        elif status.status == "running":
            worker.finish(first, output={"text": TEXT})

    status = await call(jobs.wait, first, timeout=LIMIT, on_change=work)
    assert status.check().output == {"text": TEXT}
    assert seen[0] == ("queued", None, None)
    assert seen[1] == ("running", 0.5, TEXT)
    assert seen[2][0] == "completed"

    assert (await call(jobs.status, second)).status == "queued"
    base.one("select qwf.create_limit('customer', 1, keyed => true)")
    first_stays, moved = await call(jobs.change, [first, second], limit_by="customer:acme")
    assert (first_stays.changed, first_stays.why) == (False, f"job {first} is completed")
    assert moved == (second, True, None)
    await commit()
    assert base.one("select limit_by from qwf.jobs where id = %s", second) == "customer:acme"
    await call(jobs.change, [second], limit_by="", priority=7, run_at=timedelta(0))
    await commit()
    assert base.one("select (limit_by, priority)::text from qwf.jobs where id = %s", second) == (
        "(,7)"
    )
    held = await call(jobs.hold_limit, "customer", timedelta(hours=1), key="acme", job=second)
    assert held == await call(jobs.hold_limit, "customer", held, key="acme")
    await commit()
    holds = "select (name, job_id, until) = (%s::text, %s::bigint, %s::timestamptz)"
    assert base.one(holds + " from qwf.limit_holds", "customer:acme", second, held)
    assert await call(jobs.hold_limit, "customer", None, key="acme") is None
    await commit()
    assert base.one("select count(*) from qwf.limit_holds") == 0
    assert await call(jobs.cancel, second, TEXT) == "cancelled"
    await commit()
    ended = await call(jobs.wait, second)
    assert (ended.status, ended.ended) == ("cancelled", True)
    with pytest.raises(NotCompleted, match=f"job {second} was cancelled: .*50%") as caught:
        ended.check()
    assert caught.value.status is ended
    await call(jobs.retry, second, {"text": TEXT})
    await commit()
    assert worker.args(second) == {"text": TEXT}
    await call(jobs.cancel, second)
    await call(jobs.retry, second)
    await call(jobs.cancel, second)
    await commit()
    assert worker.args(second) == {"text": TEXT}

    await run_live(call, commit, worker, run)


async def run_live(call: Call, commit: Commit, worker: Worker, run: int) -> None:
    states: list[Any] = []

    def work(status: RunStatus) -> None:
        states.append((status.status, status.progress))
        if status.nodes["greet/hello"].status == "queued":
            worker.finish(worker.claim("cpu"), output={"text": "hello"})
        elif status.status == "awaiting_input":
            raise Asked

    with pytest.raises(Asked):
        await call(runs.wait, run, timeout=LIMIT, on_change=work)
    with pytest.raises(TimeoutError, match=f"run {run} of greet is awaiting_input after"):
        await call(runs.wait, run, timeout=NONE)
    assert (states[0], states[-1]) == (("queued", 0.0), ("awaiting_input", 0.5))
    hello, ok = (await call(runs.status, run)).nodes.values()
    assert (ok.status, ok.depends_on) == ("awaiting_input", ("greet/hello",))
    asked = ok.question
    assert (hello.question, asked.widget, asked.prompt) == (None, "confirm", "Send it?")
    assert (asked.options, asked.expires_at, asked.spec["target"]) == (None, None, "yes")
    assert (await call(jobs.status, hello.job_id)).output == {"text": "hello"}
    await commit()
    assert await call(runs.answer, run, "ok", True, acting_for="Ada") > 0
    await commit()
    done = await call(runs.wait, run, timeout=LIMIT)
    assert done.check() is done
    assert (done.id, done.workflow, done.progress) == (run, "greet", 1.0)

    other = await call(runs.enqueue, "greet", {"who": "b"}, run_at=timedelta(hours=1))
    await commit()
    assert await call(runs.cancel, other, TEXT) is True
    assert await call(runs.cancel, other) is False
    await commit()
    with pytest.raises(NotCompleted, match=f"run {other} of greet was cancelled: "):
        (await call(runs.wait, other)).check()
    assert await call(runs.retry, other, context={"who": TEXT}) == 2
    await commit()
    assert (await call(runs.status, other)).status == "queued"


def live_at_once(opened: Opened, base: Database, worker: Worker) -> None:
    """The same on a synchronous connection."""

    async def call(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        return function(opened.conn, *args, **named)

    async def commit() -> None:
        opened.commit()

    with pytest.raises(StopIteration):  # nothing in it is asynchronous, so one step is all
        live(call, commit, base, worker).send(None)


@pytest.mark.parametrize("kind", SYNC)
def test_a_connection(base: Database, workflow: str, worker: Worker, kind: str) -> None:
    with SYNC[kind](base.dsn) as opened:
        live_at_once(opened, base, worker)


def test_a_login_with_the_role_of_producers_may_call_all(
    base: Database, workflow: str, worker: Worker
) -> None:
    with psycopg.connect(base.dsn, options="-c role=qwf_producer") as conn:
        live_at_once(Opened(conn, conn.commit), base, worker)


@pytest.mark.parametrize("kind", ASYNC)
def test_an_asynchronous_connection(
    base: Database, workflow: str, worker: Worker, kind: str
) -> None:
    async def opened() -> None:
        async with ASYNC[kind](base.dsn) as opened:

            async def call(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
                room = inspect.getmodule(function)
                return await getattr(room, f"{function.__name__}_async")(
                    opened.conn, *args, **named
                )

            async def commit() -> None:
                await opened.commit()

            await live(call, commit, base, worker)

    asyncio.run(opened())


# Many jobs ---------------------------------------------------------------------------------------

EVERY_OPTION: Options = {
    "queue": "cpu", "priority": -5, "run_at": datetime(2040, 1, 1, tzinfo=timezone.utc),
    "key": TEXT, "project": "p", "max_attempts": 3, "max_losses": 2, "backoff": [1, 2],
    "timeout": 0.5, "labels": {"text": TEXT}, "once": True, "at_most_once": True, "model": "m",
    "light": True, "vram_mb": 7, "requires": {"host": "b"}, "limit_by": "api", "on_failure": "ask",
    "expires": timedelta(days=1, seconds=1), "notify": "ops",
}  # fmt: skip
NOT_WITH_ONCE = ("key_mode", "debounce", "debounce_max")


def test_a_job_of_many_is_stored_as_one_alone(base: Database) -> None:
    base.one("select qwf.create_limit('api', 1)")
    assert {*EVERY_OPTION, *NOT_WITH_ONCE} == set(KINDS)
    task = add.options(**EVERY_OPTION)
    alone = base.job(task.enqueue(base.conn, a=1, b=5))
    base.conn.execute("delete from qwf.jobs")
    (among,) = jobs.enqueue_many(base.conn, [task.job(1, b=5)])
    ignored = ("id", "created_at", "pos", "queued_at")
    stored = {name: value for name, value in base.job(among).items() if name not in ignored}
    assert stored == {name: value for name, value in alone.items() if name not in ignored}


def test_many_jobs_get_their_ids_in_order(base: Database) -> None:
    given = (add.options(key=f"k{n % 3}").job(n) if n % 2 else noop.job() for n in range(10))
    ids = jobs.enqueue_many(base.conn, given)
    assert len(ids) == 10
    assert [base.job(job_id)["task"] for job_id in ids] == ["noop", "add"] * 5
    assert ids[1] == ids[7], "they have the same key"
    assert [i.merged for i in ids] == [False] * 7 + [True, False, True]
    assert [ids[7].kept, ids[8].kept] == ["old args", "new"]
    assert [base.job(job_id)["inputs"] for job_id in ids[1:6:2]] == [{"a": n} for n in (1, 3, 5)]
    assert jobs.enqueue_many(base.conn, []) == []


def test_the_id_of_a_job_says_what_was_kept(base: Database) -> None:
    keyed = add.options(key=TEXT, labels={"text": TEXT}, timeout=90)
    first = keyed.enqueue(base.conn, 1)
    assert (first.merged, first.kept) == (False, "new")
    kept = keyed.enqueue(base.conn, 2)
    assert (kept, kept.merged, kept.kept) == (first, True, "old args")
    replaced = keyed.options(key_mode="replace").enqueue(base.conn, 3)
    assert (replaced, replaced.merged, replaced.kept) == (first, True, "new args")
    stored = base.job(first)
    assert (stored["inputs"], stored["labels"]) == ({"a": 3}, {"text": TEXT})
    assert stored["timeout"] == timedelta(seconds=90)
    with pytest.raises(psycopg.Error) as caught:
        keyed.options(key_mode="refuse").enqueue(base.conn, 4)
    assert caught.value.sqlstate == "QW008"
    alone = add.enqueue(base.conn, 1)
    assert (alone.merged, alone.kept) == (False, "new")
    assert base.one("select %s + 1", first) == first + 1, "it is a number for the driver"
    assert pickle.loads(pickle.dumps(replaced)).kept == "new args"


@pytest.mark.parametrize("debounce", [90, "0:01:30", timedelta(seconds=90)])
def test_a_debounced_call_says_when_its_job_starts(base: Database, debounce: Any) -> None:
    base.conn.execute("set timezone = 'Asia/Kathmandu'")
    task = add.options(key="k", key_mode="replace", debounce=debounce, debounce_max=timedelta(1))
    before = base.one("select qwf.now()")
    first = task.enqueue(base.conn, 1)
    last = jobs.enqueue_many(base.conn, [task.job(2), noop.job()])[0]
    after = base.one("select qwf.now()")
    assert (last, last.merged, last.kept) == (first, True, "new args")
    stored = base.job(first)
    assert first.run_at is not None
    assert before <= first.run_at - timedelta(seconds=90) <= last.run_at - timedelta(seconds=90)
    assert last.run_at == stored["run_at"] <= after + timedelta(seconds=90)
    assert stored["start_by"] - stored["created_at"] == timedelta(1)
    assert stored["inputs"] == {"a": 2}
    assert pickle.loads(pickle.dumps(last)).run_at == last.run_at
    started = add.options(key="k").enqueue(base.conn, 3)
    assert (started, started.kept, started.run_at) == (first, "old args", None)
    held = add.options(key="held").enqueue(base.conn, 1)
    base.conn.execute("select qwf.change_job(%s, run_at => 'infinity')", [held])
    assert add.options(key="held", run_at=timedelta(1)).enqueue(base.conn, 1).run_at is not None


def test_a_timedelta_for_run_at_counts_from_now(base: Database) -> None:
    base.conn.execute("set timezone = 'Pacific/Auckland'")
    before = base.one("select qwf.now()")
    base.conn.execute("set datestyle = 'SQL, DMY'")
    later = [add.options(run_at=timedelta(hours=hours)).job(1) for hours in (1, 2)]
    ids = jobs.enqueue_many(base.conn, [*later, noop.job()])
    base.conn.execute("set datestyle = 'ISO'")
    after = base.one("select qwf.now()")
    for hours, job_id in enumerate(ids[:2], start=1):
        assert before <= base.job(job_id)["run_at"] - timedelta(hours=hours) <= after
    assert base.job(ids[2])["run_at"] is None


def test_many_jobs_are_enqueued_or_none(base: Database) -> None:
    given = [noop.job(), noop.options(queue="nowhere").job()]
    with pytest.raises(psycopg.Error) as caught:
        jobs.enqueue_many(base.conn, given)
    assert caught.value.sqlstate == "QW006"
    assert base.one("select count(*) from qwf.jobs") == 0


def test_what_is_no_job_is_refused_before_anything_is_enqueued(base: Database) -> None:
    with pytest.raises(TypeError, match=r"takes what task.job\(...\) returns, not {'a': 1}"):
        jobs.enqueue_many(base.conn, [noop.job(), {"a": 1}])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="does not take the argument 'c'"):
        jobs.enqueue_many(base.conn, (add.job(1, c=n) for n in range(2)))  # type: ignore[call-arg]
    assert base.one("select count(*) from qwf.jobs") == 0


# Runs --------------------------------------------------------------------------------------------


def test_every_option_of_a_run_is_an_argument_of_enqueue_run(base: Database) -> None:
    arguments = base.one("select proargnames from pg_proc where oid = 'qwf.enqueue_run'::regproc")
    assert {*RUN_KINDS, "workflow", "context"} == set(arguments)


def test_a_run_is_stored_with_its_options(base: Database, workflow: str) -> None:
    at = datetime(2040, 1, 1, tzinfo=timezone.utc)
    run = runs.enqueue(
        base.conn, "greet@1", {"who": TEXT}, priority=7, run_at=at, key=TEXT, out_dir="/tmp/x",
        project="p", labels={"text": TEXT}, once=True,
    )  # fmt: skip
    stored = base.conn.execute("select * from qwf.runs where id = %s", (run,)).fetchone()
    assert stored is not None
    assert (stored["context"], stored["priority"], stored["run_at"]) == ({"who": TEXT}, 7, at)
    assert (stored["key"], stored["out_dir"], stored["project"]) == (TEXT, "/tmp/x", "p")
    assert (stored["labels"], stored["once"]) == ({"text": TEXT}, True)
    assert runs.enqueue(base.conn, "greet", {"who": "b"}, key=TEXT, project="p", once=None) == run


@pytest.mark.parametrize(
    ("context", "options", "reason"),
    [
        ([1], {}, "the context has to be a dict"),
        ({"a": {1}}, {}, "the context is not JSON"),
        ({}, {"prioritty": 1}, "unknown option 'prioritty'; did you mean 'priority'"),
        ({}, {"queue": "cpu"}, "unknown option 'queue'"),
        ({}, {"run_at": datetime(2040, 1, 1)}, "a datetime with a time zone"),
        ({}, {"out_dir": ""}, "a path, or a text that is not empty"),
    ],
)
def test_a_wrong_argument_of_a_run_is_refused(
    base: Database, workflow: str, context: Any, options: Any, reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        runs.enqueue(base.conn, workflow, context, **options)


# Waiting -----------------------------------------------------------------------------------------


def test_the_states_are_those_of_the_database(base: Database) -> None:
    for states, name in ((JobState, "job_status"), (RunState, "run_status")):
        stored = base.one(f"select enum_range(null::qwf.{name})::text[]")
        assert list(get_args(states)) == stored


def test_a_job_that_fails_ends_the_waiting_and_says_why(base: Database, worker: Worker) -> None:
    job_id = noop.enqueue(base.conn)
    worker.claim()
    worker.finish(job_id, "fatal", error="no such paper")
    ended = jobs.wait(base.conn, job_id, timeout=LIMIT)
    assert (ended.status, ended.output, ended.error) == ("failed", {}, "no such paper")
    with pytest.raises(NotCompleted, match=rf"^job {job_id} failed: no such paper$"):
        ended.check()


def test_a_status_before_the_end_is_not_completed(base: Database) -> None:
    job_id = noop.enqueue(base.conn)
    now = jobs.status(base.conn, job_id)
    assert (now.status, now.ended) == ("queued", False)
    with pytest.raises(NotCompleted, match=rf"^job {job_id} has not ended, it is queued$"):
        now.check()


@pytest.mark.parametrize("timeout", [True, "5 parsecs", float("inf"), datetime.now(timezone.utc)])
def test_a_timeout_is_a_duration(base: Database, timeout: Any) -> None:
    with pytest.raises(TypeError, match="timeout has to be a number of seconds, a timedelta, or a"):
        jobs.wait(base.conn, 1, timeout=timeout)


@pytest.mark.parametrize("timeout", [-1, -0.5, "-1 s", timedelta(seconds=-1)])
def test_a_timeout_is_not_negative(base: Database, timeout: Any) -> None:
    job_id = noop.enqueue(base.conn)
    with pytest.raises(ValueError, match=r"^timeout must not be negative, it is -.*0 looks once$"):
        jobs.wait(base.conn, job_id, timeout=timeout)


def test_a_timeout_says_that_nobody_serves_the_queue(base: Database, workflow: str) -> None:
    nobody = "is queued after .* s: no live worker serves queue {}: start one with qwf agent"
    with pytest.raises(TimeoutError, match=nobody.format("default")):
        jobs.wait(base.conn, noop.enqueue(base.conn), timeout=0)
    with pytest.raises(TimeoutError, match=nobody.format("cpu")):
        runs.wait(base.conn, runs.enqueue(base.conn, workflow, {"who": "Ada"}), timeout=0)


@pytest.mark.parametrize("timeout", [0, 0.01, "10 ms", timedelta(milliseconds=10)])
def test_a_timeout_is_given_as_every_duration(base: Database, timeout: Any) -> None:
    with pytest.raises(TimeoutError, match="is queued after"):
        jobs.wait(base.conn, noop.enqueue(base.conn), timeout=timeout)


def test_a_misspelt_key_of_a_context_is_logged_once(
    base: Database, caplog: pytest.LogCaptureFixture
) -> None:
    step = {"id": "q", "kind": "input", "widget": "confirm", "target": "q"}
    asks = {**step, "prompt": {"$from": "photo.title", "$default": "?"}}
    base.conn.execute(
        "select qwf.register_workflow(%s)", (Jsonb({"name": "ask", "steps": [asks]}),)
    )
    runs._looked_at.clear()
    for title in ("a", "b"):
        runs.enqueue(base.conn, "ask", {"photo": {"titel": title}, "colour": 1})
    assert [record.getMessage() for record in caplog.records] == [
        "the workflow ask does not read 'photo.titel' of the context: did you mean 'photo.title'?"
    ]
    caplog.clear()
    runs.enqueue(base.conn, "ask", {"photo": {"title": "c"}})
    runs.enqueue(base.conn, "ask")
    assert not caplog.records


def test_a_context_that_is_not_used_is_logged_each_time(
    base: Database, caplog: pytest.LogCaptureFixture, workflow: str
) -> None:
    run = runs.enqueue(base.conn, "greet", {"who": "Ada"}, key="k")
    assert runs.enqueue(base.conn, "greet", {"who": "Ada"}, key="k") == run
    assert not caplog.records, "nothing is lost"
    for _ in range(2):
        assert runs.enqueue(base.conn, "greet", {"who": "Grace"}, key="k") == run
    told = f"merged into run {run}, your context was not used"
    assert [record.getMessage() for record in caplog.records] == [told, told]
    caplog.clear()
    assert runs.enqueue(base.conn, "greet", {"who": "Grace"}, key="other") != run
    assert not caplog.records


def test_a_missing_key_that_an_answer_may_make_needed_is_logged_once(
    base: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ask = {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "?", "target": "yes"}
    asked = {**ask, "id": "q", "prompt": {"$from": "title"}, "depends_on": ["ok"]}
    skipped = {**asked, "skip_if": {"$from": "ok.yes", "$ne": True}}
    base.conn.execute(
        "select qwf.register_workflow(%s)", (Jsonb({"name": "ask", "steps": [ask, skipped]}),)
    )
    runs._looked_at.clear()
    for _ in range(2):
        runs.enqueue(base.conn, "ask")
    assert [record.getMessage() for record in caplog.records] == [
        "the context of the workflow ask has no 'title': q needs it unless q is skipped"
    ]
    caplog.clear()
    runs.enqueue(base.conn, "ask", {"title": "b"})
    assert not caplog.records


def test_a_status_is_found_in_a_set(base: Database, workflow: str) -> None:
    job_id = noop.enqueue(base.conn)
    run_id = runs.enqueue(base.conn, workflow, {"who": "Ada"})
    statuses = {jobs.status(base.conn, job_id), jobs.status(base.conn, job_id)}
    assert statuses == {jobs.status(base.conn, job_id)}
    run = runs.status(base.conn, run_id)
    assert {run, *run.nodes.values()} >= {runs.status(base.conn, run_id)}


def test_no_time_at_all_is_one_look(base: Database, worker: Worker) -> None:
    job_id = noop.enqueue(base.conn)
    with pytest.raises(TimeoutError, match=f"job {job_id} is queued after"):
        jobs.wait(base.conn, job_id, timeout=NONE)
    worker.claim()
    worker.finish(job_id)
    assert jobs.wait(base.conn, job_id, timeout=NONE).check().output == {}


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_transaction_with_one_snapshot_is_refused(base: Database, level: str) -> None:
    job_id = noop.enqueue(base.conn)
    with psycopg.connect(base.dsn) as conn:
        conn.execute(f"set transaction isolation level {level}")
        with pytest.raises(RuntimeError, match="sees only what was committed before it began"):
            jobs.wait(conn, job_id, timeout=LIMIT)


def test_in_autocommit_each_look_has_its_own_snapshot(base: Database, worker: Worker) -> None:
    base.conn.execute("set default_transaction_isolation = 'repeatable read'")
    job_id = noop.enqueue(base.conn)

    def work(status: JobStatus) -> None:
        if status.status == "queued":
            worker.finish(worker.claim())

    assert jobs.wait(base.conn, job_id, timeout=LIMIT, on_change=work).status == "completed"


def test_on_change_has_to_commit_what_it_writes(base: Database) -> None:
    job_id = noop.enqueue(base.conn)
    with psycopg.connect(base.dsn) as conn:
        with pytest.raises(RuntimeError, match="commit it before you wait"):
            jobs.wait(conn, job_id, timeout=LIMIT, on_change=lambda job: add.enqueue(conn, a=1))
        conn.rollback()

        def stop(job: JobStatus) -> None:
            if not job.ended:
                jobs.cancel(conn, job_id)
                conn.commit()

        assert jobs.wait(conn, job_id, timeout=LIMIT, on_change=stop).status == "cancelled"


def test_what_on_change_raises_ends_the_waiting(base: Database) -> None:
    def stop(status: JobStatus) -> None:
        raise KeyError(status.status)

    with pytest.raises(KeyError, match="queued"):
        jobs.wait(base.conn, noop.enqueue(base.conn), on_change=stop)


def test_a_job_that_does_not_exist_is_an_error_of_the_driver(base: Database) -> None:
    for look in (jobs.status, jobs.wait, jobs.cancel, jobs.retry):
        with pytest.raises(psycopg.Error) as caught:
            look(base.conn, 77)
        assert caught.value.sqlstate == "QW001"


@pytest.mark.parametrize("given", ["7", 7.0, True, None])
def test_an_id_is_a_whole_number(base: Database, given: Any) -> None:
    for look in (jobs.status, jobs.wait, jobs.cancel, jobs.retry):
        with pytest.raises(TypeError, match="the id of a job has to be a whole number"):
            look(base.conn, given)
    for seek in (runs.status, runs.wait, runs.cancel, runs.retry):
        with pytest.raises(TypeError, match="the id of a run has to be a whole number"):
            seek(base.conn, given)


# Answers -----------------------------------------------------------------------------------------


def test_a_question_of_a_job_is_answered_once(base: Database, worker: Worker) -> None:
    job_id = noop.options(on_failure="ask").enqueue(base.conn)
    worker.claim()
    worker.finish(job_id, "fatal", error="no such paper")
    assert jobs.status(base.conn, job_id).status == "awaiting_input"
    asked = base.one("select since from qwf.pending_inputs where job_id = %s", job_id)
    with pytest.raises(psycopg.Error) as caught:
        jobs.answer(base.conn, job_id, "retry", asked=asked - timedelta(hours=1))
    assert caught.value.sqlstate == "QW002"
    with pytest.raises(TypeError, match="asked has to be a datetime with a time zone"):
        jobs.answer(base.conn, job_id, "retry", asked=datetime(2040, 1, 1))
    assert jobs.answer(base.conn, job_id, "abort", acting_for="Ada", asked=asked) > 0
    assert jobs.wait(base.conn, job_id).status == "failed"
    assert base.one("select acting_for from qwf.input_answers") == "Ada"


def test_a_running_job_is_asked_to_stop(base: Database, worker: Worker) -> None:
    job_id = noop.enqueue(base.conn)
    worker.claim()
    assert jobs.cancel(base.conn, job_id, "enough") == "requested"


def test_a_failed_job_is_retried_with_other_arguments(base: Database, worker: Worker) -> None:
    job_id = add.enqueue(base.conn, a=1)
    worker.claim()
    with pytest.raises(psycopg.Error) as caught:
        jobs.retry(base.conn, job_id, {"a": 2})
    assert caught.value.sqlstate == "QW002"
    worker.finish(job_id, "fatal", error="no")
    wrong: Any
    for wrong in ([1], "x", 5):
        with pytest.raises(TypeError, match="args has to be a dict"):
            jobs.retry(base.conn, job_id, wrong)
    with pytest.raises(TypeError, match="args are not JSON"):
        jobs.retry(base.conn, job_id, {"a": {1}})
    jobs.retry(base.conn, job_id, {"a": 2})
    assert worker.args(job_id) == {"a": 2}


ORDER: dict[str, Any] = {
    "name": "order",
    "steps": [
        {"id": "charge", "node": "charge"},
        {"id": "refund", "node": "refund", "compensates": ["charge"]},
        {"id": "ship", "node": "ship", "depends_on": ["charge"], "at_most_once": True},
    ],
}


def test_a_retry_says_from_where_and_what_becomes_of_what_has_completed(
    base: Database, worker: Worker
) -> None:
    def ends(*outcomes: str) -> None:
        for outcome in outcomes:
            worker.finish(worker.claim("cpu"), outcome)

    def refused(sqlstate: str, *args: Any, **given: Any) -> None:
        with pytest.raises(psycopg.Error) as caught:
            runs.retry(base.conn, run, *args, **given)
        assert caught.value.sqlstate == sqlstate

    base.one("select qwf.register_workflow(%s)", json.dumps(ORDER))
    run = runs.enqueue(base.conn, "order", {"to": "Ada"})
    ends("completed", "lost", "completed")  # ship may have run, and charge is taken back
    refused("QW002", "charge")
    refused("QW005", named=["ship"], completed="keep")
    assert runs.retry(base.conn, run, "charge", {"to": "Bob"}, named=["ship"], latest=True) == 2
    assert base.one("select context from qwf.runs where id = %s", run) == {"to": "Bob"}
    ends("completed")
    runs.cancel(base.conn, run)
    ends("fatal")  # nothing is taken back
    refused("QW002", "charge")
    for wrong in ({"context": [1]}, {"from_node": 7}, {"completed": 7}, {"named": [{1}]}):
        with pytest.raises(TypeError):
            runs.retry(base.conn, run, **cast("Any", wrong))
    assert runs.retry(base.conn, run, "charge", completed="keep") == 2


@pytest.mark.parametrize("value", [{1}, float("nan")])
def test_an_answer_is_json(base: Database, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="the answer is not JSON"):
        jobs.answer(base.conn, 1, value)
    with pytest.raises((TypeError, ValueError), match="the answer is not JSON"):
        runs.answer(base.conn, 1, "ok", value)


# With a real agent -------------------------------------------------------------------------------


def test_a_producer_gets_the_output_that_an_agent_made(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--queue", "cpu", "--slots", "1")
    ids = jobs.enqueue_many(base.conn, [say_hello.job(f"Ada {n}") for n in range(3)])
    texts = [jobs.wait(base.conn, job_id, timeout=LIMIT).check().output["text"] for job_id in ids]
    assert texts == ["hello Ada 0", "hello Ada 1", "hello Ada 2"]


def test_a_look_that_was_held_up_makes_no_long_pause() -> None:
    assert waiting._pause_s(60.0, 60.0, None) == waiting.LONGEST_AFTER_SLOW_LOOK_S
    assert waiting._pause_s(60.0, 0.2, None) == 2.0
    assert waiting._pause_s(60.0, 60.0, 1.5) == 1.5


def test_on_change_must_be_an_ordinary_function() -> None:
    async def on_change(status: object) -> None: ...

    with pytest.raises(TypeError, match="ordinary function"):
        jobs.wait(cast("Any", None), 1, on_change=on_change)


def test_the_limit_of_a_job_may_come_from_its_arguments(base: Database) -> None:
    base.one("select qwf.create_limit('host', 2, keyed => true)")

    def limit(a: int, b: int, **_: object) -> str | None:
        return f"host:{a}" if b else None

    keyed = add.options(limit_by=limit)
    named = "select limit_by from qwf.jobs where id = %s"
    assert base.one(named, keyed.enqueue(base.conn, 7, 1)) == "host:7"
    assert base.one(named, keyed.enqueue(base.conn, a=7, b=0)) is None
    assert base.one(named, keyed.options(limit_by="host:x").enqueue(base.conn, 1, 1)) == "host:x"
    assert "limit_by" not in keyed.declared()
    with pytest.raises(TypeError, match="limit_by"):
        add.options(limit_by=lambda **_: 7).enqueue(base.conn, 1, 1)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(("variable", "project"), [("alpha", "alpha"), ("*", ""), ("", "")])
def test_the_project_of_the_process_counts_for_what_it_enqueues(
    base: Database, monkeypatch: pytest.MonkeyPatch, variable: str, project: str
) -> None:
    monkeypatch.setenv("QWF_PROJECT", variable)
    base.conn.execute("""select qwf.register_workflow('{"name": "w", "steps": []}')""")
    ids = [
        noop.enqueue(base.conn), jobs.enqueue_many(base.conn, [noop.job()])[0],
        noop.options(project="own").enqueue(base.conn), noop.options(project="").enqueue(base.conn),
    ]  # fmt: skip
    assert [base.job(one)["project"] for one in ids] == [project, project, "own", ""]
    run = runs.enqueue(base.conn, "w")
    assert base.one("select project from qwf.runs where id = %s", run) == project
    runs.signal(base.conn, "paid")
    assert base.one("select project from qwf.kept_signals") == project
