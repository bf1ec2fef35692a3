"""Servers for the tests, with databases made by pytest-postgresql."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.janitor import DatabaseJanitor
from pytest_postgresql.retry import retry

from qwf_agent import embedded, migrate
from support import get_pgtap
from support.thorough import THOROUGH

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = sorted((ROOT / "sql" / "tests" / "_support").rglob("*.sql"))
DEBIAN = Path("/usr/lib/postgresql")
Session = psycopg.Connection[Any]


class Janitor(DatabaseJanitor):
    """Ends only the sessions of clients: a login that is no superuser may not end autovacuum, which
    `drop database` does itself."""

    @staticmethod
    def _terminate_connection(cur: Any, dbname: str) -> None:
        cur.execute(
            "select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = %s"
            " and a.backend_type in ('client backend', 'walsender', 'background worker')",
            [dbname],
        )


class QuickJanitor(DatabaseJanitor):
    """Makes and drops a database in a third of the time, on a server that the tests started.

    It keeps its session for the next database. `file_copy` writes no WAL for the pages of the copy.
    """

    server: Server

    def init(self) -> None:
        query = self._build_create_database_sql()
        if self.template_dbname:
            query += sql.SQL(" strategy file_copy")
        self.server.keeper().execute(query)

    def drop(self) -> None:
        name, keeper = sql.Identifier(self.dbname), self.server.keeper()
        if self.is_template():
            keeper.execute(sql.SQL("alter database {} with is_template false").format(name))
        keeper.execute(sql.SQL("drop database if exists {} with (force)").format(name))


@dataclass
class Server:
    """A running server; `cluster` is None if the tests did not start it."""

    host: str
    port: int
    user: str
    password: str | None = None
    prefix: str = "qwf"
    maintenance: str = "postgres"
    cluster: embedded.Cluster | None = None
    numbers: Iterator[int] = field(default_factory=itertools.count)
    kept: Session | None = None

    def start(self) -> None:
        """Start it again, with crash recovery if needed."""
        self._own().start(SETTINGS)

    def stop_immediate(self) -> None:
        """Stop it like a crash: sessions are cut, nothing is flushed."""
        self._own().stop(signal.SIGQUIT)

    def dsn(self, database: str) -> str:
        return make_conninfo(
            "",
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=database,
        )

    def new_name(self) -> str:
        """A database name that is unique across test processes."""
        return f"{self.prefix}_{os.getpid()}_{next(self.numbers)}_test"

    @contextlib.contextmanager
    def database(
        self, name: str, template: str | None = None, *, as_template: bool = False
    ) -> Iterator[Janitor]:
        """A database that lives as long as the context."""
        janitor = (Janitor if self.cluster is None else QuickJanitor)(
            user=self.user,
            host=self.host,
            port=self.port,
            password=self.password,
            dbname=name,
            template_dbname=template,
            as_template=as_template,
            maintenance_dbname=self.maintenance,
        )
        if isinstance(janitor, QuickJanitor):
            janitor.server = self
        with janitor:
            yield janitor

    def keeper(self) -> Session:
        """The session that makes and drops databases; a new one if a test has cut it."""
        if self.kept is not None:
            with contextlib.suppress(psycopg.OperationalError):
                self.kept.execute("select 1")
                return self.kept
            self.kept.close()
        self.kept = retry(
            lambda: psycopg.connect(self.dsn(self.maintenance), autocommit=True),
            timeout=60,
            possible_exception=psycopg.OperationalError,  # it recovers from a crash
        )
        return self.kept

    def close(self) -> None:
        """End the session that makes and drops databases."""
        if self.kept is not None:
            self.kept.close()
            self.kept = None

    @contextlib.contextmanager
    def filled(self, template: str, fill: Callable[[Session], object]) -> Iterator[str]:
        """Name of a copy of the template in which something was done, to clone from."""
        with self.database(self.new_name(), template, as_template=True) as janitor:
            with psycopg.connect(self.dsn(janitor.dbname), autocommit=True) as session:
                fill(session)
            yield janitor.dbname

    @contextlib.contextmanager
    def session(self, template: str) -> Iterator[Session]:
        """A session, in autocommit, on a fresh clone of the template."""
        with (
            self.database(self.new_name(), template) as janitor,
            psycopg.connect(self.dsn(janitor.dbname), autocommit=True) as session,
        ):
            yield session

    def _own(self) -> embedded.Cluster:
        if self.cluster is None:
            pytest.skip("this test stops the server, and QWF_TEST_DSN names somebody else's")
        return self.cluster


# Without fsync, only a crash of the machine loses data, not a crash of the server. The same is true
# without whole pages in the WAL, of which each clone of a database would begin with many.
# Nor does autovacuum come by, whose statistics would change what a test finds.
SETTINGS = {
    "autovacuum_naptime": "1h",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "shared_buffers": "64MB",
    "wal_init_zero": "off",
}
if not THOROUGH:  # Debian's servers compile plans: reading each view once takes 14 s instead of 0.2
    SETTINGS["jit"] = "off"
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 << 30  # for all servers of the tests


def temporary_folder() -> Path:
    """A new folder, in memory if there is room.

    Each test clones a database of a thousand small files, which a disk creates and deletes slowly.
    """
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= ENOUGH_BYTES:
            return Path(tempfile.mkdtemp(prefix="qwf-", dir=MEMORY))
    return Path(tempfile.mkdtemp(prefix="qwf-"))


@contextlib.contextmanager
def own_server(binaries: Path, folder: Path | None = None) -> Iterator[Server]:
    """A server in a folder, or a temporary one; its data is deleted afterwards."""
    given, folder = folder, folder or temporary_folder()
    cluster = embedded.Cluster(binaries, folder / "data")
    try:
        cluster.create()
        cluster.start(SETTINGS)
        host = cluster.socket_dir()
        assert host is not None
        with contextlib.closing(
            Server(str(host), embedded.PORT, embedded.USER, cluster=cluster)
        ) as server:
            yield server
    finally:
        cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder if given is None else cluster.data)


@contextlib.contextmanager
def given_server(dsn: str) -> Iterator[Server]:
    """The server that QWF_TEST_DSN names."""
    with psycopg.connect(dsn) as conn:
        info = conn.info
        yield Server(
            info.host,
            info.port,
            info.user,
            info.password or None,
            prefix=info.dbname.removesuffix("_test"),
            maintenance=info.dbname,
        )


@contextlib.contextmanager
def deployed(server: Server) -> Iterator[NoopExecutor]:
    """The server for pytest-postgresql, with a template database that has the engine and pgTAP."""
    executor = NoopExecutor(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        dbname=server.new_name(),
        options="",
    )
    with server.database(executor.template_dbname, as_template=True) as janitor:
        janitor.load(deploy_at_once)
        janitor.load(load_sql)
        yield executor


def deploy_at_once(**connection: Any) -> None:
    """Deploy as `migrate.deploy` does, in one message; a test compares the two databases."""
    with psycopg.connect(**{**connection, "autocommit": True}) as conn:
        conn.execute(migrate.script().encode())
    migrate.adopt(**connection)


def load_sql(**connection: Any) -> None:
    """Load pgTAP into schema public, and sql/tests/_support into schema qwf_test."""
    with psycopg.connect(**{**connection, "autocommit": True}) as conn:
        conn.execute(get_pgtap.get().read_text(encoding="utf-8"))
        conn.execute("create schema qwf_test")
        for file in SUPPORT:
            conn.execute(file.read_text(encoding="utf-8"))
