"""Measures the disk and the WAL that a kept job takes: the figures of docs/scale.md."""

from __future__ import annotations

from collections.abc import Iterator

import click

from bench import sessions
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Server

BATCH = 100
SIZE = """
    select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n
      on n.oid = c.relnamespace where n.nspname = 'qwf' and c.relkind = 'r'
"""
WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"


@scenario("kept", rounds=1)
@click.option("--jobs", default=50_000, show_default=True, help="Completed, and kept.")
def kept(server: Server, jobs: int) -> Iterator[Sample]:
    """Enqueues, claims and finishes jobs, and keeps them: bytes of a job in tables and indexes, and
    of WAL. Claimed and reported one at a time, and 100 at a time."""
    for size in (1, BATCH):
        with server.database() as base:
            base.conn.execute("set synchronous_commit = off")  # changes no byte of what is written
            base.conn.execute("checkpoint")
            before, wal = float(base.value(SIZE)), float(base.value(WAL))
            for _ in range(jobs // size):
                for _ in range(size):
                    base.conn.execute("select qwf.enqueue('noop', '{\"number\": 12345}')")
                claimed = base.conn.execute(sessions.CLAIM, ("default", "bench", size)).fetchall()
                base.conn.execute(sessions.FINISH, (sessions.completed(claimed),)).fetchall()
            written = float(base.value(WAL)) - wal
            base.conn.execute("vacuum analyze")
            grown = float(base.value(SIZE)) - before
        done = jobs // size * size
        yield Sample("kept", f"a kept job, {size} at a time", grown / done, "B",
                     more={"wal_bytes": written / done})  # fmt: skip
