"""A data pipeline of ninety nights: its third node is wrong, is corrected, and all is resumed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from support.welcome import Cli

Db = psycopg.Connection[Any]
NIGHTS, AT_ONCE, FAILED = 90, 4, 24
NODES = ("extract", "clean", "join", "load")
SCHEDULE = """
select qwf.create_schedule('etl', workflow => 'etl', cron => '0 3 * * *', overlap => 'allow',
  args => '{"day": {"$from": "due.date"}}', options => '{"limit_by": "etl"}')
"""
AT_WORK = "select count(*) from qwf.runs where status = 'running'"
COUNTS = """
select count(*) filter (where status = 'failed'), count(*) filter (where finished_at is null)
from qwf.runs
"""


def apply(on_db: Cli, folder: Path, table: str) -> None:
    """Register the workflow, whose third node joins with this table."""
    steps: list[dict[str, Any]] = [
        {"id": node, "node": node, "queue": "cpu", "depends_on": list(NODES[:place][-1:]),
         "inputs": {"day": {"$from": "day"}}}
        for place, node in enumerate(NODES)
    ]  # fmt: skip
    steps[2]["inputs"]["table"] = table
    (folder / "etl.json").write_text(json.dumps({"name": "etl", "steps": steps}))
    assert on_db("apply", folder).exit_code == 0


class Worker:
    """Runs bodies, each of which writes a row in the transaction of its report."""

    def __init__(self, db: Db) -> None:
        self.db = db
        self.most = 0
        self.began: Counter[tuple[str, str]] = Counter()
        db.execute("create table effects (day text, node text, primary key (day, node))")

    def works(self, nodes: int) -> None:
        """Let this many nodes end, with a tick before each claim."""
        while nodes > 0:
            self.db.execute("select qwf.tick()")
            self.most = max(self.most, self.one(AT_WORK))
            claimed = self.db.execute(
                "select job_id, token, task, inputs from qwf.claim('cpu', 'w', %s)", [nodes]
            ).fetchall()
            assert claimed, "there is nothing to do"
            for job, token, node, inputs in claimed:
                nodes -= 1
                self.body(job, token, node, inputs)

    def body(self, job: int, token: str, node: str, inputs: Any) -> None:
        self.began[inputs["day"], node] += 1
        wrong = inputs.get("table") == "prises"
        with self.db.transaction():
            self.db.execute(
                "select qwf.finish(%s, %s, %s, '{}', %s)",
                [job, token, *(("fatal", "there is no table prises") if wrong
                               else ("completed", None))],
            )  # fmt: skip
            if not wrong:
                self.db.execute("insert into effects values (%s, %s)", [inputs["day"], node])

    def one(self, query: str) -> Any:
        row = self.db.execute(query).fetchone()
        return row and row[0]


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_ninety_nights_are_backfilled_corrected_and_resumed(
    on_db: Cli, db: Db, tmp_path: Path, wide: None
) -> None:
    """The terminal says before and after what happens: of the nights that failed, only the wrong
    node and those that follow run again, and each night's effect is there once."""
    apply(on_db, tmp_path, "prises")
    db.execute("select qwf.create_limit('etl', %s)", [AT_ONCE])
    db.execute(SCHEDULE)
    worker = Worker(db)
    period = ("schedule", "backfill", "etl", "2026-01-01", "2026-04-01")
    planned = on_db(*period, "--plan")
    assert planned.exit_code == 0
    assert "90" in planned.stderr + planned.stdout
    begun = on_db(*period, "--at-once", AT_ONCE)
    assert "schedule etl.backfill.1 has begun" in begun.stdout

    worker.works(3 * FAILED)  # somebody sees that night after night fails, and stops it
    assert on_db("schedule", "disable", "etl.backfill.1").exit_code == 0
    db.execute("select qwf.tick()")
    ((failed, live),) = db.execute(COUNTS).fetchall()
    assert failed >= FAILED - AT_ONCE
    assert live <= AT_ONCE
    history = on_db("schedule", "history", "etl.backfill.1").stdout
    assert sum("failed" in line for line in history.splitlines()) == failed
    group = on_db("failures").stdout
    assert "there is no table prises" in group

    apply(on_db, tmp_path, "prices")
    first = worker.one("select min(id) from qwf.runs where status = 'failed'")
    plan = on_db("retry", "run", first, "--latest", "--dry-run")
    assert lines(plan.stdout)[1:] == [
        ["extract", "reused"],
        ["clean", "reused"],
        ["join", "runs", "again", "its", "definition", "changed"],
        ["load", "runs", "again", "it", "was", "cancelled"],
        ["run", f"{first}:", "2", "reused,", "2", "run", "again"],
    ]
    bulk = ("retry", "run", "--failed", "--workflow", "etl", "--latest")
    assert f"{failed} runs" in on_db(*bulk, "--dry-run").stdout
    assert worker.one("select count(*) from qwf.runs where status = 'failed'") == failed
    assert on_db(*bulk, "--yes").stdout == f"retry: {failed} runs\n"
    assert on_db("schedule", "enable", "etl.backfill.1").exit_code == 0

    worker.works(2 * failed + 2 * live)
    worker.works(len(NODES) * (NIGHTS - failed - live))
    db.execute("select qwf.tick()")
    assert db.execute(COUNTS).fetchall() == [(0, 0)]
    assert worker.most == AT_ONCE
    done = Counter(day for day, _ in db.execute("select day, node from effects").fetchall())
    assert (len(done), set(done.values())) == (NIGHTS, {len(NODES)})
    twice = {key: count for key, count in worker.began.items() if count > 1}
    assert {node for _, node in twice} == {"join"}
    assert (len(twice), set(twice.values())) == (failed, {2})

    history = on_db("schedule", "history", "etl.backfill.1", "--limit", "100").stdout
    assert sum("completed" in line for line in history.splitlines()) == NIGHTS
    assert "done, 90 of 90 times, 90 completed" in on_db("schedules").stdout
    shown = on_db("show", first).stdout
    assert "etl@2  ✓ completed" in shown
    assert "try 1 of version 1 ✗ failed" in shown
    assert "join failed: there is no table prises" in shown
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
