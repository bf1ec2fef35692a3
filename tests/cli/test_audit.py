"""`qwf audit`: who did what."""

from __future__ import annotations

import getpass
import json
from typing import Any

import psycopg

from cli.conftest import Cli

Db = psycopg.Connection[Any]


def test_it_says_who_changed_what_from_what_to_what(on_db: Cli, db: Db) -> None:
    on_db("queue", "pause", "gpu")
    on_db("settings", "lease", "2min")
    db.execute("select qwf.create_limit('api', 2)")
    lines = on_db("audit").stdout.splitlines()
    assert len(lines) == 4
    me, login = getpass.getuser(), db.info.user
    assert (login in lines[1], me in lines[1].split()[3:], "limit changed" in lines[1]) == (
        True, me == login, True,
    )  # fmt: skip
    assert "lease    lease 00:02:00, was" in lines[2]
    assert lines[3].endswith("paused")


def test_it_filters_and_prints_json(on_db: Cli, db: Db) -> None:
    on_db("queue", "pause", "gpu")
    on_db("queue", "pause", "cpu")
    on_db("queue", "resume", "gpu")
    (newest, older) = json.loads(on_db("audit", "--subject", "gpu", "--json").stdout)
    assert newest["detail"] == {"old": {"paused": True}, "new": {"paused": False}}
    assert (older["login"], older["acting_for"]) == (db.info.user, getpass.getuser())
    assert len(json.loads(on_db("audit", "--kind", "queue_changed", "--json").stdout)) == 3
    assert json.loads(on_db("audit", "--login", "nobody", "--json").stdout) == []
    assert "nobody has done anything like that" in on_db("audit", "--login", "nobody").stdout
    run = on_db("enqueue", "t").stdout.split()[-1]
    on_db("cancel", "job", run, "--reason", "enough")
    assert "reason enough" in on_db("audit", "--kind", "cancelled").stdout


def test_a_run_says_who_began_it(applied: Cli, db: Db) -> None:
    run = applied("run", "welcome").stdout.strip()
    began = f"started by {db.info.user}, acting for {getpass.getuser()}\n"
    assert began in applied("show", run).stdout
    db.execute("select qwf.create_schedule('nightly', workflow => 'welcome', cron => '@daily')")
    fired = db.execute("select (qwf.fire_schedule('nightly')).run_id").fetchone()
    assert fired is not None
    shown = applied("show", str(fired[0])).stdout
    assert f"started by schedule nightly, fired by {db.info.user}\n" in shown
