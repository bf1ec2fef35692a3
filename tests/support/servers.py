"""Servers for the tests, and databases on them, made by pytest-postgresql."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.janitor import DatabaseJanitor

from qwf_agent import embedded, migrate
from support import get_pgtap

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = sorted((ROOT / "sql" / "tests" / "_support").rglob("*.sql"))
DEBIAN = Path("/usr/lib/postgresql")


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
SETTINGS = {
    "fsync": "off",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "shared_buffers": "64MB",
}
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 << 30  # for all servers of the tests


def temporary_folder() -> Path:
    """A new folder: in memory where there is room, as a database cloned for each test is a thousand
    small files, which a disk is slow to make and to delete."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= ENOUGH_BYTES:
            return Path(tempfile.mkdtemp(prefix="qwf-", dir=MEMORY))
    return Path(tempfile.mkdtemp(prefix="qwf-"))


@contextlib.contextmanager
def own_server(binaries: Path) -> Iterator[Server]:
    """A server in a temporary directory, gone afterwards."""
    folder = temporary_folder()
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
