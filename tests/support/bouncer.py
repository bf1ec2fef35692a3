"""A real PgBouncer before the server of the tests."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
POOL = 3  # server connections, so that clients have to share
CONFIG = """
[databases]
shared = {server} pool_mode=transaction
own = {server} pool_mode=session pool_size=20
[pgbouncer]
listen_addr = {addresses}
listen_port = {port}
unix_socket_dir =
auth_type = any
default_pool_size = {pool}
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
server_reset_query = DISCARD ALL
logfile = {folder}/log
pidfile = {folder}/pid
"""


@dataclass
class Bouncer:
    """A running PgBouncer; `shared` pools by transaction, `own` by session."""

    port: int
    folder: Path
    user: pwd.struct_passwd | None
    process: subprocess.Popen[bytes]

    @property
    def shared(self) -> str:
        return self.dsn("shared")

    @property
    def own(self) -> str:
        return self.dsn("own")

    def restart(self) -> None:
        """As a service manager would: every client loses its connection."""
        self.stop()
        self.process = _start(self.folder, self.user)
        _wait(self.own)

    def restart_gently(self, patience_s: float = 2.0) -> None:
        """As `systemctl restart`: it may wait for its clients, is killed if they stay, and starts
        again."""
        self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience_s)
        self.restart()

    def reload(self) -> None:
        """Give it other sizes of its pools, and let it read them."""
        ini = self.folder / "ini"
        more, fewer = f"default_pool_size = {POOL}", f"default_pool_size = {POOL - 1}"
        text = ini.read_text()
        ini.write_text(text.replace(more, fewer) if more in text else text.replace(fewer, more))
        self._signal(signal.SIGHUP)

    def pause(self) -> None:
        """Let it hand out no more connections to the server, until `resume`."""
        self._signal(signal.SIGUSR1)

    def resume(self) -> None:
        self._signal(signal.SIGUSR2)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal, and wait until its log says that it has come."""
        log, text = self.folder / "log", f"got {number.name}"
        before = log.read_text().count(text)
        self.process.send_signal(number)
        deadline = time.monotonic() + 60
        while log.read_text().count(text) == before:
            assert time.monotonic() < deadline, f"PgBouncer ignores {number.name}"
            time.sleep(0.01)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def dsn(self, pool: str, address: str = "127.0.0.1") -> str:
        """Of a pool, as reached under one of its addresses."""
        return make_conninfo("", host=address, port=self.port, dbname=pool, user="any")


@contextlib.contextmanager
def bouncer(dsn: str, addresses: Iterable[str] = ()) -> Iterator[Bouncer]:
    """A PgBouncer before the database, which listens on these addresses beside 127.0.0.1."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed: apt-get install pgbouncer")
    given: dict[str, Any] = conninfo_to_dict(dsn)
    keys = ("host", "port", "user", "password", "dbname")
    server = " ".join(f"{key}={given[key]}" for key in keys if given.get(key))
    folder = Path(tempfile.mkdtemp(prefix="qwf-pgbouncer-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"server": server, "port": port, "pool": POOL, "folder": folder}
    listens = ", ".join({"127.0.0.1", *addresses})
    (folder / "ini").write_text(CONFIG.format(addresses=listens, **settings))
    user = _user(given["host"])
    if user is not None:
        for path in (folder, folder / "ini"):
            os.chown(path, user.pw_uid, user.pw_gid)
    running = Bouncer(port, folder, user, _start(folder, user))
    try:
        _wait(running.own)
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder)


def _user(host: str) -> pwd.struct_passwd | None:
    """Whom to run it as: it refuses root, and has to reach the socket of the server."""
    if os.getuid() != 0:
        return None
    if host.startswith("/"):
        return pwd.getpwuid(Path(host).stat().st_uid)
    return pwd.getpwnam("nobody")


def _start(folder: Path, user: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    assert PROGRAM is not None
    (folder / "pid").unlink(missing_ok=True)
    return subprocess.Popen(
        [PROGRAM, "-q", *(["-u", user.pw_name] if user else []), str(folder / "ini")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _wait(dsn: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "PgBouncer does not answer"
            time.sleep(0.05)
        else:
            return
