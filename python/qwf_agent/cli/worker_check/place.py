"""The database that the worker is checked on: a temporary server, or the one that is named."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from qwf_agent import embedded, migrate
from qwf_agent.migrate import trust

DATABASE = "worker_check"
LOGIN = "checked_worker"
SERVER_SETTINGS = {"fsync": "off", "max_wal_size": "128MB", "shared_buffers": "32MB"}
# Short, so that the checks of stops and cancellations are, too.
TIMES = {"heartbeat": "1 s", "cancel_grace": "1 s", "stop_grace": "4 s"}


@dataclass(frozen=True)
class Place:
    """Addresses for the kit and for the worker. `own_login`: nobody but the worker uses its login,
    so that its sessions can be told from those of others, and cut. `own_server`: the server is a
    temporary one, which nobody else uses."""

    dsn: str
    worker_dsn: str
    own_login: bool
    own_server: bool = False


def named(dsn: str, worker_dsn: str | None) -> Place:
    """The database of `dsn`; the worker connects as `worker_dsn` says, or in the same way."""
    if worker_dsn is None:
        return Place(dsn, dsn, own_login=False)
    users = {conninfo_to_dict(one).get("user") for one in (dsn, worker_dsn)}
    return Place(dsn, worker_dsn, own_login=len(users) > 1)


@contextlib.contextmanager
def temporary() -> Iterator[Place]:
    """A server with the engine in a folder of its own, until the end of the block. The login of the
    worker has the role qwf_worker and no other. Raises EmbeddedError."""
    folder = Path(tempfile.mkdtemp(prefix="qwf-worker-check-"))
    folder.chmod(0o711)  # as root, the server runs as another user
    cluster = embedded.Cluster(embedded.binaries(), folder / "postgres")
    try:
        cluster.create()
        cluster.start(SERVER_SETTINGS)
        cluster.ensure_database(DATABASE)
        dsn = cluster.dsn(DATABASE)
        with psycopg.connect(dsn, cursor_factory=trust.PinnedCursor) as conn:
            psycopg.Cursor(conn).execute(migrate.script(transaction=False).encode())
            conn.execute(f"create role {LOGIN} login in role qwf_worker")
            conn.execute("select qwf.change_settings(%s)", [Jsonb(TIMES)])
        yield Place(dsn, make_conninfo(dsn, user=LOGIN), own_login=True, own_server=True)
    finally:
        cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)
