"""Commands run by logins that have one role only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from click.testing import Result

from support.servers import Server
from support.welcome import Cli

Db = psycopg.Connection[Any]
As = Callable[..., Result]

READS = [
    *(["runs"], ["show", "1"], ["jobs"], ["job", "1"], ["why", "1"], ["logs", "1"], ["inputs"]),
    *(["queues"], ["workers"], ["schedules"], ["limits"], ["metrics"], ["wait", "run", "1"]),
    *(["wait", "job", "1"], ["doctor", "--json"]),
]
WORDS = {
    "qwf_producer": [["enqueue", "t"], ["run", "welcome"], ["submit", "--", "x"]],
    "qwf_worker": [["tick"]],
    "qwf_admin": [
        *(["queue", "create", "mail"], ["queue", "pause", "mail"], ["limit", "create", "l", "1"]),
        *(
            ["worker", "off", "box-a", "cpu"],
            ["schedule", "add", "s", "--task", "t", "--every", "1h"],
        ),
        *(["prune"], ["retry", "job", "1"], ["cancel", "job", "1"]),
    ],
}


@pytest.fixture
def ended(applied: Cli, db: Db) -> Cli:
    """A database with run 1, whose first node printed something and failed."""
    applied("run", "welcome")
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'broken', '{\"log_tail\": \"said\"}')"
        " from qwf.claim('cpu', 'box', 1)"
    )
    return applied


@pytest.fixture
def logins(db: Db, server: Server) -> Iterator[Callable[[str], str]]:
    """Makes a login that has one role only; returns its address."""
    made: list[str] = []

    def login(role: str) -> str:
        name = f"{role}_login"
        db.execute(f"drop role if exists {name}")
        db.execute(f"create role {name} login in role {role}")
        made.append(name)
        return f"{server.dsn(db.info.dbname)} user={name}"

    yield login
    for name in made:
        db.execute(f"drop role {name}")


def test_a_viewer_may_read_everything(ended: Cli, logins: Callable[[str], str]) -> None:
    dsn = logins("qwf_viewer")
    for words in READS:
        result = ended(*words, "--dsn", dsn)
        allowed = {0, 1} if words[0] in ("wait", "doctor") else {0}
        assert result.exit_code in allowed, f"{words}: {result.output}"
        said = result.output.replace("permission denied for schema qwf_migrations", "")
        assert "permission denied" not in said, f"{words}: {said}"
    assert "qwf_unreadable 0.0" in ended("metrics", "--dsn", dsn).stdout


@pytest.mark.parametrize("role", WORDS)
def test_each_role_may_run_its_commands(
    ended: Cli, logins: Callable[[str], str], role: str
) -> None:
    dsn = logins(role)
    for words in WORDS[role]:
        before = words.index("--") if "--" in words else len(words)
        result = ended(*words[:before], "--dsn", dsn, *words[before:])
        assert "permission denied" not in result.output, f"{words}: {result.output}"


def test_a_missing_right_is_reported_with_the_role_that_has_it(
    ended: Cli, logins: Callable[[str], str]
) -> None:
    result = ended("cancel", "run", "1", "--dsn", logins("qwf_viewer"))
    assert result.exit_code == 1
    assert "permission denied" in result.stderr
    assert "qwf_producer" in result.stderr
    assert "Traceback" not in result.output
