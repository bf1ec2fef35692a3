"""Alerts while agents are killed at each point of the way, and while a receiver is down."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from support.harness import Database, StartAgent, until
from support.letterbox import configure, http_server, mail_receiver, mail_server

FLOW = {
    "name": "nightly",
    "steps": [
        {"id": "load", "node": "raising", "queue": "default", "inputs": {"kind": "permanent"}}
    ],
}
BLOCKED = """
select pid from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%qwf.tick%'
"""
# The clock of the engine goes on from this time later; agents and their children see it at once.
LATER = """
create or replace function qwf.now() returns timestamptz language sql volatile
as $$ select pg_catalog.clock_timestamp() + interval '{} min' $$
"""
UNNUMBERED = "select count(*) from _qwf.event_log where seq is null"
DUE = """
select count(*) from qwf.jobs
where task = 'qwf.send' and (status in ('queued', 'running')
  or status = 'scheduled' and run_at <= qwf.now())
"""


def test_agents_that_are_killed_while_runs_fail_send_a_mail_of_each(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """An agent dies at each step from a body to its mail: before its report reaches the run, before
    the event has a number, while the rule is applied, before the mail server has answered. The next
    one goes on there: one message of each run, and one mail."""
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        configure(tmp_path, mail_receiver("ada", port, "ada@example.org"))
        base.one("select qwf.register_workflow(%s)", json.dumps(FLOW))
        rule = {"when": ["run_ended"], "by": "run", "do": {"receiver": "ada"}}
        base.one("select qwf.set_alert('bad', %s)", json.dumps(rule))
        agent = ("--app", "bodies", "--queue", "default", "--queue", "qwf.alerts")

        def dies(hold: str, when: Callable[[], Any]) -> None:
            with psycopg.connect(base.dsn) as other:
                base.one("select qwf.enqueue_run('nightly')")
                other.execute(hold)  # type: ignore[arg-type]
                killed = start(*agent)
                until(when, f"the moment after {hold}")
                killed.process.kill()
                killed.process.wait()
                base.conn.execute(f"select pg_terminate_backend(b.pid) from ({BLOCKED}) b")
            base.conn.execute(
                "update qwf.jobs set lease_expires_at = now() where status = 'running'"
            )

        failed = "select from qwf.jobs where task = 'raising' and status = 'failed' and run_id = %s"
        ended = (
            "select from _qwf.event_log where kind = 'run_ended' and run_id = %s and seq is null"
        )
        dies(
            "select from qwf.runs for update",
            lambda: base.conn.execute(failed, (1,)).rowcount,
        )
        dies(
            "select from _qwf.event_numbers for update",
            lambda: base.conn.execute(ended, (2,)).rowcount,
        )
        dies("select from qwf.alerts for update", lambda: base.conn.execute(BLOCKED).rowcount)
        mails.holds.set()
        asked = mails.asked
        dies("select", lambda: mails.asked > asked)
        mails.holds.clear()
        start(*agent)

        def all_came() -> bool:
            base.conn.execute("update qwf.jobs set run_at = now() where status = 'scheduled'")
            return base.one("select count(*) = 4 from qwf.jobs where task = 'qwf.send'"
                            " and status = 'completed'")  # fmt: skip

        until(all_came, "a message of each run")
        assert len(mails.taken) == 4
        assert {str(mail["Subject"]) for mail in mails.taken} == {
            f"run {run} of nightly failed: load failed: PermanentError: as asked"
            for run in (1, 2, 3, 4)
        }
        assert base.one("select count(*) from qwf.alert_messages") == 4
        assert base.invariants() == []


def test_a_receiver_that_is_down_for_two_hours_gets_its_messages_later(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Meanwhile doctor says so, tries become rare, hundreds of failures make no more messages, and
    there is no alert about the alert."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    hook = f'kind = "hook"\nurl = "http://127.0.0.1:{port}/hook"\nprivate = true\n'
    configure(tmp_path, f"[receiver.ops]\n{hook}")
    for name, when in (("bad", "job_failed"), ("meta", "alert_failed")):
        rule = {"when": [when], "do": {"receiver": "ops"}}
        base.one("select qwf.set_alert(%s, %s)", name, json.dumps(rule))
    start("--queue", "qwf.alerts")
    doctor = "select says from qwf.doctor('{alerts}') where level = 'problem'"

    def pass_to(minute: int) -> None:
        base.conn.execute(LATER.format(minute))  # type: ignore[arg-type]
        base.conn.execute("update qwf.workers set last_seen = qwf.now()")  # it lives, as before
        base.one("select qwf.tick()")  # it does nothing if the agent ticks at this moment
        until(lambda: base.one(UNNUMBERED) == 0, f"the events of minute {minute}")
        until(lambda: base.one(DUE) == 0, f"the tries of minute {minute}")

    for minute in range(0, 121, 20):
        for task in ("load", "clean", "copy"):
            base.one("select count(qwf.enqueue(%s)) from generate_series(1, 20)", task)
        base.one(
            "select count(qwf.finish(job_id, token, 'fatal')) from qwf.claim('default', 'w', 60)"
        )
        pass_to(minute)
    said = base.one(doctor)
    waits = "3 messages for receiver ops wait for another try, the oldest for 2 h"
    assert said.startswith(waits), said
    assert "refused" in said
    with http_server(port) as posts:
        one = base.one("select min(sent_job) from qwf.alert_messages")
        base.one("select qwf.change_job(%s, run_next => true)", one)
        until(lambda: base.job(one)["status"] == "completed", "what a person has sent at once")
        assert len(posts.got) == 1
        pass_to(240)
        until(lambda: len(posts.got) >= 6, "the messages")
        messages = [json.loads(post.body) for post in posts.got]
        assert sorted((one["state"], one["subject"]) for one in messages) == [
            (state, task) for state in ("open", "resolved") for task in ("clean", "copy", "load")
        ]
        assert {one["count"] for one in messages if one["state"] == "resolved"} == {140}
        assert base.one(doctor) is None
    tries = "select count(*) from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id"
    assert base.one(f"{tries} where j.task = 'qwf.send' and a.outcome <> 'completed'") <= 3 * 6
    assert base.one("select count(*) from qwf.alert_messages where rule = 'meta'") == 0
    assert base.invariants() == []
