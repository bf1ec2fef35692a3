"""A plan as yoyo sees it: one step for each change, whose scripts run whole.

A change and the mark that it is deployed commit together. Scripts have their own `begin` and
`commit`, and a `begin` that follows other statements in one simple-protocol message takes these
into its transaction; so the mark is sent in front of the script, in the same message. Whichever
process dies, the next deploy finds a change either marked or not there. The mark gets its time
when the verify script has passed: a mark without a time was interrupted, and the next deploy
verifies that change first.
"""

from __future__ import annotations

import contextlib
import socket
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.migrations import Migration

from qwf_agent.migrate import database, development, trust
from qwf_agent.migrate.database import Say
from qwf_agent.migrate.plan import (
    PROJECT,
    Change,
    MigrateError,
    Plan,
    Script,
    without_transactions,
)

_MARK = (
    "insert into {table} (migration_hash, migration_id, script_hash)"
    " values ({hash}, {id}, {script});"
)
_SCRIPT_HASH = "alter table {} add column if not exists script_hash text"
_CONFIRM = (
    "update {table} set applied_at_utc = clock_timestamp() at time zone 'utc'"
    " where migration_hash = {hash};"
)
_UNMARK = "delete from {table} where migration_hash = {hash};"
# The marks of all changes at once, and yoyo's log of them.
_REGISTER = """
with change as materialized (
  select c.hash, c.id, c.script, clock_timestamp() at time zone 'utc' as at
  from unnest({hashes}::text[], {ids}::text[], {scripts}::text[]) c (hash, id, script)
), logged as (
  insert into {log}
    (id, migration_hash, migration_id, operation, username, hostname, created_at_utc)
  select gen_random_uuid(), c.hash, c.id, 'apply', {user}, {host}, c.at from change c where {is_run}
)
insert into {table} (migration_hash, migration_id, script_hash, applied_at_utc)
select c.hash, c.id, c.script, c.at from change c
"""


class Backend(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """yoyo on psycopg. Its log names the database user; yoyo would read DNS and /etc/passwd.

    yoyo opens a session for each change. Here all changes share one, which is reset in between: to
    open it takes three times as long as the script of a small function.

    yoyo also looks twice for each change whether its own tables are up to date. Here each session
    looks once: while we hold the lock, nobody changes them.
    """

    _scripts: Scripts | None = None
    _is_current = False

    def copy(self) -> Scripts:
        if self._scripts is None or self._scripts.connection.closed:
            self._scripts = Scripts(self.uri, self.migration_table)
            self._scripts.connection.prepare_threshold = None  # a reset drops prepared statements
        return self._scripts

    def __exit__(self, *error: object) -> None:
        if self._scripts is not None:
            self._scripts.connection.close()
        self.connection.close()

    def ensure_internal_schema_updated(self) -> None:
        if not self._is_current:
            super().ensure_internal_schema_updated()
            self._is_current = True

    def get_log_data(self, migration: Any = None, operation: str = "apply") -> dict[str, Any]:
        return {
            "id": str(uuid.uuid4()),
            "migration_id": migration.id if migration else None,
            "migration_hash": migration.hash if migration else None,
            "username": self.connection.info.user,
            "hostname": socket.gethostname(),
            "created_at_utc": datetime.now(timezone.utc).replace(tzinfo=None),
            "operation": operation,
        }


class Scripts(Backend):
    """The session of the scripts. Each finds it as if it were new."""

    def __exit__(self, *error: object) -> None:
        if self.connection.closed:
            return
        self.connection.rollback()
        self.connection.execute("discard all")


class Step(Migration):  # type: ignore[misc]
    """A change as yoyo sees it: one step, whose scripts run whole."""

    def __init__(
        self, chain: Plan, change: Change, previous: Step | None, say: Say, *, verify: bool
    ) -> None:
        super().__init__(change.id, str(change.deploy), str(chain.path.parent))
        self.change = change
        self.chain = chain
        self.previous = previous
        self.say = say
        self.verify = verify

    @property
    def depends(self) -> set[Step]:
        return {self.previous} if self.previous else set()

    def process_steps(self, backend: Backend, direction: str, force: bool = False) -> None:
        conn = backend.connection
        conn.add_notice_handler(self._print_notice)
        try:
            self._set_path(conn)
            if direction == "rollback":
                self._send(conn, self.change.revert, _UNMARK)
                return
            self._send(conn, self.change.deploy, _MARK)
            self._confirm(conn)
        finally:
            conn.remove_notice_handler(self._print_notice)

    def resume(self, conn: psycopg.Connection[Any]) -> None:
        """Finish a change that was interrupted before its verify script."""
        self._set_path(conn)
        self._confirm(conn)

    def _send(self, conn: psycopg.Connection[Any], script: Script, mark: str) -> None:
        """Send a script with its mark; those of the engine are one transaction each, so they can be
        sent again."""
        if self.chain.project == PROJECT:
            database.execute_between_callers(conn, script, self.sql(mark, conn), self.say)
        else:
            database.execute(conn, script, self.sql(mark, conn))

    def _set_path(self, conn: psycopg.Connection[Any]) -> None:
        """Fix the search path for the engine, whose scripts name every schema; else the default.

        No script should see yoyo's own tables.
        """
        ours = self.chain.project == PROJECT
        conn.execute("set search_path = pg_catalog, pg_temp" if ours else "reset search_path")

    def _confirm(self, conn: psycopg.Connection[Any]) -> None:
        """Run the verify script, and say so in the mark, in one message. If it fails, revert the
        change and raise MigrateError."""
        confirm = self.sql(_CONFIRM, conn)
        if not self.verify:
            conn.execute(confirm)
            return
        try:
            database.execute(conn, self.change.verify, after=confirm)
        except MigrateError as error:
            try:
                database.execute(conn, self.change.revert, self.sql(_UNMARK, conn))
            except MigrateError as second:
                raise MigrateError(
                    f"{self.change.name} is deployed, but its verify and its revert scripts fail;"
                    f" repair the database by hand, then deploy again\n{error}\n{second}"
                ) from None
            raise MigrateError(
                f"{self.change.name} was reverted, because its verify script fails\n{error}"
            ) from None

    def sql(self, template: str, conn: psycopg.Connection[Any]) -> str:
        """One of the statements above, for this change."""
        values = {
            "hash": sql.Literal(self.hash),
            "id": sql.Literal(self.id),
            "script": sql.Literal(self.change.deploy.hash()),
        }
        table = sql.Identifier(self.chain.registry, "_yoyo_migration")
        return sql.SQL(template).format(table=table, **values).as_string(conn)

    def _print_notice(self, notice: psycopg.errors.Diagnostic) -> None:
        for line in database.said(notice):
            self.say(f"  {self.change.name}: {line}")


def steps_of(chain: Plan, say: Say, *, verify: bool = True) -> list[Step]:
    steps: list[Step] = []
    for change in chain.changes:
        steps.append(Step(chain, change, steps[-1] if steps else None, say, verify=verify))
    return steps


def install(backend: Backend, steps: list[Step], say: Say) -> bool:
    """Deploy the engine to a database without it: all of these changes in one message, which is one
    transaction; in place of all releases, today's sources. Nobody uses the tables yet, so no script
    has to let others pass.

    Return False if a script failed, and nothing is deployed: one by one, they say which and why.
    Raises MigrateError if that was a source beside releases, whose scripts would not say it.
    """
    texts = [f"{trust.PIN};"]
    chain = steps[0].chain
    is_whole = len(steps) == len(chain.changes)
    for change in chain.sources.changes if is_whole else [step.change for step in steps]:
        texts.append(change.deploy.read())
        texts += [change.verify.read()] if steps[0].verify else []
    with backend.copy() as copy:
        conn = copy.connection
        texts.append(f"{_registered(conn, steps, is_run=True)};")
        follows = development.recorded(conn, chain) if is_whole else ""
        notices: list[str] = []
        conn.add_notice_handler(lambda notice: notices.extend(database.said(notice)))
        whole = "\n".join([*without_transactions(texts), follows])
        try:
            psycopg.Cursor(conn).execute(whole.encode())
        except psycopg.Error as error:
            if is_whole and chain.sources is not chain:
                raise development.explained(error.diag, whole, chain) from error
            return False
    for step in steps:
        say(f"+ {step.change.name}")
    for line in notices:
        say(f"  {line}")
    return True


def register(backend: Backend, steps: list[Step]) -> None:
    """Mark all changes as deployed and verified, in one transaction."""
    with backend.copy() as copy:
        copy.connection.execute(_registered(copy.connection, steps, is_run=False).encode())


def _registered(conn: psycopg.Connection[Any], steps: list[Step], *, is_run: bool) -> str:
    """The statement that marks changes as deployed and verified, and says so in yoyo's log if their
    scripts have run."""
    registry = steps[0].chain.registry
    values: dict[str, Any] = {
        "hashes": [step.hash for step in steps],
        "ids": [step.id for step in steps],
        "scripts": [step.change.deploy.hash() for step in steps],
        "user": conn.info.user,
        "host": socket.gethostname(),
        "is_run": is_run,
    }
    tables = {
        "log": sql.Identifier(registry, "_yoyo_log"),
        "table": sql.Identifier(registry, "_yoyo_migration"),
    }
    literals = {name: sql.Literal(value) for name, value in values.items()}
    return sql.SQL(_REGISTER).format(**tables, **literals).as_string(conn)


@contextlib.contextmanager
def registry(conninfo: str, chain: Plan, say: Say) -> Iterator[Backend]:
    """yoyo's backend on the registry of a plan; holds the lock on the database."""
    with database.errors_as_advice(), database.connect(conninfo) as conn:
        database.refuse_shared_sessions(conn, conninfo)
        database.refuse_standby(conn)
        database.take_lock(conn, say)
        database.refuse_sqitch(conn, chain)
        conn.execute(
            sql.SQL("create schema if not exists {}").format(sql.Identifier(chain.registry))
        )
        # Asked only now: once it exists, nobody else can make it.
        usable = trust.trusted(conn, *database.schemas(chain))
        with Backend(_uri(conn, conninfo, chain), "_yoyo_migration") as backend:
            backend.init_database()
            # yoyo's lock is a row that outlives a killed process; as we hold our lock, it is stale.
            backend.break_lock()
            with backend.lock():
                backend.ensure_internal_schema_updated()
                table = sql.Identifier(chain.registry, "_yoyo_migration")
                conn.execute(sql.SQL(_SCRIPT_HASH).format(table))
                deployed = database.deployed(conn, chain)
                database.refuse_unknown(chain, deployed)
                database.refuse_dropped(chain, deployed, usable)
                yield backend


def finish_interrupted(backend: Backend, steps: list[Step], say: Say) -> None:
    """Verify changes that were interrupted between their commit and their verify script."""
    rows = backend.execute(
        "select migration_id from _yoyo_migration where applied_at_utc is null"
    ).fetchall()
    for step in steps:
        if (step.id,) in rows:
            say(f"= {step.change.name}: interrupted earlier, verifying")
            with backend.copy() as copy:
                step.resume(copy.connection)


def _uri(conn: psycopg.Connection[Any], conninfo: str, chain: Plan) -> DatabaseURI:
    """yoyo's form of an address, in parts, so that sockets and odd characters survive."""
    parts = {**conninfo_to_dict(conninfo), "schema": sql.Identifier(chain.registry).as_string(conn)}
    return DatabaseURI("postgresql+psycopg", None, None, None, None, conn.info.dbname, parts)
