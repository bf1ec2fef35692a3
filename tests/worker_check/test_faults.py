"""Every check of `qwf worker-check` can fail: a small worker has one fault at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from qwf_agent.cli.worker_check import CHECKS
from support.servers import ROOT
from support.thorough import THOROUGH

pytestmark = pytest.mark.roles
WORKER = ROOT / "tests" / "support" / "faulty_worker.py"
QWF = "from qwf_agent.cli import main; main()"
TIMES = {"heartbeat": "1 s", "cancel_grace": "1 s", "stop_grace": "4 s"}
# A check, and the fault with which it fails.
FAULTS = {
    "registers": "announces no tasks",
    "wakes": "never sleeps",
    "many": "gives an old output",
    "slots": "takes too much",
    "ticks": "never ticks",
    "unknown-task": "runs any task",
    "completed": "loses letters",
    "numbers": "rounds numbers",
    "error": "has no messages",
    "tempfail": "reports tempfail as error",
    "fatal": "reports fatal as error",
    "timeout": "knows no timeout",
    "null-character": "repeats what is refused",
    "no-object": "wraps outputs",
    "large-output": "cuts outputs",
    "progress": "reports no progress",
    "checkpoint": "saves nothing",
    "at-most-once": "begins unsaid",
    "live-log": "sends no live log",
    "kept-log": "keeps no log",
    "empty-log": "omits empty logs",
    "heartbeat": "sends no heartbeat",
    "takeover": "never ticks",
    "frozen": "dies when lost",
    "fenced": "ignores lost",
    "cut": "dies when cut",
    "listens-again": "listens once",
    "cancel": "ignores cancel",
    "cancel-stubborn": "never kills",
    "off-hard": "ignores lost",
    "off-drain": "claims as another",
    "stop-idle": "does not deregister",
    "stop-drain": "gives back at once",
    "stop-long": "waits forever",
    "stop-twice": "hears one signal",
}
# All of them take two minutes, and the agent passes them all in test_workers.
SOME = list(FAULTS) if THOROUGH else list(FAULTS)[::4]


@pytest.fixture
def login(dsn: str, db: psycopg.Connection[Any]) -> Iterator[str]:
    """The address of the database for a login of the worker alone; the times are short."""
    db.execute("select qwf.change_settings(%s)", [Jsonb(TIMES)])
    name = db.execute("select 'w_' || md5(random()::text)").fetchone()[0]  # type: ignore[index]
    role = sql.Identifier(name)
    db.execute(sql.SQL("create role {} login in role qwf_worker").format(role))
    yield make_conninfo(dsn, user=name)
    db.execute(sql.SQL("drop role {}").format(role))


def check(dsn: str, login: str, *options: str, faults: str = "") -> tuple[int, list[Any]]:
    """The exit code of the kit, and its results as JSON."""
    worker = [sys.executable, str(WORKER), "{queue}", *filter(None, [faults])]
    where = ["--dsn", dsn, "--worker-dsn", login, "--json"]
    command = [sys.executable, "-c", QWF, "worker-check", *where, *options]
    done = subprocess.run([*command, "--", *worker], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_every_check_has_a_fault() -> None:
    assert list(FAULTS) == [one.name for one in CHECKS]


def test_the_worker_without_faults_passes(
    dsn: str, login: str, db: psycopg.Connection[Any]
) -> None:
    code, results = check(dsn, login, *(word for name in SOME for word in ("--only", name)))
    assert [one for one in results if one["result"] != "passed"] == []
    assert (code, [one["check"] for one in results]) == (0, SOME)
    left = "select (select count(*) from qwf.jobs), (select count(*) from qwf.workers where"
    assert db.execute(f"{left} stopped_at is null)".encode()).fetchone() == (0, 0)
    assert db.execute(
        "select lease, retention from qwf.queues where name = 'worker-check'"
    ).fetchone() == (None, None)
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []


@pytest.mark.parametrize("name", SOME)
def test_a_check_fails_because_of_a_fault(name: str, dsn: str, login: str) -> None:
    code, results = check(dsn, login, "--only", name, faults=FAULTS[name])
    assert [(one["check"], one["result"]) for one in results] == [(name, "failed")], results
    assert code == 1
    assert results[0]["seen"].endswith((".", ")"))
