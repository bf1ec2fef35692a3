"""A real standby of a server of the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from qwf_agent import embedded, migrate
from support.harness import until
from support.servers import SETTINGS, Server, own_server, temporary_folder

Db = psycopg.Connection[Any]


@contextlib.contextmanager
def standby_of(primary: Server, name: str) -> Iterator[embedded.Cluster]:
    """A standby with a slot, both called `name`, deleted afterwards."""
    binaries, folder = embedded.binaries(), temporary_folder()
    data = folder / "data"
    address = make_conninfo(primary.dsn("postgres"), application_name=name, dbname="")
    backup = [binaries / "pg_basebackup", "--dbname", address, "--pgdata", data]
    words = ["--write-recovery-conf", "--create-slot", "--slot", name, "--checkpoint", "fast"]
    subprocess.run([*backup, *words], check=True, capture_output=True)
    owner = primary._own().data.stat()
    for path in (data, *data.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    running = embedded.Cluster(binaries, data)
    try:
        running.start(SETTINGS)
        with psycopg.connect(primary.dsn("postgres"), autocommit=True) as conn:
            streams = "select from pg_stat_replication where state = 'streaming'"
            until(lambda: conn.execute(streams).fetchone() is not None, "the standby")
        yield running
    finally:
        running.stop(signal.SIGQUIT)
        shutil.rmtree(folder)
        with psycopg.connect(primary.dsn("postgres"), autocommit=True) as conn:
            gone = "select not active from pg_replication_slots where slot_name = %s"
            until(lambda: conn.execute(gone, [name]).fetchone() == (True,), "its end")
            conn.execute("select pg_drop_replication_slot(%s)", [name])


def until_replayed(primary: psycopg.Connection, standby: psycopg.Connection) -> None:
    """Wait until the standby has all that the primary has committed."""
    (lsn,) = primary.execute("select pg_current_wal_lsn()::text").fetchall()[0]
    done = "select pg_last_wal_replay_lsn() >= %s::pg_lsn"
    until(lambda: standby.execute(done, [lsn]).fetchone() == (True,), "the replay")


@dataclass
class Pair:
    """A primary and its standby: addresses of one database, a connection to each, and how to stop
    the standby."""

    primary: str
    standby: str
    db: Db
    copy: Db
    stop: Callable[[], None]

    def settle(self) -> None:
        """Wait until the standby has all that the primary has committed."""
        until_replayed(self.db, self.copy)


@contextlib.contextmanager
def pair() -> Iterator[Pair]:
    """A server of its own with the schema, and a standby of it."""
    with own_server(embedded.binaries()) as one, one.database("qwf_pair") as janitor:
        migrate.deploy(one.dsn(janitor.dbname))
        with standby_of(one, "copy") as copy:
            addresses = one.dsn(janitor.dbname), copy.dsn(janitor.dbname)
            with (
                psycopg.connect(addresses[0], autocommit=True) as db,
                psycopg.connect(addresses[1], autocommit=True) as looking,
            ):
                yield Pair(*addresses, db, looking, lambda: copy.stop(signal.SIGQUIT))
