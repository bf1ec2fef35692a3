"""Random workflows of maps, questions, clean-up and tolerated failures under random actions.

Four sessions do what workers, people, operators and the clock do, some of it in open transactions
and from old snapshots; an observer never sees a violation, and in the end everything ends.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support.interleave import Race
from support.thorough import THOROUGH

TROUBLE_S = 6.0 if THOROUGH else 4.0
SESSIONS = 4
ROUNDS = 2000  # of work, after which everything must have ended; a fast machine makes 300 runs
Connect = Callable[[], psycopg.Connection[Any]]
Rows = list[tuple[Any, ...]]

OUTCOMES = ["completed"] * 6 + ["error", "fatal", "tempfail", "lost", "released", "cancelled"]
# Old snapshot, aborted transaction, deleted, too late, deadlock of two transactions that retry.
REFUSED = ("40001", "25P02", "QW001", "QW002", "40P01")
ANY_NODE = "select id, node_id from qwf.jobs where run_id = %s order by random() limit 1"
ASKED = "select id, queue from qwf.jobs where status = 'awaiting_input' order by random() limit 1"
ANSWER = "select qwf.answer_job(%s, %s)"
NOT_OFFERED = "QW005"  # a job that could not start cannot be retried
CLOCK = [  # makes time pass for rows
    """update qwf.jobs set run_at = qwf.now() - interval '1 s' where id in (
        select id from qwf.jobs where status = 'scheduled' for update skip locked)""",
    """with late as (
        update qwf.jobs set expires_at = qwf.now() - interval '1 s' where id in (
          select id from qwf.jobs where status = 'awaiting_input' and expires_at is not null
          for update skip locked)
        returning id, expires_at)
      update qwf.waits w set at = l.expires_at from late l where w.job_id = l.id""",
    """update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s' where id in (
        select id from qwf.jobs where status = 'running' and random() < 0.3
        for update skip locked)""",
    """update qwf.runs set deadline_at = qwf.now() - interval '1 s' where id in (
        select id from qwf.runs where deadline_at is not null and finished_at is null
        order by random() limit 1 for update skip locked)""",
]


def random_node(dice: random.Random, name: str, before: list[str]) -> dict[str, Any]:
    """A node that depends on some of those before it."""
    after = [b for b in before if dice.random() < 0.4]
    node: dict[str, Any] = {"id": name, "depends_on": after, "limit_by": "few"}
    node["on_failure"] = dice.choice(["fail", "fail", "continue", "ask"])
    if after and dice.random() < 0.5:
        node["run_if"] = "all_done"
    if dice.random() < 0.5:
        length = dice.choice([0, 1, 2, 3, 5])
        node["map"] = [{"p": 1} if dice.random() < 0.95 else {} for _ in range(length)]
        node["inputs"] = {"x": {"$from": "item.p"}}  # an element without p fails at once
        node["max_parallel"] = dice.choice([1, 2, 5])
        node["min_success"] = dice.choice([0, "50%", "100%"])
    elif after and dice.random() < 0.2:
        node["inputs"] = {"x": {"$from": f"{after[0]}.y"}}
    if dice.random() < 0.2:
        node["skip_if"] = {"$from": f"{after[0]}.y", "$eq": True} if after else False
    if dice.random() < 0.4:
        node["retry"] = {"max_attempts": 2, "backoff": [dice.choice([0, 5])]}
    return node


def register(race: Race, dice: random.Random, name: str) -> None:
    """A workflow of a random pipeline, with a question before it or after it."""
    nodes: list[dict[str, Any]] = []
    for i in range(dice.randint(2, 7)):
        nodes.append(random_node(dice, f"n{i}", [n["id"] for n in nodes]))
    race.rows("select qwf.register_pipeline(%s)", json.dumps({"name": name, "nodes": nodes}))
    ask = {"id": "ask", "kind": "input", "widget": "text", "target": "said", "expires": "1 h"}
    step = {"id": "s", "kind": "pipeline", "pipeline": name, "depends_on": []}
    if dice.random() < 0.5:
        step["depends_on"] = ["ask"]
        ask["default"] = "nothing"
    else:
        ask["depends_on"] = ["s"]  # type: ignore[assignment]
    definition = {"name": name, "steps": [ask, step], "deadline": "1 h"}
    race.rows("select qwf.register_workflow(%s)", json.dumps(definition))


class Actor:
    """One session that acts at random, and the jobs it holds."""

    def __init__(self, connect: Connect, seed: str, runs: list[int], workflows: list[str]) -> None:
        self.dice = random.Random(seed)
        self.conn = connect()
        self.conn.execute("set client_min_messages = error")
        self.worker = seed
        self.runs, self.workflows = runs, workflows
        self.held: list[tuple[int, str]] = []
        self.faults: list[str] = []

    def run(self, over: threading.Event) -> None:
        try:
            while not over.is_set():
                if self.dice.random() < 0.85:
                    self.act()
                else:
                    self.transaction()
        except Exception as error:  # an error in a thread fails the test
            self.faults.append(repr(error))
            over.set()

    def transaction(self) -> None:
        """Several actions, sometimes from an old snapshot, sometimes rolled back."""
        isolation = ["read committed"] * 2 + ["repeatable read", "serializable"]
        self.rows(f"begin isolation level {self.dice.choice(isolation)}")
        for _ in range(self.dice.randint(1, 3)):
            self.act()
        time.sleep(self.dice.random() * 0.02)
        self.rows("commit" if self.dice.random() < 0.8 else "rollback")

    def act(self) -> None:
        run = self.dice.choice(self.runs[-12:])
        acts: dict[Callable[[], object], int] = {
            self.claim: 30,
            self.report: 35,
            self.answer: 8,
            self.enqueue: 5,
            lambda: self.rows("select qwf.tick()"): 7,
            lambda: self.rows(self.dice.choice(CLOCK)): 5,
            lambda: self.rows("select qwf.cancel_run(%s)", run): 2,
            lambda: self.rows("select qwf.retry_run(%s)", run): 6,
            lambda: self.to_a_node("select qwf.cancel_job(%s)", run, 0): 4,
            lambda: self.to_a_node(f"select qwf.retry_run({run}, %s)", run, 1): 2,
        }
        (act,) = self.dice.choices(list(acts), list(acts.values()))
        act()

    def rows(self, query: str, *args: Any) -> Rows:
        """Rows of a statement; none if it was refused, as it may be."""
        try:
            cursor = self.conn.execute(query, args)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            if error.sqlstate not in REFUSED and (error.sqlstate, query) != (NOT_OFFERED, ANSWER):
                self.faults.append(f"{query}: {error.sqlstate} {error}")
            return []

    def claim(self) -> None:
        query = "select job_id, token::text from qwf.claim('cpu', %s, %s)"
        self.held += self.rows(query, self.worker, self.dice.randint(1, 4))

    def report(self) -> None:
        self.dice.shuffle(self.held)
        taken, self.held = self.held[:4], self.held[4:]
        self.finish(taken, OUTCOMES)

    def finish(self, taken: list[tuple[int, str]], outcomes: list[str]) -> None:
        batch = [
            {
                "job_id": job,
                "token": token,
                "outcome": self.dice.choice(outcomes),
                "output": {"y": self.dice.choice([1, True])},
            }
            for job, token in taken
        ]
        self.rows("select * from qwf.finish_many(%s)", json.dumps(batch))

    def answer(self, choices: tuple[str, ...] = ("retry", "skip", "abort")) -> None:
        for job, queue in self.rows(ASKED):
            value = "yes" if queue is None else self.dice.choice(choices)
            self.rows(ANSWER, job, json.dumps(value))

    def enqueue(self) -> None:
        query = "select qwf.enqueue_run(%s)"
        self.runs += [run for (run,) in self.rows(query, self.dice.choice(self.workflows))]

    def to_a_node(self, query: str, run: int, column: int) -> None:
        for row in self.rows(ANY_NODE, run):
            self.rows(query, row[column])

    def work_round(self) -> None:
        """One round of workers that complete jobs and people who answer."""
        for happens in CLOCK[::2]:
            self.rows(happens)
            self.rows("select qwf.tick()")
        for _ in range(4):  # the limit lets three begin at once
            self.held.clear()
            self.claim()
            self.claim()
            self.finish(self.held, ["completed", "completed", "fatal"])
        self.answer(("skip", "abort"))


@pytest.mark.parametrize("seed", [6, 8])
def test_maps_questions_and_clean_up_at_once(race: Race, connect: Connect, seed: int) -> None:
    dice = random.Random(seed)
    race.rows("select qwf.create_limit('few', 3)")
    race.rows("select qwf.create_queue('cpu', max_running => 9)")
    workflows = [f"w{i}" for i in range(6)]
    for name in workflows:
        register(race, dice, name)
    runs = [int(race.one("select qwf.enqueue_run(%s)", name)) for name in workflows]

    over = threading.Event()
    all_hands = [Actor(connect, f"{seed} {i}", runs, workflows) for i in range(SESSIONS)]
    threads = [threading.Thread(target=hands.run, args=(over,)) for hands in all_hands]
    for thread in threads:
        thread.start()
    end = time.monotonic() + TROUBLE_S
    seen: Rows = []
    while not seen and time.monotonic() < end and not over.is_set():
        seen = race.rows("select * from qwf.check_invariants()")
    over.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert seen == []
    assert [fault for hands in all_hands for fault in hands.faults] == []

    last = all_hands[0]
    for _ in range(ROUNDS):
        last.work_round()
        race.healthy()
        if not race.rows("select id from qwf.jobs where finished_at is null limit 1"):
            break
    assert last.faults == []
    assert race.rows("select id, status, ending from qwf.runs where finished_at is null") == []
    assert race.rows("select * from qwf.outbox") == []
    assert race.rows("select * from qwf.limit_slots where job_id is not null") == []
    assert race.one("select count(*) from qwf.runs where status = 'completed'") > 0
