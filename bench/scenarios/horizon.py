"""Harm of an open transaction to queues and to other users of the database: the workload of
PgQue's benchmark `xmin-horizon`, for qwf, for a plain queue, and for PgQue itself."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import psycopg

from bench import sessions
from bench.measure import ENDED, percentiles
from bench.processes import forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.snapshot import holding
from bench.server import Database, Server
from qwf_agent import migrate

EACH_PER_S = 50.0  # what one bystander does
TICK_S, ROTATE_S = 0.1, 10.0  # PgQue's own period of ticks; how often its tables are rotated
SETTINGS = {"autovacuum_naptime": "10s", "autovacuum_vacuum_cost_limit": "10000"}
BYSTANDERS = """
    create table bystander (id bigint primary key, payload text not null, changes int not null);
    insert into bystander select n, repeat('x', 256), 0 from generate_series(1, %d) n;
    analyze bystander;
"""
READ = "select id, length(payload) from bystander where id = %s"
CHANGE = "update bystander set changes = changes + 1 where id = %s"
PLAIN = """
    create table plain_jobs (
      id bigserial primary key, payload text not null, created_at timestamptz not null default now()
    ) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01,
      autovacuum_analyze_scale_factor = 0.01)
"""
TAKE = """
    delete from plain_jobs j
    using (select id from plain_jobs order by id limit %s for update skip locked) next
    where j.id = next.id
"""
PGQUE = """
    select pgque.create_queue('bench');
    select pgque.register_consumer('bench', 'bench');
    update pgque.queue set queue_rotation_period = '15 s', queue_ticker_max_count = 100,
      queue_ticker_max_lag = '0.1 s', queue_ticker_idle_period = '1 s';
"""
SIZE = """
    select sum(pg_total_relation_size(c.oid)) / 1048576.0 from pg_class c
    where c.relkind = 'r' and (c.relname in ('plain_jobs', 'jobs', 'job_attempts')
      or c.relnamespace = to_regnamespace('pgque'))
"""
DEAD = """
    select sum(n_dead_tup) from pg_stat_user_tables
    where relname in ('plain_jobs', 'jobs', 'job_attempts') or schemaname = 'pgque'
"""


@dataclass(frozen=True)
class Queue:
    """A queue: how to make it, what its processes do, and the SQL that counts its jobs."""

    name: str
    enqueue: str
    consume: Callable[[int, str, int], None]  # index, dsn, batch
    made: str
    done: str
    schema: Callable[[str], object]
    setup: str = ""
    chores: Callable[[int, str], None] | None = None


@scenario("horizon", rounds=1)
@click.option("--seconds", default=20.0, show_default=True, help="Of each run; PgQue's: 180.")
@click.option("--rate", default=800.0, show_default=True, help="Jobs enqueued a second.")
@click.option("--producers", default=4, show_default=True)
@click.option("--consumers", default=4, show_default=True)
@click.option("--bystanders", default=2, show_default=True)
@click.option("--rows", default=1_000_000, show_default=True, help="Of the bystanders' table.")
@click.option("--batch", default=10, show_default=True, help="Most jobs that a consumer takes.")
@click.option(
    "--pgque", type=click.Path(exists=True, dir_okay=False), help="Its pgque.sql, to run it too."
)
def horizon(
    server: Server, seconds: float, rate: float, producers: int, consumers: int, bystanders: int,
    rows: int, batch: int, pgque: str | None,
) -> Iterator[Sample]:  # fmt: skip
    """Queues and bystanders without and with a REPEATABLE READ transaction that stays open.

    The bystanders read a row and change another one of a large table, 50 times a second each.
    """
    with vacuuming(server):
        for held in (False, True):
            for queue in queues(pgque):
                with server.database(queue.schema) as base, tempfile.TemporaryDirectory() as folder:
                    base.conn.execute(BYSTANDERS % rows)
                    if queue.setup:
                        base.conn.execute(queue.setup)
                    base.conn.execute("checkpoint")
                    with (
                        holding(base.dsn) if held else contextlib.nullcontext(),
                        forked(bystanders, stand_by, base.dsn, rows, folder),
                        forked(1 if queue.chores else 0, queue.chores or stop, base.dsn),
                        forked(producers, produce, base.dsn, queue.enqueue, rate / producers),
                        forked(consumers, queue.consume, base.dsn, batch),
                    ):
                        taken = watch(base, queue, seconds)
                    taken |= latencies(Path(folder)) | room(base)
                kept = taken.pop("last_quarter")
                how = "held" if held else "not held"
                yield Sample(
                    "horizon", f"open transaction {how}", kept, "jobs/s", queue.name, taken
                )


def queues(pgque: str | None) -> list[Queue]:
    """The queues to compare; PgQue only if its SQL is at hand."""
    found = [
        Queue("qwf", "select qwf.enqueue('noop')", sessions.work,
              "select count(*) from qwf.jobs", ENDED, migrate.deploy),
        Queue("plain SKIP LOCKED", "insert into plain_jobs (payload) values ('x')", take,
              "select last_value from plain_jobs_id_seq",
              "select last_value - (select count(*) from plain_jobs) from plain_jobs_id_seq",
              nothing, PLAIN),
    ]  # fmt: skip
    if pgque:
        found.append(Queue(
            "PgQue", "select pgque.insert_event('bench', 'job', 'x')", read_batches,
            "select pgque.seq_getval(queue_event_seq) from pgque.queue",
            "select coalesce(max(t.tick_event_seq), 0) from pgque.subscription s join pgque.tick t"
            " on t.tick_queue = s.sub_queue and t.tick_id = s.sub_last_tick",
            nothing, Path(pgque).read_text(encoding="utf-8") + PGQUE, tick,
        ))  # fmt: skip
    return found


@contextlib.contextmanager
def vacuuming(server: Server) -> Iterator[None]:
    """Let autovacuum come often, as PgQue's benchmark does; a server given with --dsn stays as it
    is."""
    if server.cluster is None:
        yield
        return
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        for name, value in SETTINGS.items():
            conn.execute(f"alter system set {name} = '{value}'")
        conn.execute("select pg_reload_conf()")
        try:
            yield
        finally:
            for name in SETTINGS:
                conn.execute(f"alter system reset {name}")
            conn.execute("select pg_reload_conf()")


def nothing(dsn: str) -> None:
    """An empty database."""


def stop(index: int, dsn: str) -> None:
    """Of a queue without chores."""


def produce(index: int, dsn: str, statement: str, rate: float) -> None:
    """Enqueue one job at a time, `rate` a second, until killed; catch up if that took too long."""
    conn = sessions.connect(dsn)
    for _ in paced(rate):
        conn.execute(statement)


def take(index: int, dsn: str, batch: int) -> None:
    """Take jobs of the plain queue and delete them, until killed."""
    conn = sessions.connect(dsn)
    wait_s = sessions.EMPTY_S[0]
    while True:
        if conn.execute(TAKE, (batch,)).rowcount:
            wait_s = sessions.EMPTY_S[0]
        else:
            time.sleep(wait_s)
            wait_s = min(sessions.EMPTY_S[1], wait_s * 2)


def read_batches(index: int, dsn: str, batch: int) -> None:
    """Read PgQue's batches, until killed; a batch is what came between two ticks."""
    conn = sessions.connect(dsn)
    row = None
    while True:
        # another process may take the same batch: then next_batch fails
        with contextlib.suppress(psycopg.errors.RaiseException), conn.transaction():
            row = conn.execute("select pgque.next_batch('bench', 'bench')").fetchone()
            if row and row[0]:
                conn.execute("select * from pgque.get_batch_events(%s)", row).fetchall()
                conn.execute("select pgque.finish_batch(%s)", row)
        if not row or not row[0]:
            time.sleep(sessions.EMPTY_S[1])


def tick(index: int, dsn: str) -> None:
    """Do the work of pg_cron for PgQue, until killed."""
    conn = sessions.connect(dsn)
    rotate_at = 0.0
    for _ in paced(1 / TICK_S):
        conn.execute("select pgque.ticker()")
        if time.monotonic() >= rotate_at:
            rotate_at = time.monotonic() + ROTATE_S
            conn.execute("select pgque.maint()")


def stand_by(index: int, dsn: str, rows: int, folder: str) -> None:
    """Read one row and change another, EACH_PER_S times a second, until killed. Writes down how
    long both took."""
    conn = sessions.connect(dsn)
    dice = random.Random(index)
    with (Path(folder) / str(os.getpid())).open("w", buffering=1) as file:
        for _ in paced(EACH_PER_S):
            began = time.perf_counter()
            conn.execute(READ, (dice.randint(1, rows),)).fetchall()
            between = time.perf_counter()
            conn.execute(CHANGE, (dice.randint(1, rows),))
            file.write(f"{between - began} {time.perf_counter() - between}\n")


def paced(rate: float) -> Iterator[None]:
    """Yield `rate` times a second forever; a late turn does not delay those after it."""
    at = time.monotonic()
    while True:
        at += 1 / rate
        time.sleep(max(0.0, at - time.monotonic()))
        yield


def watch(base: Database, queue: Queue, seconds: float) -> dict[str, float]:
    """The rates, overall and in the first and last quarter, and what is left at the end."""
    time.sleep(min(1.0, seconds))
    began, made = time.monotonic(), int(base.value(queue.made))
    seen = []
    for quarter in (0.0, 0.25, 0.75, 1.0):
        time.sleep(max(0.0, began + quarter * seconds - time.monotonic()))
        seen.append((time.monotonic(), int(base.value(queue.done))))
    enqueued, took = int(base.value(queue.made)), time.monotonic() - began
    rates = [
        (seen[to][1] - seen[of][1]) / (seen[to][0] - seen[of][0])
        for of, to in ((2, 3), (0, 1), (0, 3))
    ]
    return {
        **dict(zip(("last_quarter", "first_quarter", "overall"), rates, strict=True)),
        "enqueued_per_s": (enqueued - made) / took,
        "left": float(max(0, enqueued - seen[-1][1])),
    }


def latencies(folder: Path) -> dict[str, float]:
    """Milliseconds of the bystanders' statements."""
    lines = [line.split() for file in folder.iterdir() for line in file.read_text().splitlines()]
    found: dict[str, float] = {}
    for which, name in enumerate(("read", "change")):
        ranks = percentiles([float(line[which]) for line in lines if len(line) == 2])
        found |= {f"{name}_p50": ranks["p50"], f"{name}_p99": ranks["p99"]}
    return found


def room(base: Database) -> dict[str, float]:
    """MiB of the tables of the queue with their indexes, and their dead rows as vacuum counts
    them."""
    base.conn.execute("select pg_stat_clear_snapshot()")
    return {"mib": float(base.value(SIZE)), "dead_rows": float(base.value(DEAD))}
