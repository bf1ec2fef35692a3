"""`qwf settings`: the settings of the engine, listed, changed and reset."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import psycopg

from support.welcome import Cli

Db = psycopg.Connection[Any]


def test_settings_are_listed_with_their_meaning(on_db: Cli) -> None:
    listed = on_db("settings").stdout.splitlines()
    assert listed[0].split() == ["setting", "value", "meaning"]
    (lease,) = [line for line in listed if line.startswith("lease ")]
    assert lease.split()[:4] == ["lease", "30", "s", "How"]
    found = {row["name"]: row for row in json.loads(on_db("settings", "--json").stdout)}
    assert found["error_backoff"]["value"] == [1, 5, 30]
    assert found["retention"]["default_value"] == "30 days"


def test_a_changed_setting_is_listed_with_its_default(on_db: Cli) -> None:
    on_db("settings", "lease", "1min")
    head, *listed = on_db("settings").stdout.splitlines()
    assert head.split() == ["setting", "value", "default", "meaning"]
    assert listed[0].split()[:5] == ["lease", "1", "min", "30", "s"]
    assert listed[1].split()[:4] == ["heartbeat", "10", "s", "How"]


def test_a_setting_is_changed_and_reset(on_db: Cli, db: Db) -> None:
    changed = on_db("settings", "stall_timeout", "10min").stdout
    assert changed.startswith("stall_timeout is 10 min; the default is 2 min\n")
    assert "silent" in changed, "its meaning"
    on_db("settings", "events_keep", "60 days")
    on_db("settings", "error_backoff", "[2, 4]")
    row = db.execute("select events_keep, error_backoff from qwf.settings").fetchone()
    assert row == (timedelta(days=60), [2, 4])
    (shown,) = json.loads(on_db("settings", "error_backoff", "--json").stdout)
    assert shown["value"] == [2, 4]
    reset = on_db("settings", "stall_timeout", "--reset").stdout
    assert reset.startswith("stall_timeout is 2 min, the default\n")


def test_a_change_is_sent_to_agents(on_db: Cli, db: Db) -> None:
    db.execute("listen worker_control")
    on_db("settings", "poll", "2s")
    assert [n.payload for n in db.notifies(timeout=60, stop_after=1)] == ["settings"]


def test_a_wrong_name_or_value_is_explained(on_db: Cli) -> None:
    for words, code, part in (
        (["leese", "1min"], 1, "did you mean lease?"),
        (["leese"], 1, "did you mean lease?"),
        (["zzzz"], 1, "qwf settings lists them"),
        (["lease", "soon"], 1, "invalid input syntax"),
        (["lease", "5d"], 1, "required: lease >="),
        (["error_backoff", "[1"], 2, "[1"),
        (["error_backoff", "5"], 1, "a backoff is a list of seconds"),
        (["lease", "1min", "--reset"], 2, "NAME --reset"),
        (["--reset"], 2, "NAME --reset"),
    ):
        result = on_db("settings", *words)
        assert result.exit_code == code, f"{words}: {result.output}"
        assert part in result.stderr, f"{words}: {result.stderr}"


def test_a_shorter_retention_asks_and_says_what_it_deletes(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3)")
    db.execute("select qwf.enqueue('t', queue => 'gpu') from generate_series(1, 2)")
    db.execute(
        "update qwf.jobs set status = 'cancelled', created_at = now() - interval '8 days',"
        " finished_at = now() - interval '8 days'"
    )
    asked = on_db("settings", "retention", "7d")
    assert asked.exit_code == 2
    assert "30 d becomes 7 d, which deletes 5 jobs within minutes" in asked.stderr
    assert "30 d, the default" in on_db("settings", "retention").stdout.replace("30 days", "30 d")
    assert on_db("settings", "retention", "9d").exit_code == 0, "it deletes nothing"
    of_queue = on_db("queue", "create", "cpu", "--retention", "1h")
    assert of_queue.exit_code == 2
    assert "retention of queue cpu: 9 d becomes 1 h, which deletes 3 jobs" in of_queue.stderr
    assert on_db("queue", "create", "cpu", "--retention", "20d").exit_code == 0
    assert "deletes 2 jobs" in on_db("settings", "retention", "1d").stderr
    done = on_db("settings", "retention", "1d", "--yes")
    assert done.exit_code == 0
    assert "retention is 1 d" in done.stdout
    assert "what ended longer ago" in done.stderr
    db.execute(
        "insert into qwf.host_minutes (host, minute, samples)"
        " values ('b', now() - interval '3 d', 1)"
    )
    assert "deletes 1 minute within" in on_db("settings", "minutes_keep", "1d").stderr


def test_a_setting_of_a_queue_is_unset(on_db: Cli, db: Db) -> None:
    on_db(
        "queue", "create", "mail", "--lease", "2min", "--retention", "9000d", "--max-running", "3"
    )
    db.execute("select qwf.enqueue('t', queue => 'mail')")
    db.execute(
        "update qwf.jobs set status = 'cancelled', position = null,"
        " finished_at = now() - interval '8000 days'"
    )
    unset = ("queue", "create", "mail", "--unset", "lease", "--unset", "max-running")
    assert on_db(*unset).exit_code == 0
    query = "select lease, max_running, retention is null from qwf.queues where name = 'mail'"
    assert db.execute(query).fetchone() == (None, None, False)
    refused = on_db("queue", "create", "mail", "--unset", "retention")
    assert refused.exit_code != 0, "it would delete a job"
    assert "becomes 30 d, which deletes 1 job" in refused.stderr
    assert on_db("queue", "create", "mail", "--unset", "retention", "--yes").exit_code == 0
    assert db.execute(query).fetchone() == (None, None, True)
    assert "'lease'" in on_db("queue", "create", "mail", "--unset", "leese").stderr
