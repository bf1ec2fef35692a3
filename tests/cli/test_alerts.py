"""`qwf alerts`: what is wrong, who hears of it, and whether it was delivered."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from support.made_jobs import claim, enqueue, finish, worker
from support.welcome import Cli

Db = psycopg.Connection[Any]
RULE = '{"when": ["job_failed"], "where": {"task": "load"}, "do": {"receiver": "ops"}}'


def lines(on_db: Cli, *words: str) -> list[str]:
    """The rows of a table, without its head."""
    return [" ".join(line.split()) for line in on_db("alerts", *words).stdout.splitlines()[1:]]


@pytest.mark.usefixtures("wide")
def test_it_says_what_the_page_says(on_db: Cli, db: Db) -> None:
    """An alert comes with its delivery, a rule in words, a receiver with the boxes that have it."""
    assert on_db("alert", "set", "bad", RULE).exit_code == 0
    assert lines(on_db, "--receivers") == ["ops no live agent has it bad"]
    labels = {"receiver.ops": "true"}
    box = worker(db, "qwf.alerts", slots=1, labels=labels)
    cpu = worker(db, "default")
    enqueue(db, "load")
    finish(db, claim(db, "default", cpu)[0], "fatal", "boom")
    db.execute("select _qwf.number_and_match()")
    (row,) = lines(on_db)
    assert row.startswith("bad load job_failed 1 ")
    assert row.endswith(" not sent yet")
    finish(db, claim(db, "qwf.alerts", box)[0], "tempfail", "receiver ops: 503")
    assert lines(on_db)[0].endswith(" is tried again receiver ops: 503")
    (given,) = json.loads(on_db("alerts", "--json").stdout)
    assert f" {given['sent_job']} is tried again " in lines(on_db)[0]
    assert on_db("change", str(given["sent_job"]), "--next").exit_code == 0
    (again,) = claim(db, "qwf.alerts", box)
    assert again[0] == given["sent_job"], "a person has it tried at once"
    finish(db, again, "tempfail", "receiver ops: 503")
    (given,) = json.loads(on_db("alerts", "--json").stdout)
    assert (given["delivery"], given["sent_to"]) == ("scheduled", "ops"), "a program gets it raw"
    assert lines(on_db, "--rules")[0].startswith("bad job failed; task load; again every 6 h ops 1")
    assert lines(on_db, "--receivers")[0].startswith("ops box-a bad")
    assert on_db("alerts", "--closed").stdout == "no alert has closed\n"
    db.execute("update qwf.open_alerts set close_at = now()")
    db.execute("select _qwf.number_and_match()")
    assert on_db("alerts").stdout == "no alert is open\n"
    assert lines(on_db, "--closed")[0].startswith("bad load job_failed 1 ")
    assert on_db("alerts", "--closed", "--rules").exit_code == 2


def test_change_names_who_hears(on_db: Cli, db: Db) -> None:
    """Of a job that runs, too; a notice says that nobody has the receiver."""
    job = enqueue(db, "load")
    claim(db, "default", worker(db, "default"))
    said = on_db("change", str(job), "--notify", "ada")
    assert said.exit_code == 0
    assert "no live agent has receiver ada" in said.stderr
    found = db.execute("select labels from qwf.jobs").fetchone()
    assert found == ({"qwf.notify": "ada"},)
    assert on_db("change", str(job), "--notify", "ada", "--no-notify").exit_code == 2
    assert on_db("change", str(job), "--no-notify").exit_code == 0
    assert db.execute("select labels from qwf.jobs").fetchone() == ({},)


def test_a_test_message_comes_with_the_command_that_follows_it(on_db: Cli, db: Db) -> None:
    """The command is one that works, also if the rule starts a workflow."""
    db.execute(
        """select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a"}]}')"""
    )
    for act, what in (({"receiver": "ops"}, "job 1"), ({"workflow": "w"}, "run 1")):
        on_db("alert", "set", "bad", json.dumps({"when": ["lost"], "do": act}))
        said = on_db("alert", "test", "bad").stdout
        assert said == f"{what} delivers a test message; follow it: qwf wait {what}\n"
        (words,) = [line.partition("qwf ")[2].split() for line in said.splitlines()]
        assert on_db(*words, "--timeout", "0.1s").exit_code == 124
