"""Reads and changes for `qwf top`, each over a connection of its own, one at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click
import psycopg

from qwf_agent.cli import addresses, answer
from qwf_agent.look import connection, hints, masking
from qwf_agent.look import fleet as queries
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw import visible

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Rows = list[dict[str, Any]]

WORKERS = """
select * from qwf.worker_overview where state <> 'stopped' order by host, queue, started_at
"""
BOXES = "select * from qwf.box_overview where live order by host"
SERVERS = "select * from qwf.server_overview order by host, queue"


@dataclass
class Glance:
    """The fleet at one moment."""

    queues: Rows = field(default_factory=list)
    workers: Rows = field(default_factory=list)
    boxes: Rows = field(default_factory=list)
    servers: Rows = field(default_factory=list)
    running: Rows = field(default_factory=list)
    failed: Rows = field(default_factory=list)
    questions: Rows = field(default_factory=list)


class FleetConnection:
    """The fleet, over a connection to read and, from the first change on, one to change. Both are
    opened again when they are lost.

    Its methods block, and one at a time uses a connection. They raise psycopg.Error, and
    ClickException for what cannot be done.
    """

    def __init__(
        self, connect_to_read: Callable[[], Connection], connect: Callable[[], Connection]
    ) -> None:
        self._read_from = _Link(connect_to_read)
        self._change_over = _Link(connect)
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> FleetConnection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._read_from.close()
        self._change_over.close()

    def look(self) -> Glance:
        """Read a snapshot. What is drawn from now on lacks
        secrets."""
        with self._one_at_a_time:
            conn = self._read_from.connection()
            masking.hide_everywhere(connection.secret_words(conn))
            return Glance(
                queues=_read(conn, queries.QUEUES),
                workers=_read(conn, WORKERS),
                boxes=_read(conn, BOXES),
                servers=_read(conn, SERVERS),
                running=_read(conn, queries.RUNNING),
                failed=_read(conn, queries.FAILED),
                questions=_read(conn, queries.QUESTIONS),
            )

    def job(self, job: int) -> tuple[dict[str, Any], Rows, Rows]:
        """A job, its attempts and its events."""
        with self._one_at_a_time:
            conn = self._read_from.connection()
            found = _read(conn, "select * from qwf.job_details where id = %s", (job,))
            if not found:
                raise click.ClickException(f"job {job} is not there any more")
            row = found[0]
            query = "select * from qwf.attempt_overview where job_id = %s order by attempt"
            attempts = _read(conn, query, (job,))
            row["released"] = sum(one["outcome"] == "released" for one in attempts)
            events = "select * from qwf.event_overview where job_id = %s order by id"
            return row, attempts, _read(conn, events, (job,))

    def cancel(self, job: int) -> None:
        """Cancel a job."""
        self._call("cancel_job", job_id=job)

    def retry(self, job: int) -> None:
        """Run a failed job again."""
        self._call("retry_job", job_id=job)

    def switch(self, host: str, queue: str, state: str, policy: str) -> None:
        """Switch the workers of a host on a queue."""
        self._call(
            "worker_control",
            host=host,
            queue=queue,
            state=state,
            policy=policy,
        )

    def answer(self, question: dict[str, Any], text: str) -> None:
        """Answer a question with what a person typed."""

        def refuse(why: str) -> None:
            raise click.ClickException(why)

        value = answer.parse_answer([question], text, refuse)
        with self._one_at_a_time, self._changing() as conn:
            answer.answer_question(conn, question, value)

    def _call(self, function: str, **arguments: Any) -> None:
        with self._one_at_a_time, self._changing() as conn:
            connection.call(conn, function, **arguments)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Connection]:
        """The connection to change; what Postgres refuses is said in words for people."""
        conn = self._change_over.connection()
        try:
            yield conn
        except psycopg.errors.LockNotAvailable:
            lines = [addresses.BLOCKED, *connection.blockers(conn)]
            raise click.ClickException("\n".join(lines)) from None


class _Link:
    """A connection that is opened when it is first used, and again when it is lost."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._conn: Connection | None = None

    def connection(self) -> Connection:
        if self._conn is None or self._conn.closed or self._conn.broken:
            self._conn = self._connect()
        return self._conn

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()


def _read(conn: Connection, query: LiteralString, params: tuple[Any, ...] = ()) -> Rows:
    """Rows whose texts are safe for the terminal."""
    return [
        {name: visible(v) if isinstance(v, str) else v for name, v in row.items()}
        for row in connection.many(conn, query, params)
    ]


def reason(error: BaseException) -> str:
    """An error in one or two lines, with the database's hint if there is one."""
    if not isinstance(error, psycopg.Error):
        return visible(str(error)) or type(error).__name__
    lines = [error.diag.message_primary or str(error).strip(), hints.of(error.diag)]
    return visible("\n".join(line for line in lines if line))
