"""A real agent in a process of its own, on a real database."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row

from support.thorough import THOROUGH
from support.warm import Forked, Nursery

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "python"
USER = TESTS / "agent" / "user"
DRIVER = os.pathsep.join(
    map(str, (PACKAGE, USER, TESTS / "agent" / "driver"))
)  # PYTHONPATH with cards
T = TypeVar("T")
DEADLINE_S = 60.0


def until(look: Callable[[], T], what: str = "it", seconds: float = DEADLINE_S) -> T:
    """Call `look` until it returns a true value, and return that."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.02)
    return found


class Agent:
    """An agent process, its log and its children."""

    def __init__(self, process: subprocess.Popen[bytes] | Forked, log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def children(self) -> list[int]:
        """Pids of the children that run bodies."""
        return self.processes("qwf-child")

    def processes(self, name: str = "") -> list[int]:
        """Pids of all processes it has forked, or of those with this name."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        found = [int(pid) for pid in path.read_text().split()]
        return [pid for pid in found if name in ("", name_of(pid))]

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait until it has ended; returns its exit code."""
        return self.process.wait(DEADLINE_S)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.ended()


class Database:
    """The database of a test, with the queries that tests need."""

    def __init__(self, dsn: str, conn: psycopg.Connection[Any] | None = None) -> None:
        """Its queries go through `conn`, or a session of its own."""
        self.dsn = dsn
        self.conn: psycopg.Connection[DictRow] = conn or psycopg.connect(dsn, autocommit=True)
        self.conn.row_factory = dict_row

    def one(self, query: str, *params: Any) -> Any:
        row = self.conn.execute(query, params).fetchone()  # type: ignore[arg-type]
        return next(iter(row.values())) if row else None

    def enqueue(self, task: str, args: dict[str, Any] | None = None, **options: Any) -> int:
        named = "".join(f", {name} => %({name})s" for name in options)
        query = f"select qwf.enqueue(%(task)s, %(args)s{named}) as id"
        given = {"task": task, "args": json.dumps(args or {}), **options}
        row = self.conn.execute(query, given).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return int(row["id"])

    def job(self, job_id: int) -> DictRow:
        query = (
            "select j.*, t.token from qwf.job_details j join qwf.jobs t using (id) where id = %s"
        )
        row = self.conn.execute(query, (job_id,)).fetchone()
        assert row is not None
        return row

    def attempts(self, job_id: int) -> list[DictRow]:
        query = "select * from qwf.attempt_overview where job_id = %s order by attempt"
        return self.conn.execute(query, (job_id,)).fetchall()

    def ended(self, job_id: int) -> DictRow:
        """Wait until the job has ended, and return it."""
        return until(
            lambda: (job := self.job(job_id))["finished_at"] and job, f"the end of job {job_id}"
        )

    def attempted(self, job_id: int, attempt: int = 1) -> DictRow:
        """Wait until an attempt of the job has ended, and return it."""
        return until(
            lambda: next((a for a in self.attempts(job_id) if a["attempt"] == attempt), None),
            f"the end of attempt {attempt} of job {job_id}",
        )

    def running(self, job_id: int) -> DictRow:
        """Wait until the job runs, and return it."""
        return until(
            lambda: (job := self.job(job_id))["status"] == "running" and job,
            f"the start of job {job_id}",
        )

    def invariants(self) -> list[DictRow]:
        return self.conn.execute("select * from qwf.check_invariants()").fetchall()


StartAgent = Callable[..., Agent]


@contextlib.contextmanager
def agents(dsn: str, home: Path) -> Iterator[StartAgent]:
    """Start agents on the database; all of them are killed at the end of the test. One that is not
    `fresh` is forked if that makes no difference."""
    started: list[Agent] = []

    def start(
        *options: str, ready: bool = True, log: Path | None = None, inside: Sequence[str] = (),
        fresh: bool = False, **environment: str,
    ) -> Agent:  # fmt: skip
        ready, log = ready and log is None, log or home / f"agent-{len(started)}.log"
        env = {**clean_environment(home), "QWF_DSN": dsn, **environment}
        with log.open("wb") as stderr:
            if not (fresh or inside or THOROUGH) and nursery().fits(env, home):
                process = nursery().start(options, home, env, stderr.fileno())
            else:
                process = subprocess.Popen(
                    [*inside, sys.executable, "-m", "qwf_agent", *options],
                    cwd=home, env=env, stderr=stderr, stdin=subprocess.DEVNULL,
                )  # fmt: skip
        agent = Agent(process, log)
        started.append(agent)
        if ready:
            until(lambda: "serving" in agent.said() or process.poll() is not None, "the agent")
            assert process.poll() is None, agent.said()
        return agent

    try:
        yield start
    finally:
        for agent in started:
            for pid in agent.processes() if agent.process.poll() is None else []:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            agent.process.kill()
            agent.process.wait()


@functools.cache
def nursery() -> Nursery:
    """The process of this one that forks agents."""
    return Nursery(clean_environment(Path("/")), PACKAGE)


def run_agent(home: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of an agent that ends by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "qwf_agent", *options], cwd=home, capture_output=True, text=True,
        env={**clean_environment(home), **environment}, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def clean_environment(home: Path) -> dict[str, str]:
    """The environment without variables that name a database."""
    dropped = ("QWF_", "PG", "DATABASE_URL", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return {
        **kept,
        "QWF_HOME": str(home / "qwf"),
        "PYTHONPATH": f"{PACKAGE}{os.pathsep}{USER}",
        "TMPDIR": str(home),
    }


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """Return True if the process runs; a zombie does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it has ended, or ends while it is read
        return False


def lines(file: Path) -> list[str]:
    """The lines of a file; none if it does not exist."""
    return file.read_text().splitlines() if file.exists() else []
