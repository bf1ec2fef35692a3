"""Commands that read, answered by a real standby, and what is said of those that write."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from qwf_agent.cli.top.app import Top
from qwf_agent.cli.top.fleet import FleetConnection
from qwf_agent.look import connection, standby
from qwf_agent.look.doctor import standbys
from support import screens
from support.harness import run_agent, until
from support.standby import Pair
from support.standby import pair as a_pair
from support.welcome import Cli

Db = psycopg.Connection[Any]
NOWHERE = "host=127.0.0.1 port=1 dbname=nowhere"
ENTRY = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with a_pair() as pair:
        yield pair


@pytest.fixture
def pair(servers: Pair, monkeypatch: pytest.MonkeyPatch) -> Pair:
    monkeypatch.setenv("QWF_DSN", servers.primary)
    monkeypatch.setenv("QWF_READ_DSN", servers.standby)
    monkeypatch.setattr(standby, "WAIT_S", 60.0)  # a slow machine replays slowly
    return servers


def test_an_agent_waits_for_the_primary(pair: Pair, tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies", "--wait", "0.5", QWF_DSN=pair.standby)
    assert code == 69
    assert "takes no writes" in said


@pytest.fixture
def job(pair: Pair) -> int:
    """A job that has completed, on both."""
    (job,) = pair.db.execute("select qwf.enqueue('greet', queue => 'cpu')").fetchall()[0]
    finish(pair.db, "hello\n")
    pair.settle()
    return int(job)


def finish(db: Db, printed: str, queue: str = "cpu") -> None:
    db.execute(
        "select qwf.finish(job_id, token, 'completed', null, null, %s)"
        " from qwf.claim(%s, 'test', 10)",
        (Jsonb({"log_tail": printed}), queue),
    )


def test_commands_that_read_need_only_the_standby(
    qwf: Cli, pair: Pair, job: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go?"}
    pair.db.execute("select qwf.register_workflow(%s)", [Jsonb({"name": "one", "steps": [step]})])
    (run,) = pair.db.execute("select qwf.enqueue_run('one')").fetchall()[0]
    pair.settle()
    monkeypatch.setenv("QWF_DSN", NOWHERE)
    for words in (
        *("runs", "jobs", "queues", "workers", "schedules", "servers", "inputs", "audit"),
        *(f"show {run}", f"job {job}", f"why {job}", f"logs {job}", "jobs --status queued"),
        *("runs --status running", f"jobs --run {run}", "workers --all", "jobs --json"),
    ):
        result = qwf(*words.split())
        assert (result.exit_code, result.stderr) == (0, ""), f"{words}: {result.output}"
    assert qwf("logs", job).stdout == "hello\n"
    assert qwf("enqueue", "t").exit_code == 69


def test_commands_that_write_use_the_primary(qwf: Cli, pair: Pair) -> None:
    for words in ("enqueue t --queue cpu", "queue pause gpu", "settings"):
        result = qwf(*words.split())
        assert result.exit_code == 0, result.output


def test_dsn_goes_before_the_standby(qwf: Cli, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QWF_READ_DSN", NOWHERE)
    assert qwf("queues").exit_code == 69
    assert qwf("queues", "--dsn", pair.primary).exit_code == 0


@pytest.mark.parametrize(
    "words",
    ["enqueue t", "queue pause q", "settings lease 1min", "cancel job {job}", "retry job {job}"],
)
def test_a_standby_takes_no_writes(qwf: Cli, pair: Pair, job: int, words: str) -> None:
    result = qwf(*words.format(job=job).split(), "--dsn", pair.standby)
    assert result.exit_code == 1, result.output
    assert "error: this server is a standby, which takes no writes" in result.stderr
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


def test_what_is_old_is_said_to_be_old(
    qwf: Cli, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "OLD_S", 0.0)
    pair.db.execute("select qwf.enqueue('t', queue => 'gpu')")
    pair.settle()
    assert qwf("queues").stderr == ""  # all is there, however long ago it was written
    pair.copy.execute("select pg_wal_replay_pause()")
    try:
        paused = "select pg_get_wal_replay_pause_state() = 'paused'"
        until(lambda: pair.copy.execute(paused).fetchone() == (True,), "the pause")
        pair.db.execute("select qwf.enqueue('t', queue => 'gpu')")
        more = "select pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn()"
        until(lambda: pair.copy.execute(more).fetchone() == (True,), "what it has received")
        monkeypatch.setattr(standby, "WAIT_S", 0.1)  # it replays nothing
        result = qwf("queues")
        assert result.exit_code == 0
        assert "note: this is a standby that has more to replay: its newest" in result.stderr
        with psycopg.connect(pair.standby, row_factory=dict_row, autocommit=True) as conn:
            assert [one.level for one in standbys.standbys(conn, "")] == ["note", "problem"]
        behind = figures(qwf("metrics").stdout)["qwf_standby_behind_seconds"]
        assert 0 < behind < 3600
    finally:
        pair.copy.execute("select pg_wal_replay_resume()")
        monkeypatch.setattr(standby, "WAIT_S", 60.0)
    pair.settle()
    assert qwf("queues").stderr == ""


def test_a_standby_without_its_primary_says_so(
    qwf: Cli, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "OLD_S", 0.0)
    receives = "select exists (select from pg_stat_wal_receiver)"
    address = pair.copy.execute("show primary_conninfo").fetchall()[0][0]
    try:
        change(pair.copy, "")
        until(lambda: pair.copy.execute(receives).fetchone() == (False,), "the end")
        assert "is not connected to its primary" in qwf("queues").stderr
    finally:
        change(pair.copy, address)
        until(lambda: pair.copy.execute(receives).fetchone() == (True,), "the connection")
    pair.settle()


def change(copy: Db, address: str) -> None:
    words = sql.SQL("alter system set primary_conninfo = {}")
    copy.execute(words.format(sql.Literal(address)))
    copy.execute("select pg_reload_conf()")


def figures(text: str) -> dict[str, float]:
    """The metrics without labels."""
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines if "{" not in name}


def test_metrics_leave_out_what_a_standby_does_not_know(qwf: Cli, pair: Pair) -> None:
    sample = Jsonb({"cpu_percent": 50, "ram_percent": 25})
    pair.db.execute("select qwf.report_metrics('box-a', %s)", [sample])
    pair.settle()
    result = qwf("metrics")
    assert (result.exit_code, result.stderr) == (0, "")
    found = figures(result.stdout)
    assert (found["qwf_up"], found["qwf_standby"], found["qwf_unreadable"]) == (1, 1, 0)
    assert found["qwf_standby_behind_seconds"] <= standby.OLD_S
    assert "qwf_runs{" in result.stdout
    assert "qwf_host_cpu_ratio" not in result.stdout
    primary = qwf("metrics", "--dsn", pair.primary).stdout
    assert figures(primary)["qwf_standby"] == 0
    assert 'qwf_host_cpu_ratio{host="box-a"} 0.5' in primary


def test_a_log_is_followed_without_what_is_live(pair: Pair) -> None:
    (job,) = pair.db.execute("select qwf.enqueue('t', queue => 'llm')").fetchall()[0]
    (taken,) = pair.db.execute("select job_id, token from qwf.claim('llm', 'test', 1)").fetchall()
    pair.settle()
    words = [*ENTRY, "logs", "-f", str(job), "--dsn", pair.standby]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as following:
        assert following.stderr is not None
        assert "the live log is not on a standby" in following.stderr.readline()
        assert "running" in following.stderr.readline()
        detail = Jsonb({"log_tail": "all of it\n"})
        pair.db.execute("select qwf.finish(%s, %s, 'completed', null, null, %s)", (*taken, detail))
        assert following.communicate()[0] == "all of it\n"
        assert following.returncode == 0


def test_a_live_log_is_followed_on_the_primary(qwf: Cli, pair: Pair, job: int) -> None:
    result = qwf("logs", "-f", job)
    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert "not on a standby" not in result.stderr


def test_top_reads_from_the_standby_and_changes_the_primary(pair: Pair) -> None:
    pair.db.execute("select qwf.register_worker('box-a', 'cpu', '{\"slots\": 2}')")
    (job,) = pair.db.execute("select qwf.enqueue('t', queue => 'default')").fetchall()[0]
    pair.settle()

    async def look(fleet: FleetConnection) -> None:
        async with Top(fleet, every=0.2).run_test(size=(160, 50)) as pilot:
            await screens.until(pilot, lambda: "box-a" in "".join(screens.screen(pilot)))
            lines = screens.screen(pilot)
            assert "standby" in lines[0]
            assert any("box-a load: not on a standby" in line for line in lines)

    with FleetConnection(lambda: open_(pair.standby), lambda: open_(pair.primary)) as fleet:
        asyncio.run(look(fleet))
        fleet.cancel(job)
    status = pair.db.execute("select status::text from qwf.jobs where id = %s", [job]).fetchone()
    assert status == ("cancelled",)
    with (
        FleetConnection(lambda: open_(pair.standby), lambda: open_(pair.standby)) as fleet,
        pytest.raises(click.ClickException, match="this server is a standby"),
    ):
        fleet.cancel(job)


def open_(dsn: str) -> connection.Connection:
    return connection.connect(dsn, notices=False)
