"""Edits that are debounced, while an agent runs their body."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bodies import saving

from qwf_agent.app.jobs import Enqueued
from support.harness import Database, StartAgent, until

EDITS = 10
KEY = "document 7"


def edit(conn: psycopg.Connection[Any], file: Path, text: str, debounce: str) -> Enqueued:
    task = saving.options(key=KEY, key_mode="replace", debounce=debounce)
    return task.enqueue(conn, file=file, text=text)


def held(base: Database, file: Path, hold: Path) -> int:
    """A body of the key that runs until `hold` is gone."""
    hold.touch()
    task = saving.options(key=KEY, backoff=[60])
    job = task.enqueue(base.conn, file=file, text="first", hold=hold)
    until(file.exists, "the body")
    return job


@pytest.mark.parametrize("last", ["ends first", "ends late", "commits late"])
def test_ten_edits_while_a_body_runs_are_one_more_run_with_the_last_text(
    base: Database, start: StartAgent, tmp_path: Path, last: str
) -> None:
    start("--app", "bodies", "--slots", "2")
    file, hold = tmp_path / "saved", tmp_path / "hold"
    first = held(base, file, hold)
    for n in range(EDITS - 1):
        job = edit(base.conn, file, str(n), "2 s")
        time.sleep(3 / EDITS)
    with psycopg.connect(base.dsn) as producer:
        asked = base.one("select clock_timestamp()")
        edited = edit(producer, file, "last", "2 s")
        if last == "commits late":
            hold.unlink()
            pass_by(base, edited)
            assert base.job(first)["status"] == "completed"
            assert "begin last" not in file.read_text()
    if last == "ends late":
        pass_by(base, edited)
        assert file.read_text() == "begin first\n"
    hold.unlink(missing_ok=True)
    ended = base.ended(job)
    assert (ended["id"], ended["status"]) == (edited, "completed")
    assert file.read_text().split("\n") == [
        "begin first",
        "end first",
        "begin last",
        "end last",
        "",
    ]
    assert ended["started_at"] >= asked + timedelta(seconds=2)
    assert base.one("select count(*) from qwf.jobs") == 2
    assert base.invariants() == []


def pass_by(base: Database, edited: Enqueued) -> None:
    """Let the start of the job pass by, and a tick."""
    due = edited.run_at
    assert isinstance(due, datetime)
    passed = due + timedelta(seconds=1.5)
    until(lambda: base.one("select clock_timestamp() > %s", passed), "the start")


def test_an_edit_does_not_wait_for_a_back_off_of_a_minute(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--slots", "2")
    file, hold = tmp_path / "saved", tmp_path / "fail"
    first = held(base, file, hold)
    edit(base.conn, file, "better", "1 s")
    hold.unlink()
    until(lambda: base.job(first)["status"] == "scheduled", "the back-off")
    asked = base.one("select clock_timestamp()")
    ended = base.ended(edit(base.conn, file, "last", "1 s"))
    assert file.read_text().split()[4:] == ["begin", "last", "end", "last"]
    assert ended["started_at"] - asked < timedelta(seconds=5)
    assert base.job(first)["status"] == "cancelled"
    assert base.invariants() == []
