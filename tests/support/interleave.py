"""Sessions that a test drives step by step, so that it reads as the interleaving it tests.

Nothing here sleeps to let something happen: a step is over when pg_stat_activity says that the
statement waits for a lock, or when the statement has ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg

TIMEOUT_S = 60.0  # a step that takes longer fails the test
GATE = 4711  # advisory lock that closes a gate
SETTINGS = {"client_min_messages": "warning", "statement_timeout": "60s"}

Row = tuple[Any, ...]


def pipeline(name: str, **depends_on: str) -> dict[str, Any]:
    """A pipeline of cpu nodes: each keyword is a node, its value the nodes it depends on.

    Every node but the first ones hands on the `y` of the first node it depends on.
    """
    nodes: list[dict[str, Any]] = []
    for node, named in depends_on.items():
        before = named.split()
        nodes.append({"id": node, "node": "work", "depends_on": before})
        if before:
            nodes[-1]["inputs"] = {"x": {"$from": f"{before[0]}.y"}}
    return {"name": name, "nodes": nodes}


def step(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    """A workflow step that runs the pipeline of the same name."""
    names = {"id": name, "kind": "pipeline", "pipeline": name, "depends_on": list(depends_on)}
    return {**names, **more}


def question(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    """A workflow step that asks for a text."""
    spec = {"kind": "input", "widget": "text", "target": "said", "prompt": "What?"}
    return {"id": name, "depends_on": list(depends_on), **spec, **more}


PIPELINES = [
    pipeline("single", a=""),
    pipeline("again", a=""),
    pipeline("pair", a="", b=""),
    pipeline("chain", a="", b="a", c="b"),
    pipeline("fanin", a="", b="", c="a b"),
    pipeline("diamond", a="", b="a", c="a", d="b c"),
    pipeline("wide", a="", **{f"n{i}": "a" for i in range(150)}),
]
SKIP = {"$from": "skip", "$default": False}  # read from the run's context
WORKFLOWS: dict[str, list[dict[str, Any]]] = {
    **{p["name"]: [step(p["name"])] for p in PIPELINES},
    "guarded": [step("single", skip_if=SKIP), step("again", "single")],
    "asked": [question("ask"), step("single", "ask")],
    "asked_twice": [question("ask"), question("ask2"), step("single", "ask", "ask2")],
    "asked_beside": [step("pair"), question("ask"), step("single", "pair", "ask")],
    "asked_later": [step("single"), question("ask", "single"), step("again", "ask")],
    "asked_beside_many": [step("wide"), question("ask")],
}


class Session:
    """One session. A statement is run to its end, or started in the background."""

    def __init__(self, conn: psycopg.Connection[Any], watcher: psycopg.Connection[Any]) -> None:
        self.conn = conn
        self.pid = conn.info.backend_pid
        self._watcher = watcher
        self._thread = ThreadPoolExecutor(1)
        self._running: Future[list[Row]] | None = None

    def rows(self, query: str, *args: Any) -> list[Row]:
        """Run a statement and return its rows."""
        cursor = self.conn.execute(query, args)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []

    def one(self, query: str, *args: Any) -> Any:
        """Run a statement and return the first column of its only row."""
        ((value, *_),) = self.rows(query, *args)
        return value

    def sqlstate(self, query: str, *args: Any) -> str:
        """Run a statement and return its SQLSTATE, 00000 for success."""
        try:
            self.rows(query, *args)
        except psycopg.Error as error:
            return error.sqlstate or str(error)
        return "00000"

    def begin(self, isolation: str = "read committed") -> None:
        self.rows(f"begin isolation level {isolation}")

    def commit(self) -> None:
        self.rows("commit")

    def rollback(self) -> None:
        self.rows("rollback")

    def start(self, query: str, *args: Any) -> None:
        """Start a statement and return at once."""
        self._running = self._thread.submit(self.rows, query, *args)

    def waits(self) -> None:
        """Return once the started statement waits for a lock; fail if it ends instead."""
        if self.waits_or_ends():
            assert self._running is not None
            raise AssertionError(f"it did not wait: {self._running.result()}")

    def waits_or_ends(self) -> bool:
        """Return once the started statement waits for a lock or has ended; True if it has ended."""
        assert self._running is not None
        query = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
        until(lambda: self._running.done() or self._watch(query, self.pid))  # type: ignore[union-attr]
        return self._running.done()

    def ends(self) -> list[Row]:
        """Wait for the started statement; return its rows or raise its exception."""
        assert self._running is not None
        return self._running.result(TIMEOUT_S)

    def kill(self) -> None:
        """Terminate the session's backend, as an operator would, and wait until it is gone."""
        self._watch("select pg_terminate_backend(%s)", self.pid)
        query = "select not exists (select from pg_stat_activity where pid = %s)"
        until(lambda: self._watch(query, self.pid))

    def close(self) -> None:
        """End what runs. The fixture that gave the session lets it forget the rest, or ends it."""
        if self._running is not None and not self._running.done():
            self._watch("select pg_terminate_backend(%s)", self.pid)
        self._thread.shutdown()

    def _watch(self, query: str, *args: Any) -> Any:
        row = self._watcher.execute(query, args).fetchone()  # type: ignore[arg-type]
        return row is not None and row[0]


def until(happened: Callable[[], Any]) -> None:
    """Return once `happened` is true; fail after the timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


class Race(Session):
    """A session on a fresh database, in autocommit, that can open more sessions."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        watcher = connect()
        super().__init__(connect(), watcher)
        self._connect = connect
        self._opened: list[Session] = []
        self._registered: set[str] = set()
        for name, value in SETTINGS.items():
            self.rows("select set_config(%s, %s, false)", name, value)

    def session(self, **settings: str) -> Session:
        """Open another session, in autocommit."""
        other = Session(self._connect(), self._watcher)
        self._opened.append(other)
        for name, value in {**SETTINGS, **settings}.items():
            other.rows("select set_config(%s, %s, false)", name, value)
        return other

    def stop_clock(self, ahead: str = "0 s") -> None:
        """Let no time pass in the database from now on; it is so much later than it is."""
        self.rows(
            "do $$ begin execute format('create or replace function qwf.now() returns timestamptz"
            " language sql volatile as %%L', format('select timestamptz %%L',"
            f" clock_timestamp() + interval '{ahead}')); end $$"
        )

    def nonblocking(self) -> Session:
        """Open a session in which waiting for a lock is an error."""
        return self.session(lock_timeout="5s")

    def run(self, workflow: str, context: dict[str, Any] | None = None, **args: Any) -> int:
        """Enqueue a run of one of WORKFLOWS and return its id."""
        self.register(workflow)
        named = "".join(f", {name} => %s" for name in args)
        return int(
            self.one(
                f"select qwf.enqueue_run(%s, context => %s{named})",
                workflow,
                json.dumps(context or {}),
                *args.values(),
            )
        )

    def register(self, workflow: str) -> None:
        if workflow in self._registered:
            return
        used = {s["pipeline"] for s in WORKFLOWS[workflow] if s["kind"] == "pipeline"}
        for definition in PIPELINES:
            if definition["name"] in used:
                self.rows("select qwf.register_pipeline(%s)", json.dumps(definition))
        definition = {"name": workflow, "steps": WORKFLOWS[workflow]}
        self.rows("select qwf.register_workflow(%s)", json.dumps(definition))
        self._registered.add(workflow)

    def job(self, run: int, node: str) -> int:
        """Id of a node's job."""
        return int(
            self.one("select id from qwf.jobs where run_id = %s and node_id = %s", run, node)
        )

    def status(self, job: int) -> str:
        return str(self.one("select status from qwf.jobs where id = %s", job))

    def run_status(self, run: int) -> str:
        return str(self.one("select status from qwf.runs where id = %s", run))

    def statuses(self, run: int) -> dict[str, str]:
        """Status of each node."""
        return dict(self.rows("select node_id, status from qwf.jobs where run_id = %s", run))

    def healthy(self) -> None:
        """Assert that no invariant is violated at this moment."""
        assert self.rows("select * from qwf.check_invariants()") == []

    def settle(self) -> None:
        """Let the engine do everything that needs no worker, and assert that it is healthy."""
        report = self.one("select qwf.tick()")
        parts = ("reclaimed", "promoted", "served", "answered", "cancelled", "drained")
        while any(report.get(part) for part in parts):
            assert "errors" not in report, report
            report = self.one("select qwf.tick()")
        self.healthy()

    def complete_all(self, queue: str = "cpu") -> None:
        """Complete all jobs until none is queued."""
        self.settle()
        while claimed := claim(self, 100, queue):
            finish(self, *claimed)
            self.settle()

    def complete_queued(self, run: int) -> None:
        """Complete the queued nodes of the run."""
        claimed = claim(self, 1)
        assert self.one("select run_id from qwf.jobs where id = %s", claimed[0].job) == run
        finish(self, *claimed)

    def reclaim_skips_locked(self, job: int) -> None:
        """Assert that reclaim skips a locked job."""
        assert self.session(lock_timeout="5s").rows("select _qwf.reclaim()") == []
        assert self.status(job) == "running"

    def expire_leases(self, *jobs: int) -> None:
        """Expire the leases of the jobs."""
        self.rows(
            "update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s' where id = any (%s)",
            list(jobs),
        )

    def make_due(self, *jobs: int) -> None:
        """Make scheduled jobs due."""
        self.rows(
            "update qwf.jobs set run_at = qwf.now() - interval '1 s' where id = any (%s)",
            list(jobs),
        )

    def make_late(self, job: int) -> None:
        """Let the time pass by which the question or the job expires."""
        self.rows(
            "with late as (update qwf.jobs set expires_at = qwf.now() - interval '1 s'"
            "  where id = %s returning id, expires_at)"
            " update qwf.waits w set at = l.expires_at from late l where w.job_id = l.id",
            job,
        )

    def gate(self, table: str, when: str) -> Callable[[], None]:
        """Make updates of matching rows wait, within a statement, until the result is called.

        The row trigger fires after the statement took its snapshot and its earlier rows.
        """
        self.rows(
            f"create function public.gate() returns trigger language plpgsql as "
            f"'begin perform pg_catalog.pg_advisory_xact_lock_shared({GATE}); return new; end'"
        )
        self.rows(
            f"create trigger gate before update on {table} for each row when ({when})"
            f" execute function public.gate()"
        )
        keeper = self.session()
        keeper.rows("select pg_advisory_lock(%s)", GATE)
        return lambda: keeper.rows("select pg_advisory_unlock(%s)", GATE) and None

    def end(self) -> None:
        for session in self._opened:
            session.close()
        self.close()


class Claim(tuple[int, str, str]):
    """A claimed job: id, token, node or task."""

    job = property(lambda self: self[0])
    token = property(lambda self: self[1])
    name = property(lambda self: self[2])


def claim(
    session: Session, max_jobs: int = 1, queue: str = "cpu", worker: str = "w",
    startable: int | None = None,
) -> list[Claim]:  # fmt: skip
    """Claim jobs with qwf.claim; the worker could begin all of them now, or `startable`."""
    query = """select job_id, token::text, coalesce(node_id, task)
        from qwf.claim(%s, %s, %s, startable => %s)"""
    can_start = max_jobs if startable is None else startable
    return [Claim(row) for row in session.rows(query, queue, worker, max_jobs, can_start)]


FINISH = "select verdict, pending from qwf.finish_many(%s)"


def reports(*claims: Claim, outcome: str = "completed", **more: Any) -> str:
    """The JSON of reports with that outcome."""
    output = {"y": 1} if outcome == "completed" else None
    return json.dumps(
        [
            {"job_id": c.job, "token": c.token, "outcome": outcome, "output": output, **more}
            for c in claims
        ]
    )


def finish(session: Session, *claims: Claim, outcome: str = "completed", **more: Any) -> list[Row]:
    """Report an outcome for claimed jobs; returns verdict and pending of each."""
    return session.rows(FINISH, reports(*claims, outcome=outcome, **more))


def map_run(race: Race, elements: int = 3, after: str = "z", **keys: Any) -> int:
    """Start a run of a map m over 0, 1, 2 ... and a node that depends on it; returns its id."""
    nodes = [
        {"id": "m", "map": list(range(elements)), "inputs": {"x": {"$from": "item"}}, **keys},
        {"id": after, "depends_on": ["m"], "inputs": {"all": {"$from": "m"}}},
    ]
    if after == "clean":
        nodes[1] = {"id": after, "depends_on": ["m"], "run_if": "all_done"}
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "maps", "steps": [step]}))
    return int(race.one("select qwf.enqueue_run('maps')"))


def asleep(race: Race, worker: str, queue: str = "cpu") -> Session:
    """A session that sleeps and listens like an agent."""
    session = race.session()
    channel = session.one("select qwf.sleep(%s, %s)", worker, queue)
    # pretend it has rechecked: a worker that just fell asleep rechecks and is not woken
    session.rows("update qwf.sleepers set since = since - interval '10 ms'")
    session.rows(f'listen "{channel}"')
    return session


def heard(session: Session) -> list[str]:
    """Payloads received so far; the round trip fetches those sent before it."""
    session.rows("select 1")
    return [n.payload for n in session.conn.notifies(timeout=0)]


def run_of(race: Race, *nodes: dict[str, Any]) -> int:
    """Start a run of these nodes, as step s; returns its id."""
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": "p", "nodes": nodes}))
    step = {"id": "s", "kind": "pipeline", "pipeline": "p"}
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "tidied", "steps": [step]}))
    return int(race.one("select qwf.enqueue_run('tidied')"))


def both_end(race: Race, first: Claim, outcome: str, then: Claim, its_outcome: str) -> None:
    """A body ends in a transaction that stays open while the other one ends; then it commits."""
    worker, nonblocking = race.session(), race.nonblocking()
    worker.begin()
    assert finish(worker, first, outcome=outcome) == [("ok", False)]
    assert finish(nonblocking, then, outcome=its_outcome) == [("ok", True)]
    race.healthy()
    worker.commit()
