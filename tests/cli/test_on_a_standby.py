"""Answers of a standby, and errors for what it cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.harness import run_agent
from support.standby import Pair
from support.standby import pair as a_pair
from support.welcome import Cli


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with a_pair() as servers:
        yield servers


def test_an_agent_waits_for_the_primary(pair: Pair, tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies", "--wait", "0.5", QWF_DSN=pair.standby)
    assert code == 69
    assert "takes no writes" in said


@pytest.fixture
def job(pair: Pair) -> int:
    """A job that has completed, on both."""
    (job,) = pair.db.execute("select qwf.enqueue('greet', queue => 'cpu')").fetchall()[0]
    pair.db.execute(
        "select qwf.finish(job_id, token, 'completed', null, null, %s)"
        " from qwf.claim('cpu', 'test', 10)",
        [Jsonb({"log_tail": "hello\n"})],
    )
    pair.settle()
    return int(job)


def test_commands_that_read_are_answered(qwf: Cli, pair: Pair, job: int) -> None:
    for words in ("runs", "jobs", "queues", "workers", f"job {job}", f"why {job}", f"logs {job}"):
        result = qwf(*words.split(), "--dsn", pair.standby)
        assert (result.exit_code, result.stderr) == (0, ""), f"{words}: {result.output}"
    assert result.stdout == "hello\n"


@pytest.mark.parametrize(
    "words",
    ["enqueue t", "queue pause q", "settings lease 1min", "cancel job {job}", "retry job {job}"],
)
def test_a_standby_takes_no_writes(qwf: Cli, pair: Pair, job: int, words: str) -> None:
    result = qwf(*words.format(job=job).split(), "--dsn", pair.standby)
    assert result.exit_code == 1, result.output
    assert "hint: this server is a standby, which takes no writes" in result.stderr
    assert "target_session_attrs=read-write" in result.stderr


@pytest.mark.parametrize("words", ["deploy", "revert --all --yes", "adopt", "verify"])
def test_a_standby_is_not_migrated(qwf: Cli, pair: Pair, words: str) -> None:
    result = qwf("migrate", *words.split(), "--dsn", pair.standby)
    assert result.exit_code == 1, result.output
    assert "error: this server is a standby: use the address of the prim" in result.stderr


def test_what_is_deployed_is_read_from_a_standby(qwf: Cli, pair: Pair) -> None:
    for words in ("deploy --dry-run", "status"):
        result = qwf("migrate", *words.split(), "--dsn", pair.standby)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("statement", "sqlstate"),
    [
        ("select qwf.enqueue('t')", "0A000"),
        ("select qwf.cancel_job({job})", "25006"),
        ("insert into qwf.jobs (task) values ('t')", "25006"),
    ],
)
def test_a_client_gets_an_error_of_postgres(
    pair: Pair, job: int, statement: Any, sqlstate: str
) -> None:
    """docs/errors.md names both, with what to do."""
    with pytest.raises(psycopg.Error) as caught:
        pair.copy.execute(statement.format(job=job))
    assert caught.value.sqlstate == sqlstate


def test_the_page_refuses_a_standby(qwf: Cli, pair: Pair) -> None:
    result = qwf("web", "--port", 0, "--dsn", pair.standby)
    assert result.exit_code == 78
    assert "this server is a standby, which takes no writes" in result.stderr


def test_several_addresses_can_prefer_a_standby(qwf: Cli, pair: Pair) -> None:
    """libpq tries the servers of an address until one is as it shall be."""
    name, both = pair.db.info.dbname, (pair.db.info, pair.copy.info)
    hosts = ",".join(one.host for one in both)
    ports = ",".join(str(one.port) for one in both)
    dsn = f"host={hosts} port={ports} dbname={name} user={pair.db.info.user}"
    reads = f"{dsn} target_session_attrs=prefer-standby"
    assert qwf("queues", "--dsn", reads).exit_code == 0
    assert qwf("enqueue", "t", "--dsn", reads).exit_code == 1
    assert qwf("enqueue", "t", "--dsn", f"{dsn} target_session_attrs=read-write").exit_code == 0
