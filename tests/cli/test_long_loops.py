"""A long agent loop: 400 turns, and 1,000 with QWF_TEST_ALL=1."""

from __future__ import annotations

import json
import re
from statistics import median
from typing import Any

import psycopg

from support.thorough import THOROUGH
from support.visitors import visitor
from support.welcome import Cli

TURNS = 1000 if THOROUGH else 400
LOOP = {
    "name": "loop",
    "steps": [
        {"id": "act", "node": "act", "retry": {"max_losses": 9},
         "inputs": {"seen": {"$coalesce": [{"$from": "item.seen"}, 0]}, "turn": {"$from": "index"}},
         "repeat": {"until": {"$from": "item.done"}, "max": TURNS}},
        {"id": "say", "node": "say", "depends_on": ["act"],
         "inputs": {"seen": {"$from": "act.seen"}}},
    ],
}  # fmt: skip
CLAIM = "select job_id, token::text, attempt, inputs from qwf.claim('cpu', %s)"
FINISH = "select verdict from qwf.finish_many(%s)"
COST = "explain (analyze, buffers, timing off, costs off, format json) "
KILLED = range(50, TURNS, 190)  # turns whose worker dies
ROWS = 50  # of a list
MOST_BYTES = {"/runs/{run}": 20_000, "/jobs/{act}": 25_000, "/jobs?run_id={run}&node=act": 80_000}


def blocks(conn: psycopg.Connection[Any], query: str, *params: Any) -> int:
    """Do what the query does; the buffers that it touched, with all that it calls."""
    ((plan,),) = conn.execute(COST + query, params, prepare=False).fetchall()
    found = plan[0]["Plan"]
    return int(found["Shared Hit Blocks"] + found["Shared Read Blocks"])


def lose(db: psycopg.Connection[Any], conn: psycopg.Connection[Any]) -> None:
    """The worker dies, and its lease lapses."""
    db.execute("select pg_terminate_backend(%s, 5000)", [conn.info.backend_pid])
    db.execute("update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s'"
               " where status = 'running'")  # fmt: skip
    db.execute("select qwf.tick()")


def test_a_loop_of_many_turns_costs_the_same_at_its_end(
    db: psycopg.Connection[Any], dsn: str, on_db: Cli
) -> None:
    """It completes though workers die on the way, each turn once and from the one before; the last
    hundred turns touch as many buffers as the first; lists of it are cut and say so."""
    db.autocommit = True
    db.execute("select qwf.register_workflow(%s)", [json.dumps(LOOP)])
    ((run,),) = db.execute("select qwf.enqueue_run('loop')").fetchall()
    conn, costs, done = psycopg.connect(dsn, autocommit=True), [], 0
    killed = set(KILLED)
    while done < TURNS:
        cost = blocks(conn, CLAIM, f"box-{done}")
        ((job, token, inputs),) = db.execute(
            "select id, token::text, coalesce(resolved_inputs, inputs) from qwf.jobs"
            " where status = 'running'"
        ).fetchall()
        assert inputs == {"seen": done, "turn": done}
        if done in killed:
            killed.remove(done)
            lose(db, conn)
            conn = psycopg.connect(dsn, autocommit=True)
            continue
        done += 1
        output = {"seen": done, "done": done == TURNS}
        report = {"job_id": job, "token": token, "outcome": "completed", "output": output}
        costs.append(cost + blocks(conn, FINISH, json.dumps([report])))
    conn.close()
    first, last = median(costs[:100]), median(costs[-100:])
    print(f"buffers of a turn: {first:.0f} at first, {last:.0f} at the end")
    assert last <= 1.2 * first, (first, last)  # indexes get one level more
    ((job, token, inputs),) = db.execute(
        "select job_id, token::text, inputs from qwf.claim('cpu', 'last')"
    ).fetchall()
    assert inputs == {"seen": TURNS}
    db.execute("select qwf.finish(%s, %s, 'completed')", [job, token])
    ends = "select count(*), max(n) from (select count(*) filter (where a.outcome = 'completed') n"
    ends += " from qwf.job_attempts a group by a.job_id) t"
    assert db.execute(ends).fetchall() == [(TURNS + 1, 1)]
    losses = "select sum(j.losses) from qwf.jobs j"
    assert db.execute(losses).fetchall() == [(len(KILLED),)]
    assert db.execute("select status::text from qwf.runs").fetchall() == [("completed",)]
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
    shown = on_db("show", run)
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("\n") <= 10
    assert f"done after {TURNS} of {TURNS} turns" in shown.output
    listed = on_db("jobs", "--run", run)
    assert listed.output.count("\n") == ROWS + 2  # a head, and the note
    assert "note: these are 50, there may be more: --limit N" in listed.output
    ((act,),) = db.execute("select id from qwf.jobs where node_id = 'act'").fetchall()
    with visitor(db, dsn, "viewer") as ada:
        for path, most in MOST_BYTES.items():
            assert len(ada.text(path.format(run=run, act=act))) <= most
        listed_there = ada.text(f"/jobs?run_id={run}&node=act")
        assert len(re.findall(r"act\[\d+\]", listed_there)) == ROWS
        assert "Older" in listed_there
