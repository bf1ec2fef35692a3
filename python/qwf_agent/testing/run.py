"""Runs the jobs of a test in the test's own process."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg.rows import DictRow, dict_row

from qwf_agent.agent import db
from qwf_agent.app import App, Model
from qwf_agent.child.cancel import new_events
from qwf_agent.child.messages import BEGUN, TRACKED, Message, Work
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import JobOutcome, of_exception, render, report
from qwf_agent.child.runner import Runner
from qwf_agent.child.saving import Saver
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import Limits, Setup
from qwf_agent.child.tasks import Tasks
from qwf_agent.llm.task import LLM
from qwf_agent.testing.clock import has_moved
from qwf_agent.testing.fake_model import FAKE, FakeModel

HOST = "test"
MOST = 1000  # jobs in one run, unless the test says otherwise
# Seconds: a transaction of the test that is still open may hold what a claim or a tick needs.
LOCK_TIMEOUT = 20.0
UNFINISHED = """
select j.id, j.run_id, j.node_id, j.task, j.status::text, array(select qwf.why_not(j.id)) as why
from qwf.jobs j where j.finished_at is null order by j.id
"""


@dataclass(frozen=True)
class Ran:
    """An attempt that has ended. `verdict` is `lost` if the job had been taken away by then, for
    example by a cancel."""

    job_id: int
    task: str
    node_id: str | None
    attempt: int
    outcome: str
    output: dict[str, Any]
    error: BaseException | None
    verdict: str


@dataclass(frozen=True)
class Left:
    """A job that cannot start, and why, one line for each reason."""

    job_id: int
    task: str | None
    node_id: str | None
    status: str
    why: list[str]


@dataclass(frozen=True)
class Idle:
    """The history of a run: the attempts in their order, and the jobs that have not ended."""

    ran: list[Ran]
    left: list[Left]


def run_until_idle(
    dsn: str,
    app: App | str | None = None,
    *,
    nodes: str | None = None,
    models: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    out_root: Path | None = None,
    most: int = MOST,
    schedules: bool | None = None,
) -> Idle:
    """Run jobs in this process, one after the other, until none can start without time passing.

    Jobs come from `qwf.claim` and end with `qwf.finish_many`, as those of an agent do, so retries,
    keys, limits and workflows behave as in production. The bodies are those of `app` and of the
    package `nodes`. `models` has what takes the place of a model, by name: a FakeModel, or what a
    loader would have returned. `labels` are those of the box. Schedules fire only once the test has
    moved `qwf_clock`, or with `schedules=True`, and never with `schedules=False`. Raises
    RuntimeError after `most` jobs, and if what is due cannot be done: a part of the tick fails, or
    another session is in a tick for 20 s.

    Nothing kills a body: it has no timeout here, and no memory limit. It sees what the test has
    patched, and its output is the test's. After it, the environment and the working directory
    are what they were.
    """
    with contextlib.ExitStack() as stack:
        conn = stack.enter_context(psycopg.connect(dsn, autocommit=True, row_factory=dict_row))
        conn.execute("select set_config('lock_timeout', %s, false)", [f"{LOCK_TIMEOUT}s"])
        folder = out_root or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fire = has_moved(conn) if schedules is None else schedules
        worker = _Worker(conn, stack, Tasks(app, nodes), models or {}, labels or {}, folder, fire)
        ran = worker.run(most)
        rows = conn.execute(UNFINISHED).fetchall()
    left = [Left(r["id"], r["task"], r["node_id"], r["status"], r["why"]) for r in rows]
    return Idle(ran, left)


class RunUntilIdle(Protocol):
    """The type of the fixture `run_until_idle`: the function without the address."""

    def __call__(
        self,
        app: App | str | None = None,
        *,
        nodes: str | None = None,
        models: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        out_root: Path | None = None,
        most: int = MOST,
        schedules: bool | None = None,
    ) -> Idle: ...


class _Worker:
    """Registers on every queue, and claims and runs jobs until the stack is closed."""

    def __init__(
        self,
        conn: psycopg.Connection[DictRow],
        stack: contextlib.ExitStack,
        tasks: Tasks,
        models: Mapping[str, Any],
        labels: Mapping[str, str],
        folder: Path,
        fire: bool,
    ) -> None:
        self._conn, self._fire = conn, fire
        self._servers = {
            name: json.dumps(
                {
                    "model": name,
                    "base_url": stack.enter_context(fake.served()),
                    "api_key": None,
                    "server": FAKE,
                }
            )
            for name, fake in models.items()
            if isinstance(fake, FakeModel)
        }
        loaders = {
            name: Model(name, lambda given=given: given)  # type: ignore[misc]
            for name, given in models.items()
            if name not in self._servers
        }
        loaded = Models({**tasks.models(), **loaders}, 0.0, lambda _: None)
        stack.callback(loaded.unload)
        self._setup = _setup(self._limits(folder))
        self._scoreboard, events = Scoreboard(), new_events()
        stack.callback(self._scoreboard.close)
        stack.callback(events.close)
        self._saver = _Saver(conn, self._scoreboard, self._setup.limits.value_bytes)
        self._runner = Runner(
            self._setup, tasks, loaded, self._scoreboard, events, lambda: None,
            lambda _, moved: print(moved.sentence()), self._saver,
        )  # fmt: skip
        known = {
            "tasks": sorted({*tasks.names(), *([LLM] if self._servers else [])}),
            "models": sorted({*tasks.models(), *models}) or None,
            "labels": dict(labels),
            "out_root": str(folder.absolute()),
            "writes_begun": True,
        }
        self._stack, self._known = stack, json.dumps(known)
        self._workers: dict[str, str] = {}  # by queue

    def run(self, most: int) -> list[Ran]:
        """Run all jobs that can start now. Raises RuntimeError after `most` of them."""
        ran: list[Ran] = []
        while True:
            job = self._claim()
            if job is not None:
                if len(ran) == most:
                    raise RuntimeError(
                        f"{most} jobs have run, and {job['task']!r} still waits: a job that"
                        " enqueues itself? most= allows more"
                    )
                ran.append(self._run(job))
            elif not self._register() and not self._tick():
                return ran

    def _register(self) -> bool:
        """Register on the queues that are new, as a body may create one; returns whether there
        are any. Those of the engine take no worker."""
        queues = "select name from qwf.queues where not starts_with(name, 'qwf.') order by name"
        rows = self._conn.execute(queues).fetchall()
        new = [row["name"] for row in rows if row["name"] not in self._workers]
        for queue in new:
            given = (HOST, queue, self._known)
            register = "select qwf.register_worker(%s, %s, %s) as id"
            row = self._conn.execute(register, given).fetchone()
            worker = self._workers[queue] = row["id"] if row else ""
            self._stack.callback(self._conn.execute, "select qwf.deregister_worker(%s)", [worker])
        return bool(new)

    def _limits(self, folder: Path) -> Limits:
        row = self._conn.execute("select qwf.agent_settings('default') as given").fetchone()
        given = row["given"] if row else {}
        self._place = (str(folder.absolute()), given["instance"], given["generation"])
        return Limits(given["max_value_bytes"], given["max_error_bytes"], given["max_log_bytes"])

    def _claim(self) -> DictRow | None:
        """A job of any queue."""
        for queue, worker in self._workers.items():
            claim = "select * from qwf.claim(%s, %s)"
            row = self._conn.execute(claim, [queue, worker]).fetchone()
            if row is not None:
                return row
        return None

    def _tick(self) -> bool:
        """Do what is due; returns whether a job may be able to start now."""
        deadline = time.monotonic() + LOCK_TIMEOUT
        while not (done := self._try_tick())["ran"]:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"another session has been in qwf.tick() for {LOCK_TIMEOUT:.0f} s, so what is"
                    " due cannot start: commit or close it"
                )
            time.sleep(0.02)
        if "errors" in done:
            raise RuntimeError(f"qwf.tick() failed: {done['errors']}")
        return any(done.get(part) for part in db.OPENS)

    def _try_tick(self) -> dict[str, Any]:
        row = self._conn.execute("select qwf.tick(fire => %s) as done", [self._fire]).fetchone()
        return row["done"] if row else {"ran": False}

    def _run(self, job: DictRow) -> Ran:
        texts = {name: json.dumps(job[name]) for name in ("labels", "inputs")}
        work = Work(
            1, job["job_id"], job["run_id"], job["node_id"], job["task"], job["queue"],
            job["attempt"], job["project"], job["out_dir"], texts["labels"],
            job["required_model"], texts["inputs"], job["created_at"].isoformat(),
            job["checkpoint"] and json.dumps(job["checkpoint"]), job["queued_s"],
            job["at_most_once"], self._place,
            self._servers.get(job["required_model"]),
        )  # fmt: skip
        self._saver.job = job
        error: BaseException | None = None
        reported = self._scoreboard.progress_version(work.ticket)
        try:
            with contextlib.ExitStack() as after:
                outcome = self._runner.run(work, lambda: after.enter_context(_put_back()))
        except (Exception, SystemExit) as raised:  # anything else ends the test
            outcome = of_exception(raised, self._setup.limits.error_bytes)
            if outcome.outcome != "completed":  # it may have called sys.exit()
                error = raised
                print(f"job {work.job_id} {work.task}: {outcome.error}", file=sys.stderr)
        if self._scoreboard.progress_version(work.ticket) != reported:
            self._send_progress(job)
        return Ran(
            work.job_id, work.task, work.node_id, work.attempt, outcome.outcome,
            json.loads(outcome.output), error, self._finish(job, outcome),
        )  # fmt: skip

    def _send_progress(self, job: DictRow) -> None:
        """Send the last report of a body that has ended, as an agent may not have done before."""
        record = self._scoreboard.progress()
        if record is not None:
            message = record.message.replace("\0", "") or None
            given = (job["job_id"], job["token"], record.fraction, message)
            self._conn.execute("select qwf.progress(%s, %s, %s::real, %s)", given)

    def _finish(self, job: DictRow, outcome: JobOutcome) -> str:
        text = report(job["job_id"], str(job["token"]), render(outcome), {"host": HOST})
        finish = "select * from qwf.finish_many(%s)"
        row = self._conn.execute(finish, [f"[{text.decode()}]"]).fetchone()
        return str(row["verdict"]) if row else "lost"


class _Saver(Saver):
    """Stores the checkpoints of the running job, and what it tracks."""

    job: DictRow

    def __init__(
        self, conn: psycopg.Connection[DictRow], scoreboard: Scoreboard, value_bytes: int
    ) -> None:
        super().__init__(self._store, scoreboard, value_bytes)
        self._conn, self._scoreboard = conn, scoreboard

    def _store(self, message: Message) -> None:
        if message[0] == TRACKED:
            given = (self.job["job_id"], self.job["token"], message[2])
            self._conn.execute("select qwf.progress(%s, %s, series => %s::jsonb)", given)
            return
        _, _, number, text = message
        save, refusal = "select qwf.progress(%s, %s, checkpoint => %s)", ""
        begin = "select nullif(qwf.progress(%s, %s, begun => true), 'ok') as refusal"
        place = [self.job["job_id"], self.job["token"]]
        try:
            if text == BEGUN:
                row = self._conn.execute(begin, place).fetchone()
                refusal = row["refusal"] or "" if row else ""
            else:
                self._conn.execute(save, [*place, text])
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith("QW"):
                raise
            refusal = str(error)
        self._scoreboard.answer_save(number, refusal)


@contextlib.contextmanager
def _put_back() -> Iterator[None]:
    """Put the environment and the working directory back at the end of the block."""
    environment = dict(os.environ)
    folder = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
        os.fchdir(folder)
        os.close(folder)


def _setup(limits: Limits) -> Setup:
    return Setup(
        host=HOST, app=None, nodes=None, allow_commands=None, environment={},
        limits=limits, max_rss=None, gpu=False, model_idle=0.0, reload=False, otel=False, mark=HOST,
    )  # fmt: skip
