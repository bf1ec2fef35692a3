"""Commands that change things: cancel, retry, change; schedules, queues, workers, limits."""

from __future__ import annotations

import getpass
import json
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.cli import cancel_retry, fleet
from qwf_agent.look import connection
from support import asking
from support.welcome import Cli

Db = psycopg.Connection[Any]


def fail_queued(db: Db, queue: str = "default") -> None:
    """Fail all queued jobs of the queue."""
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'broken') from qwf.claim(%s, 'box', 100)",
        (queue,),
    )


def states(db: Db) -> dict[str, str]:
    return dict(
        db.execute("select task, status::text from qwf.jobs where run_id is null").fetchall()
    )


@pytest.fixture
def three(on_db: Cli, db: Db) -> Cli:
    """A database with three failed jobs, of tasks a, b and c, c of project shop."""
    for task, project in (("a", ""), ("b", ""), ("c", "shop")):
        db.execute("select qwf.enqueue(%s, project => %s)", (task, project))
    fail_queued(db)
    return on_db


def test_retry_by_id(three: Cli, db: Db) -> None:
    ids = [row[0] for row in db.execute("select id from qwf.jobs where task <> 'c'")]
    result = three("retry", "job", *ids)
    assert result.exit_code == 0, result.output
    assert states(db) == {"a": "queued", "b": "queued", "c": "failed"}


def test_a_job_is_retried_with_new_arguments(three: Cli, db: Db, tmp_path: Path) -> None:
    (job,) = [row[0] for row in db.execute("select id from qwf.jobs where task = 'a'")]
    file = tmp_path / "args.json"
    file.write_text('{"to": "ada"}')
    result = three("retry", "job", job, "--args", f"@{file}")
    assert result.output == f"job {job} is queued again with new arguments\n"
    row = db.execute("select inputs, status::text from qwf.jobs where task = 'a'").fetchone()
    assert row == ({"to": "ada"}, "queued")
    again = three("retry", "job", job, "--args", "{}")
    assert (again.exit_code, "has not failed" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["1", "2", "--args", "{}"], "--args needs the id of one job"),
        (["--failed", "--args", "{}"], "--args needs the id of one job"),
        (["1", "--dry-run", "--args", "{}"], "--args needs the id of one job, without --dry-run"),
        (["1", "--args", "[1]"], "it must be a JSON object"),
        (["1", "--args", "{"], "is not JSON"),
    ],
)
def test_new_arguments_are_an_object_for_one_job(
    three: Cli, db: Db, words: list[str], said: str
) -> None:
    result = three("retry", "job", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert set(states(db).values()) == {"failed"}


def test_a_bulk_retry_asks_first(three: Cli, db: Db) -> None:
    assert three("retry", "job", "--failed", "--task", "a").exit_code == 2
    assert three("retry", "job", "--task", "a", "--yes").exit_code == 2
    assert states(db)["a"] == "failed"
    result = three("retry", "job", "--failed", "--task", "a", "--yes")
    assert result.stdout == "retry: 1 job\n"
    assert states(db) == {"a": "queued", "b": "failed", "c": "failed"}


def test_a_dry_run_changes_nothing(three: Cli, db: Db) -> None:
    printed = three("retry", "job", "--failed", "--project", "shop", "--dry-run").stdout
    assert printed.startswith("1 job\n  job ")
    assert "queued" not in states(db).values()


def test_retry_since_compares_the_end_time(three: Cli, db: Db) -> None:
    db.execute(
        "update qwf.jobs set created_at = created_at - interval '3 days',"
        " finished_at = finished_at - interval '1 day' where task = 'a'"
    )
    three("retry", "job", "--failed", "--since", "2h", "--yes")
    assert states(db) == {"a": "failed", "b": "queued", "c": "queued"}


def test_a_refusal_does_not_stop_the_others(three: Cli, db: Db) -> None:
    db.execute("update qwf.jobs set key = 'k' where task = 'a'")
    db.execute("select qwf.enqueue('a', key => 'k')")
    result = three("retry", "job", "--failed", "--yes")
    assert result.exit_code == 1
    assert "retry: 2 of 3 jobs" in result.stdout
    assert "key" in result.stderr
    assert "Traceback" not in result.output


def test_failed_nodes_are_retried_through_their_run(applied: Cli, db: Db) -> None:
    run = applied("run", "welcome").stdout.strip()
    fail_queued(db, "cpu")
    assert applied("wait", "run", run).exit_code == 1
    assert applied("retry", "job", "--failed", "--yes").stdout == "retry: 1 run\n"
    fail_queued(db, "cpu")
    assert applied("retry", "run", "--failed", "--workflow", "welcome", "--yes").exit_code == 0
    fail_queued(db, "cpu")
    assert "3 nodes to run" in applied("retry", "run", run, "--yes").stdout
    assert applied("retry", "run", run, "--yes").exit_code == 1


SALE = """[{"id": "charge"}, {"id": "ship", "depends_on": ["charge"]},
  {"id": "refund", "depends_on": ["ship"], "run_if": "all_done"}]"""
NODE_STATES = (
    "select string_agg(node_id || ' ' || status, ', ' order by node_idx) from qwf.jobs"
    " where run_id = %s"
)
ALL_DONE = "s/charge completed, s/ship queued, s/refund blocked"


@pytest.fixture
def refunded(on_db: Cli, db: Db) -> int:
    """A failed run: it was charged, could not ship, and gave the money back."""
    db.execute(
        "select qwf.register_pipeline(jsonb_build_object('name', 'sale', 'nodes', %s::jsonb))",
        (SALE,),
    )
    db.execute(
        "select qwf.register_workflow("
        """'{"name": "sale", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "sale"}]}')"""
    )
    (run,) = db.execute("select qwf.enqueue_run('sale')").fetchone() or (0,)
    for outcome in ("completed", "fatal", "completed"):
        db.execute(
            "select qwf.finish(job_id, token, %s, null, 'broken') from qwf.claim('cpu', 'box')",
            (outcome,),
        )
    found = db.execute(NODE_STATES, (run,)).fetchone()
    assert found == ("s/charge completed, s/ship failed, s/refund completed",)
    return int(run)


def test_a_node_takes_no_new_arguments(on_db: Cli, db: Db, refunded: int) -> None:
    row = db.execute("select id from qwf.jobs where status = 'failed'").fetchone()
    result = on_db("retry", "job", row[0] if row else None, "--args", "{}")
    assert result.exit_code == 1
    assert "a node takes its inputs from its workflow" in result.stderr
    found = db.execute("select status::text from qwf.runs where id = %s", (refunded,)).fetchone()
    assert found == ("failed",)


def test_a_retry_after_clean_up_says_what_it_did_and_asks(
    on_db: Cli, db: Db, refunded: int
) -> None:
    job = db.execute("select id from qwf.jobs where node_id = 's/ship'").fetchone()
    assert job is not None
    for words in (
        ("run", refunded),
        ("job", job[0]),
        ("run", "--failed", "--workflow", "sale"),
    ):
        refused = on_db("retry", *words)
        assert refused.exit_code == 2, words
        assert f"clean-up of run {refunded} has completed: s/refund" in refused.stderr
        assert "--from" in refused.stderr
        assert "--yes" in refused.stderr
        assert db.execute(NODE_STATES, (refunded,)).fetchone() != (ALL_DONE,)
    done = on_db("retry", "run", refunded, "--yes")
    assert done.exit_code == 0
    assert done.stdout.endswith(f"\nrun {refunded} goes on: 2 nodes to run\n")
    assert "s/refund" in done.stderr
    assert db.execute(NODE_STATES, (refunded,)).fetchone() == (ALL_DONE,)


def test_a_retry_from_the_node_that_was_undone_names_no_clean_up(
    on_db: Cli, db: Db, refunded: int
) -> None:
    done = on_db("retry", "run", refunded, "--from", "s/charge", "--yes")
    assert done.exit_code == 0
    assert f"run {refunded} goes on: 3 nodes to run\n" in done.stdout
    assert "s/refund" not in done.stderr


TAKES_BACK = """{"name": "order", "steps": [{"id": "charge", "node": "charge"},
  {"id": "refund", "node": "refund", "compensates": ["charge"]}]}"""


@pytest.fixture
def ordered(on_db: Cli, db: Db) -> int:
    """A run that completed, and has something that could be taken back."""
    db.execute("select qwf.register_workflow(%s::jsonb)", (TAKES_BACK,))
    (run,) = db.execute("select qwf.enqueue_run('order')").fetchone() or (0,)
    db.execute("select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'box')")
    return int(run)


def test_what_was_not_taken_back_runs_again_only_if_somebody_says_how(
    on_db: Cli, db: Db, ordered: int
) -> None:
    words = ("retry", "run", ordered, "--from", "charge")
    refused = on_db(*words, "--yes")
    assert refused.exit_code == 1
    assert "it was named; refund has not taken it back" in refused.stdout
    assert "hint: qwf retry run with --compensate takes it back first; with --keep it stays" in (
        refused.stderr
    )
    assert db.execute(NODE_STATES, (ordered,)).fetchone() == ("charge completed, refund skipped",)
    both = on_db(*words, "--compensate", "--keep", "--yes")
    assert (both.exit_code, "--keep or --compensate, not both" in both.stderr) == (2, True)
    done = on_db(*words, "--compensate", "--yes")
    assert "refund  runs first  it takes back charge" in done.stdout
    assert f"run {ordered} goes on: 1 node to run" in done.stdout
    assert db.execute(NODE_STATES, (ordered,)).fetchone() == ("charge completed, refund queued",)
    shown = " ".join(on_db("show", ordered).stdout.split())  # a line may end anywhere
    assert "takes back first what its retry runs again" in shown
    bulk = on_db("retry", "run", "--failed", "--workflow", "order", "--keep", "--yes")
    assert (bulk.exit_code, "need the ids of runs" in bulk.stderr) == (2, True)


def test_a_notice_in_sql_names_the_nodes_that_are_not_run_again(
    on_db: Cli, db: Db, refunded: int
) -> None:
    told: list[tuple[str | None, ...]] = []
    db.add_notice_handler(
        lambda n: told.append((n.message_primary, n.message_detail, n.message_hint))
    )
    db.execute("select qwf.retry_run(%s)", (refunded,))
    assert told == [
        (
            f"clean-up of run {refunded} has completed: s/refund",
            "these nodes are not run again: s/charge",
            "if it has undone one of them, name that node:"
            f" select qwf.retry_run({refunded}, 's/charge')",
        )
    ]


def test_cancel_in_bulk(on_db: Cli, db: Db) -> None:
    for task in ("a", "b", "b"):
        on_db("enqueue", task)
    assert on_db("cancel", "job", "--task", "b", "--yes").stdout == "cancel: 2 jobs\n"
    assert db.execute("select task, status::text from qwf.jobs order by id").fetchall() == [
        ("a", "queued"),
        ("b", "cancelled"),
        ("b", "cancelled"),
    ]
    assert on_db("cancel", "job", "--task", "b", "--yes").stdout == "nothing to cancel\n"


def test_many_jobs_go_in_lists(on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel_retry, "LISTED", 2)
    for _ in range(5):
        on_db("enqueue", "a")
    db.execute("select qwf.claim('default', 'box')")
    assert on_db("cancel", "job", "--task", "a", "--yes").stdout == "cancel: 5 jobs\n"
    found = db.execute("select status::text, last_error from qwf.jobs order by id").fetchall()
    assert [status for status, _ in found] == ["running", *["cancelled"] * 4]
    who = "select distinct acting_for from qwf.audit where kind like 'cancel%'"
    assert db.execute(who).fetchall() == [(getpass.getuser(),)]
    assert db.execute("select count(*) from qwf.cancel_requests").fetchone() == (1,)
    db.execute("update qwf.jobs set limit_by = 'gone' where status = 'cancelled'")
    db.execute("update qwf.jobs set status = 'failed' where status = 'cancelled'")
    result = on_db("retry", "job", "--failed", "--yes")
    assert "retry: 0 of 4 jobs" in result.stdout
    assert "job 2: no such limit" in result.stderr


def test_cancel_runs_in_bulk(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    assert applied("cancel", "run", "--project", "other", "--yes").stdout == "nothing to cancel\n"
    assert applied("cancel", "run", "--workflow", "welcome", "--yes").stdout == "cancel: 1 run\n"
    assert applied("wait", "run", run).exit_code == 2


@pytest.mark.parametrize("verb", ["cancel", "retry"])
@pytest.mark.parametrize("what", ["run", "job"])
def test_ids_and_filters_exclude_each_other(on_db: Cli, verb: str, what: str) -> None:
    assert on_db(verb, what).exit_code == 2
    assert on_db(verb, what, "1", "--since", "1d").exit_code == 2
    error = on_db(verb, "1").stderr
    assert f"qwf {verb} run 1" in error
    assert f"qwf {verb} job 1" in error


def test_prune_deletes_everything_old_at_once(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.enqueue('t') from generate_series(1, 300)")
    fail_queued(db)
    fail_queued(db)
    old = (
        "update qwf.jobs set created_at = created_at - interval '60 days',"
        " finished_at = finished_at - interval '60 days'"
    )
    db.execute(f"{old} where status = 'failed'")
    asked = on_db("prune")
    assert asked.exit_code == 2
    assert "Delete 200 jobs, with their attempts" in asked.stderr
    assert db.execute("select count(*) from qwf.jobs").fetchone() == (300,)
    assert json.loads(on_db("prune", "--json", "--yes").stdout)["jobs"] == 200
    assert json.loads(on_db("prune", "--json").stdout)["jobs"] == 0
    assert db.execute("select count(*) from qwf.jobs").fetchone() == (100,)


def test_schedules_are_added_listed_switched_and_dropped(on_db: Cli, db: Db) -> None:
    words = [
        "--task",
        "ping",
        "--cron",
        "0 3 * * *",
        "--timezone",
        "Europe/Rome",
        "--priority",
        "7",
    ]
    added = on_db("schedule", "add", "nightly", *words, "--args", '{"a": 1}')
    assert added.exit_code == 0, added.output
    on_db("schedule", "add", "often", "--task", "ping", "--every", "37min")
    hours = on_db("schedule", "add", "hourly", "--task", "p", "--minute", "5", "--hours", "8,12")
    assert hours.exit_code == 0, hours.output
    listed = on_db("schedules").stdout
    assert "0 3 * * * Europe/Rome" in listed
    assert "every 37 min" in listed
    assert "5 of hours 8,12 UTC" in listed, "the zone of when, also if it is UTC"
    zone = f"{datetime.now().astimezone():%Z}"
    (line,) = [line for line in listed.splitlines() if line.startswith("often")]
    assert zone in line, "the zone in which the next time is shown"
    assert "next at" in on_db("schedule", "enable", "nightly").stdout
    assert "disabled" in on_db("schedule", "disable", "nightly").stdout
    rows = {row["name"]: row for row in json.loads(on_db("schedules", "--json").stdout)}
    assert rows["nightly"]["enabled"] is False
    assert rows["nightly"]["args"] == {"a": 1}
    asked = on_db("schedule", "drop", "often")
    assert asked.exit_code == 2
    assert "task ping, every 37 min, fired 0 times" in asked.stderr
    assert on_db("schedule", "drop", "often", "--yes").exit_code == 0
    assert on_db("schedule", "drop", "often", "--yes").exit_code == 1
    wrong = on_db("schedule", "add", "odd", "--task", "t", "--cron", "61 * * * *")
    assert wrong.exit_code == 1
    assert "61" in wrong.stderr
    assert (
        on_db("schedule", "add", "odd", "--task", "t", "--minute", "1", "--hours", "x").exit_code
        == 2
    )


def test_missed_times_that_do_not_fire_are_told(on_db: Cli, db: Db) -> None:
    for name, catch_up in (("dropped", "none"), ("once", "one"), ("every", "all")):
        added = on_db(
            "schedule", "add", name, "--task", "t", "--every", "5min", "--catch-up", catch_up
        )
        assert added.exit_code == 0, added.output
    said: list[str] = []
    db.add_notice_handler(
        lambda n: said.append(f"{n.message_primary}") if n.severity == "WARNING" else None
    )
    db.execute("select qwf.tick()")
    assert said == []
    db.execute("update qwf.schedules set next_at = next_at - interval '1 hour', anchor = anchor"
               " - interval '1 hour'")  # fmt: skip
    db.execute("select _qwf.fire_schedules()")
    assert [line.partition(":")[0] for line in sorted(said)] == [
        "schedule dropped", "schedule once",
    ]  # fmt: skip
    assert sorted(said)[0].endswith("they are left out")
    assert sorted(said)[1].endswith("they fire once, for the latest")
    listed = on_db("schedules").stdout.splitlines()
    assert "skipped" in listed[0]
    assert next(line for line in listed if line.startswith("dropped")).split()[-1] == "11"


def test_a_schedule_is_fired_by_hand(on_db: Cli, db: Db) -> None:
    on_db("schedule", "add", "nightly", "--task", "ping", "--cron", "@daily", "--disabled")
    assert on_db("schedule", "fire", "nightly").stdout == "schedule nightly fired: job 1\n"
    refused = on_db("schedule", "fire", "nightly")
    assert refused.exit_code == 1
    assert "what the schedule enqueued last is not over" in refused.stderr
    assert db.execute("select schedule, status::text from qwf.jobs").fetchall() == [
        ("nightly", "queued")
    ]
    assert on_db("schedule", "fire", "nigthly").exit_code == 1


def test_a_schedule_is_backfilled_and_its_history_listed(
    on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times without a zone are of the zone of the schedule; the terminal says what is left out."""
    monkeypatch.setenv("COLUMNS", "160")
    args, options = '{"day": {"$from": "due.date"}}', '{"max_attempts": 1}'
    on_db("schedule", "add", "etl", "--task", "load", "--cron", "30 0 * * *", "--args", args,
          "--timezone", "Europe/Berlin", "--options", options, "--overlap", "allow")  # fmt: skip
    fired = on_db("schedule", "fire", "etl", "--due", "2026-03-29 00:30")
    assert fired.stdout == "schedule etl fired: job 1\n"
    wrong = on_db("schedule", "fire", "etl", "--due", "2026-03-29")
    assert (wrong.exit_code, "the schedule has no such time" in wrong.stderr) == (1, True)
    period = ("schedule", "backfill", "etl", "2026-03-29", "2026-04-01")
    plan = on_db(*period, "--plan")
    assert [line.split("  ")[-1].strip() for line in plan.stdout.splitlines()[1:]] == [
        "left out: worked on now", "fires", "fires",
    ]  # fmt: skip
    assert plan.stderr == "2 of 3 times would fire, 1 at once\n"
    assert [row["verdict"] for row in json.loads(on_db(*period, "--plan", "--json").stdout)] == [
        "open", "fires", "fires",
    ]  # fmt: skip
    begun = on_db(*period, "--at-once", "4")
    assert "schedule etl.backfill.1 has begun" in begun.stdout
    assert "of 3 times are left out: 1 open" in begun.stderr
    db.execute("select _qwf.fire_schedules()")
    jobs = "select inputs ->> 'day', max_attempts from qwf.job_details order by id"
    assert db.execute(jobs).fetchall() == [
        ("2026-03-29", 1), ("2026-03-30", 1), ("2026-03-31", 1),
    ]  # fmt: skip
    line = next(line for line in on_db("schedules").stdout.splitlines() if "backfill" in line)
    assert "done, 3 of 3 times, 2 open" in line
    history = on_db("schedule", "history", "etl").stdout.splitlines()
    assert [("queued" in line, "it was being worked on" in line) for line in history[1:]] == [
        (True, False), (True, False), (False, True), (True, False),
    ]  # fmt: skip
    alone = json.loads(on_db("schedule", "history", "etl.backfill.1", "--json").stdout)
    assert [row["outcome"] for row in alone] == ["fired", "fired", "skipped"]
    assert len(json.loads(on_db("schedule", "history", "--json").stdout)) == 4
    assert on_db("schedule", "enable", "etl.backfill.1").exit_code == 1
    assert on_db("schedule", "backfill", "etl", "soon", "2026-04-01").exit_code == 2


def test_queues_are_created_paused_and_resumed(on_db: Cli, db: Db) -> None:
    assert on_db("queue", "create", "mail", "--timeout", "5min").exit_code == 0
    assert "max" not in on_db("queues").stdout
    assert on_db("queue", "create", "mail", "--max-running", "3").exit_code == 0
    assert "max" in on_db("queues").stdout
    assert on_db("queue", "pause", "mail").exit_code == 0
    assert "paused" in on_db("queues").stdout
    assert {q["queue"]: q["paused"] for q in json.loads(on_db("queues", "--json").stdout)}["mail"]
    assert on_db("queue", "resume", "mail").exit_code == 0
    assert "paused" not in on_db("queues").stdout
    assert on_db("queue", "pause", "nowhere").exit_code == 1
    assert on_db("queue", "create", "mail", "--on-failure", "ask").exit_code == 0
    query = "select on_failure from qwf.queues where name = 'mail'"
    assert db.execute(query).fetchone() == ("ask",)
    assert on_db("queue", "create", "No good").exit_code == 1


def test_workers_are_listed(on_db: Cli, db: Db) -> None:
    assert "no workers" in on_db("workers").stdout
    gone = db.execute("select qwf.register_worker('box-b', 'cpu')").fetchone()
    db.execute("select qwf.register_worker('box-a', 'gpu', '{\"slots\": 2}')")
    db.execute("select qwf.deregister_worker(%s)", gone)
    assert "box-a" in (listed := on_db("workers").stdout)
    assert "box-b" not in listed
    assert "box-b" in on_db("workers", "--all").stdout
    assert [w["host"] for w in json.loads(on_db("workers", "--json").stdout)] == ["box-a"]


CONTROLS = "select host_label, queue, desired_state, stop_policy, reason, until is not null from qwf.worker_controls order by 1, 2"  # noqa: E501


def test_a_dead_worker_is_forgotten(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    row = db.execute("select id from qwf.workers").fetchone()
    assert row is not None
    assert "is not dead" in on_db("worker", "forget", *row).stderr
    assert "no worker nobody" in on_db("worker", "forget", "nobody").stderr
    on_db("enqueue", "t", "--queue", "cpu")
    db.execute("select qwf.claim('cpu', %s)", row)
    db.execute("update qwf.workers set last_seen = now() - interval '1 h'")
    assert "dead" in on_db("workers").stdout
    asked = on_db("worker", "forget", *row)
    assert asked.exit_code == 2
    assert "hand 1 job back" in asked.stderr
    assert "forgotten" in on_db("worker", "forget", *row, "--yes").stdout
    assert "no workers" in on_db("workers").stdout
    assert db.execute("select status from qwf.jobs").fetchone() == ("queued",)


def test_a_box_that_is_gone_is_forgotten_with_its_orders(on_db: Cli, db: Db) -> None:
    for queue in ("cpu", "gpu"):
        db.execute("select qwf.register_worker('box-b', %s)", (queue,))
    on_db("enqueue", "t", "--queue", "cpu", "--requires", "host=box-b")
    db.execute("select qwf.claim('cpu', w.id) from qwf.workers w where w.queue = 'cpu'")
    on_db("worker", "off", "--host", "box-b", "--queue", "gpu", "--reason", "new card")
    box = ("worker", "forget", "--host", "box-b", "--all")
    assert "has a live worker" in on_db(*box, "--yes").stderr
    db.execute("update qwf.workers set last_seen = now() - interval '1 h'")
    assert "worker forget --host box-b --all" in on_db("doctor").stdout
    asked = on_db(*box)
    assert asked.exit_code == 2
    assert "1 unfinished job can run on box-b alone" in asked.stderr
    assert "2 dead workers, 1 job to hand back, the order gpu hard?" in asked.stderr
    assert db.execute("select count(*) from qwf.worker_controls").fetchone() == (1,)
    done = on_db(*box, "--yes")
    assert done.exit_code == 0, done.output
    assert db.execute("select count(*) from qwf.worker_controls").fetchone() == (0,)
    assert db.execute("select status from qwf.jobs").fetchone() == ("queued",)
    assert "box-b" not in on_db("doctor").stdout
    assert "no dead worker and no order" in on_db(*box, "--yes").stderr
    assert on_db("worker", "forget", "--host", "box-b").exit_code == 2


def test_commands_mean_the_box_that_its_agents_are_called(
    on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QWF_HOST", "box-c")
    db.execute("select qwf.register_worker('box-c', 'cpu')")
    off = on_db("worker", "off")
    assert off.stdout.startswith("box-c cpu: off"), off.output
    assert on_db("workers", "--check").exit_code == 0
    monkeypatch.setenv("QWF_HOST", "box-d")
    assert "no worker of box-d is alive" in on_db("workers", "--check").stderr


def test_a_cancelled_run_names_the_login_and_the_person(
    applied: Cli, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    for reason, said in (((), ""), (("wrong photo",), ": wrong photo")):
        run = applied("run", "welcome").stdout.strip()
        applied("cancel", "run", run, *(f"--reason={text}" for text in reason))
        shown = applied("show", run).stdout
        assert f"error: cancelled by {db.info.user}, acting for ada{said}\n" in shown


def test_a_command_stops_waiting_for_a_lock_and_says_who_holds_it(
    applied: Cli, connect: Callable[[], Db], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = connection.SETTINGS.replace(f"'{connection.LOCK_WAIT_S}s'", "'100ms'")
    monkeypatch.setattr(connection, "SETTINGS", short)
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 1)
    run = applied("run", "welcome").stdout.strip()
    side = connect()
    side.execute("set application_name = 'shop'")
    with side.transaction():
        side.execute("select from qwf.runs where id = %s for update", (run,))
        for words in (["cancel", "run", run], ["cancel", "run", "--workflow", "welcome", "--yes"]):
            refused = applied(*words)
            assert refused.exit_code == 1
            assert f"pid {side.info.backend_pid}" in refused.stderr
            assert "application shop" in refused.stderr
            assert "idle in transaction" in refused.stderr
            assert "pg_terminate_backend" in refused.stderr
        assert "cancel: stopped after 0 of 1 run\n" in refused.stdout
    assert applied("cancel", "run", run).exit_code == 0


def test_a_node_that_failed_before_it_completed_points_to_its_attempts(
    applied: Cli, work: Callable[..., list[str]]
) -> None:
    run = applied("run", "welcome").stdout.strip()
    work("error", "no such model")
    assert "why greet/think failed: qwf job 1" in applied("show", run).stdout
    assert "no such model" in applied("job", 1).stdout
    applied("retry", "run", run, "--yes")
    work()
    assert "earlier attempts of greet/think: qwf job 1" in applied("show", run).stdout


LENGTHS = {
    "37 minutes": 2220, "1 day": 86400, "1h30m": 5400, "PT5M": 300, "90s": 90, "90": 90,
    "10min": 600, "2h": 7200, "1.5 hours": 5400, "500ms": 0.5, "1d": 86400,
}  # fmt: skip


@pytest.mark.parametrize("text", LENGTHS)
def test_a_length_of_time_is_what_postgres_reads(on_db: Cli, db: Db, text: str) -> None:
    assert on_db("enqueue", "t", "--timeout", text, "--in", text).exit_code == 0
    query = (
        "select extract(epoch from timeout)::float8, abs(extract(epoch from run_at - created_at)) "
        "from qwf.job_details"
    )
    timeout, after = db.execute(query).fetchone() or (0, 0)
    assert timeout == LENGTHS[text]
    assert abs(float(after) - LENGTHS[text]) < 5
    assert on_db("worker", "drain", "--queue", "cpu", "--until", text).exit_code == 0
    assert on_db("jobs", "--since", text).exit_code == 0
    assert on_db("wait", "job", "1", "--timeout", "1ms").exit_code == 124


def test_a_month_stays_a_month(on_db: Cli) -> None:
    refused = on_db("schedule", "add", "s", "--task", "t", "--every", "1 month")
    assert refused.exit_code == 1
    assert "month" in refused.stderr


@pytest.mark.parametrize("text", ["-5s", "soon", "1 fortnight", "", "9e99 days"])
def test_what_is_no_length_of_time_is_refused_with_the_option(on_db: Cli, text: str) -> None:
    for words in (["enqueue", "t", "--in"], ["jobs", "--since"], ["wait", "job", "1", "--timeout"]):
        refused = on_db(*words[:-1], f"{words[-1]}={text}")
        assert refused.exit_code == 2, refused.output
        assert words[-1] in refused.stderr
        assert repr(text) in refused.stderr


def test_workers_are_switched(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'gpu'), qwf.register_worker('box-a', 'cpu')")
    on_db(
        "worker",
        "drain",
        "--host",
        "box-a",
        "--queue",
        "gpu",
        "--reason",
        "new card",
        "--until",
        "2h",
    )
    assert db.execute(CONTROLS).fetchall() == [("box-a", "gpu", "off", "drain", "new card", True)]
    assert "new card until" in on_db("workers").stdout
    assert on_db("worker", "off", "--host", "box-a", "--all").exit_code == 0
    assert [row[1:4] for row in db.execute(CONTROLS)] == [
        ("cpu", "off", "hard"),
        ("gpu", "off", "hard"),
    ]
    assert on_db("worker", "pause", "--host", "box-a", "--queue", "cpu").exit_code == 0
    assert on_db("worker", "on", "--host", "box-a", "--queue", "gpu").exit_code == 0
    assert db.execute(CONTROLS).fetchall()[0][1:4] == ("cpu", "off", "pause")
    assert db.execute("select queue from qwf.switched_off").fetchall() == [("cpu",)]


def test_switching_a_box_on_a_queue_that_it_does_not_serve_names_those_that_it_serves(
    on_db: Cli, db: Db
) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu'), qwf.register_worker('box-b', 'gpu')")
    note = on_db("worker", "off", "--host", "box-a", "--queue", "gpu").stderr
    assert 'no worker of "box-a" on gpu has been seen yet' in note
    assert "it has served cpu; this holds for the next one" in note
    assert "did you mean" not in note


def test_switching_an_unknown_box_prints_a_note(on_db: Cli, db: Db) -> None:
    off = ("worker", "off", "--host", "box-z")
    assert "has been seen" in on_db(*off, "--queue", "cpu").stderr
    assert on_db(*off, "--queue", "nowhere").exit_code == 1
    assert on_db(*off, "--all").exit_code == 1
    assert "--queue QUEUE" in on_db(*off).stderr
    assert on_db(*off, "--all", "--queue", "cpu").exit_code == 2
    assert on_db(*off, "--queue", "cpu", "--until", "2001-01-01").exit_code == 1
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    assert "did you mean box-a?" in on_db(*off, "--queue", "cpu").stderr
    assert on_db("worker", "off", "--host", "box-a", "--queue", "cpu").stderr == ""


def test_the_whole_fleet_is_switched_and_what_was_off_before_stays_off(on_db: Cli, db: Db) -> None:
    assert "no worker is alive" in on_db("worker", "drain", "--fleet").stderr
    assert "no worker is switched off" in on_db("worker", "on", "--fleet").stderr
    for box, queue in (("box-a", "cpu"), ("box-a", "gpu"), ("box-b", "gpu")):
        db.execute("select qwf.register_worker(%s, %s)", (box, queue))
    on_db("worker", "off", "--host", "box-b", "--queue", "gpu", "--reason", "new card")
    drained = on_db("worker", "drain", "--fleet", "--reason", "new disk")
    assert drained.exit_code == 0, drained.stderr
    assert "box-a cpu: off when" in drained.stdout
    assert "box-b gpu: was off (new card), stays as it is" in drained.stdout
    assert [row[:5] for row in db.execute(CONTROLS)] == [
        ("box-a", "cpu", "off", "drain", "new disk"),
        ("box-a", "gpu", "off", "drain", "new disk"),
        ("box-b", "gpu", "off", "hard", "new card"),
    ]
    again = on_db("worker", "on", "--fleet", "--reason", "new disk")
    assert "box-b gpu: was off (new card), stays as it is" in again.stdout
    assert [row[2] for row in db.execute(CONTROLS)] == ["on", "on", "off"]
    assert on_db("worker", "on", "--fleet").stdout == "box-b gpu: on again\n"
    for more in (("--all",), ("--host", "box-a"), ("--queue", "gpu")):
        assert on_db("worker", "off", "--fleet", *more).exit_code == 2


def test_the_queue_may_be_left_out_if_a_box_serves_only_one(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'gpu', '{\"models\": [\"flux\"]}')")
    assert on_db("worker", "drain", "--host", "box-a").stdout.startswith("box-a gpu: off")
    assert on_db("worker", "on", "--host", "box-a").stdout.startswith("box-a gpu: on")
    assert on_db("worker", "load", "flux", "--host", "box-a").exit_code == 0
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    for words, said in (
        (["drain"], "serves cpu, gpu"),
        (["on"], "serves cpu, gpu"),
        (["unload"], "several agents for it, of cpu, gpu"),
    ):
        refused = on_db("worker", *words, "--host", "box-a")
        assert refused.exit_code == 2
        assert said in refused.stderr


def model_box(db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'gpu', '{\"models\": [\"flux\"]}')")


REQUESTS = "select host, queue, model, action from qwf.model_requests order by id"


def test_models_are_loaded_and_unloaded(on_db: Cli, db: Db) -> None:
    model_box(db)
    assert on_db("worker", "load", "flux", "--host", "box-a").exit_code == 0
    assert on_db("worker", "unload", "--host", "box-a").exit_code == 0
    assert db.execute(REQUESTS).fetchall() == [
        ("box-a", "gpu", "flux", "load"),
        ("box-a", "gpu", None, "unload"),
    ]
    assert on_db("worker", "load", "sam", "--host", "box-a").exit_code == 1


@pytest.mark.parametrize(("error", "code"), [(None, 0), ("out of memory", 1)])
def test_load_waits_until_it_is_done(
    on_db: Cli, db: Db, connect: Callable[[], Db], error: str | None, code: int
) -> None:
    model_box(db)
    side = connect()

    def load() -> None:
        done = "update qwf.model_requests set answered_at = now(), error = %s returning id"
        while not side.execute(done, (error,)).fetchall():
            pass

    helper = threading.Thread(target=load, daemon=True)
    helper.start()
    result = on_db("worker", "load", "flux", "--host", "box-a", "--wait")
    helper.join(30)
    assert result.exit_code == code, result.output
    assert ("out of memory" in result.stderr) == bool(error)


def test_load_says_how_far_it_is(on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    model_box(db)
    steps = iter(
        [
            "taken_by = (select id from qwf.workers limit 1), progress = 'pulling: 43 %'",
            "progress = 'pulling: 44 %'",
            "answered_at = now()",
        ]
    )
    change = "update qwf.model_requests set "
    monkeypatch.setattr(fleet.time, "sleep", lambda _: db.execute(change + next(steps)))
    result = on_db("worker", "load", "flux", "--host", "box-a", "--wait")
    assert result.exit_code == 0, result.output
    assert result.stderr == "box-a gpu: load flux, pulling: 43 %\n", "not more than now and then"


@pytest.mark.parametrize("late", ["no worker took it", "the worker that took it died"])
def test_load_stops_waiting_if_no_worker_will_do_it(
    on_db: Cli, db: Db, connect: Callable[[], Db], late: str
) -> None:
    model_box(db)
    side = connect()
    old = "update qwf.model_requests set requested_at = now() - interval '5 min', taken_by = %s"
    taken = "gone" if "died" in late else None

    def pass_time() -> None:
        while not side.execute(f"{old} returning id", (taken,)).fetchall():
            pass

    helper = threading.Thread(target=pass_time, daemon=True)
    helper.start()
    result = on_db("worker", "load", "flux", "--host", "box-a", "--wait")
    helper.join(30)
    assert result.exit_code == 1
    assert "qwf workers" in result.stderr


def test_a_failed_job_that_asks_is_answered(on_db: Cli, db: Db) -> None:
    jobs = [on_db("enqueue", "send", "--on-failure", "ask").stdout.strip() for _ in range(3)]
    fail_queued(db)
    asked = on_db("inputs").stdout
    assert f"qwf answer --job {jobs[0]} '#1'" in asked
    assert "#1 retry" in asked
    assert "broken" in asked
    for job, value in zip(jobs, ("retry", "#2", "abort"), strict=True):
        result = on_db("answer", "--job", job, value)
        assert result.exit_code == 0, result.output
    states = db.execute("select status::text from qwf.jobs order by id").fetchall()
    assert states == [("queued",), ("skipped",), ("failed",)]
    assert on_db("answer", "--job", jobs[0], "retry").exit_code == 1
    assert on_db("answer", "--job", jobs[0]).exit_code == 2


def test_a_question_without_options_is_answered_with_null(on_db: Cli, db: Db) -> None:
    db.execute(
        """select qwf.register_workflow('{"name": "ask", "steps": [{"id": "pick", "kind": "input",
          "widget": "choose_one", "options": {"$from": "found"}}]}'),
        qwf.enqueue_run('ask', '{"found": []}')"""
    )
    asked = on_db("inputs").stdout
    assert "there is nothing to choose from" in asked
    assert "qwf answer 1 pick null" in asked
    assert "qwf answer 1 pick null" in on_db("show", "1").stdout
    assert on_db("answer", "1", "pick", "null").exit_code == 0


def test_limits_are_created_listed_and_dropped(on_db: Cli, db: Db) -> None:
    assert "no limits" in on_db("limits").stdout
    assert on_db("limit", "create", "mail", "2").exit_code == 0
    for _ in range(3):
        assert on_db("enqueue", "send", "--limit-by", "mail").exit_code == 0
    held = db.execute("select job_id from qwf.claim('default', 'box', 10)").fetchall()
    assert len(held) == 2
    (row,) = json.loads(on_db("limits", "--json").stdout)
    assert (row["name"], row["max_running"], row["running"], row["queued"]) == ("mail", 2, 2, 1)
    assert "mail" in on_db("limits").stdout
    db.execute("select qwf.cancel_job(id) from qwf.jobs where status = 'queued'")
    asked = on_db("limit", "drop", "mail")
    assert asked.exit_code == 2
    assert "2 at once" in asked.stderr
    assert on_db("limit", "drop", "mail", "--yes").exit_code == 1  # two still run
    assert on_db("queue", "create", "cpu", "--max-running", "1").exit_code == 0
    for _ in range(3):
        assert on_db("enqueue", "send", "--queue", "cpu").exit_code == 0
    (_, row) = json.loads(on_db("limits", "--json").stdout)
    assert (row["name"], row["queued"]) == ("queue:cpu", 3)
    assert on_db("limit", "drop", "queue:cpu", "--yes").exit_code == 0
    assert on_db("enqueue", "send", "--limit-by", "nowhere").exit_code == 1


def test_a_limit_is_held_and_the_hold_is_ended(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.create_limit('smtp', 2), qwf.create_limit('customer', 2, keyed => true)")
    assert "limit smtp is held until " in on_db("limit", "hold", "smtp", "10min").output
    assert on_db("limit", "hold", "customer", "1h", "--key", "acme").exit_code == 0
    listed = on_db("limits").output
    assert "by postgres" in listed
    assert "1 key" in listed
    assert on_db("limit", "hold", "smtp", "--end").output == "limit smtp is not held\n"
    assert on_db("limit", "hold", "smtp").exit_code == 2
    assert on_db("limit", "hold", "nothing", "1h").exit_code == 1
    hint = "give its key apart: qwf limit hold customer --key acme TIME"
    assert hint in on_db("limit", "hold", "customer:acme", "1h").stderr


def test_the_busiest_keys_of_a_limit_are_listed(on_db: Cli, db: Db) -> None:
    assert on_db("limit", "create", "customer", "2", "--keyed").exit_code == 0
    for key in ("acme", "acme", "acme", "bob"):
        assert on_db("enqueue", "send", "--limit-by", f"customer:{key}").exit_code == 0
    db.execute("select job_id from qwf.claim('default', 'box', 10)").fetchall()
    (row,) = json.loads(on_db("limits", "--json").stdout)
    assert (row["keyed"], row["keys"], row["running"], row["queued"]) == (True, 2, 3, 1)
    assert "customer:KEY" in on_db("limits").stdout
    acme, bob = json.loads(on_db("limits", "customer", "--json").stdout)
    assert (acme["key"], acme["queued"], acme["held_back"]) == (
        "customer:acme",
        1,
        "2 of 2 running",
    )
    assert (bob["running"], bob["held_back"]) == (1, None)
    assert "2 of 2 running" in on_db("limits", "customer").stdout
    assert on_db("limits", "nowhere").exit_code == 1
    refused = on_db("enqueue", "send", "--limit-by", "customer")
    assert refused.exit_code == 1
    assert "counts by key" in refused.stderr


def test_a_rate_is_set_listed_and_taken_away(on_db: Cli, db: Db) -> None:
    assert on_db("limit", "create", "smtp").exit_code == 1
    assert on_db("limit", "create", "smtp", "--starts", "2", "--per", "1h").exit_code == 0
    for _ in range(3):
        assert on_db("enqueue", "send", "--limit-by", "smtp").exit_code == 0
    claim = "select job_id from qwf.claim('default', 'box', 10, startable => 10)"
    assert len(db.execute(claim).fetchall()) == 2
    (row,) = json.loads(on_db("limits", "--json").stdout)
    assert (row["starts"], row["started"], row["max_running"], row["queued"]) == (2, 2, 10000, 1)
    assert "2 in 1 h" in (listed := on_db("limits").stdout)
    assert "max" not in listed
    assert "10000" not in listed
    assert on_db("limit", "create", "smtp", "9", "--starts", "0").exit_code == 0
    (row,) = json.loads(on_db("limits", "--json").stdout)
    assert (row["starts"], row["started"], row["max_running"]) == (None, None, 9)


def test_waiting_jobs_are_changed_all_or_none(on_db: Cli, db: Db) -> None:
    ids = [on_db("enqueue", "t").stdout.strip() for _ in range(2)]
    assert on_db("change", *ids, "--priority", "7", "--queue", "gpu").exit_code == 0
    query = "select priority, queue from qwf.jobs"
    assert db.execute(query).fetchall() == [(7, "gpu")] * 2
    refused = on_db("change", ids[0], "999", "--priority", "1")
    assert refused.exit_code == 1
    assert "999" in refused.stderr
    assert db.execute(query).fetchall() == [(7, "gpu")] * 2, "all or none"
    assert on_db("change", ids[0], "--in", "1h").exit_code == 0
    assert [row[0] for row in db.execute("select status::text from qwf.jobs order by id")] == [
        "scheduled", "queued",
    ]  # fmt: skip
    assert on_db("change", ids[0]).exit_code == 2
    db.execute("select qwf.create_limit('customer', 1, keyed => true)")
    assert on_db("change", *ids, "--limit", "customer:acme").exit_code == 0
    assert on_db("change", ids[1], "--no-limit").exit_code == 0
    limits = db.execute("select limit_by from qwf.jobs order by id").fetchall()
    assert limits == [("customer:acme",), (None,)]
    assert "KEY" in on_db("change", ids[0], "--limit", "customer").stderr
    assert on_db("change", ids[0], "--limit", "x", "--no-limit").exit_code == 2


def test_change_next_puts_a_job_before_all_others(on_db: Cli, db: Db) -> None:
    on_db("enqueue", "first", "--priority", "1")
    job = on_db("enqueue", "second").stdout.strip()
    assert on_db("change", job, "--next").stdout == f"changed job {job}\n"
    assert db.execute("select task from qwf.claim('default', 'box')").fetchone() == ("second",)
    assert on_db("change", job, "--next").exit_code == 1


def test_no_more_questions_are_listed_than_asked_for(on_db: Cli, db: Db) -> None:
    for name in ("one", "two", "three"):
        asking.ask(db, name, widget="confirm")
    found = json.loads(on_db("inputs", "--limit", "2", "--json").stdout)
    assert [row["workflow"] for row in found] == ["one", "two"]
    assert len(json.loads(on_db("inputs", "--json").stdout)) == 3


def test_change_next_takes_several_jobs_or_none(on_db: Cli, db: Db) -> None:
    ids = [on_db("enqueue", "t").stdout.strip() for _ in range(3)]
    assert on_db("change", *ids[1:], "999", "--next").exit_code == 1
    query = "select run_next from qwf.jobs order by id"
    assert db.execute(query).fetchall() == [(False,)] * 3, "all or none"
    assert on_db("change", *ids[1:], "--next").stdout == f"changed job {ids[1]}, {ids[2]}\n"
    assert db.execute(query).fetchall() == [(False,), (True,), (True,)]
