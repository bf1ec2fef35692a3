"""retry_plan and retry_run against a model: random workflows, edits, failures and retries."""

from __future__ import annotations

import os
import random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import retry_model as model
from support.planted_bugs import RETRY_BUGS, put_in
from support.retry_model import Context, Nodes, State

Db = psycopg.Connection[Any]
ROUNDS = int(os.environ.get("QWF_RETRY_ROUNDS", "8"))
SEED = int(os.environ.get("QWF_RETRY_SEED", "0"))
STATES = """
select substr(j.node_id, 3), j.status::text, j.attempt, j.finished_at::text, j.output
from qwf.jobs j where j.run_id = %s
"""


class Workflow:
    """One run of a workflow whose definition changes."""

    def __init__(self, db: Db, chance: random.Random) -> None:
        self.db, self.chance = db, chance
        self.made = model.Definitions(chance)
        self.nodes: Nodes = self.made.nodes()
        self.current = self.nodes
        self.context: Context = self.made.context()
        self.failing = {
            (f"t{chance.randrange(4)}", c)
            for c in chance.sample("0123456789abcdef", chance.choice([2, 6, 10]))
        }
        self.register(self.nodes)
        self.id = self.one("select qwf.enqueue_run('fz', %s)", Jsonb(self.context))
        self.work(fails=True)

    def one(self, statement: str, *values: Any) -> Any:
        row = self.db.execute(statement, values).fetchone()  # type: ignore[arg-type]
        return row[0] if row else None

    def register(self, nodes: Nodes) -> None:
        self.one("select qwf.register_pipeline(%s)", Jsonb({"name": "fz", "nodes": nodes}))
        step = {"id": "s", "kind": "pipeline", "pipeline": "fz"}
        self.one("select qwf.register_workflow(%s)", Jsonb({"name": "fz", "steps": [step]}))
        self.current = nodes

    def work(self, fails: bool) -> None:
        while True:
            claimed = self.db.execute(
                "select job_id, token, task, inputs from qwf.claim('cpu', 'w', 100)"
            ).fetchall()
            if not claimed:
                return
            reports = []
            for job, token, task, inputs in claimed:
                failed = fails and (task, model.digest(inputs)[0]) in self.failing
                reports.append({
                    "job_id": job, "token": str(token),
                    "outcome": "fatal" if failed else "completed",
                    "output": {} if failed else model.body(task, inputs),
                })  # fmt: skip
            self.one("select count(*) from qwf.finish_many(%s)", Jsonb(reports))

    def states(self) -> dict[str, State]:
        return {name: State(*rest) for name, *rest in self.db.execute(STATES, (self.id,))}

    def check_invariants(self) -> None:
        assert self.db.execute("select * from qwf.check_invariants()").fetchall() == []

    def retry(self) -> str:
        """Edit the definition, and retry the run in one of the ways in which people do it."""
        chance, was = self.chance, self.states()
        latest = chance.random() < 0.7
        self.register(self.made.edited(self.current))
        new = self.current if latest else self.nodes
        given = {chance.choice(model.KEYS): chance.randrange(3)} if chance.random() < 0.3 else {}
        changed = {key for key, value in given.items() if self.context[key] != value}
        names = [name for name in was if name.split("[")[0] in {node["id"] for node in new}]
        named = chance.choice(names) if names and chance.random() < 0.2 else None
        wanted = model.planned(self.nodes, new, was, changed, named)
        call = (self.id, named and f"s/{named}", latest, Jsonb(given))
        plan = self.db.execute("select * from qwf.retry_plan(%s, %s, %s, %s)", call).fetchall()
        told = {
            name[2:]: "resumes" if "elements reused" in (because or "") else verdict
            for name, verdict, because in plan
        }
        assert told == wanted
        assert all((because is None) == (verdict == "reused") for _, verdict, because in plan)
        again = {n for n, verdict in wanted.items() if verdict not in ("reused", "removed")}
        if not again:
            with pytest.raises(psycopg.DatabaseError, match="nothing to retry"):
                self.one("select qwf.retry_run(%s, %s, %s, %s)", *call)
            assert self.states() == was
            return "nothing"
        count = self.one("select qwf.retry_run(%s, %s, %s, %s)", *call)
        assert count == len(again)
        self.check_invariants()
        self.nodes, self.context = new, {**self.context, **given}
        self.check_reused(was, wanted, named)
        self.work(fails=chance.random() < 0.3)
        self.check_invariants()
        self.check_outputs()
        return "retried"

    def check_reused(self, was: dict[str, State], plan: dict[str, str], named: str | None) -> None:
        """Nothing of what is reused has changed; all else begins anew."""
        now = self.states()
        for name, state in was.items():
            verdict = plan[name.split("[")[0]]
            kept = state.status in model.ENDED_WELL and name != named
            if verdict == "reused" or (verdict == "resumes" and "[" in name and kept):
                assert now[name] == state, name
            elif verdict == "removed" or (verdict == "runs again" and "[" in name):
                assert name not in now or now[name].attempt == 0, name
        assert {name.split("[")[0] for name in now} == {node["id"] for node in self.nodes}

    def check_outputs(self) -> None:
        """A run that has completed gives what it would give from scratch."""
        status = self.one("select status::text from qwf.runs where id = %s", self.id)
        tops = {name: state for name, state in self.states().items() if "[" not in name}
        if status == "completed" and not any(s.status == "failed" for s in tops.values()):
            got = {name: s.output for name, s in tops.items() if s.status == "completed"}
            assert got == model.outputs(self.nodes, self.context)
        else:
            assert status in ("completed", "failed")


def check(db: Db, seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    outcomes: list[str] = []
    for _ in range(rounds):
        one = Workflow(db, chance)
        outcomes += [one.retry() for _ in range(3)]
    assert outcomes.count("retried") >= rounds


def test_a_retry_reuses_what_the_model_reuses(db: Db) -> None:
    """A node that is reused is untouched, and a run that completes has the outputs of a new one."""
    check(db, SEED, ROUNDS)


@pytest.mark.parametrize("bug", RETRY_BUGS)
def test_the_model_finds(db: Db, dsn: str, bug: str) -> None:
    """A bug that is planted into the retry is found within a few rounds."""
    put_in(dsn, *RETRY_BUGS[bug])
    with pytest.raises((AssertionError, psycopg.Error)):
        check(db, 1, 12)
