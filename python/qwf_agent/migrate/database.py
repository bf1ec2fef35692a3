"""Connections of a migration: databases it refuses, its lock, and sending scripts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from qwf_agent.migrate import trust
from qwf_agent.migrate.plan import PROJECT, Change, MigrateError, Plan, Script

LOCK = 75474063  # sqitch's own advisory lock, so that the two tools also exclude each other
LOCK_TIMEOUT = "10min"
# Less than deadlock_timeout (1 s): so the server never ends a caller's transaction for a deadlock.
BRIEF = "set local lock_timeout = '500ms';"  # in front of a script
PATIENCE_S = 600.0
PAUSE_S = 0.5
TAKEN = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
OLDEST_SERVER = 15

MAX_NAMED = 5

Say = Callable[[str], None]


class RegistryMark(NamedTuple):
    """The entry of the registry about a deployed change. `at`: when it was verified, in UTC; None
    if it was interrupted. `script`: the hash of its deploy script; None if an older qwf deployed
    it."""

    at: datetime | None
    script: str | None


def refuse_shared_sessions(conn: psycopg.Connection[Any], conninfo: str) -> None:
    """Raise MigrateError behind a pooler that shares sessions, because the lock belongs to one.

    Such a pooler hands the session used last to the next transaction of any client. A second client
    starts one and keeps it open, so `conn` gets another session.
    """
    query = "select pg_backend_pid()"
    before = conn.execute(query).fetchone()
    with connect(conninfo) as other, other.transaction():
        other.execute(query)
        if conn.execute(query).fetchone() == before:
            return
    raise MigrateError(
        "this address goes through a pooler that shares sessions (PgBouncer in transaction mode):"
        " migrate past it, or through a pool in session mode"
    )


def refuse_standby(conn: psycopg.Connection[Any]) -> None:
    """Raise MigrateError on a standby: it takes no changes, and has no unlogged tables to check."""
    row = conn.execute("select pg_is_in_recovery()").fetchone()
    if row and row[0]:
        raise MigrateError(
            "this server is a standby: use the address of the primary, or one that names all"
            " servers and has target_session_attrs=read-write"
        )


def take_lock(conn: psycopg.Connection[Any], say: Say) -> None:
    row = conn.execute("select pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    if row and row[0]:
        return
    say("another process is migrating this database: waiting for it to finish")
    try:
        conn.execute(sql.SQL("set lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
        conn.execute("select pg_advisory_lock(%s)", [LOCK])
    except psycopg.errors.LockNotAvailable:
        raise MigrateError(
            f"another process has been migrating this database for {LOCK_TIMEOUT}: end the session"
            " that pg_locks shows with locktype 'advisory', then deploy again"
        ) from None


def deployed(conn: psycopg.Connection[Any], chain: Plan) -> dict[str, RegistryMark]:
    """The mark of each deployed change, by its id. Raises MigrateError."""
    table = sql.Identifier(chain.registry, "_yoyo_migration")
    try:
        rows = conn.execute(
            # as JSON, because the registry of an older qwf has no such column
            sql.SQL(
                "select m.migration_id, m.applied_at_utc, to_jsonb(m) ->> 'script_hash' from {} m"
            ).format(table)
        ).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return {}
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrateError(f"{error.diag.message_primary}: use the role that deployed") from None
    return {change: RegistryMark(at, script) for change, at, script in rows}


def refuse_unknown(chain: Plan, deployed: Collection[str]) -> None:
    unknown = set(deployed) - {change.id for change in chain.changes}
    if unknown:
        raise MigrateError(
            f"{len(unknown)} deployed changes are not in {chain.path}:"
            " another version deployed this database. Use that version or a newer one;"
            " a database from before the first release must be created again"
        )


def is_changed(change: Change, deployed: Mapping[str, RegistryMark]) -> bool:
    """Return True if the deploy script of a deployed change is another one now. Raises
    MigrateError."""
    mark = deployed.get(change.id)
    return mark is not None and mark.script not in (None, change.deploy.hash())


def refuse_changed(chain: Plan, deployed: Mapping[str, RegistryMark]) -> None:
    """Raise MigrateError if a deploy script was edited after it was deployed."""
    changed = [n for n, change in enumerate(chain.changes) if is_changed(change, deployed)]
    if not changed:
        return
    names = first_few([chain.changes[n].name for n in changed])
    what = f"edited after this database deployed them: {names};"
    releases = [(n, tag) for n, change in enumerate(chain.changes) for tag in change.tags]
    if any(n >= changed[0] for n, _ in releases):
        raise MigrateError(
            f"{what} a release has them, so they must stay as they are: restore their files, or"
            " install that release again"
        )
    kept = f"--to @{releases[-1][1]}" if releases else "--all"
    plan = f" --plan {chain.path}" if chain.project != PROJECT else ""
    raise MigrateError(
        f"{what} what they made is dropped, with its data, and made again by:"
        f" qwf migrate revert{plan} {kept} --yes && qwf migrate deploy{plan}"
    )


def first_few(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def refuse_sqitch(conn: psycopg.Connection[Any], chain: Plan) -> None:
    """Raise MigrateError if sqitch deployed this project.

    A registry that belongs to somebody else is not read: it is another project's, or a trap.
    """
    try:
        if not trust.trusted(conn, "sqitch"):
            return
    except trust.Untrusted:
        return
    try:
        query = "select exists (select from sqitch.changes where project = %s)"
        row = conn.execute(query, [chain.project]).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return
    except psycopg.errors.InsufficientPrivilege:
        row = (True,)
    if row and row[0]:
        raise MigrateError(
            "sqitch deployed this database, and one database is deployed by one tool:"
            " continue with sqitch deploy, sqitch status and sqitch revert"
        )


def schemas(chain: Plan) -> tuple[str, ...]:
    """The schemas of a plan that are known: its registry and, if it deploys the engine, those."""
    return (chain.registry, *(trust.SCHEMAS if chain.project == PROJECT else ()))


def refuse_foreign_schema(conn: psycopg.Connection[Any], chain: Plan, applied: set[str]) -> None:
    row = conn.execute("select to_regnamespace('qwf') is not null").fetchone()
    if chain.project == PROJECT and not applied and row and row[0]:
        raise MigrateError(
            "schema qwf exists already, but qwf migrate did not make it: qwf migrate adopt if psql"
            " or a migration of yours ran its scripts; else drop it, or deploy to another database"
        )


def refuse_dropped(chain: Plan, deployed: Collection[str], there: set[str]) -> None:
    """Raise MigrateError if the engine was dropped, but not the registry of what is deployed."""
    if chain.project == PROJECT and deployed and not there.issuperset(trust.SCHEMAS):
        raise MigrateError(
            f"schema qwf or _qwf was dropped, but {chain.registry} says that it is deployed:"
            f" drop schema if exists qwf, _qwf, {chain.registry} cascade; then: qwf migrate deploy"
        )


def execute(conn: psycopg.Connection[Any], script: Script, mark: str = "", after: str = "") -> None:
    """Send `mark`, a whole script and `after` in one simple-protocol message.

    The script runs with the search path of the session, unless `mark` sets one.
    Raises MigrateError with file and line.
    """
    text = script.read()
    try:
        psycopg.Cursor(conn).execute(f"{mark}{text}\n;{after}")
    except psycopg.Error as error:
        if not conn.closed:
            conn.rollback()
        position = int(error.diag.statement_position or 0) - len(mark)
        # of the file: the script may begin its transaction in front of it
        first = max(text.find(script.source()), 0) if position > 0 and script.path.is_file() else 0
        line = f":{text.count(chr(10), first, position - 1) + 1}" if position > first else ""
        message = error.diag.message_primary or str(error).strip()
        raise MigrateError(f"{script.path}{line}: {message}" + hint(error.diag)) from error


def execute_between_callers(
    conn: psycopg.Connection[Any], script: Script, mark: str, say: Say
) -> None:
    """Send a script of one transaction as `execute` does, and again while its locks are taken.

    All who want a table queue behind a script that waits for it, even for a reader: so it never
    waits long, and lets them pass between two tries. Raises MigrateError after ten
    minutes.
    """
    give_up_at = time.monotonic() + PATIENCE_S
    told = False
    while True:
        try:
            return execute(conn, script, BRIEF + mark)
        except MigrateError as error:
            if not isinstance(error.__cause__, TAKEN):
                raise
            if time.monotonic() > give_up_at:
                raise MigrateError(
                    f"{script.path}: other transactions have kept its tables locked for ten"
                    " minutes: end the oldest (pg_stat_activity), then deploy again"
                ) from error
        if not told:
            say("  waiting for a long transaction that uses the same table")
            told = True
        time.sleep(PAUSE_S)


def said(notice: psycopg.errors.Diagnostic) -> list[str]:
    """The line that a notice is for people; none for what is less than a notice, or more."""
    if notice.severity_nonlocalized != "NOTICE":
        return []
    return [f"{notice.message_primary}{hint(notice)}"]


def hint(diag: psycopg.errors.Diagnostic) -> str:
    return "".join(f"; {part}" for part in (diag.message_detail, diag.message_hint) if part)


@contextlib.contextmanager
def errors_as_advice() -> Iterator[None]:
    """Turn database errors outside of scripts into a MigrateError."""
    try:
        yield
    except psycopg.Error as error:
        if isinstance(error.__context__, MigrateError):  # cleaning up failed too
            raise error.__context__ from None
        advice = "fix that" if error.sqlstate != "42501" else "connect as the owner of the schema"
        raise MigrateError(f"{str(error).strip()}; {advice}, then deploy again") from error


def conninfo(dsn: str, connection: dict[str, Any]) -> str:
    given = {
        key: value for key, value in connection.items() if value is not None and key != "autocommit"
    }
    try:
        return make_conninfo(dsn, **given)
    except psycopg.ProgrammingError as error:
        raise MigrateError(f"not a database address: {str(error).strip()}") from None


def connect(conninfo: str) -> psycopg.Connection[Any]:
    try:
        conn = psycopg.connect(conninfo, autocommit=True, cursor_factory=trust.PinnedCursor)
    except psycopg.OperationalError as error:
        raise MigrateError(f"cannot connect: {str(error).strip()}") from None
    if conn.info.server_version < OLDEST_SERVER * 10000:
        version = conn.info.parameter_status("server_version")
        conn.close()
        raise MigrateError(
            f"the server is PostgreSQL {version}: {OLDEST_SERVER} or newer is needed"
        )
    if (encoding := conn.info.parameter_status("server_encoding")) != "UTF8":
        conn.close()
        raise MigrateError(
            f"this database is {encoding}, and qwf needs one that is UTF8, because logs, errors and"
            " names may have any character: createdb --encoding UTF8 --template template0 NAME"
        )
    return conn
