"""Servers, databases and sessions for the tests.

Tests take `dsn` (a fresh database with the engine in it) or `db` (a session on one). The databases
are cloned by pytest-postgresql from a template that is deployed once per server. The server is an
embedded one of this test session's own; with QWF_TEST_DSN it is the one named there, where only
databases made here, next to the named one, are touched.
"""

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
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.janitor import DatabaseJanitor

import get_pgtap
from qwf_agent import embedded, migrate

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = sorted((ROOT / "sql" / "tests" / "_support").rglob("*.sql"))
DEBIAN = Path("/usr/lib/postgresql")


def pytest_configure(config: pytest.Config) -> None:
    given = os.environ.get("QWF_TEST_DSN")
    if given and not str(conninfo_to_dict(given).get("dbname", "")).endswith("_test"):
        raise pytest.UsageError("QWF_TEST_DSN: the name of the database must end in _test")


@dataclass
class Server:
    """A running server; `cluster` is None where it is somebody else's."""

    host: str
    port: int
    user: str
    password: str | None = None
    prefix: str = "qwf"
    maintenance: str = "postgres"
    cluster: embedded.Cluster | None = None
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def start(self) -> None:
        """Start it again, with recovery where it was not stopped in order."""
        self._own().start(SETTINGS)

    def stop_immediate(self) -> None:
        """Stop it as a crash would: sessions are cut, nothing is flushed."""
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
        """A name that no other database of this or another test process has."""
        return f"{self.prefix}_{os.getpid()}_{next(self.numbers)}_test"

    @contextlib.contextmanager
    def database(
        self, name: str, template: str | None = None, *, as_template: bool = False
    ) -> Iterator[DatabaseJanitor]:
        """A database for as long as the context lasts."""
        janitor = DatabaseJanitor(
            user=self.user,
            host=self.host,
            port=self.port,
            password=self.password,
            dbname=name,
            template_dbname=template,
            as_template=as_template,
            maintenance_dbname=self.maintenance,
        )
        with janitor:
            yield janitor

    def _own(self) -> embedded.Cluster:
        if self.cluster is None:
            pytest.skip("this test stops the server, and QWF_TEST_DSN names somebody else's")
        return self.cluster


# A crash of the server alone loses nothing without fsync; only a crash of the machine would.
SETTINGS = {"fsync": "off", "max_connections": "200", "shared_buffers": "64MB"}


@contextlib.contextmanager
def own_server(binaries: Path) -> Iterator[Server]:
    """A server in a temporary directory, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="qwf-"))
    cluster = embedded.Cluster(binaries, folder / "data")
    try:
        cluster.create()
        cluster.start(SETTINGS)
        host = cluster.socket_dir()
        assert host is not None
        yield Server(str(host), embedded.PORT, embedded.USER, cluster=cluster)
    finally:
        cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder)


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


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server of this test process: the newest Postgres there is, or the one given."""
    given = os.environ.get("QWF_TEST_DSN")
    with given_server(given) if given else own_server(embedded.binaries()) as found:
        yield found


@contextlib.contextmanager
def deployed(server: Server) -> Iterator[NoopExecutor]:
    """pytest-postgresql's idea of a server, with a template that has the engine and pgTAP in it."""
    executor = NoopExecutor(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        dbname=server.new_name(),
        options="",
    )
    with server.database(executor.template_dbname, as_template=True) as janitor:
        janitor.load(migrate.deploy)
        janitor.load(load_sql)
        yield executor


def load_sql(**connection: Any) -> None:
    """Load pgTAP into schema public, and what sql/tests/_support has into schema qwf_test."""
    with psycopg.connect(**{**connection, "autocommit": True}) as conn:
        conn.execute(get_pgtap.get().read_text(encoding="utf-8"))
        conn.execute("create schema qwf_test")
        for file in SUPPORT:
            conn.execute(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def template(server: Server) -> Iterator[str]:
    """Name of the database that fresh ones are cloned from."""
    with deployed(server) as executor:
        yield executor.template_dbname


@pytest.fixture
def dsn(server: Server, template: str) -> Iterator[str]:
    """Address of a fresh database with the engine in it."""
    with server.database(server.new_name(), template) as janitor:
        yield server.dsn(janitor.dbname)


@pytest.fixture
def empty_dsn(server: Server) -> Iterator[str]:
    """Address of a fresh database with nothing in it."""
    with server.database(server.new_name()) as janitor:
        yield server.dsn(janitor.dbname)


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A session, in autocommit, on a fresh database with the engine in it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[[], psycopg.Connection[Any]]]:
    """Opens further sessions, in autocommit, on the database of `dsn`."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(psycopg.connect(dsn, autocommit=True))
