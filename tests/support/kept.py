"""Databases and sessions that one test after the other uses, each of which finds them as new.

A session that is new compiles each function again, which takes most of the time of a short test,
and so does a clone of a database. After a test, its rows are deleted, numbers begin again, and
sessions forget what was set. A database is dropped if the test changed anything else in it: a
function, a table, statistics; or left much. With QWF_TEST_ALL=1 each test has one of its own.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import psycopg
from psycopg import generators
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus, PGconn, TransactionStatus
from psycopg.rows import tuple_row

from support.servers import ROOT, Server, Session
from support.thorough import THOROUGH

TESTS = 1 if THOROUGH else 40  # of a database
SESSIONS = 6  # that wait for the next test
FORGET = (
    b"close all; reset session authorization; reset all; select pg_advisory_unlock_all();"
    b" discard sequences; discard temp"
)
SCHEMA = ROOT / "tests" / "support" / "kept.sql"
OTHER_SESSIONS = """
  select a.pid from pg_stat_activity a
  where a.datname = current_database() and a.pid <> all (%s) and a.pid <> pg_backend_pid()
    and a.backend_type in ('client backend', 'walsender', 'background worker')
"""


class Reused:
    """Sessions that the product has closed, which wait until it opens one with the same address.

    The product gets a new connection of psycopg around a session that has forgotten what was set.
    Sessions of logins that a test makes, which another test drops, are not kept.
    """

    def __init__(self, dsn: str) -> None:
        self._own = who_and_where(dsn)
        self._waiting: dict[str, list[PGconn]] = defaultdict(list)
        self._finished = PGconn.connect_start(b"host=/nowhere")
        self._finished.finish()

    def pids(self) -> list[int]:
        """Their processes."""
        return [session.backend_pid for found in self._waiting.values() for session in found]

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Keep what is closed, and give it again, until the end of the block."""
        new, close, close_async = (
            generators.connect, psycopg.Connection.close, psycopg.AsyncConnection.close,
        )  # fmt: skip
        given: dict[PGconn, str] = {}

        def connect(address: str, **options: Any) -> Any:
            found = self._waiting[address]
            while found:
                session = found.pop()
                if may_go_on(session):
                    given[session] = address
                    return session
                session.finish()
            session = yield from new(address, **options)
            if who_and_where(address) == self._own:
                given[session] = address
            return session

        def kept(connection: Any) -> None:
            """Keep the session of a connection that is about to be closed."""
            address = given.pop(connection.pgconn, None)
            pool = getattr(connection, "_pool", None)
            returns = pool is not None and getattr(pool, "close_returns", False)
            if address is None or returns or not has_forgotten(connection.pgconn):
                return
            self._waiting[address].append(connection.pgconn)
            connection.pgconn = self._finished

        def closing(connection: Any) -> None:
            kept(connection)
            close(connection)

        async def closing_async(connection: Any) -> None:
            kept(connection)
            await close_async(connection)

        with (
            mock.patch.object(generators, "connect", connect),
            mock.patch.object(psycopg.Connection, "close", closing),
            mock.patch.object(psycopg.AsyncConnection, "close", closing_async),
        ):
            yield

    def close(self) -> None:
        for found in self._waiting.values():
            while found:
                found.pop().finish()


class Database:
    """A clone of the template, and its sessions."""

    def __init__(self, server: Server, template: str) -> None:
        self._ends = contextlib.ExitStack()
        janitor = self._ends.enter_context(server.database(server.new_name(), template))
        self.dsn = server.dsn(janitor.dbname)
        self.tests = 0
        self._idle: list[Session] = []
        self._given: list[Session] = []
        self.reused = Reused(self.dsn)
        self._keeper = psycopg.connect(self.dsn, autocommit=True, prepare_threshold=1)
        self._ends.callback(self._keeper.close)

    def connect(self) -> Session:
        """A session, in autocommit, in which nothing is set."""
        session = self._idle.pop() if self._idle else psycopg.connect(self.dsn, autocommit=True)
        self._given.append(session)
        return session

    def lives(self) -> bool:
        """Return False if its sessions were cut, as by a test that has stopped the server."""
        with contextlib.suppress(psycopg.Error):
            self._keeper.execute("select 1")
            return True
        return False

    def clean(self) -> str | None:
        """Make it as it was, with its sessions; returns why that cannot be."""
        try:
            self._take_back()
            self._end_others()
            self._keeper.execute("select kept.clean()")
        except psycopg.Error as error:
            return str(error)
        return None

    def close(self) -> None:
        for session in [*self._idle, *self._given]:
            session.close()
        self.reused.close()
        self._ends.close()

    def _take_back(self) -> None:
        """Keep the sessions that can forget what was done in them; end the others."""
        for session in self._given:
            if len(self._idle) < SESSIONS and as_new(session):
                self._idle.append(session)
            else:
                session.close()
        self._given.clear()

    def _end_others(self) -> None:
        """End sessions that the test has left; wait for those that end."""
        mine = [*(session.info.backend_pid for session in self._idle), *self.reused.pids()]
        until = time.monotonic() + 10
        while others := self._keeper.execute(OTHER_SESSIONS, [mine]).fetchall():
            if time.monotonic() > until:
                raise psycopg.OperationalError("sessions do not end")
            self._keeper.execute(
                "select pg_terminate_backend(p) from unnest(%s::int[]) p",
                [[pid for (pid,) in others]],
            )
            time.sleep(0.002)


def write_down(session: Session) -> None:
    """Give a template what cleans its clones."""
    session.execute(SCHEMA.read_bytes())


def as_new(session: Session) -> bool:
    """Let a session forget what was set in it; returns False if it cannot."""
    if session.closed or session.broken:
        return False
    try:
        if session.info.transaction_status != TransactionStatus.IDLE:
            session.rollback()
        if session.pgconn.exec_(b"select pg_listening_channels()").ntuples:
            return False  # notifications may be on their way
        result = session.pgconn.exec_(FORGET)
        session.autocommit, session.row_factory = True, tuple_row
        session.isolation_level = session.read_only = session.deferrable = None
    except psycopg.Error:
        return False
    return (
        result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
        and session.info.transaction_status == TransactionStatus.IDLE
    )


def who_and_where(address: str) -> tuple[object, object]:
    """The login and the database of an address."""
    said = conninfo_to_dict(address)
    return said.get("user"), said.get("dbname")


def has_forgotten(session: PGconn) -> bool:
    """Let a session forget what was set and prepared in it; returns False if it cannot."""
    with contextlib.suppress(psycopg.Error):
        if session.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            session.exec_(b"rollback")
        if session.transaction_status != TransactionStatus.IDLE:
            return False
        if session.exec_(b"select pg_listening_channels()").ntuples:
            return False  # notifications may be on their way
        flush = b"; select pg_stat_force_next_flush(); deallocate all"  # as the end of a session
        return session.exec_(FORGET + flush).status == ExecStatus.COMMAND_OK
    return False


def may_go_on(session: PGconn) -> bool:
    """Return True if a session that has waited still answers, and nobody has dropped its role."""
    with contextlib.suppress(psycopg.Error):
        return session.exec_(b"select current_user").status == ExecStatus.TUPLES_OK
    return False


class Databases:
    """Lends one database to one test after the other."""

    def __init__(self, server: Server, template: str) -> None:
        self._ends = contextlib.ExitStack()
        filled = self._ends.enter_context(server.filled(template, write_down))
        self._new: Callable[[], Database] = lambda: Database(server, filled)
        self._clean: Database | None = None

    @contextlib.contextmanager
    def lent(self) -> Iterator[Database]:
        """A clean database."""
        database, self._clean = self._clean, None
        if database is not None and not database.lives():
            database.close()
            database = None
        database = database or self._new()
        try:
            yield database
        finally:
            database.tests += 1
            if database.tests < TESTS and database.clean() is None:
                self._clean = database
            else:
                database.close()

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Database]:
        """A new database that no other test gets."""
        with contextlib.closing(self._new()) as database:
            yield database

    def close(self) -> None:
        if self._clean is not None:
            self._clean.close()
            self._clean = None
        self._ends.close()
