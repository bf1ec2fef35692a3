"""The systems: how to install each, and how to start it with its server."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from psycopg.conninfo import conninfo_to_dict

from bench.measure import until
from bench.peers import install
from bench.peers.systems import call
from bench.processes import spawned
from bench.server import Server
from bench.workflows.running import Peer, Qwf, Running, Setting
from bench.workflows.talk import talking

PREFECT_VENV = install.HERE / ".venv-prefect"
HOST = "127.0.0.1"
READY = b'bench {"ready"'


@dataclass(frozen=True)
class System:
    """A workflow engine."""

    name: str
    install: Callable[[], None]
    started: Callable[[Server, Setting], AbstractContextManager[Running]]
    leases: bool = False  # one can set how long a worker that disappeared keeps its work
    computes: bool = True  # it takes part in Windmill's comparison
    share: float = 1.0  # share of the usual number of workflows: slow systems get fewer


@contextlib.contextmanager
def qwf(server: Server, setting: Setting) -> Iterator[Running]:
    """An agent with as many children as there are workers."""
    with server.database() as base:
        running = Qwf(server.postmaster().pid, base, setting)
        with going(running):
            yield running


@contextlib.contextmanager
def dbos(server: Server, setting: Setting) -> Iterator[Running]:
    """Steps run in the process that starts the workflow; queued ones in processes of their own."""
    python, script = str(install.WORKFLOWS_PYTHON), str(install.HERE / "dbos_peer.py")
    with server.database(deploy_dbos) as base:
        place = {"BENCH_DSN": url(base.dsn)}
        works = [[python, script, "work", f"worker-{n}"] for n in range(setting.workers)]
        running = Peer(
            [server.postmaster().pid],
            base,
            lambda: talking([python, script, "drive"], install.HERE, place),
            (lambda: spawned(works, READY, place)) if setting.queued else None,
        )
        with going(running):
            yield running


@contextlib.contextmanager
def celery(server: Server, setting: Setting) -> Iterator[Running]:
    """A worker with forked children, and Redis, which writes each command to the disk at once."""
    with redis() as (pid, port):
        place = {"BENCH_REDIS": f"redis://{HOST}:{port}/0", "PYTHONPATH": str(install.HERE)}
        if setting.lease is not None:
            place["BENCH_LATE"] = f"{setting.lease:g}"
        python = str(install.WORKFLOWS_PYTHON)
        work = [
            python, "-m", "celery", "-A", "celery_peer", "worker",
            "-c", str(setting.workers), "-l", "error",
        ]  # fmt: skip
        running = Peer(
            [pid],
            None,
            lambda: talking([python, str(install.HERE / "celery_peer.py")], install.HERE, place),
            lambda: spawned([work], READY, place),
            lambda: {"aof_bytes": appended(port)},
        )
        with going(running):
            yield running


@contextlib.contextmanager
def prefect(server: Server, setting: Setting) -> Iterator[Running]:
    """Prefect's server on SQLite, its default, because on Postgres it needs pg_trgm, which the
    embedded server does not have. Flows and tasks run in the process that starts them."""
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        settings = {
            "PREFECT_HOME": home,
            "PREFECT_API_URL": f"http://{HOST}:{port}/api",
            "PREFECT_LOGGING_LEVEL": "ERROR",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_UI_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }
        serve = [
            str(PREFECT_VENV / "bin" / "prefect"), "server", "start", "--host", HOST,
            "--port", str(port),
        ]  # fmt: skip
        program = [str(PREFECT_VENV / "bin" / "python"), str(install.HERE / "prefect_peer.py")]
        with spawned([serve], b"", settings) as (process,):
            health = f"http://{HOST}:{port}/api/health"
            until(lambda: process.poll() is not None or answers(health), "Prefect's server")
            running = Peer([process.pid], None, lambda: talking(program, install.HERE, settings))
            with going(running):
                yield running


@contextlib.contextmanager
def going(running: Running) -> Iterator[None]:
    """Have the workers run within the context."""
    running.start()
    try:
        yield
    finally:
        running.stop()


def deploy_dbos(dsn: str) -> None:
    """Create the tables of DBOS."""
    script = str(install.HERE / "dbos_peer.py")
    call([str(install.WORKFLOWS_PYTHON), script, "migrate"], dsn, BENCH_DSN=url(dsn))


def url(dsn: str) -> str:
    """The address of a database as SQLAlchemy reads it."""
    found = {key: str(value) for key, value in conninfo_to_dict(dsn).items()}
    name, user, password = (found.pop(key, "") for key in ("dbname", "user", "password"))
    who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    return f"postgresql://{who}@/{quote(name, safe='')}?{urlencode(found)}"


@contextlib.contextmanager
def redis() -> Iterator[tuple[int, int]]:
    """The process and the port of a Redis that flushes each command to the disk."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [
            shutil.which("redis-server") or "redis-server", "--bind", HOST, "--port", str(port),
            "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
        ]  # fmt: skip
        with spawned([command], b"Ready to accept connections", {}) as (process,):
            yield process.pid, port


def appended(port: int) -> float:
    """Bytes in the file to which Redis appends."""
    with socket.create_connection((HOST, port), 5) as conn:
        conn.sendall(b"INFO persistence\r\n")
        text = b""
        while b"aof_current_size:" not in text or not text.endswith(b"\r\n"):
            text += conn.recv(65_536)
    return float(text.partition(b"aof_current_size:")[2].split()[0])


def install_celery() -> None:
    """Install Celery; Redis has to be there."""
    if shutil.which("redis-server") is None:
        raise install.CannotInstall("redis-server is missing (Debian: apt-get install redis)")
    install.workflows()


def install_prefect() -> None:
    """Install Prefect."""
    install.environment(PREFECT_VENV, "requirements-prefect.txt")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port


def answers(address: str) -> bool:
    """Return True if a server is up."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.suppress(OSError):
        return bool(direct.open(address, timeout=5).status == 200)
    return False


QWF = System("qwf", lambda: None, qwf, leases=True)
ALL = (
    QWF,
    System("dbos", install.workflows, dbos),
    System("celery", install_celery, celery, leases=True),
    System("prefect", install_prefect, prefect, computes=False, share=0.05),
)
