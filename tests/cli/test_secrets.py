"""Texts that may be secret are hidden from readers of the command line, as on the page."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from qwf_agent.cli import output
from qwf_agent.look.masking import MASK
from support.welcome import Cli

Db = psycopg.Connection[Any]
ARGS = {"password": "hush-1", "max_tokens": 7, "deep": {"api_key": ["hush-2"]}, "to": "ada"}


@pytest.fixture
def job(on_db: Cli, db: Db) -> str:
    """A job with secrets in its arguments, its output and its event."""
    number = on_db("enqueue", "send", "--args", json.dumps(ARGS)).stdout.strip()
    for outcome in ("fatal", "completed"):
        db.execute(
            "select qwf.finish(job_id, token, %s, %s, null) from qwf.claim('default', 'w')",
            (outcome, json.dumps({"token": "hush-3"})),
        )
        if outcome == "fatal":
            on_db("retry", "job", number, "--args", json.dumps({**ARGS, "to": "bob"}))
    return number


def test_a_job_shows_no_secret(on_db: Cli, job: str) -> None:
    shown = on_db("job", job)
    assert shown.exit_code == 0, shown.output
    assert "hush" not in shown.output
    assert shown.output.count(MASK) >= 4
    assert "max_tokens" in shown.output
    assert "bob" in shown.output
    every = on_db("job", job, "--show-secrets")
    assert {word for word in ("hush-1", "hush-2", "hush-3") if word in every.output} == {
        "hush-1", "hush-2", "hush-3"}  # fmt: skip
    assert MASK not in every.output


def test_json_has_no_secret_and_says_so(on_db: Cli, job: str) -> None:
    shown = on_db("job", job, "--json")
    found = json.loads(shown.stdout)
    inputs = {**ARGS, "password": MASK, "deep": {"api_key": [MASK]}, "to": "bob"}
    assert found["job"]["inputs"] == inputs
    assert found["job"]["output"] == {"token": MASK}
    (event,) = [one for one in found["events"] if one["kind"] == "retried"]
    assert event["detail"]["old_args"] == {**inputs, "to": "ada"}
    assert shown.stderr == output.NOTE + "\n"
    every = on_db("job", job, "--json", "--show-secrets")
    assert json.loads(every.stdout)["job"]["inputs"] == {**ARGS, "to": "bob"}
    assert every.stderr == ""
    assert "hush" not in on_db("job", job, "--json").output, "the next command hides them again"


def test_nothing_is_said_where_nothing_is_hidden(on_db: Cli) -> None:
    plain = on_db("enqueue", "send", "--args", '{"tokens": 7}').stdout.strip()
    assert on_db("job", plain, "--json").stderr == ""


def test_a_run_and_its_question_show_no_secret(on_db: Cli, db: Db) -> None:
    nodes = '[{"id": "n", "inputs": {"password": "hush-4"}}]'
    db.execute(
        "select qwf.register_pipeline(jsonb_build_object('name', 'p', 'nodes', %s::jsonb))",
        (nodes,),
    )
    db.execute(
        "select qwf.register_workflow("
        """'{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}')"""
    )
    run = on_db("run", "w", "--context", '{"secret_word": "hush-5"}').stdout.split()[-1]
    (number,) = db.execute("select max(id) from qwf.runs").fetchone() or (run,)
    for words in (("show", number), ("show", number, "--json"), ("runs", "--json"), ("jobs",)):
        shown = on_db(*words)
        assert (shown.exit_code, "hush" in shown.output) == (0, False), shown.output


def test_the_words_are_a_setting(on_db: Cli, job: str) -> None:
    assert "password" in on_db("settings", "secret_keys").stdout
    assert on_db("settings", "secret_keys", '["iban", "TO"]').exit_code == 0
    found = json.loads(on_db("job", job, "--json").stdout)["job"]["inputs"]
    assert found == {**ARGS, "to": MASK}
    assert on_db("settings", "secret_keys", "[]").exit_code == 0
    assert json.loads(on_db("job", job, "--json").stdout)["job"]["inputs"]["to"] == "bob"
    assert on_db("settings", "secret_keys", '[""]').exit_code == 1
    assert on_db("settings", "secret_keys", "--reset").exit_code == 0
    assert "hush" not in on_db("job", job, "--json").output
