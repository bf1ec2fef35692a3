"""Runs inside a run, while agents, sessions and the server die."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent import embedded
from support.harness import Database, agents, until
from support.servers import Server, deployed, own_server

PHOTOS = 80
NODES = ("crop", "caption", "write")
ONE: dict[str, Any] = {
    "name": "one",
    "steps": [
        {
            "id": node,
            "node": node,
            "queue": "default",
            "retry": {"max_attempts": 1000, "backoff": [0.2]},  # the server dies under bodies
            "inputs": {"photo": {"$from": "photo"}},
            "depends_on": list(NODES[:place][-1:]),
        }
        for place, node in enumerate(NODES)
    ],
}
ALBUM: dict[str, Any] = {
    "name": "album",
    "steps": [
        {
            "id": "each",
            "kind": "workflow",
            "workflow": "one",
            "map": {"$from": "photos"},
            "max_parallel": 8,
            "min_success": "95%",
            "inputs": {"photo": {"$from": "item"}},
        }
    ],
}
PARTS = ("crop", "caption", "find", "write", "frame")
FINDS = "select count(*) from qwf.jobs where node_id = 'find' and status = 'running'"
LIVE = "select count(*) from qwf.runs where depth = 1 and finished_at is null"
AGENT = ("--app", "album", "--slots", "4", "--lease", "3")


@pytest.fixture
def own() -> Iterator[tuple[Server, str]]:
    """A server of its own, which the test kills, and its database."""
    with ExitStack() as stack:
        server = stack.enter_context(own_server(embedded.binaries()))
        executor = stack.enter_context(deployed(server))
        database = server.database(server.new_name(), executor.template_dbname)
        try:
            yield server, server.dsn(stack.enter_context(database).dbname)
        finally:
            if server.cluster is not None and server.cluster.postmaster() is None:
                server.start()


def dated(pattern: str) -> str:
    """A workflow of five nodes, of which the third looks for a pattern."""
    more = {"find": {"pattern": pattern}, "frame": {"gate": "/"}}
    again = {"max_attempts": 1000, "backoff": [0.2]}
    steps = [
        {"id": node, "node": node, "queue": "default", "depends_on": list(PARTS[:place][-1:]),
         "retry": again, "inputs": {"photo": "2026.jpg", **more.get(node, {})}}
        for place, node in enumerate(PARTS)
    ]  # fmt: skip
    return json.dumps({"name": "dated", "steps": steps})


def mend(base: Database, run: int, pattern: str) -> None:
    """Corrects the third node once the run has failed in it; the first two are reused."""
    until(lambda: ended(base, run), "the node that does not fit to fail")
    base.one("select qwf.register_workflow(%s)", dated(pattern))
    plan = "select node_id, verdict from qwf.retry_plan(%s, latest => true)"
    verdicts = [row["verdict"] for row in base.conn.execute(plan, [run]).fetchall()]
    assert verdicts == ["reused", "reused", "runs again", "runs again", "runs again"]
    base.one("select qwf.retry_run(%s, latest => true)", run)


class Looks:
    """Looks again and again, and remembers what must never have been seen."""

    def __init__(self, dsn: str) -> None:
        self.dsn, self.most, self.broken = dsn, 0, []

    def for_s(self, seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            with contextlib.suppress(psycopg.OperationalError), Database(self.dsn).conn as conn:
                self.most = max(self.most, conn.execute(LIVE).fetchall()[0]["count"])
                self.broken += conn.execute("select * from qwf.check_invariants()").fetchall()
            time.sleep(0.2)


def test_each_run_ends_once_though_agents_sessions_and_the_server_die(
    own: tuple[Server, str], tmp_path: Path
) -> None:
    """Every body counts once, one photo is broken, and never more than 8 runs are live. A run whose
    third node is corrected twice meanwhile keeps the first two, and both errors."""
    server, dsn = own
    base, looks = Database(dsn), Looks(dsn)
    base.conn.execute("create table effects (photo text, node text, primary key (photo, node))")
    for definition in (ONE, ALBUM):
        base.one("select qwf.register_workflow(%s)", json.dumps(definition))
    base.one("select qwf.change_settings(%s)", json.dumps({"max_losses": 1000}))
    base.one("select qwf.register_workflow(%s)", dated("[0-9]{8}"))
    mended = base.one("select qwf.enqueue_run('dated', priority => 1)")
    photos = ["broken", *(f"photo {number}" for number in range(PHOTOS - 1))]
    run = base.one("select qwf.enqueue_run('album', %s)", json.dumps({"photos": photos}))
    with agents(dsn, tmp_path) as start:
        first = start(*AGENT)
        looks.for_s(0.5)
        mend(base, mended, "[0-9]{4}-")  # which is wrong, too
        until(lambda: base.one(FINDS) == 1, "the second try of the node")
        first.signal(signal.SIGKILL)
        first.ended()
        start(*AGENT)
        looks.for_s(1.5)
        base.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
            " and datname = current_database() and backend_type = 'client backend'"
        )
        looks.for_s(1)
        assert server.cluster is not None
        postmaster = server.cluster.postmaster()
        assert postmaster is not None
        assert Database(dsn).one(LIVE) > 0
        os.kill(postmaster.pid, signal.SIGKILL)
        until(lambda: not reachable(dsn), "the end of the server")
        server.start()
        start(*AGENT)
        base = Database(dsn)
        mend(base, mended, "[0-9]{4}")
        until(lambda: looks.for_s(0.3) or ended(base, run), "the end of the run")
        until(lambda: ended(base, mended), "the end of the run that was mended")
    assert base.one("select status::text from qwf.runs where id = %s", run) == "completed"
    assert looks.broken == []
    assert 0 < looks.most <= 8
    runs = base.conn.execute(
        "select context ->> 'photo' as photo, status::text from qwf.runs where depth = 1"
    ).fetchall()
    assert sorted(row["photo"] for row in runs) == sorted(photos)
    assert {row["photo"] for row in runs if row["status"] != "completed"} == {"broken"}
    done = base.conn.execute("select photo, node from effects").fetchall()
    expected = {(photo, node) for photo in photos for node in NODES} - {("broken", "write")}
    expected |= {("2026.jpg", node) for node in PARTS}
    assert {(row["photo"], row["node"]) for row in done} == expected
    status = base.one("select qwf.run_status(%s)", mended)
    assert [(one["status"], one["version"]) for one in status["tries"]] == [
        ("failed", 1), ("failed", 2), ("completed", 3)
    ]  # fmt: skip
    assert "[0-9]{8}" in status["tries"][0]["error"]
    assert "[0-9]{4}-" in status["tries"][1]["error"]
    twice = "select count(*) from qwf.job_attempts where outcome = 'completed' group by job_id"
    assert {row["count"] for row in base.conn.execute(twice).fetchall()} == {1}
    assert base.invariants() == []


def ended(base: Database, run: int) -> bool:
    return bool(base.one("select finished_at is not null from qwf.runs where id = %s", run))


def reachable(dsn: str) -> bool:
    try:
        psycopg.connect(dsn, connect_timeout=10).close()
    except psycopg.OperationalError:
        return False
    return True
