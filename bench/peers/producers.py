"""How producers of each system enqueue: the statements, and 20 workers that listen."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.claimers import serve_all
from bench.measure import until
from bench.peers import install, systems
from bench.processes import forked, spawned
from bench.server import Database

Call = tuple[str, dict[str, str]]  # a script of pgbench, and its variables
LISTENERS = 20
CLIENTS = ("qwf", "dbos")  # measured with their own clients too
RIVER_TABLE = Path(__file__).with_name("river.sql")
DBOS = (str(install.WORKFLOWS_PYTHON), systems.script("dbos_enqueue_peer.py"))


@dataclass(frozen=True)
class Producer:
    """A system as a producer sees it."""

    name: str
    deploy: Callable[[str], Any]
    jobs: str  # SQL: jobs ever enqueued
    statement: Callable[[int], Call] | None  # enqueues so many; None: only a client can
    listeners: Callable[[Database], AbstractContextManager[Any]]
    install: Callable[[], None] = lambda: None


def of_qwf(number: int) -> Call:
    if number == 1:
        return "select qwf.enqueue('noop')", {}
    jobs = json.dumps([{"task": "noop"}] * number)
    return "select count(*) from qwf.enqueue_many(:jobs)", {"jobs": jobs}


def of_graphile(number: int) -> Call:
    if number == 1:
        return "select graphile_worker.add_job('noop', '{}'::json)", {}
    jobs = json.dumps([{"identifier": "noop", "payload": {}}] * number)
    many = """
        select count(*) from graphile_worker.add_jobs(array(
          select j from json_populate_recordset(null::graphile_worker.job_spec, :jobs::json) j))
    """
    return many, {"jobs": jobs}


def of_procrastinate(number: int) -> Call:
    jobs = "{" + ",".join(['"(default,noop,0,,,{},)"'] * number) + "}"
    defer = "procrastinate_defer_jobs_v1(:jobs::procrastinate_job_to_defer_v1[])"
    return f"select count(*) from unnest({defer})", {"jobs": jobs}


@functools.cache
def of_pgqueuer(number: int) -> Call:
    """The library's own statement and parameters."""
    said = systems.said([*systems.PGQUEUER.script, "statement", str(number)])
    statement, values = json.loads(said)
    statement = re.sub("--.*", "", statement)  # pgbench gets it on one line
    for place in range(len(values), 0, -1):
        statement = statement.replace(f"${place}", f":p{place}")
    return statement, {f"p{place}": value for place, value in enumerate(values, 1)}


def of_river(number: int) -> Call:
    """The statements of its client for jobs that are not unique."""
    lists = {
        "args": ("jsonb", "{}"), "kind": ("text", "noop"), "most": ("smallint", "25"),
        "metadata": ("jsonb", "{}"), "priority": ("smallint", "1"), "queue": ("text", "default"),
        "state": ("river_job_state", "available"), "tags": ("text", "{}"),
    }  # fmt: skip
    given = ", ".join(f":{name}::{kind}[]" for name, (kind, _) in lists.items())
    insert = f"""
    insert into river_job (
      args, kind, max_attempts, metadata, priority, queue, state, tags, scheduled_at, unique_key,
      unique_states)
    select i.args, i.kind, i.most, i.metadata, i.priority, i.queue, i.state,
      i.tags::varchar(255)[], now(), null, null
    from unnest({given}) i ({", ".join(lists)})
    on conflict (unique_key) where unique_key is not null and unique_states is not null
      and river_job_state_in_bitmask(unique_states, state)
    do update set kind = excluded.kind
    returning *, xmax <> 0
    """
    return insert, {
        name: "{" + ",".join([f'"{value}"'] * number) + "}" for name, (_, value) in lists.items()
    }


@contextlib.contextmanager
def claimers(base: Database) -> Iterator[None]:
    """Light claimers of qwf, asleep on another queue."""
    with forked(1, serve_all, base.dsn, LISTENERS, "gpu"):
        asleep = "select count(*) >= %s from qwf.sleepers"
        until(functools.partial(base.value, asleep, LISTENERS), "the workers")
        yield


def workers(system: systems.System) -> Callable[[Database], AbstractContextManager[Any]]:
    """Workers of a peer that know no task of these jobs."""

    def listen(base: Database) -> AbstractContextManager[Any]:
        command = [*system.script, "listen", str(LISTENERS)]
        return spawned([command], b"ready", systems.places(base.dsn))

    return listen


@contextlib.contextmanager
def sessions(base: Database) -> Iterator[None]:
    """Sessions that listen on the channel of River, and do nothing else."""
    with forked(1, hear, base.dsn):
        heard = "select count(*) >= %s from pg_stat_activity where query = 'listen river_insert'"
        until(functools.partial(base.value, heard, LISTENERS), "the sessions")
        yield


def hear(_index: int, dsn: str) -> None:
    """Listen with all sessions until killed."""
    heard = [psycopg.connect(dsn, autocommit=True) for _ in range(LISTENERS)]
    for conn in heard:
        conn.execute("listen river_insert")
    while True:
        for conn in select.select(heard, [], [])[0]:
            list(conn.notifies(timeout=0))


def deploy_river(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(RIVER_TABLE.read_bytes())


def deploy_dbos(dsn: str) -> None:
    systems.call([*DBOS, "install"], dsn)


def dbos_workers(base: Database) -> AbstractContextManager[Any]:
    """A process of DBOS that serves another queue, 20 workflows at once."""
    return spawned([[*DBOS, "listen", str(LISTENERS)]], b"ready", systems.places(base.dsn))


@contextlib.contextmanager
def client(base: Database, one: Producer, number: int) -> Iterator[None]:
    """A process with so many threads that enqueue with the system's own client; none if 0."""
    if not number:
        yield
        return
    script = (sys.executable, systems.script("qwf_producer.py")) if one.name == "qwf" else DBOS
    with spawned([[*script, "produce", str(number)]], b"ready", systems.places(base.dsn)):
        time.sleep(1.0)  # the first enqueues of a session take longer
        yield


def counted(base: Database, jobs: str, seconds: float) -> float:
    """Jobs per second that appear in the database."""
    before, began = int(base.value(jobs)), time.monotonic()
    time.sleep(seconds)
    return (int(base.value(jobs)) - before) / (time.monotonic() - began)


ALL = (
    Producer("qwf", systems.QWF.deploy, systems.QWF.produced, of_qwf, claimers),
    *(
        Producer(s.name, s.deploy, s.produced, statement, workers(s), s.install)
        for s, statement in (
            (systems.PGQUEUER, of_pgqueuer),
            (systems.GRAPHILE, of_graphile),
            (systems.PROCRASTINATE, of_procrastinate),
        )
    ),
    Producer("river (its SQL)", deploy_river, "select count(*) from river_job", of_river, sessions),
    Producer(
        "dbos", deploy_dbos, "select count(*) from dbos.workflow_status", None, dbos_workers,
        install.workflows,
    ),
)  # fmt: skip
