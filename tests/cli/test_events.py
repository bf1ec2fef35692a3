"""`qwf events`: the newest, those after a number, and those that come."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psycopg

from support.welcome import Cli

Db = psycopg.Connection[Any]
ENTRY = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]


def happens(db: Db, *subjects: str, kind: str = "fired") -> None:
    for subject in subjects:
        db.execute(
            "insert into _qwf.event_log (kind, subject, detail)"
            ' values (%s, %s, \'{"reason": "why"}\')',
            (kind, subject),
        )
    db.execute("select _qwf.number_events()")


def test_the_newest_come_last(on_db: Cli, db: Db) -> None:
    assert on_db("events").stdout == "no events\n"
    happens(db, *"abc")
    happens(db, "boat", kind="worker_off")
    lines = on_db("events", "--limit", "3").stdout.splitlines()
    assert [words.split()[0] for words in lines] == ["2", "3", "4"]
    assert "worker off  boat  by " in lines[-1]
    assert lines[-1].endswith("reason why")
    assert len(on_db("events", "--kind", "worker_off").stdout.splitlines()) == 1


def test_those_after_a_number_come_in_order(on_db: Cli, db: Db) -> None:
    happens(db, *"abcd")
    found = json.loads(on_db("events", "--after", "1", "--limit", "2", "--json").stdout)
    assert [(row["seq"], row["subject"]) for row in found] == [(2, "b"), (3, "c")]
    assert found[0]["login"] == db.info.user


@contextlib.contextmanager
def followed(dsn: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`qwf events -f` until the context ends with Ctrl-C."""
    command = [*ENTRY, "events", "-f", "--json", *words, "--dsn", dsn]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as following:
        yield following
        following.send_signal(signal.SIGINT)
        following.wait(60)
        assert following.returncode == 130


def subject(following: subprocess.Popen[str]) -> Any:
    assert following.stdout is not None
    return json.loads(following.stdout.readline())["subject"]


def test_what_comes_is_followed(dsn: str, db: Db) -> None:
    happens(db, *"ab")
    with followed(dsn, "--after", "1", "--kind", "fired") as following:
        assert subject(following) == "b"
        happens(db, "boat", kind="worker_off")
        happens(db, "c")
        assert subject(following) == "c"


def test_a_gap_is_told(dsn: str, db: Db) -> None:
    happens(db, *"abcd")
    db.execute("delete from _qwf.event_log where seq < 4")
    db.execute("update _qwf.event_numbers set first_seq = 4")
    with followed(dsn, "--after", "1") as following:
        assert subject(following) == "d"
        assert following.stderr is not None
        said = following.stderr.readline()
    assert said.startswith("warning: 2 events after number 1 are not there any more")
