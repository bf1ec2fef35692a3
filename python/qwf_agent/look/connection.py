"""The connection of a command, and calls over it."""

from __future__ import annotations

import contextlib
import getpass
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click
import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb, set_json_loads

from qwf_agent import config, migrate
from qwf_agent.look import hints, masking, values
from qwf_agent.look.draw.visible import visible
from qwf_agent.migrate import trust

if TYPE_CHECKING:
    from typing_extensions import LiteralString, Self


Connection = psycopg.Connection[DictRow]
WHERE = "QWF_DSN, DATABASE_URL, PG*, or the server `qwf up` started."
dsn_option = click.option("--dsn", metavar="URL", help=f"Database. Default: {WHERE}")
LOCK_WAIT_S = 3
SHOWN_BLOCKERS = 3
# Sent before each statement and in force for it alone: behind PgBouncer, the next statement may be
# on another session, and what a SET leaves behind is there for other clients. The JIT compiler
# would take seconds for the plan of a view whose cost is estimated too high.
SETTINGS = f"""select
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
  pg_catalog.set_config('datestyle', 'ISO', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true),
  pg_catalog.set_config('jit', 'off', true),
  pg_catalog.set_config('lock_timeout', '{LOCK_WAIT_S}s', true)
"""
# Who may see less of other sessions sees no xact_start.
BLOCKERS = """
select a.pid, a.usename as login, a.application_name as application, a.state,
  date_part('epoch', now() - a.xact_start) as seconds
from pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid()
  and (a.xact_start is null or a.xact_start < now() - make_interval(secs => %(wait)s))
  and exists (
    select from pg_locks l join pg_class c on c.oid = l.relation
    where l.pid = a.pid and l.granted
      and c.relnamespace::regnamespace::text in ('qwf', '_qwf')
      and c.relkind = 'r' and l.mode <> 'AccessShareLock')
order by a.xact_start
limit %(limit)s
"""


# For whom we act, unless the session says it already: many people may share one login. The path is
# not set yet where this is parsed, so the operator has its schema.
ACTING_FOR = """, pg_catalog.set_config('qwf.acting_for', case
  when pg_catalog.current_setting('qwf.acting_for', true) operator(pg_catalog.<>) ''
  then pg_catalog.current_setting('qwf.acting_for', true) else '{}' end, true)
"""


def settings() -> str:
    """Return what is sent before each statement."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = ""
    is_plain = re.fullmatch(r"[\w.@+ -]{1,60}", name)
    return SETTINGS + (ACTING_FOR.format(name) if is_plain else "") + ";"


class Cursor(psycopg.ClientCursor[DictRow]):
    """Runs each statement under our settings."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Send the settings and the statement in one message; the result is the statement's."""
        text = query.as_string(self) if isinstance(query, sql.Composable) else query
        super().execute(settings() + text, params, **options)
        self.nextset()
        return self


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


def refuse_standby(conn: Connection) -> None:
    """Raise ConfigError on a standby, for what writes."""
    row = conn.execute("select pg_is_in_recovery() as standby").fetchone()
    if row and row["standby"]:
        raise config.ConfigError(hints.STANDBY)


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


def readable(
    conn: Connection, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[DictRow]:
    """The rows a query returns; none if the login may not read them."""
    try:
        return many(conn, query, parameters)
    except psycopg.errors.InsufficientPrivilege:
        return []


def secret_words(conn: Connection) -> Sequence[str]:
    """The words by which the settings know what may be a secret; each, if nobody can say."""
    try:
        return cast("Sequence[str]", call(conn, "secret_keys"))
    except (
        psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName,
        psycopg.errors.InsufficientPrivilege,
    ):  # fmt: skip
        return masking.EVERY


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
