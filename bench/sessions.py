"""Clients that use only SQL, each in its own process with its own connections."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import psycopg

from bench.server import BenchError
from qwf_agent import embedded

CLAIM = "select job_id, token, task from qwf.claim(%s, %s, %s)"
FINISH = "select bool_or(pending) from qwf.finish_many(%s)"
FINISH_AND_CLAIM = "select * from qwf.finish_and_claim(%s, %s, %s, %s)"
DRAIN = "select qwf.drain_outbox(1000)"
TICK = "select qwf.tick('1 s')"
JOB_ID, PENDING, TOKEN, TASK = 0, 2, 3, 6  # columns of its rows
EMPTY_S = (0.004, 0.032)  # first and longest wait of a session that found nothing
OWED_S = 0.05  # how long a session that left events behind keeps trying to apply them
TICK_S = 1.0  # how often every session ticks, as an agent does
RATE = re.compile(r"tps = ([\d.]+) \(without initial connection time\)")
OUTPUTS: dict[str, Any] = {"node": {"x": 1}, "list": {"items": list(range(10_000))}}


def connect(dsn: str, *, durable: bool = True) -> psycopg.Connection[Any]:
    """A session like an agent's. If not `durable`, its commits do not wait for the disk."""
    conn = psycopg.connect(dsn, autocommit=True)
    if not durable:
        conn.execute("set synchronous_commit = off")
    return conn


def work(index: int, dsn: str, batch: int, queue: str = "default") -> None:
    """Claim and finish until killed. As in an agent, claims commit asynchronously and finishes
    durably."""
    worker = f"session-{index}-{os.getpid()}"
    soft, durable = connect(dsn, durable=False), connect(dsn)
    wait_s, owed_until, tick_at = EMPTY_S[0], 0.0, time.monotonic() + TICK_S
    while True:
        claimed = soft.execute(CLAIM, (queue, worker, batch)).fetchall()
        now = time.monotonic()
        if claimed:
            row = durable.execute(FINISH, (completed(claimed),)).fetchone()
            wait_s = EMPTY_S[0]
            if row and row[0]:
                owed_until = now + OWED_S
        else:
            time.sleep(wait_s)
            wait_s = min(EMPTY_S[1], wait_s * 2)
        if now >= tick_at:
            durable.execute(TICK)
            tick_at = now + TICK_S
        elif now < owed_until:
            durable.execute(DRAIN)


def work_in_one_call(index: int, dsn: str, batch: int, queue: str = "default") -> None:
    """The same with finish_and_claim: each call reports the jobs that the one before has claimed,
    and commits durably."""
    worker = f"session-{index}-{os.getpid()}"
    conn = connect(dsn)
    claimed: list[tuple[Any, ...]] = []
    wait_s, owed_until, tick_at = EMPTY_S[0], 0.0, time.monotonic() + TICK_S
    while True:
        call = (completed(claimed), queue, worker, batch)
        rows = conn.execute(FINISH_AND_CLAIM, call).fetchall()
        now = time.monotonic()
        answers, jobs = rows[: len(claimed)], rows[len(claimed) :]
        claimed = [(job[JOB_ID], job[TOKEN], job[TASK]) for job in jobs]
        if any(answer[PENDING] for answer in answers):
            owed_until = now + OWED_S
        if claimed:
            wait_s = EMPTY_S[0]
        else:
            time.sleep(wait_s)
            wait_s = min(EMPTY_S[1], wait_s * 2)
        if now >= tick_at:
            conn.execute(TICK)
            tick_at = now + TICK_S
        elif now < owed_until:
            conn.execute(DRAIN)


def completed(claimed: list[tuple[Any, ...]]) -> str:
    """The reports that these jobs (id, token, task) have completed."""
    return json.dumps([
        {"job_id": job, "token": str(token), "outcome": "completed", "detail": {},
         "output": OUTPUTS.get(task)}
        for job, token, task in claimed
    ])  # fmt: skip


def produce(index: int, dsn: str, batch: int, behind: int) -> None:
    """Enqueue until killed, but wait while the queue is longer than `behind`."""
    conn = connect(dsn)
    jobs = json.dumps([{"task": "noop"}] * batch)
    sent = 0
    while True:
        conn.execute("select count(*) from qwf.enqueue_many(%s)", (jobs,))
        sent += batch
        if sent >= behind:  # not every time, because the check costs too
            sent, began = 0, time.monotonic()
            while _queued(conn, behind):
                time.sleep(pause_s(time.monotonic() - began))
                began = time.monotonic()


def pause_s(look_s: float) -> float:
    """How long to wait before checking the queue again. Checks take a twentieth of the time,
    because they walk past dead rows while a snapshot is held. The peers' producers do the same."""
    return min(0.5, max(0.02, 20 * look_s))


def _queued(conn: psycopg.Connection[Any], more_than: int) -> bool:
    row = conn.execute(
        "select count(*) > %s from (select from qwf.jobs where queue = 'default' "
        "and status = 'queued' and limit_by is null limit %s) q",
        (more_than, more_than + 1),
    ).fetchone()
    return bool(row and row[0])


def pgbench(
    dsn: str, script: str, clients: int, seconds: float, variables: Mapping[str, str] | None = None
) -> float:
    """Transactions per second of `script` with this many clients. Each variable is a parameter of
    its statement. pgbench counts whole seconds: for less than one, each client makes 100
    transactions a second. Raises BenchError."""
    until = ("-T", round(seconds)) if seconds >= 1 else ("-t", max(1, round(100 * seconds)))
    given = [f"-D{name}={value}" for name, value in (variables or {}).items()]
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(" ".join(script.split()) + ";\n")
        file.flush()
        command = [
            str(embedded.binaries() / "pgbench"), "-n", "-M", "prepared", "-c", str(clients),
            "-j", str(min(clients, 2)), *map(str, until), *given, "-f", file.name, dsn,
        ]  # fmt: skip
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds * 10 + 60,
            env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"},
        )  # fmt: skip
    rate = RATE.search(done.stdout)
    if done.returncode or rate is None:
        raise BenchError(f"pgbench: {done.stderr.strip()[-1000:]}")
    return float(rate[1])
