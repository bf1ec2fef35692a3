"""The databases of a test session: a server, a template with the schema, and a copy for each
test."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from qwf_agent import embedded, migrate

# Without fsync, only a crash of the machine loses data.
FROM_NOW_ON = """
update qwf.schedules s set next_at = _qwf.next_fire(s, qwf.now())
where s.next_at is not null and s.backfill_of is null
"""
SETTINGS = {
    "fsync": "off",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "shared_buffers": "64MB",
}
FOLDERS = "qwf-tests-"  # begin of the name of a folder with a server
IN_USE = "in-use"  # a file that every process with an interest in the server has locked
MARK = "qwf_testing"  # a schema that only databases made here have


def start_server(folder: Path) -> str:
    """Start a server in the folder unless it runs; returns its address. Several processes may call
    this at once; `remove_server` belongs to the last one. Servers of processes that were killed
    are removed. Raises EmbeddedError."""
    _remove_abandoned(folder.parent)
    use(folder)
    with embedded.locked(folder):
        cluster = _cluster(folder)
        cluster.create()
        cluster.start(SETTINGS)
        return cluster.dsn("postgres")


def use(folder: Path) -> None:
    """Make the folder unless it is there, and keep others from removing it until this process ends,
    however it ends."""
    while True:
        folder.mkdir(mode=0o711, exist_ok=True)  # as root, the server runs as another user
        with contextlib.suppress(FileNotFoundError):  # it has just been removed
            lock = os.open(folder / IN_USE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_SH)
            if _is_at(lock, folder / IN_USE):
                return
            os.close(lock)


def remove_server(folder: Path) -> None:
    """Stop the server in the folder, if there is one, and delete the folder. Several processes may
    do this at once."""
    if folder.exists():
        _cluster(folder).stop(signal.SIGQUIT)
        removed = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
        with contextlib.suppress(FileNotFoundError):  # another process has done it
            folder.rename(removed)  # so nobody uses a folder that is half deleted
        shutil.rmtree(removed, ignore_errors=True)


@contextlib.contextmanager
def new_database(server: str, template: str | None = None) -> Iterator[str]:
    """A database on the server, empty or a copy of the template, until the end of the block.
    `server` and `template` are addresses, and so is what it yields. Raises RuntimeError if
    somebody is connected to the template, or if the address leads to another database."""
    database = f"qwf_test_{secrets.token_hex(6)}"
    name, address = sql.Identifier(database), _address(server, database)
    create = sql.SQL("create database {}").format(name)
    if template is not None:
        source = str(conninfo_to_dict(template)["dbname"])
        create += sql.SQL(" template {}").format(sql.Identifier(source))
    with psycopg.connect(server, autocommit=True) as conn:
        try:
            conn.execute(create)
        except psycopg.errors.ObjectInUse as error:
            raise RuntimeError(
                f"close every connection to qwf_template, because it is copied: {error}"
            ) from None
    try:
        if template is None:
            with psycopg.connect(address, autocommit=True) as conn:
                _mark(conn, database)
        else:
            with psycopg.connect(address, autocommit=True) as conn:
                _begin(conn)
        yield address
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(sql.SQL("drop database {} with (force)").format(name))


def deploy(dsn: str) -> None:
    """Deploy the schema in one transaction, which takes a second. It is not registered for
    `qwf migrate`, which takes ten."""
    with psycopg.connect(dsn) as conn:
        psycopg.Cursor(conn).execute(migrate.script(transaction=False))


def is_for_tests(conn: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Return True if the database was made here."""
    query = "select exists (select from pg_catalog.pg_namespace where nspname = %s)"
    return conn.execute(query, [MARK]).fetchone() == (True,)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{FOLDERS}*"):
        with contextlib.suppress(
            OSError, embedded.EmbeddedError
        ):  # it is in use, another user's, or just being removed
            if folder.lstat().st_uid == os.geteuid():
                with open(folder / IN_USE, "rb+") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_server(folder)


def _is_at(descriptor: int, path: Path) -> bool:
    """Return True if the path still leads to this open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _mark(conn: psycopg.Connection[tuple[object, ...]], database: str) -> None:
    """Mark the database as one that was made here."""
    ((found,),) = conn.execute("select current_database()").fetchall()
    if found != database:
        raise RuntimeError(
            f"the address leads to the database {found}, and not to the new one, {database}: give"
            " that of the server itself, not of a pooler that chooses the database"
        )
    conn.execute(sql.SQL("create schema {}").format(sql.Identifier(MARK)))


def _begin(conn: psycopg.Connection[tuple[object, ...]]) -> None:
    """The schedules of a copy begin now, whenever the template was made."""
    found = conn.execute("select to_regclass('qwf.schedules') is not null").fetchone()
    if found == (True,):
        conn.execute(FROM_NOW_ON)


def _cluster(folder: Path) -> embedded.Cluster:
    return embedded.Cluster(embedded.binaries(), folder / "postgres")


def _address(server: str, database: str) -> str:
    """The address of another database of the server; of a URL a URL, as many libraries need it."""
    if not server.startswith(("postgresql://", "postgres://")):
        return make_conninfo(server, dbname=database)
    # In a URL, `dbname` after the question mark wins over the path.
    others = {k: v for k, v in conninfo_to_dict(server).items() if k != "dbname"}
    return f"postgresql:///{database}?{urlencode(others, quote_via=quote)}"
