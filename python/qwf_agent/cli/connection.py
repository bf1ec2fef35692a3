"""The connection of a command, and calls over it."""

from __future__ import annotations

import abc
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb, set_json_loads

from qwf_agent import config, migrate
from qwf_agent.cli import cell_routing, errors, hints, standby, values
from qwf_agent.cli.draw.visible import visible
from qwf_agent.migrate import trust

if TYPE_CHECKING:
    from typing_extensions import LiteralString, Self


Connection = psycopg.Connection[DictRow]
WHERE = "QWF_DSN, DATABASE_URL, PG*, or the server `qwf up` started."
dsn_option = click.option("--dsn", metavar="URL", help=f"Database. Default: {WHERE}")
dsn_to_read_option = click.option(
    "--dsn", metavar="URL", help=f"Database. Default: QWF_READ_DSN (a standby), {WHERE}"
)
cell_option = click.option(
    "--cell", metavar="NAME", help="One of the databases of QWF_CELLS. Default: by id or key."
)
LOCK_WAIT_S = 3
SHOWN_BLOCKERS = 3
# Sent before each statement and in force for it alone: behind PgBouncer, the next statement may be
# on another session, and what a SET leaves behind is there for other clients.
SETTINGS = f"""select
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
  pg_catalog.set_config('datestyle', 'ISO', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true),
  pg_catalog.set_config('lock_timeout', '{LOCK_WAIT_S}s', true);
"""
# Who may see less of other sessions sees no xact_start.
BLOCKERS = """
select a.pid, a.usename as login, a.application_name as application, a.state,
  date_part('epoch', now() - a.xact_start) as seconds
from pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid()
  and (a.xact_start is null or a.xact_start < now() - make_interval(secs => %(wait)s))
  and exists (
    select from pg_locks l left join pg_class c on c.oid = l.relation
    where l.pid = a.pid and l.granted
      and (l.locktype = 'advisory' or c.relnamespace::regnamespace::text in ('qwf', '_qwf')
        and c.relkind = 'r' and l.mode <> 'AccessShareLock'))
order by a.xact_start
limit %(limit)s
"""


class Cursor(psycopg.ClientCursor[DictRow]):
    """Runs each statement under SETTINGS."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Send SETTINGS and the statement in one message; the result is the statement's."""
        text = query.as_string(self) if isinstance(query, sql.Composable) else query
        super().execute(SETTINGS + text, params, **options)
        self.nextset()
        return self


class Unread(abc.ABC):
    """An argument that the database has to read."""

    @abc.abstractmethod
    def read(self, conn: Connection) -> Any:
        """The value. Raises click.BadParameter."""


def connect(dsn: str | None, *, notices: bool = True) -> Connection:
    """Connect in autocommit; print the server's notices to standard error.

    Raises ConfigError if we are a superuser and the schema is not a superuser's.
    """
    conn = connect_unchecked(dsn, notices=notices)
    try:
        check_owner(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def check_owner(conn: Connection) -> None:
    """Raise ConfigError if we are a superuser and the schema is not a superuser's."""
    try:
        trust.refuse_as_superuser(conn)
    except migrate.MigrateError as error:
        raise config.ConfigError(str(error)) from None


def connect_unchecked(dsn: str | None, *, notices: bool = True) -> Connection:
    """Connect as `connect` does, but do not ask whose schema it is."""
    conn = psycopg.connect(
        config.find_dsn(dsn),
        autocommit=True,
        row_factory=dict_row,
        cursor_factory=Cursor,
        application_name="qwf",
        connect_timeout=10,
        client_encoding="utf8",
    )
    for type_name, loader in values.LOADERS.items():
        conn.adapters.register_loader(type_name, loader)
    conn.adapters.register_dumper(values.Length, values.LengthDumper)
    set_json_loads(values.read_json, conn)
    if notices:
        conn.add_notice_handler(_notice)
    return conn


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
        errors.fail(BLOCKED, BLOCKED_HINT, details=blockers(conn))
    except psycopg.Error as error:
        standby.explain(conn, error)


def connect_to_cell(
    dsn: str | None, cell: str | None, key: str | None, *, reads: bool = False
) -> Connection:
    """Connect to the database that the command is for: that of `dsn` or `cell`, else the cell of
    its ids or of the key of something new, else the only one. For a command that only reads, that
    is a standby, if one is named."""
    if dsn is not None and cell is not None:
        raise click.UsageError("--dsn and --cell exclude each other")
    cells = {} if dsn is not None else config.find_cells()
    if cell is not None:
        return connect(cell_routing.named(cells, cell))
    if not cells:
        return connect(config.find_dsn_to_read(dsn) if reads else dsn)
    ids = cell_routing.ids_of(click.get_current_context())
    return cell_routing.open_for(cells, connect, ids, key)


BLOCKED = f"this waited {LOCK_WAIT_S} s for what another transaction has locked"
BLOCKED_HINT = (
    "let that transaction commit or roll back, then try again;"
    " to end it: select pg_terminate_backend(PID)"
)


def blockers(conn: Connection) -> list[str]:
    """The open transactions that may hold the lock that `conn` has waited for, oldest first."""
    found = many(conn, BLOCKERS, {"wait": LOCK_WAIT_S - 1, "limit": SHOWN_BLOCKERS})
    return [
        f"pid {row['pid']}, login {row['login']}"
        + (f", application {row['application']}" if row["application"] else "")
        + (f", {row['state']}" if row["state"] else "")
        + (f", for {row['seconds']:.0f} s" if row["seconds"] is not None else "")
        for row in found
    ]


def call(conn: Connection, function: str, **arguments: Any) -> Any:
    """Call qwf.function(...) and return its value. None means the default; dicts go as JSON."""
    given = {name: value for name, value in arguments.items() if value is not None}
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(n), sql.Placeholder()) for n in given
    )
    query = sql.SQL("select qwf.{}({})").format(sql.Identifier(function), named)
    parameters = [
        Jsonb(value) if isinstance(value, dict | list) else value for value in given.values()
    ]
    row = conn.execute(query, parameters).fetchone()
    return next(iter(row.values())) if row else None


def many(
    conn: Connection, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[DictRow]:
    """The rows a query returns."""
    return conn.execute(query, parameters).fetchall()


def quiet(conn: Connection) -> None:
    """Print no more notices of this connection."""
    conn.remove_notice_handler(_notice)


def loud(conn: Connection) -> None:
    """Print the notices of this connection again."""
    conn.add_notice_handler(_notice)


@contextlib.contextmanager
def notices_at_the_end(conn: Connection) -> Iterator[None]:
    """Print the notices of this connection at the end of the block; none if the block fails: they
    would speak of what was rolled back."""
    held: list[str] = []

    def hold(notice: psycopg.errors.Diagnostic) -> None:
        held.append(_said(notice))  # it cannot be read later

    conn.remove_notice_handler(_notice)
    conn.add_notice_handler(hold)
    try:
        yield
    finally:
        conn.remove_notice_handler(hold)
        conn.add_notice_handler(_notice)
    for said in held:
        click.echo(said, err=True)


def _notice(notice: psycopg.errors.Diagnostic) -> None:
    click.echo(_said(notice), err=True)


def _said(notice: psycopg.errors.Diagnostic) -> str:
    note = f"note: {visible(notice.message_primary or '')}"
    hint = hints.of(notice)
    return note + (f"\nhint: {visible(hint)}" if hint else "")
