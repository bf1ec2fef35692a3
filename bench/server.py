"""The server a benchmark runs on, and a fresh database for each measurement."""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from qwf_agent import embedded, migrate

# Durable; otherwise the settings that the peers' own benchmarks use.
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "700",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
}
SHOWN = (*SETTINGS, "wal_level", "jit", "autovacuum", "checkpoint_timeout", "random_page_cost")
PREFIX = "qwf-bench-"
NUMBERS = itertools.count()  # of the databases that this process creates


class BenchError(Exception):
    """A measurement failed. The message says which one and why."""


class Database:
    """The database of one measurement, with an autocommit session for observing it."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.connect()

    def connect(self) -> None:
        """Open the session; call it again after the server has crashed."""
        self.conn: psycopg.Connection[Any] = psycopg.connect(self.dsn, autocommit=True)
        self.conn.execute("set client_min_messages = warning")

    def value(self, query: str, *params: Any) -> Any:
        """The first column of the first row, or None if there is no row."""
        row = self.conn.execute(query, params).fetchone()
        return row[0] if row else None


@dataclass
class Server:
    """A running server; `cluster` is None if the server was given with --dsn."""

    dsn: str
    cluster: embedded.Cluster | None = None
    templates: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def database(self, deploy: Callable[[str], Any] = migrate.deploy) -> Iterator[Database]:
        """A fresh database prepared by `deploy`, dropped afterwards. `deploy` runs once per server,
        on a template."""
        kind = deploy_name(deploy)
        if kind not in self.templates:
            template = self._create("template1")
            deploy(self.at(template))
            self.templates[kind] = template
        name = self._create(self.templates[kind])
        try:
            base = Database(self.at(name))
            try:
                yield base
            finally:
                base.conn.close()
        finally:
            self._drop(name)

    def at(self, database: str) -> str:
        """The DSN of a database on this server."""
        return make_conninfo(self.dsn, dbname=database)

    def facts(self) -> dict[str, Any]:
        """Machine, server and settings, without which a figure means nothing."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            rows = conn.execute(
                "select name, current_setting(name) from pg_settings where name = any (%s)",
                [list(SHOWN)],
            ).fetchall()
            version = conn.execute("show server_version").fetchone()
        return {
            "machine": _machine(),
            "postgres": version[0] if version else "",
            "server": "embedded" if self.cluster else "given with --dsn",
            "settings": dict(sorted(rows)),
            "load_before": round(os.getloadavg()[0], 1),
        }

    def cpu_seconds(self) -> float:
        """CPU seconds that all processes of the server have used, including those that ended.

        Raises BenchError if the server runs on another machine.
        """
        return of_tree(self.postmaster().pid)

    def postmaster(self) -> psutil.Process:
        """The server's main process. Raises BenchError if it is not on this machine."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            row = conn.execute("select pg_backend_pid()").fetchone()
            with contextlib.suppress(psutil.Error):
                parent = psutil.Process(row[0] if row else 0).parent()
                if parent is not None and parent.name().startswith("postgres"):
                    return parent
        raise BenchError("the server runs on another machine: its CPU time cannot be read")

    def crash(self) -> None:
        """Kill the server and all its sessions, as a crash would, and start it again."""
        if self.cluster is None:
            raise BenchError("the benchmark must not kill a server given with --dsn")
        postmaster = self.postmaster()
        for process in (postmaster, *postmaster.children()):
            with contextlib.suppress(psutil.Error):
                process.kill()
        self.cluster.start(SETTINGS)

    def drop_templates(self) -> None:
        """Drop the templates, so that nothing is left behind on a server given with --dsn."""
        for name in self.templates.values():
            self._drop(name)

    def _create(self, template: str) -> str:
        name = f"qwf_bench_{os.getpid()}_{next(NUMBERS)}"
        create = sql.SQL("create database {} template {}")
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def _drop(self, name: str) -> None:
        drop = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(drop)


def deploy_name(deploy: Callable[[str], Any]) -> str:
    """The key of a template: the function's name, and the name of the object it belongs to."""
    owner = getattr(getattr(deploy, "__self__", None), "name", "")
    return " ".join(filter(None, (f"{deploy.__module__}.{deploy.__qualname__}", owner)))


@contextlib.contextmanager
def start(dsn: str | None) -> Iterator[Server]:
    """The server at `dsn`, or a new one that is removed afterwards."""
    if dsn is not None:
        server = Server(dsn)
        try:
            yield server
        finally:
            server.drop_templates()
        return
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    folder.chmod(0o711)  # under root, another user runs the server and has to get in
    cluster = embedded.Cluster(embedded.binaries(), folder / "data")
    try:
        cluster.create()
        cluster.start(SETTINGS)
        yield Server(cluster.dsn("postgres"), cluster)
    finally:
        cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


def of_tree(pid: int) -> float:
    """CPU seconds of a process and all its descendants, including those that ended."""
    total = 0.0
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])  # its own, and its ended children's
    return total


def of_itself(pid: int) -> float:
    """CPU seconds of a process without its descendants."""
    with contextlib.suppress(psutil.Error):
        return float(sum(psutil.Process(pid).cpu_times()[:2]))
    return 0.0


def remove_leftovers() -> None:
    """Stop and remove the servers of benchmarks that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            embedded.Cluster(Path(), folder / "data").stop(signal.SIGQUIT)
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    memory = round(psutil.virtual_memory().total / 2**30)
    return f"{os.cpu_count()} cores ({model}), {memory} GiB, {platform.system()}"
