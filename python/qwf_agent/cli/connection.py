"""The connection of a command, and calls over it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.rows import DictRow, dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import Jsonb

from qwf_agent import config
from qwf_agent.cli.draw.words import INFINITE

if TYPE_CHECKING:
    from typing_extensions import LiteralString


Connection = psycopg.Connection[DictRow]
dsn_option = click.option(
    "--dsn",
    metavar="URL",
    help="Database. Default: QWF_DSN, DATABASE_URL, PG*, or the server `qwf up` started.",
)


class InfiniteTimeLoader(TimestamptzLoader):
    """Loads times, also infinity: the start time of a job that waits forever."""

    def load(self, data: Buffer) -> datetime:
        """The time that the server sent."""
        return INFINITE.get(bytes(data).decode()) or super().load(data)


def connect(dsn: str | None, *, notices: bool = True) -> Connection:
    """Connect in autocommit; print the server's notices to standard error."""
    conn = psycopg.connect(
        config.find_dsn(dsn),
        autocommit=True,
        row_factory=dict_row,
        application_name="qwf",
        connect_timeout=10,
        prepare_threshold=None,  # behind PgBouncer, the next call may be on another session
    )
    conn.adapters.register_loader("timestamptz", InfiniteTimeLoader)
    if notices:
        conn.add_notice_handler(_notice)
    return conn


def database(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command a connection as its first argument, and the option --dsn."""

    @dsn_option
    @functools.wraps(command)
    def connected(*args: Any, dsn: str | None, **options: Any) -> Any:
        with connect(dsn) as conn:
            return command(conn, *args, **options)

    return connected


def call(conn: Connection, function: str, **arguments: Any) -> Any:
    """Call qwf.function(...) and return its value. None means the default; dicts go as JSON."""
    given = {name: value for name, value in arguments.items() if value is not None}
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(n), sql.Placeholder()) for n in given
    )
    query = sql.SQL("select qwf.{}({})").format(sql.Identifier(function), named)
    values = [Jsonb(value) if isinstance(value, dict | list) else value for value in given.values()]
    row = conn.execute(query, values).fetchone()
    return next(iter(row.values())) if row else None


def many(
    conn: Connection, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[DictRow]:
    """The rows a query returns."""
    return conn.execute(query, parameters).fetchall()


def _notice(notice: psycopg.errors.Diagnostic) -> None:
    click.echo(f"note: {notice.message_primary}", err=True)
    if notice.message_hint:
        click.echo(f"hint: {notice.message_hint}", err=True)
