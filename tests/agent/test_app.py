"""Producers and task authors import what they need from qwf_agent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bodies import add, app, later, say_hello

from qwf_agent import App, TemporaryError
from qwf_agent.child.outcome import of_exception
from support.harness import PACKAGE, Database, StartAgent, until


def test_a_task_is_still_a_function() -> None:
    assert add(1) == {"sum": 3}
    assert add.__name__ == "add"


def test_it_is_enqueued_in_the_callers_transaction(base: Database) -> None:
    with psycopg.connect(base.dsn) as conn:
        job_id = say_hello.enqueue(conn, who="Ada")
        assert base.one("select count(*) from qwf.jobs") == 0
    job = base.job(job_id)
    assert (job["task"], job["queue"], job["max_attempts"]) == ("greet", "cpu", 2)
    assert job["timeout"] == timedelta(seconds=30)
    assert job["inputs"] == {"who": "Ada"}


def test_a_rollback_removes_the_job(base: Database) -> None:
    with psycopg.connect(base.dsn) as conn:
        add.enqueue(conn, a=1)
        conn.rollback()
    assert base.one("select count(*) from qwf.jobs") == 0


def test_options_apply_to_a_copy_of_the_task(base: Database) -> None:
    when = datetime(2040, 1, 2, tzinfo=timezone.utc)
    special = add.options(
        priority=5, run_at=when, key="k", labels={"a": 1}, timeout=timedelta(minutes=2),
        backoff=[1, 2], once=True, project="p", queue="gpu", max_attempts=3,
    )  # fmt: skip
    job = base.job(special.enqueue(base.conn, a=1))
    assert (job["priority"], job["run_at"], job["key"], job["once"]) == (5, when, "k", True)
    assert (job["labels"], job["project"], job["queue"]) == ({"a": 1}, "p", "gpu")
    assert (job["timeout"], job["backoff"]) == (timedelta(minutes=2), [1, 2])
    plain = base.job(add.enqueue(base.conn, a=1))
    assert (plain["priority"], plain["run_at"], plain["key"]) == (100, None, None)


@pytest.mark.parametrize("option", ["--app", "--nodes"])
def test_a_second_app_is_refused(option: str) -> None:
    words = [sys.executable, "-m", "qwf_agent", option, "one", "--slots", "2", f"{option}=two"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 78
    assert f"{option} is given twice: " in done.stderr


def test_an_agent_announces_the_options_of_its_tasks(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    code = "from qwf_agent import App\napp = App()\n@app.task(max_attempts={})\ndef t(): ...\n"
    file = tmp_path / "mine.py"
    file.write_text(code.format(5))
    agent = start("--app", "mine", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    query = "select task_options from qwf.workers"
    assert base.one(query) == {"t": {"max_attempts": "5"}}
    file.write_text(code.format(60))  # of another size: Python keeps what it compiled
    agent.signal(signal.SIGHUP)
    until(lambda: base.one(query) == {"t": {"max_attempts": "60"}}, "its new code")


def test_a_task_declared_for_a_queue_that_is_not_served_is_named_at_the_start(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    code = "from qwf_agent import App\napp = App()\n"
    code += "".join(
        f"app.task('{task}', queue='{queue}')(lambda: 0)\n"
        for task, queue in [("b", "reports"), ("a", "reports"), ("c", "default"), ("d", "pdf")]
    )
    (tmp_path / "mine.py").write_text(code)
    base.conn.execute("select qwf.create_queue('reports'), qwf.create_queue('pdf')")
    path = {"PYTHONPATH": f"{PACKAGE}{os.pathsep}{tmp_path}"}
    words = ["--app", "mine", "--queue", "default"]
    some = start(*words, "--queue", "pdf", **path)
    assert (
        "this agent runs no job of a, b, declared for queue reports: add --queue reports, "
        "or serve it with another agent"
    ) in some.said()
    every = start(*words, "--queue", "pdf", "--queue", "reports", **path)
    assert "this agent runs no job of" not in every.said()


def test_too_many_options_are_not_announced(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    task = "app.task('t', labels={'a': 'x' * 20000})(lambda: 0)\n"
    (tmp_path / "mine.py").write_text(f"from qwf_agent import App\napp = App()\n{task}")
    agent = start("--app", "mine", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    assert base.one("select task_options from qwf.workers") == {}
    assert "qwf doctor cannot say which jobs lack them" in agent.said()


def test_arguments_have_to_be_json(base: Database) -> None:
    with pytest.raises(ValueError, match="JSON"):
        add.enqueue(base.conn, a=float("nan"))
    with pytest.raises(psycopg.Error) as error:
        add.options(queue="nonesuch").enqueue(base.conn, a=1)
    assert error.value.sqlstate == "QW006"


def test_two_tasks_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'greet'"):
        app.task("greet")(lambda: None)
    assert App().tasks == {}


@pytest.mark.parametrize("seconds", [None, "60", float("nan"), float("inf")])
def test_a_job_that_is_put_off_needs_a_time(seconds: Any) -> None:
    with pytest.raises(ValueError, match="needs retry_after_s, seconds, not"):
        TemporaryError("busy", retry_after_s=seconds, counts=False)


def test_a_job_is_put_off_by_at_least_a_second() -> None:
    error = TemporaryError("busy", retry_after_s=0, counts=False)
    assert of_exception(error, 100).detail == {"retry_after_s": 1.0, "reason": "later"}


@pytest.mark.parametrize("counts", [True, False])
def test_a_wait_that_is_cut_is_told(counts: bool) -> None:
    ending = of_exception(TemporaryError("busy", retry_after_s=1e9, counts=counts), 5000)
    assert ending.detail["retry_after_s"] == 366 * 86400
    assert "a job waits at most 366 days" in str(ending.error)


def test_a_decorator_needs_no_parentheses() -> None:
    own = App()

    @own.task
    def add_up(a: int, b: int = 2) -> dict[str, int]:
        return {"sum": a + b}

    @own.model
    def tiny() -> str:
        return "weights"

    assert (own.tasks, list(own.models)) == ({"add_up": add_up}, ["tiny"])
    assert add_up(1) == {"sum": 3}
    assert tiny() == "weights"


@pytest.mark.parametrize(
    ("register", "error", "reason"),
    [
        (lambda: App().task(5), TypeError, "the name of a task has to be a text, not 5"),
        (lambda: App().task("two words")(print), ValueError, "without blanks"),
        (lambda: App().task("")(print), ValueError, "1 to 200 characters"),
        (lambda: App().task()(partial(add, a=1)), TypeError, "no name of its own"),
        (lambda: App().task(quue="cpu"), TypeError, "did you mean 'queue'"),
        (lambda: App().task(max_attempts="3"), TypeError, "a whole number of .*, not '3'"),
        (lambda: App().model(vram_gb="12"), TypeError, "vram_gb has to be a number of GiB"),
        (lambda: App().model(vram_gb=-1), ValueError, "vram_gb has to be 0 or more"),
        (lambda: App().model(device="cuda"), TypeError, "device has to be True or False"),
        (lambda: App().around(5), TypeError, "takes a function without async, not 5"),
        (lambda: App().around(later.function), TypeError, "takes a function without async"),
        (lambda: App().model()(later.function), TypeError, "takes a function without async"),
    ],
)
def test_what_cannot_be_registered_is_refused_when_the_app_is_imported(
    register: Callable[[], Any], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        register()


def test_importing_app_needs_nothing_but_the_standard_library() -> None:
    """So a web app can install qwf without what it depends on."""
    code = (
        "import sys; from qwf_agent import App, Job, TemporaryError; App().task()(print)\n"
        "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == {"__main__", "qwf_agent"}
