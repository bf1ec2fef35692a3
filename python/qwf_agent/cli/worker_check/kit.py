"""The means of the checks: starts the worker, enqueues jobs, and looks at what becomes of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow

from qwf_agent.cli.worker_check.errors import Failed, NotStarted, Skipped
from qwf_agent.cli.worker_check.place import Place
from qwf_agent.cli.worker_check.process import Process, environment
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection
from qwf_agent.migrate import trust

T = TypeVar("T")

LEASE = "3 s"
REGISTERS_WITHIN_S = 20.0
STARTS_WITHIN_S = 10.0  # a job, if the worker is idle
ENDS_WITHIN_S = 15.0
SETTLED_S = 0.25  # after a worker has fallen asleep, it has looked again for the last time
PAUSE_S = 0.03
LONG_PAUSE_S = 0.25
ENDED = ("completed", "failed", "cancelled", "skipped")
MANY_ROWS = 10_000  # more jobs than the checks make
ME = "worker-check"  # the name under which the kit claims

WORKERS = "select * from qwf.worker_overview where queue = %s and stopped_at is null"
OPEN = """
select id, status::text as status, claimed_by from qwf.job_details
where queue = %s and status not in ('completed', 'failed', 'cancelled', 'skipped')
"""
ATTEMPTS = """
select attempt, outcome, reason, error, worker from qwf.attempt_overview
where job_id = %s order by attempt
"""
ASLEEP = "select worker from qwf.sleeping_workers where queue = %s"
CUT = """
select count(pg_terminate_backend(a.pid)) as cut from pg_stat_activity a
where a.usename = %s and a.datname = current_database()
"""
RESET = "select qwf.create_queue(%s, unset => '{lease,retention}')"
OTHERS = "select count(*) as others from qwf.worker_overview where live and queue <> %s"


class Kit:
    """A queue for the checks, and the worker that serves it."""

    def __init__(self, conn: Connection, place: Place, queue: str, argv: Sequence[str],
                 folder: Path, log: Path) -> None:  # fmt: skip
        self.conn = conn
        self.place = place
        self.queue = queue
        self._argv = argv
        self._folder = folder
        self._log = log
        self._running: list[Process] = []
        self._files = 0
        self.times: dict[str, Any] = {}

    # The queue -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Make the queue. Raises Failed if somebody uses it."""
        connection.call(self.conn, "create_queue", name=self.queue, lease=LEASE)
        if any(row["live"] for row in connection.many(self.conn, WORKERS, [self.queue])):
            raise Failed(f"a worker serves the queue {self.queue}: stop it, or name another")
        if connection.many(self.conn, OPEN, [self.queue]):
            raise Failed(f"the queue {self.queue} has jobs that have not ended: name another")
        self.times = connection.call(self.conn, "agent_settings", queue=self.queue)

    def close(self) -> None:
        """End the workers and the jobs; the queue stays, empty and switched on."""
        self.retire()
        connection.call(self.conn, "create_queue", name=self.queue, retention="1 ms")
        time.sleep(0.1)
        connection.call(self.conn, "prune", max_rows=MANY_ROWS)
        connection.many(self.conn, RESET, [self.queue])

    # The worker ----------------------------------------------------------------------------------

    def worker(self) -> Process:
        """The worker that runs; if there is none, one is started."""
        alive = [one for one in self._running if one.code is None]
        if alive:
            return alive[0]
        self.retire()
        return self.start()

    def start(self) -> Process:
        """Start another worker, and wait until it has registered."""
        before = {row["worker"] for row in connection.many(self.conn, WORKERS, [self.queue])}
        environ = environment(self.queue, self.place.worker_dsn, other_server=self.place.own_server)
        try:
            process = Process(self._argv, environ, self._log)
        except OSError as error:
            raise NotStarted(f"It cannot be started: {error}.") from None
        self._running.append(process)

        def registered() -> list[DictRow]:
            rows = connection.many(self.conn, WORKERS, [self.queue])
            return [row for row in rows if row["worker"] not in before]

        found = self.until(
            registered, lambda rows: bool(rows) or process.code is not None, REGISTERS_WITHIN_S
        )
        if not found:
            ended = "" if process.code is None else f" and ended with exit code {process.code}"
            said = process.last_lines()
            raise NotStarted(
                f"It did not register on the queue {self.queue} within {REGISTERS_WITHIN_S:.0f} s"
                f"{ended}. " + (f"It printed: {said}" if said else "It printed nothing.")
            )
        process.worker, process.host = found[0]["worker"], found[0]["host"]
        process.look()
        return process

    def stopped(self, process: Process) -> bool:
        """Return True if the worker has deregistered."""
        rows = connection.many(self.conn, WORKERS, [self.queue])
        return process.worker not in [row["worker"] for row in rows]

    def retire(self) -> None:
        """End all workers, and every job of the queue that has not ended."""
        for process in self._running:
            process.thaw()
            process.end()
        hosts = {process.host for process in self._running if process.host}
        self._running.clear()
        for row in connection.many(self.conn, WORKERS, [self.queue]):
            connection.call(self.conn, "deregister_worker", worker=row["worker"])
        for host in hosts:
            self.switch(host, "on")
        for job in self.unended():
            with contextlib.suppress(Exception):  # it has ended since
                connection.call(self.conn, "cancel_job", job_id=job["id"])

    def switch(self, host: str, state: str, policy: str | None = None) -> None:
        """Switch the workers of the box on our queue on or off."""
        connection.call(
            self.conn, "worker_control", host=host, queue=self.queue, state=state, policy=policy
        )

    def sleeps(self, process: Process, within: float) -> bool:
        """Wait until the worker has fallen asleep and is settled; False if it has not."""

        def asleep() -> bool:
            rows = connection.many(self.conn, ASLEEP, [self.queue])
            return process.worker in [row["worker"] for row in rows]

        found = self.until(asleep, bool, within)
        time.sleep(SETTLED_S)
        return found

    def cut(self, for_s: float = 1.0) -> int:
        """End the sessions of the worker's login again and again for so long; returns how many
        there were. Raises Skipped."""
        if not self.place.own_login:
            raise Skipped(
                "Give the worker a login of its own with --worker-dsn: its sessions are cut."
            )
        with psycopg.connect(self.place.worker_dsn, cursor_factory=trust.PinnedCursor) as conn:
            login = conn.info.user
        count, deadline = 0, time.monotonic() + for_s
        while time.monotonic() < deadline:
            (row,) = connection.many(self.conn, CUT, [login])
            count += row["cut"]
            time.sleep(PAUSE_S)
        return count

    def is_alone(self) -> bool:
        """Return True if no other worker of the database is alive."""
        (row,) = connection.many(self.conn, OTHERS, [self.queue])
        return not row["others"]

    # Jobs ----------------------------------------------------------------------------------------

    def enqueue(self, task: str, args: dict[str, Any] | None = None, **options: Any) -> int:
        """Enqueue a job; returns its id. Without `max_attempts` one try is all it has."""
        given = {"max_attempts": 1, **options}
        return int(
            connection.call(
                self.conn, "enqueue", task=task, args=args or {}, queue=self.queue, **given
            )
        )

    def job(self, job: int) -> DictRow:
        """All that is known about a job."""
        (row,) = connection.many(
            self.conn,
            "select j.*, j.status::text as status from qwf.job_details j where id = %s",
            [job],
        )
        return row

    def unended(self) -> list[DictRow]:
        """The jobs of the queue that have not ended."""
        return connection.many(self.conn, OPEN, [self.queue])

    def attempts(self, job: int) -> list[DictRow]:
        """The attempts of a job that have ended."""
        return connection.many(self.conn, ATTEMPTS, [job])

    def starts(self, job: int, within: float = STARTS_WITHIN_S) -> DictRow:
        """Wait until the job runs. Raises Failed if it does not start in time."""
        row = self.until(lambda: self.job(job), lambda one: one["status"] != "queued", within)
        if row["status"] not in ("running", *ENDED):
            raise Failed(f"A job of {row['task']} was not started within {within:.0f} s.")
        return row

    def ends(self, job: int, within: float = ENDS_WITHIN_S) -> DictRow:
        """Wait until the job has ended, or for so long; returns the job as it is then."""
        return self.until(lambda: self.job(job), lambda one: one["status"] in ENDED, within)

    def completes(self, job: int, within: float = ENDS_WITHIN_S) -> DictRow:
        """Wait until the job has completed. Raises Failed if it has not, or ended otherwise."""
        row = self.ends(job, within)
        if row["status"] != "completed":
            raise Failed(f"A job of {row['task']} should have completed; {self.told(row)}.")
        return row

    def told(self, row: DictRow) -> str:
        """The state of a job and how its attempts ended, in words."""
        ends = ", ".join(one["outcome"] for one in self.attempts(row["id"])) or "none"
        lines = (row["last_error"] or "").splitlines()
        error = f", with the error: {lines[0][:200]}" if lines else ""
        return f"it is {row['status']}, its ended attempts: {ends}{error}"

    # Bodies --------------------------------------------------------------------------------------

    def new_file(self) -> Path:
        """A file into which the body of check.sleep writes while it runs."""
        self._files += 1
        path = self._folder / f"beat-{self._files}"
        path.touch()
        path.chmod(0o666)
        return path

    def falls_silent(self, path: Path, within: float) -> bool:
        """Wait until a body no longer writes into its file; return False if it goes on."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            before = path.stat().st_size
            time.sleep(0.4)
            if path.stat().st_size == before:
                return True
        return False

    # Waiting -------------------------------------------------------------------------------------

    def until(self, read: Callable[[], T], good: Callable[[T], bool], within: float) -> T:
        """Read until the value is good, or for so long; returns the last value. The pauses grow to
        a tenth of the time waited."""
        begun = time.monotonic()
        while True:
            value = read()
            waited = time.monotonic() - begun
            if good(value) or waited > within:
                return value
            time.sleep(min(LONG_PAUSE_S, max(PAUSE_S, waited / 10)))

    @staticmethod
    def expect(condition: object, otherwise: str) -> None:
        """Raise Failed with what was seen, unless the condition is true."""
        if not condition:
            raise Failed(otherwise)
