"""`qwf failures`: failed jobs in groups, and what people have said about them."""

from __future__ import annotations

import json
from typing import Any

import psycopg

from cli.conftest import Cli
from support.made_jobs import fail, worker

Db = psycopg.Connection[Any]


def test_it_lists_groups_and_marks_one(on_db: Cli, db: Db) -> None:
    """A group is seen, snoozed and noted by one of its jobs; the list says it to everybody."""
    assert on_db("failures").stdout == "nothing has failed\n"
    box = worker(db, "default")
    fail(db, box, "t", "OSError: disk 1 full")
    fail(db, box, "t", "OSError: disk 2 full")
    fail(db, box, "u", "KeyError: 'name'")
    listed = on_db("failures").stdout
    assert "2 \u00d7 t on box-a, first " in listed
    assert "  OSError: disk 2 full\n  jobs 2, 1\n" in listed
    assert listed.index("KeyError") < listed.index("disk 2")
    on_db("failures", "--mark", "3", "--seen", "--note", "ask ada")
    listed = on_db("failures").stdout
    assert listed.index("disk 2") < listed.index("KeyError")
    assert "  seen: ask ada (" in listed
    on_db("failures", "--mark", "1", "--until-release")
    last = json.loads(on_db("failures", "--json").stdout)[-1]
    assert (last["task"], last["state"]) == ("t", "snoozed")
    assert "snoozed until the next release" in on_db("failures").stdout
    on_db("failures", "--mark", "1", "--snooze", "0s")
    assert "snoozed" not in on_db("failures", "--task", "t").stdout


def test_it_says_what_it_needs(on_db: Cli, db: Db) -> None:
    fail(db, worker(db, "default"), "t", "no")
    assert "name a job of the group with --mark" in on_db("failures", "--seen").stderr
    assert "say something" in on_db("failures", "--mark", "1").stderr
    assert "none of the newest three" in on_db("failures", "--mark", "9", "--seen").stderr
