"""The work meanwhile: producers with the same keys, runs with maps and questions, a schedule, and a
person who answers, cancels and retries. Everything that is acknowledged is written down at once."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from support.chaos.place import Place
from support.proxy import Proxy

Session = psycopg.Connection[DictRow]
LIMIT, MOST = "narrow", 2  # jobs of this limit, at once
PACED = "paced"  # has a rate, too: no oracle judges it while clocks step, but its jobs end
KEYED, KEYS = "customer", ("acme", "bob")  # as many of each key of this one
BACKLOG = 60  # jobs and nodes that have not ended, at which producers wait
PAUSE_S = 0.25
FIRST = 6  # every run has these and a run, not cancelled
FIRST_TASKS = {2: "work", 3: "write", 4: "train", 5: "pause", 6: "mail"}
PATIENT = {"max_attempts": 10000, "backoff": [0.2, 0.5]}  # no fault is to fail a job for good
PIPELINES: list[dict[str, Any]] = [
    {"name": "parts",
     "outputs": {"mark": {"$from": "fragile.mark"}},
     "nodes": [
         {"id": "prepare", "node": "prepare", "inputs": {"parts": 4}, "retry": PATIENT},
         {"id": "part", "node": "part", "depends_on": ["prepare"], "retry": PATIENT,
          "map": {"$from": "prepare.items"}, "inputs": {"item": {"$from": "item"}}},
         {"id": "charge", "node": "work", "depends_on": ["prepare"], "retry": PATIENT,
          "inputs": {"seconds": 0.05}},
         {"id": "refund", "node": "work", "compensates": ["charge"], "retry": PATIENT,
          "inputs": {"seconds": 0.05}},
         {"id": "fragile", "node": "fragile", "depends_on": ["part", "charge"],
          "inputs": {"parts": {"$from": "part"}}}]},
    {"name": "last",
     "nodes": [{"id": "write", "node": "write", "retry": PATIENT,
                "inputs": {"kilobytes": 32, "read": [{"$from": "pipeline.mark"}]}}]},
]  # fmt: skip
EFFECTS = """
create table public.effects (
  id bigserial, run_id bigint, turn int, before int, mark text, primary key (run_id, turn))
"""
ENOUGH = 2  # elements of the step `enough`, whose others are stopped
INNER = {
    "name": "inner",
    "steps": [
        {"id": "first", "node": "work", "inputs": {"seconds": 0.05}, "retry": PATIENT},
        {"id": "second", "node": "work", "inputs": {"seconds": 0.05}, "retry": PATIENT,
         "depends_on": ["first"]}],
}  # fmt: skip
WORKFLOW = {
    "name": "flow",
    "steps": [
        {"id": "parts", "kind": "pipeline", "pipeline": "parts"},
        {"id": "inside", "kind": "workflow", "workflow": "inner", "map": [1, 2, 3],
         "max_parallel": 2, "depends_on": ["parts"]},
        {"id": "loop", "node": "turn", "delay": "0.3 s", "retry": PATIENT,
         "repeat": {"until": {"$from": "item.done"}, "max": 9, "every": "0.1 s"},
         "inputs": {"number": {"$from": "index"}, "last": {"$from": "item"}}},
        {"id": "enough", "node": "work", "map": [0.2, 3, 0.1, 2], "inputs": {
            "seconds": {"$from": "item"}}, "depends_on": ["loop"], "retry": PATIENT,
         "min_success": ENOUGH, "stop_when_reached": True},
        {"id": "ask", "kind": "input", "widget": "choose_one", "target": "side",
         "prompt": "Which side?", "options": ["left", "right"], "depends_on": ["parts"]},
        {"id": "paid", "kind": "input", "signal": ["paid", {"$from": "order"}],
         "schema": {"type": "string"}, "depends_on": ["parts"]},
        {"id": "last", "kind": "pipeline", "pipeline": "last",
         "depends_on": ["ask", "paid", "enough"], "inputs": {"mark": {"$from": "parts.mark"}}}],
}  # fmt: skip
SETTINGS = {
    "lease": "3 s", "heartbeat": "1 s", "poll": "0.5 s", "tick": "0.5 s", "timeout": "8 s",
    "cancel_grace": "1 s", "stop_grace": "4 s", "worker_stale": "5 s", "avoid_host": "1 s",
    "crash_hold": "1 s",
    "max_losses": 1000, "transient_backoff": [0.2, 0.5], "error_backoff": [0.2, 0.5],
}  # fmt: skip
ENQUEUE = """
select qwf.enqueue(%(task)s, %(args)s, queue => 'default', key => %(key)s, once => true,
  labels => %(labels)s, limit_by => %(limit_by)s, priority => %(priority)s,
  run_at => qwf.now() + %(after)s::interval, max_attempts => 10000, backoff => '[0.2, 0.5]',
  at_most_once => %(task)s::text = 'mail') as id
"""
DOCUMENTS, DEBOUNCE = ("left", "right"), "0.5 s"
EDIT = f"""
select qwf.enqueue('edit', jsonb_build_object('document', %(document)s::text,
    'number', %(number)s::int), queue => 'default', key => 'edit ' || %(document)s::text,
  key_mode => 'replace', debounce => '{DEBOUNCE}', max_attempts => 10000,
  backoff => '[0.2, 0.5]') as id
"""
ENQUEUE_RUN = """
select qwf.enqueue_run('flow', jsonb_build_object('order', %(key)s::text), key => %(key)s,
  once => true) as id
"""


def prepare(place: Place) -> None:
    """Set the engine up, and define the work."""
    place.ask("select qwf.change_settings(%s)", json.dumps(SETTINGS))
    place.ask("select qwf.create_limit(%s, %s)", LIMIT, MOST)
    place.ask("select qwf.create_limit(%s, %s, 4, '1 s')", PACED, MOST)
    place.ask("select qwf.create_limit(%s, %s, keyed => true)", KEYED, MOST)
    place.ask(EFFECTS)
    for pipeline in PIPELINES:
        place.ask("select qwf.register_pipeline(%s)", json.dumps(pipeline))
    for workflow in (INNER, WORKFLOW):
        place.ask("select qwf.register_workflow(%s)", json.dumps(workflow))
    place.ask(
        "select qwf.create_schedule('beat', 'work', every => '2 s', args => '{\"seconds\": 0.05}')"
    )


class Client(threading.Thread, ABC):
    """Acts again and again through a network of its own, with a new session after each error."""

    def __init__(self, place: Place, name: str, dice: random.Random) -> None:
        super().__init__(name=name, daemon=True)
        self.place, self.dice = place, dice
        self.quiet = threading.Event()  # nothing new from now on
        self.proxy: Proxy = place.proxy()
        self._conn: Session | None = None

    def run(self) -> None:
        try:
            while not self.place.over.is_set():
                try:
                    self.act()
                except psycopg.Error as error:
                    self.passing(error)
        except Exception as error:  # an error of ours is an error of the whole run
            self.place.wrong.append(f"{self.name} ended: {error!r}")

    @abstractmethod
    def act(self) -> None:
        """Do one thing."""

    def session(self) -> Session:
        if self._conn is None or self._conn.closed:
            self._conn = psycopg.connect(
                self.place.address(self.proxy), autocommit=True, row_factory=dict_row,
                options="-c statement_timeout=5000",
            )  # fmt: skip
            self._conn.execute("set client_min_messages = error")
        return self._conn

    def one(self, query: str, params: Any = None) -> Any:
        """The first value of a query."""
        row = self.session().execute(query, params).fetchone()  # type: ignore[arg-type]
        return next(iter(row.values())) if row else None

    def passing(self, error: psycopg.Error) -> None:
        """Begin again with a new session. An error of class QW is the engine's answer to us, and
        one that no fault explains is written down."""
        if error.sqlstate in ("42883", "42P01", "22P02", "42601", "P0001", "XX000"):
            self.place.wrong.append(f"{self.name}: {error.sqlstate} {error}")
        if self._conn is not None:
            with contextlib.suppress(psycopg.Error):
                self._conn.close()
        self._conn = None
        self.place.over.wait(0.1)


class Producer(Client):
    """Enqueues what the seed says. Two of them with the same seed ask for the same keys."""

    def __init__(self, place: Place, name: str, seed: int) -> None:
        super().__init__(place, name, random.Random(f"{seed} {name}"))
        self._seed, self._number = seed, 0
        self._next: tuple[str, dict[str, Any]] | None = None

    def act(self) -> None:
        if self.quiet.is_set() and self._number >= FIRST:
            self.place.over.wait(0.2)
            return
        if self._next is None:
            self._number += 1
            self._next = self._think()
        if self._number % 5 == 0 and self._crowded():
            self.place.over.wait(0.3)
            return
        query, given = self._next
        if given["key"] is None:
            self._next = None  # it may be there even if we are not told, and is not asked for again
        answer = self.one(query, given)
        kind = "run" if query is ENQUEUE_RUN else "job"
        task = given.get("task")
        self.place.note(
            "acknowledged", kind=kind, id=answer, key=given["key"], task=task, by=self.name,
            label=given.get("label"), limited=given.get("limit_by") is not None,
        )  # fmt: skip
        self._next = None
        self.place.over.wait(PAUSE_S * self.dice.uniform(0.5, 1.5))

    def _think(self) -> tuple[str, dict[str, Any]]:
        dice = random.Random(f"{self._seed} job {self._number}")
        key = f"k-{self._number}" if dice.random() < 0.7 else None
        if self._number == 1 or dice.random() < 0.12:
            return ENQUEUE_RUN, {"key": f"r-{self._number}"}
        task = dice.choice(
            ["work"] * 4
            + ["beside", "together", "doubtful", "mail"] * 2
            + ["write", "train"]
            + ["pause"] * 3
        )
        task = FIRST_TASKS.get(self._number, task)
        limited = task in ("work", "beside", "together") and dice.random() < 0.3
        is_long = not limited and dice.random() < 0.3
        seconds = dice.uniform(1, 4) if is_long else dice.uniform(0.01, 0.4)
        args: dict[str, Any] = {"seconds": seconds}
        if task == "write":
            args = {"kilobytes": dice.choice([1, 64])}
        elif task in ("train", "pause"):
            args = {"steps": dice.randrange(3, 30)}
        label = key or f"{self.name}-{self._number}"
        limit = dice.choice([LIMIT, PACED, *(f"{KEYED}:{key}" for key in KEYS)])
        return ENQUEUE, {
            "task": task, "args": json.dumps(args), "key": key, "label": label,
            "labels": json.dumps({"made": label}), "limit_by": limit if limited else None,
            "priority": dice.choice([50, 100, 100, 200]),
            "after": dice.choice(["0 s", "0 s", "0 s", "1 s"]),
        }  # fmt: skip

    def _crowded(self) -> bool:
        return int(self.one("select count(*) from qwf.jobs where finished_at is null")) > BACKLOG


class Editor(Client):
    """Edits two documents: the job that uses one waits until nobody has edited it for a moment."""

    def __init__(self, place: Place, dice: random.Random) -> None:
        super().__init__(place, "editor", dice)
        self._number = 0

    def act(self) -> None:
        if self.quiet.is_set():
            self.place.over.wait(0.2)
            return
        self._number += 1
        given = {"document": self.dice.choice(DOCUMENTS), "number": self._number}
        job = self.one(EDIT, given)
        self.place.note("edits", job=job, **given)
        self.place.over.wait(self.dice.choice([0.1, 0.2, 1.0]))


class Person(Client):
    """Answers questions, sends signals, retries failed runs, and cancels some jobs and runs."""

    def act(self) -> None:
        self._answer()
        self._signal()
        self._retry()
        if not self.quiet.is_set() and self.dice.random() < 0.25:
            self._cancel()
        self.place.over.wait(0.3)

    def _answer(self) -> None:
        query = "select run_id, node_id from qwf.pending_inputs where asks = 'input' limit 5"
        for row in self.session().execute(query).fetchall():
            value = self.dice.choice(["left", "right"])
            one = {"run": row["run_id"], "node": row["node_id"], "value": value}
            self.place.note("answers", what="tried", **one)
            self._unless_refused(
                "select qwf.submit_input(%(run)s, %(node)s, to_jsonb(%(value)s::text))", one,
                lambda _, one=one: self.place.note("answers", what="done", **one),
            )  # fmt: skip

    def _signal(self) -> None:
        """Send the signals of runs: before, while or after they ask, and some of them twice."""
        sent = Counter(one["order"] for one in self.place.notes("signals") if one["what"] == "done")
        for run in [one for one in self.place.notes("acknowledged") if one["kind"] == "run"]:
            order = run["key"]
            wanted = self.dice.random() < 0.3 or self.quiet.is_set()
            if (sent[order] == 0 and wanted) or (sent[order] == 1 and self.dice.random() < 0.01):
                one = {"order": order, "value": f"{order} {self.dice.random()}"}
                self.place.note("signals", what="tried", **one)
                if self.dice.random() < 0.2:  # it does not fit the schema
                    self.one("select qwf.signal('paid:' || %(order)s, '7')", one)
                self.one("select qwf.signal('paid:' || %(order)s, to_jsonb(%(value)s::text))", one)
                self.place.note("signals", what="done", **one)
                sent[order] += 1

    def _retry(self) -> None:
        query = "select id from qwf.runs where status = 'failed' limit 5"
        for row in self.session().execute(query).fetchall():
            (self.place.home / "mended" / str(row["id"])).touch()
            self._unless_refused("select qwf.retry_run(%(id)s)", row, lambda _: None)

    def _cancel(self) -> None:
        known = self.place.notes("acknowledged")[2 * FIRST :][-20:]
        if not known:
            return
        one = self.dice.choice(known)
        call = "cancel_run" if one["kind"] == "run" else "cancel_job"
        target = {"kind": one["kind"], "id": one["id"]}
        self.place.note("cancels", what="tried", **target)
        self._unless_refused(
            f"select qwf.{call}(%(id)s)", target,
            lambda answer: self.place.note("cancels", what="done", answer=answer, **target),
        )  # fmt: skip

    def _unless_refused(self, query: str, given: Any, then: Callable[[Any], None]) -> None:
        """Ask, and go on with the answer; what is over or not asked any more is refused."""
        try:
            then(self.one(query, given))
        except psycopg.Error as error:
            if error.sqlstate not in ("QW001", "QW002"):
                raise


class Observer(threading.Thread):
    """Looks all the time whether the invariants of the engine hold."""

    def __init__(self, place: Place) -> None:
        super().__init__(name="observer", daemon=True)
        self.place, self.looks = place, 0

    def run(self) -> None:
        while not self.place.over.wait(1.0):
            with contextlib.suppress(psycopg.Error), self.place.session() as conn:
                self._look(conn)

    def _look(self, conn: Session) -> None:
        for row in conn.execute("select * from qwf.check_invariants()").fetchall():
            at = time.monotonic() - self.place.began
            self.place.wrong.append(f"after {at:.1f} s an invariant did not hold: {row}")
        self.looks += 1


class Reader(Client):
    """Reads the events, each once, and goes on from the last number whatever happens to it."""

    EVENTS = """
    select seq, kind, run_id, job_id, detail ->> 'status' as status from qwf.events
    where seq > %s order by seq limit 100
    """

    def __init__(self, place: Place) -> None:
        super().__init__(place, "reader", random.Random())
        self.read: list[dict[str, Any]] = []

    def act(self) -> None:
        after = self.read[-1]["seq"] if self.read else 0
        found = self.session().execute(self.EVENTS, [after]).fetchall()
        self.read += found
        if not found:
            self.place.over.wait(0.1)


def clients(place: Place, seed: int) -> list[Client]:
    """Two producers that ask for the same keys, an editor, and a person."""
    return [
        *(Producer(place, f"producer-{number}", seed) for number in range(2)),
        Editor(place, random.Random(f"{seed} editor")),
        Person(place, "person", random.Random(f"{seed} person")),
    ]
