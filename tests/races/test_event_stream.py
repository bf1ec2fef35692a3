"""Readers of the events while everything goes wrong that can: each event once, and no hole."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from qwf_agent import events
from support import checked_workers
from support.interleave import TIMEOUT_S, until

Connect = Callable[[], psycopg.Connection[Any]]
WRITERS = 8
TROUBLE_S = 6.0
PG = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
WRITE = "insert into _qwf.event_log (kind, subject) values ('fired', %s)"
TICKING = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and query like 'select qwf.tick%%' and state = 'active'
  and random() < 0.3
"""
TABLES = """
create table my_events (seq bigint primary key, kind text, subject text, detail jsonb);
create table my_place (seq bigint not null);
insert into my_place values (0);
"""


class Trouble:
    """Sessions that write events and leave transactions open or undone, ticks, and who kills the
    ticks."""

    def __init__(self, connect: Connect, seed: int) -> None:
        self.connect, self.seed = connect, seed
        self.until_s = time.monotonic() + TROUBLE_S
        self.over = threading.Event()
        self.kills = 0
        self.wrong: list[str] = []

    def write(self, name: str) -> None:
        dice = random.Random(f"{self.seed} {name}")
        conn = self.connect()
        number = 0
        while time.monotonic() < self.until_s:
            with conn.transaction() as transaction:
                for _ in range(dice.choice((1, 1, 3))):
                    number += 1
                    conn.execute(WRITE, (f"{name} {number}",))
                if dice.random() < 0.1:
                    time.sleep(dice.uniform(0, 0.5))
                if dice.random() < 0.1:
                    raise psycopg.Rollback(transaction)

    def hold(self) -> None:
        """A transaction that stays open until the others are done, and one with an old snapshot."""
        conn, old = self.connect(), self.connect()
        old.execute("begin isolation level repeatable read")
        old.execute("select count(*) from qwf.events")
        with conn.transaction():
            conn.execute(WRITE, ("held",))
            time.sleep(max(0, self.until_s - time.monotonic()))
        old.execute("commit")

    def tick(self, isolation: str) -> None:
        while not self.over.is_set():
            with contextlib.suppress(psycopg.Error), self.connect() as conn:
                conn.execute("set client_min_messages = error")
                conn.execute(f"set default_transaction_isolation = '{isolation}'")
                while not self.over.is_set():
                    conn.execute("select qwf.tick()")
                    time.sleep(0.02)

    def kill(self) -> None:
        conn = self.connect()
        while time.monotonic() < self.until_s:
            self.kills += len(conn.execute(TICKING).fetchall())
            time.sleep(0.02)

    def read(self, found: list[events.Event], look_s: float) -> None:
        conn = self.connect()
        for event in events.follow(conn, 0, look_s=look_s):
            found.append(event)
            if event.subject == "over":
                return

    def start(self, act: Callable[..., None], *args: Any) -> threading.Thread:
        def run() -> None:
            try:
                act(*args)
            except Exception as error:  # an error in a thread fails the test
                self.wrong.append(f"{act.__name__}: {error!r}")

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread


@pytest.fixture
def node(dsn: str, db: psycopg.Connection[Any], tmp_path: Path) -> Iterator[Any]:
    """The example of docs/clients.md, copying the events; None without Node."""
    if shutil.which("node") is None:
        yield None
        return
    db.execute(TABLES)
    (tmp_path / "node_modules").symlink_to(checked_workers.node_modules())
    shutil.copy(checked_workers.CLIENTS / "node" / "events.mjs", tmp_path)
    given = conninfo_to_dict(dsn)
    environ = {name: str(given[key]) for key, name in PG.items() if given.get(key)}
    process = subprocess.Popen(
        ["node", "events.mjs"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environ, "PGDATABASE": str(given["dbname"])},
    )  # fmt: skip
    yield process
    process.kill()
    assert process.communicate()[1] == "", "no hole, and no error"


def test_every_event_is_read_once_and_in_order(
    db: psycopg.Connection[Any], connect: Connect, node: Any
) -> None:
    trouble = Trouble(connect, seed=1)
    found: list[events.Event] = []
    working = [trouble.start(trouble.write, f"w{n}") for n in range(WRITERS)]
    working += [trouble.start(trouble.hold), trouble.start(trouble.kill)]
    ticking = [trouble.start(trouble.tick, "read committed") for _ in range(2)]
    ticking.append(trouble.start(trouble.tick, "repeatable read"))
    reading = trouble.start(trouble.read, found, 10.0)
    for thread in working:
        thread.join()
    written = [row[0] for row in db.execute("select subject from _qwf.event_log order by id")]
    until(lambda: len(found) == len(written))
    if node is not None:
        copied = "select count(*) from my_events"
        until(lambda: node.poll() is not None or db.execute(copied).fetchone() == (len(written),))
        rows = db.execute("select seq, subject from my_events order by seq").fetchall()
        assert rows == [(event.seq, event.subject) for event in found]
    db.execute(WRITE, ("over",))
    reading.join(TIMEOUT_S)
    trouble.over.set()
    for thread in ticking:
        thread.join()
    assert trouble.wrong == []
    assert trouble.kills > 0
    assert [event.seq for event in found] == list(range(1, len(written) + 2))
    assert sorted(str(event.subject) for event in found[:-1]) == sorted(written)
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
    if node is None:
        pytest.skip("node is not installed: only the reader in Python was tried")
