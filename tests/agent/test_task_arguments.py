"""The arguments of a job are those of its function: others are refused where they are given."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import FROM_AGENT, App, Job
from qwf_agent.app.parameters import FILLED
from qwf_agent.child.body import FILL
from support.harness import PACKAGE, Database
from support.servers import ROOT

app = App()


@app.task()
def send_email(to: str, subject: str = "Hello") -> None: ...


@app.task()
def with_rest(to: str, **rest: Any) -> None: ...


@app.task()
def by_position(a: int, b: int = 2, /, *more: int, c: int = 3) -> None: ...


@app.task()
def with_option_names(key: str, queue: str) -> None: ...


@app.task()
def resize(image: Path, job: Job = FROM_AGENT, out: Path = FROM_AGENT) -> None: ...


@app.task()
def with_inputs(inputs: dict[str, Any], cancel_event: Any) -> None: ...


@app.task()
async def later(x: int) -> None: ...


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@app.task()
@logged
def decorated(x: int) -> None: ...


class Mailer:
    def send(self, to: str) -> None: ...


method = app.task()(Mailer().send)


REFUSED = [
    (send_email, {"to": "a", "sbuject": "x"}, r"send_email\(\) does not take the argument "
     "'sbuject'; did you mean 'subject'"),
    (send_email, {"to": "a", "zzz": 1}, "'zzz'; use one of subject, to"),
    (send_email, {"subject": "x"}, r"send_email\(\) needs the argument 'to'"),
    (send_email, {"to": "a", "key": "k"}, r"key is an option, .*: write "
     r"send_email.options\(key=...\).enqueue"),
    (with_rest, {"to": "a", "priority": 1}, "priority is an option"),
    (with_rest, {"other": "a"}, "needs the argument 'to'"),
    (later, {"y": 1}, "'y'; use one of x"),
    (decorated, {"y": 1}, "'y'; use one of x"),
    (method, {"too": "a"}, "did you mean 'to'"),
    (resize, {"image": "/x", "job": "baker"}, r"the agent fills the parameters cancel_event, "),
    (resize, {"image": "/x", "out": "x.png"}, r"cannot take the argument 'out'"),
    (with_inputs, {"a": 1, "cancel_event": 1}, "cannot take the argument 'cancel_event'"),
    (with_inputs, {"inputs": {"a": 1}}, "cannot take the argument 'inputs'"),
    (app.task("none")(lambda: None), {"x": 1}, "'x'; it takes none"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "given", "reason"), REFUSED)
def test_arguments_that_the_function_does_not_take_are_refused(
    base: Database, task: Any, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        task.enqueue(base.conn, **given)
    assert base.one("select count(*) from qwf.jobs") == 0


@pytest.mark.parametrize(
    ("task", "args", "given", "inputs"),
    [
        (send_email, ("a",), {}, {"to": "a"}),
        (send_email, ("a",), {"subject": "b"}, {"to": "a", "subject": "b"}),
        (with_rest, (), {"to": "a", "conn": 1, "self": 2}, {"to": "a", "conn": 1, "self": 2}),
        (by_position, (1, 2), {"c": 4}, {"a": 1, "b": 2, "c": 4}),
        (by_position, (), {"a": 1}, {"a": 1}),
        (with_option_names, (), {"key": "k", "queue": "q"}, {"key": "k", "queue": "q"}),
        (resize, (Path("/x"),), {}, {"image": "/x"}),
        (with_inputs, (), {"a": 1}, {"a": 1}),
        (later, (), {"x": 1}, {"x": 1}),
        (decorated, (), {"x": 1}, {"x": 1}),
        (method, (), {"to": "a"}, {"to": "a"}),
    ],
)
def test_arguments_that_the_function_takes_become_inputs(
    base: Database, task: Any, args: Any, given: Any, inputs: Any
) -> None:
    assert base.job(task.enqueue(base.conn, *args, **given))["inputs"] == inputs


@pytest.mark.parametrize(
    ("args", "given", "reason"),
    [
        ((1, 2, 3), {}, "takes 2 arguments by position, not 3"),
        ((1,), {"a": 1}, "got the argument 'a' twice"),
    ],
)
def test_arguments_by_position_are_counted(args: Any, given: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        by_position.statement(*args, **given)


@pytest.mark.parametrize("value", [datetime.now(timezone.utc), {1, 2}, object()])
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="the arguments of send_email are not JSON: it contains a"):
        send_email.statement(to=value)


DEEP = functools.reduce(lambda inner, _: [inner], range(100_000), [])


@pytest.mark.parametrize("value", ["a\0b", float("nan"), float("inf"), "\ud800", DEEP])
def test_a_value_that_postgres_cannot_store_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="the arguments of send_email are not JSON"):
        send_email.statement(to=value)


def test_an_argument_may_be_called_self() -> None:
    assert json.loads(with_rest.statement(to="a", self=1).params[1]) == {"to": "a", "self": 1}
    assert with_rest(to="a", self=1) is None


def test_the_agent_fills_exactly_the_parameters_that_enqueue_refuses() -> None:
    assert sorted(FILL) == sorted(FILLED)


# Types -------------------------------------------------------------------------------------------

TYPED = """
from datetime import timedelta
from pathlib import Path
from typing import Any
import psycopg
from qwf_agent import FROM_AGENT, App, Call, jobs, runs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

app = App()

@app.task(queue="cpu", timeout=timedelta(minutes=1))
def send_email(to: str, subject: str = "x", out: Path = FROM_AGENT) -> None: ...

def right(conn: psycopg.Connection, other: psycopg.AsyncConnection) -> None:
    job_id: int = send_email.enqueue(conn, to="a@example.org")
    if send_email.options(key="k", key_mode="replace").enqueue(conn, "a").kept == "new args":
        print(job_id)
    late = send_email.options(key="k", debounce=5, debounce_max="1 min").enqueue(conn, "a").run_at
    print(late - timedelta(seconds=5) if late else "at once")
    send_email.options(key="k", run_at=timedelta(hours=1)).enqueue(conn, "a", subject="b")
    send_email.enqueue_async(other, to="a@example.org").close()
    send_email.statement(to="a").sql

def producer(conn: psycopg.Connection, other: psycopg.AsyncConnection) -> None:
    numbers: list[jobs.Enqueued] = jobs.enqueue_many(conn, (send_email.job(to=to) for to in "ab"))
    job = jobs.wait(conn, numbers[0], timeout=timedelta(minutes=1), on_change=print)
    job = jobs.wait(conn, numbers[0], timeout="1 min")
    if job.check().status == "completed":
        job.output["sent_to"]
    jobs.answer(conn, numbers[0], "retry", acting_for="Ada")
    jobs.retry(conn, numbers[0], {"to": "b@example.org"})
    run: int = runs.enqueue(conn, "greet", {"who": "Ada"}, key="k", run_at=timedelta(hours=1))
    runs.wait(conn, run).check().nodes["greet/hello"].job_id
    runs.cancel(conn, run, "enough")
    runs.answer(conn, run, "ok", True)

async def asynchronous(conn: psycopg.AsyncConnection, a: AsyncSession) -> None:
    number: int = (await jobs.enqueue_many_async(conn, [send_email.job("a")]))[0]
    error: str | None = (await jobs.wait_async(a, number)).error
    run: int = await runs.enqueue_async(a, "greet")
    done: bool = (await runs.status_async(a, run)).ended

def others(a: Session, b: AsyncSession, c: AsyncConnection) -> None:
    send_email.enqueue(a, to="a@example.org")
    send_email.enqueue_async(b, to="a@example.org").close()
    send_email.enqueue_async(c, to="a@example.org").close()

def of_many(conn: psycopg.Connection) -> None:
    fetch.enqueue(conn, url="https://example.org")
    embed.enqueue(conn, text="a")
    embed.options(priority=1).job(text="a")
    embed([Call({"text": "a"})])[0]

@app.task(concurrency=200, queue="cpu")
async def fetch(url: str, stopping: Any = FROM_AGENT) -> dict[str, int]:
    return {"length": len(url)}

@app.task(batch=32, batch_wait=0.1, model="m")
def embed(calls: list[Call], model: Any = FROM_AGENT) -> list[dict[str, int] | Exception | None]:
    return [{"length": len(call.args["text"])} for call in calls]

@app.task(batch=8)
async def embed_async(calls: list[Call]) -> list[None]:
    return [None for call in calls if not call.cancelled()]

def wrong(conn: psycopg.Connection, other: psycopg.AsyncConnection, a: AsyncSession) -> None:
"""
WRONG = [
    "fetch.enqueue(conn, uri='a')",
    "fetch.enqueue(conn, 5)",
    "app.task(concurrency='many')",
    "app.task(batch=32, batch_wait='1 s')",
    "app.task(concurrency=5)(send_email)",
    "app.task(batch=5)(fetch)",
    "app.task(batch=5)(lambda calls: {})",
    "app.task(batch=5)(lambda calls: [5 for call in calls])",
    "send_email.options(batch=5)",
    'send_email.enqueue(conn, too="a")',
    "send_email.enqueue(conn)",
    "send_email.enqueue(conn, to=5)",
    'send_email.enqueue("postgresql://", to="a")',
    'send_email.enqueue(other, to="a")',
    'send_email.enqueue(a, to="a")',
    'send_email.enqueue_async(conn, to="a")',
    "send_email.options(prioritty=1)",
    "send_email.options(priority='high')",
    "send_email.options(key_mode='join')",
    "send_email.options(debounce=[5])",
    "app.task(qeue='cpu')",
    'send_email.job(too="a")',
    "send_email.job(to=5)",
    'jobs.enqueue_many(conn, [{"to": "a"}])',
    "jobs.enqueue_many(other, [send_email.job('a')])",
    "jobs.enqueue_many_async(conn, [send_email.job('a')])",
    "jobs.wait(conn, '7')",
    "jobs.wait(conn, 7, timeout=[5])",
    "jobs.wait(other, 7)",
    "jobs.wait_async(conn, 7)",
    "jobs.status(conn, 7).stat",
    "jobs.status(conn, 7).status == 'complete'",
    "jobs.cancel(conn)",
    "jobs.retry(conn, 7, [1])",
    "jobs.answer(conn, 7, 'retry', acting_for=5)",
    "runs.enqueue(conn, 'greet', [1])",
    "runs.enqueue(conn, 'greet', {}, prioritty=1)",
    "runs.enqueue(conn, 'greet', {}, key=5)",
    "runs.enqueue_async(conn, 'greet')",
    "runs.wait(conn, 7, on_change=5)",
    "runs.answer(conn, 7, True)",
    "runs.cancel(a, 7)",
]


def test_a_type_checker_finds_wrong_arguments(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(TYPED + "".join(f"    {line}\n" for line in WRONG))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
         f"--cache-dir={ROOT / '.mypy_cache' / 'typed'}", str(file)],
        env={"MYPYPATH": str(PACKAGE), "PATH": ""}, capture_output=True, text=True,
    )  # fmt: skip
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    first = TYPED.count("\n") + 1
    assert found == set(range(first, first + len(WRONG))), done.stdout + done.stderr
