"""The database that a command is for: its option --dsn, and the connection."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any

import click
import psycopg

from qwf_agent.cli import errors, output
from qwf_agent.look import connection
from qwf_agent.look.connection import LOCK_WAIT_S, Connection, dsn_option

ID = click.IntRange(1, 2**63 - 1)  # of a job or a run
BLOCKED = f"this waited {LOCK_WAIT_S} s for what another transaction has locked"
BLOCKED_HINT = (
    "let that transaction commit or roll back, then try again;"
    " to end it: select pg_terminate_backend(PID)"
)


class Unread(abc.ABC):
    """An argument that the database has to read."""

    @abc.abstractmethod
    def read(self, conn: Connection) -> Any:
        """The value. Raises click.BadParameter."""


def database(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command a connection as its first argument, and the option --dsn."""

    @dsn_option
    @functools.wraps(command)
    def connected(*args: Any, dsn: str | None, **options: Any) -> Any:
        with connect(dsn) as conn:
            return call_command(command, conn, *args, **options)

    return connected


def call_command(command: Callable[..., Any], conn: Connection, *args: Any, **options: Any) -> Any:
    """Call a command on a connection; if it waits too long for a lock, say who has it."""
    read = {
        name: value.read(conn) if isinstance(value, Unread) else value
        for name, value in options.items()
    }
    try:
        return command(conn, *args, **read)
    except psycopg.errors.LockNotAvailable:
        errors.fail(BLOCKED, BLOCKED_HINT, details=connection.blockers(conn))


def connect(dsn: str | None) -> Connection:
    """Connect to the database. What is printed from now on lacks what its settings call a
    secret."""
    conn = connection.connect(dsn)
    try:
        output.hide_secrets(connection.secret_words(conn))
    except BaseException:
        conn.close()
        raise
    return conn
