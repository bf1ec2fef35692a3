"""The database that a command is for: its options --dsn and --cell, and the connection."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import click
import psycopg

from qwf_agent import config
from qwf_agent.cli import cell_routing, errors, output
from qwf_agent.look import cells, connection, standby
from qwf_agent.look.connection import LOCK_WAIT_S, WHERE, Connection, connect, dsn_option

dsn_to_read_option = click.option(
    "--dsn", metavar="URL", help=f"Database. Default: QWF_READ_DSN (a standby), {WHERE}"
)
cell_option = click.option(
    "--cell", metavar="NAME", help="One of the databases of QWF_CELLS. Default: by id or key."
)
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
    """Give the command a connection as its first argument, and the options --dsn and --cell."""

    return dsn_option(_connected(command, lambda options: False))


def database_to_read(
    *, unless: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Do what `database` does, for a command that only reads: a standby answers it, if one is
    named. With the option `unless` it writes, too."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        reads = _connected(command, lambda options: not (unless and options[unless]))
        return dsn_to_read_option(reads)

    return decorate


def _connected(
    command: Callable[..., Any], reads: Callable[[Mapping[str, Any]], bool]
) -> Callable[..., Any]:
    @cell_option
    @functools.wraps(command)
    def connected(*args: Any, dsn: str | None, cell: str | None, **options: Any) -> Any:
        only_reads = reads(options)
        with connect_to_cell(dsn, cell, options.get("key"), reads=only_reads) as conn:
            if only_reads:
                standby.warn(conn)
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
    except psycopg.Error as error:
        explain(conn, error)


def connect_to_cell(
    dsn: str | None, cell: str | None, key: str | None, *, reads: bool = False
) -> Connection:
    """Connect to the database that the command is for: that of `dsn` or `cell`, else the cell of
    its ids or of the key of something new, else the only one. For a command that only reads, that
    is a standby, if one is named. What is printed from now on lacks what the settings of that
    database call a secret."""
    conn = _connect_to_cell(dsn, cell, key, reads)
    try:
        output.hide_secrets(connection.secret_words(conn))
    except BaseException:
        conn.close()
        raise
    return conn


def _connect_to_cell(dsn: str | None, cell: str | None, key: str | None, reads: bool) -> Connection:
    if dsn is not None and cell is not None:
        raise click.UsageError("--dsn and --cell exclude each other")
    known = {} if dsn is not None else config.find_cells()
    if cell is not None:
        return connect(cells.named(known, cell))
    if not known:
        return connect(config.find_dsn_to_read(dsn) if reads else dsn)
    ids = cell_routing.ids_of(click.get_current_context())
    return cell_routing.open_for(known, connect, ids, key)


def explain(conn: Connection, error: psycopg.Error) -> NoReturn:
    """Say what to do if a standby refused a statement; any other error is raised again."""
    if not standby.refused(conn, error):
        raise error
    details = [error.diag.message_primary or str(error)]
    errors.fail(standby.NO_WRITES, standby.USE_THE_PRIMARY, details=details)
