"""The page of the doctor."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from qwf_agent.cli import qwf
from qwf_agent.look.doctor.checks import NAMES
from support.made_jobs import claim, finish, start_run, worker
from support.visitors import Visit

Db = psycopg.Connection[Any]

pytestmark = pytest.mark.fresh  # what the page has found out about a database serves for a while


def test_what_is_wrong_comes_first_with_its_remedy(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue('t')")
    db.execute("update qwf.jobs set queued_at = now() - interval '1 h'")
    db.execute("select qwf.create_queue('mail'), qwf.enqueue('t', queue => 'mail')")
    db.execute("select qwf.pause_queue('mail')")
    rule = """{"when": ["lost"], "do": {"receiver": "ops"}}"""
    db.execute("select qwf.set_alert('bad', %s), qwf.test_alert('bad')", (rule,))
    page = visit("admin").text("/doctor")
    assert all(name in page for name in NAMES), "it makes every check"
    found, _, fine = page.partition('id="fine"')
    assert "queue default: 1 job waits" in found
    assert "qwf agent --queue default" in found
    assert 'href="/queues/default">Open queue default</a>' in found
    assert 'data-text="qwf agent --queue default' in found
    assert found.index("queue default: 1 job") < found.index("queue mail is paused")
    assert 'action="/do/resume_queue"' in found
    assert "the last tick was" not in found
    assert "no live agent has receiver ops" in found
    assert "/do/tick" not in found, "a tick starts no agent that has a receiver"
    assert "Autovacuum keeps up" in fine
    assert "Autovacuum keeps up" not in found
    assert "/do/resume_queue" not in visit("viewer").text("/doctor")


def test_a_held_task_can_be_resumed(visit: Visit, db: Db) -> None:
    db.execute(
        "insert into qwf.held_tasks (queue, task, hosts, crashes, other_ends, crashed_at, until)"
        " values ('default', 'killer', '{box-a,box-b}', 2, 0, now(), now() + interval '5 min')"
    )
    admin = visit("admin")
    page = admin.text("/doctor")
    assert "killer crashed on box-a, box-b: held until " in page
    assert 'name="task" value="killer"' in page
    admin.do("resume_queue", name="default", task="killer")
    assert db.execute("select until <= now() from qwf.held_tasks").fetchone() == (True,)


def test_a_receiver_that_nobody_has_leads_to_the_alerts(visit: Visit, db: Db) -> None:
    """No tick delivers a message, so the page offers none."""
    rule = '{"when": ["overdue"], "do": {"receiver": "ops"}}'
    db.execute("select qwf.set_alert('bad', %s)", (rule,))
    db.execute("select qwf.test_alert('bad')")
    found, _, _ = visit("admin").text("/doctor").partition('id="fine"')
    assert "no live agent has receiver ops; 1 message waits" in found
    assert 'href="/alerts#receiver-ops">Open receiver ops</a>' in found
    assert 'action="/do/tick"' not in found


def test_promises_that_are_kept_are_said_to_be(visit: Visit, db: Db) -> None:
    assert "all kept" in visit("viewer").text("/doctor")


def test_a_broken_promise_is_named(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue('t')")
    db.execute("set session_replication_role = replica")
    db.execute("update qwf.jobs set status = 'running', claimed_by = 'gone', claimed_at = now()")
    page = visit("viewer").text("/doctor")
    assert "all kept" not in page
    assert "the columns of a job agree with its state: job 1" in page


def test_page_and_terminal_count_the_same_problems(visit: Visit, db: Db, dsn: str) -> None:
    db.execute("select qwf.create_queue('a'), qwf.create_queue('b')")
    db.execute("select qwf.enqueue('t', queue => 'a'), qwf.enqueue('t', queue => 'b')")
    db.execute("update qwf.jobs set queued_at = now() - interval '1 h'")
    printed = CliRunner().invoke(qwf, ["doctor", "--dsn", dsn]).stdout
    said = re.search(r"(\d+) problems", printed)
    assert said is not None
    viewer = visit("viewer")
    assert f"{said[1]} problems in" in viewer.text("/doctor")
    assert f"doctor: {said[1]} problems" in viewer.text("/")


JAM = """
create function public.tg_jam() returns trigger language plpgsql as $$
  begin raise exception 'the disk is read-only'; end $$;
create trigger jam before update on qwf.jobs for each row
  when (old.status = 'blocked' and new.status = 'queued') execute function public.tg_jam()
"""


def test_a_run_whose_event_was_given_up_is_retried(visit: Visit, db: Db) -> None:
    run = start_run(db, {"id": "a"}, {"id": "b", "depends_on": ["a"]})
    db.execute(JAM)
    (claimed,) = claim(db, "cpu", worker(db, "cpu"))
    finish(db, claimed, "completed")
    page = visit("operator").text("/doctor")
    assert "the disk is read-only" in page
    assert "/do/retry_run" not in page, "it is tried again by itself"
    for _ in range(5):
        db.execute("update qwf.outbox set next_try_at = null")
        db.execute("select qwf.drain_outbox()")
    operator = visit("operator")
    assert f"Retry run {run}" in operator.text("/doctor")
    assert "It was given up" in visit("viewer").text("/doctor")
    assert "/do/retry_run" not in visit("viewer").text("/doctor")
    db.execute("drop trigger jam on qwf.jobs")
    assert f"run {run}</a> goes on" in operator.do("retry_run", run_id=str(run)).text
    assert "It was given up" not in operator.text("/doctor")
    assert db.execute("select status::text from qwf.jobs order by id").fetchall() == [
        ("completed",),
        ("queued",),
    ]


def test_an_operator_ticks_by_hand(visit: Visit, db: Db) -> None:
    answer = visit("admin").do("tick")
    assert "ticked" in answer.text


SLOW = """
create or replace function qwf.check_invariants(running_only boolean default false)
returns table (invariant text, subject text, detail text)
language sql volatile
as $$ select 'slow', 'job 7', 'after 2.5 s' from pg_sleep(2.5) where not running_only $$
"""


def test_a_page_with_many_jobs_waits_for_the_invariants(visit: Visit, db: Db) -> None:
    """Longer than a statement of a page may take."""
    db.execute(SLOW)
    assert "slow: job 7, after 2.5 s" in visit("viewer").text("/doctor")


def test_the_first_page_does_not_check_every_job(visit: Visit, db: Db) -> None:
    db.execute(SLOW)
    page = visit("viewer").text("/")
    assert "✓ invariants hold" in page
    assert "being checked" not in page


def test_pruning_says_first_how_much_it_deletes(visit: Visit, db: Db) -> None:
    for _ in range(2):
        db.execute("select qwf.enqueue('t')")
        db.execute("select qwf.finish(c.job_id, c.token, 'fatal') from qwf.claim('default', 'w') c")
    db.execute("update qwf.jobs set finished_at = finished_at - interval '1 year'")
    assert "Now 2 finished jobs and 0 runs are older" in visit("admin").text("/doctor")
