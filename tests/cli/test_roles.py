"""Commands run by logins that have one role only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from qwf_agent.cli import SECTIONS
from support.servers import Server
from support.welcome import Cli

Db = psycopg.Connection[Any]
READER, PRODUCER, WORKER = "qwf_viewer", "qwf_producer", "qwf_worker"
DEAD = (
    "insert into qwf.workers (id, host, queue, last_seen)"
    " values (%s, 'box', 'gpu', now() - interval '1 h')"
)
SERVING = '{"servers": [{"name": "vllm", "kind": "openai", "parallel": 1, "models": {"m": null}}]}'
ROLES = (READER, PRODUCER, WORKER, "qwf_admin")
# Commands of every verb, and the roles that may run them besides qwf_admin, which may run all.
COMMANDS: dict[str, set[str]] = {
    "apply definitions": set(),
    "run welcome --set whoo=1": {PRODUCER},  # which a note is about, if they may read definitions
    "enqueue t": {PRODUCER},
    "enqueue-many jobs.jsonl": {PRODUCER},
    "submit x": {PRODUCER},
    "schedule add s --task t --every 1h": set(),
    "schedule fire hourly": set(),
    "tick": {WORKER},
    "prune": set(),  # it counts rows besides calling prune(), which qwf_worker may
    "runs": {READER},
    "show 1": {READER, PRODUCER},
    "jobs": {READER},
    "job 1": {READER},
    "why 1": {READER, PRODUCER},
    "logs 1": {READER, PRODUCER},
    "logs -f 1": {READER, PRODUCER},
    "logs --server serving/vllm": {READER},
    "wait job 1": {READER, PRODUCER},
    "wait run 1": {READER, PRODUCER},
    "inputs": {READER},
    "queues": {READER},
    "workers": {READER},
    "workers --check --host box": {READER, WORKER},
    "schedules": {READER},
    "limits": {READER},
    "audit": {READER},
    "events": {READER},
    "servers": {READER},
    "alerts": {READER},
    "alert drop bad": set(),
    "answer 1 pick hello": set(),  # it reads the question besides calling submit_input()
    "cancel run 1": {PRODUCER},
    "cancel job 1": {PRODUCER},
    "retry run 1 --yes": {PRODUCER},
    "retry job 1": {PRODUCER},
    "signal paid:1": {PRODUCER},
    "change 1 --priority 5": {PRODUCER},
    "change 1 --next": {PRODUCER},
    "erase --id 1 --dry-run": set(),
    "queue create mail": set(),
    "queue pause mail": set(),
    "worker off --host box-a --queue cpu": set(),
    "worker forget gone": set(),
    "worker load flux --host box": set(),
    "worker set --host box --queue llm --parallel 2": set(),
    "limit create l 1": set(),
    "settings": {READER},
    "settings lease 1min": set(),
    "metrics": {READER},
    "failures": {READER},
}
# These need a terminal or the rights of an owner, start something, or ask no database; doctor
# names the checks that a role may not make.
NOT_HERE = {
    *("demo", "up", "down", "agent", "migrate", "unit", "top", "version", "doctor", "web"),
    *("compile", "schema", "worker-check", "receivers"),
}


@pytest.fixture
def ended(applied: Cli, db: Db) -> Cli:
    """A database with a dead worker, a model server, and run 1, whose first node printed something
    and failed."""
    applied("run", "welcome")
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'broken', '{\"log_tail\": \"said\"}')"
        " from qwf.claim('cpu', 'box', 1)"
    )
    db.execute(DEAD, ("gone",))
    Path("jobs.jsonl").write_text('{"task": "t"}')
    db.execute("select qwf.register_worker('serving', 'llm', %s)", (SERVING,))
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


def test_every_verb_is_tried() -> None:
    verbs = {verb for verbs in SECTIONS.values() for verb in verbs}
    assert {words.split()[0] for words in COMMANDS} == verbs - NOT_HERE


@pytest.mark.parametrize("role", ROLES)
def test_a_verb_works_or_says_which_role_it_needs(
    ended: Cli, logins: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    monkeypatch.setenv("QWF_DSN", logins(role))
    for words, allowed in COMMANDS.items():
        result = ended(*words.split())
        said = result.output.replace("permission denied for schema qwf_migrations", "")
        assert "Usage:" not in said, f"{words}: {said}"
        if role in allowed | {"qwf_admin"}:
            assert "permission denied" not in said, f"{words}: {said}"
        else:
            assert result.exit_code == 1, f"{words}: {said}"
            assert "permission denied" in result.stderr, f"{words}: {said}"
            assert "grant it a role" in result.stderr, f"{words}: {said}"


def test_a_viewer_reads_every_figure(ended: Cli, db: Db, logins: Callable[[str], str]) -> None:
    reader = logins(READER)
    db.execute(f"grant pg_read_all_stats to {conninfo_to_dict(reader)['user']}")
    assert "qwf_unreadable 0\n" in ended("metrics", "--dsn", reader).stdout


def test_the_health_check_works_with_the_login_of_an_agent(
    ended: Cli, db: Db, logins: Callable[[str], str]
) -> None:
    check = ["workers", "--check", "--dsn", logins(WORKER), "--host", "box-a"]
    assert ended(*check).exit_code == 1
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    alive = ended(*check)
    assert (alive.exit_code, alive.output) == (0, "")
    assert ended(*check, "--queue", "cpu").exit_code == 0
    assert ended(*check, "--queue", "gpu").exit_code == 1


def test_a_missing_right_is_reported_with_the_role_that_has_it(
    ended: Cli, logins: Callable[[str], str]
) -> None:
    result = ended("cancel", "run", "1", "--dsn", logins("qwf_viewer"))
    assert result.exit_code == 1
    assert "permission denied" in result.stderr
    assert "qwf_producer" in result.stderr
    assert "Traceback" not in result.output
