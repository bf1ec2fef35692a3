"""Runs the commands of docs/operations.md, and checks what it says they do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from click.testing import CliRunner

from qwf_agent import embedded, migrate
from qwf_agent.__main__ import command as agent_command
from qwf_agent.cli import qwf
from support.harness import Database, StartAgent, agents, until
from support.servers import ROOT, Server, own_server

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
TASKS = ("--app", "bodies", "--queue", "default")


def block(kind: str, holding: str = "") -> str:
    """The first code block of that language that contains `holding`."""
    found = re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return next(text for text in found if holding in text)


@pytest.fixture
def base(dsn: str) -> Iterator[Database]:
    """A fresh database."""
    database = Database(dsn)
    with database.conn:
        yield database


@pytest.fixture
def start(dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    """Starts agents on the database of `base`."""
    with agents(dsn, tmp_path) as started:
        yield started


@pytest.fixture
def logins(base: Database) -> Iterator[list[str]]:
    """Creates the logins of the fleet."""
    made = re.findall(r"^create role (\w+)", block("sql", "create role"), re.MULTILINE)
    for name in made:
        base.conn.execute(f"drop role if exists {name}")  # type: ignore[arg-type]
    base.conn.execute(block("sql", "create role"))  # type: ignore[arg-type]
    yield made
    for name in made:
        base.conn.execute(f"drop role {name}")  # type: ignore[arg-type]


def run(*words: Any) -> Any:
    return CliRunner().invoke(qwf, [*map(str, words)])


def test_the_example_has_every_option_of_an_agent() -> None:
    example = tomllib.loads(block("toml", "vram-mb"))
    known = {
        option.removeprefix("--")
        for param in agent_command.params
        for option in param.opts
        if option.startswith("--") and not param.is_eager
    }
    assert set(example["agent"]) == known - {"dsn", "verbose", "config"}


def test_the_file_of_a_box_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.toml").write_text(block("toml"))
    monkeypatch.setenv("QWF_CONFIG", str(tmp_path / "cpu.toml"))
    with agent_command.make_context("agent", []) as context:
        assert context.params["slots"] == 4
        assert context.params["queues"] == ("cpu", "default")


def test_the_example_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qwf.toml").write_text(block("toml", "vram-mb"))
    monkeypatch.setenv("QWF_CONFIG", str(tmp_path / "qwf.toml"))
    with agent_command.make_context("agent", []) as context:
        assert context.params["slots"] == 3
        assert context.params["queues"] == ("gpu", "cpu")
        assert context.params["gpu"] == "all"
        assert context.params["max_rss"] == 24 << 30


def test_agents_and_applications_work_with_logins_of_their_own(
    base: Database, start: StartAgent, logins: list[str]
) -> None:
    assert logins == ["box_a", "box_b", "box_c", "shop", "grafana", "ops"]
    for box in ("box_a", "box_b"):
        start(*TASKS, "--host", box, QWF_DSN=f"{base.dsn} user={box}")
    job = run("enqueue", "noop", "--dsn", f"{base.dsn} user=shop").stdout.strip()
    assert (
        run("wait", "job", job, "--timeout", "60", "--dsn", f"{base.dsn} user=shop").exit_code == 0
    )
    assert "noop" in run("jobs", "--dsn", f"{base.dsn} user=grafana").stdout
    assert run("cancel", "job", job, "--dsn", f"{base.dsn} user=grafana").exit_code == 1
    off = run("worker", "drain", "--host", "box_a", "--all", "--dsn", f"{base.dsn} user=ops")
    assert off.exit_code == 0, off.output
    assert base.one("select queue from qwf.switched_off where host = 'box_a'") == "default"
    base.conn.execute(block("sql", "pg_read_all_stats"))  # type: ignore[arg-type]
    metrics = run("metrics", "--dsn", f"{base.dsn} user=grafana")
    assert metrics.exit_code == 0, metrics.output
    assert "\nqwf_unreadable 0\n" in metrics.stdout
    assert "\nqwf_oldest_snapshot_seconds " in metrics.stdout
    assert base.invariants() == []


def test_a_body_enqueues_with_the_login_of_its_agent(
    base: Database, start: StartAgent, logins: list[str]
) -> None:
    start(*TASKS, "--host", "box_a", QWF_DSN=f"{base.dsn} user=box_a")
    job = base.enqueue("enqueue_another")
    base.ended(job)
    found = base.one("select output from qwf.jobs where id = %s", job)
    assert found is not None, base.one("select last_error from qwf.jobs where id = %s", job)
    assert base.one("select task from qwf.jobs where id = %s", found["child"]) == "noop"


def test_the_server_stops_gently_after_the_fleet_and_the_work_goes_on(tmp_path: Path) -> None:
    """The chapter step by step, on a server of its own. With a drained agent a smart stop would
    wait for ever; without agents it ends."""
    chapter = TEXT.partition("## Maintenance of the server\n")[2].partition("\n## ")[0]
    drain, leave, halt, go = re.findall(r"^```sh\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)
    with own_server(embedded.binaries()) as server, server.database("fleet_test") as made:
        cluster, dsn = server.cluster, server.dsn(made.dbname)
        assert cluster is not None
        migrate.deploy(dsn)
        base = Database(dsn)
        with agents(dsn, tmp_path) as started:
            agent = started(*TASKS, "--host", "box-a")
            assert base.ended(base.enqueue("noop"))["status"] == "completed"
            shell(drain, dsn)
            assert base.one("select queue from qwf.switched_off where host = 'box-a'") == "default"
            late = base.enqueue("noop")
            assert "systemctl stop 'qwf-agent@*'" in leave
            assert agent.stop() == 0
            base.conn.close()
            assert "stop -m smart" in halt
            server.close()  # the session that makes databases is none of the fleet's
            cluster.stop(signal.SIGTERM)  # as pg_ctl does it; raises if it does not end
            assert "pg_ctl" in go.splitlines()[0]
            server.start()
            base = Database(dsn)
            with base.conn:
                started(*TASKS, "--host", "box-a")
                assert base.job(late)["status"] == "queued"
                shell("\n".join(line for line in go.splitlines() if line.startswith("qwf w")), dsn)
                assert base.ended(late)["status"] == "completed"
                assert base.invariants() == []


def shell(commands: str, dsn: str) -> None:
    """Run the commands of a block."""
    folders = [str(ROOT / ".venv" / "bin"), str(embedded.binaries()), os.environ["PATH"]]
    environment = {**os.environ, "QWF_DSN": dsn, "PATH": os.pathsep.join(folders)}
    subprocess.run(["bash", "-euc", commands], env=environment, check=True, timeout=120)


def test_the_order_from_psql_works(base: Database) -> None:
    (order,) = re.findall(r"`(select qwf\.worker_control\([^`]+)`", TEXT)
    base.conn.execute(order)  # type: ignore[arg-type]
    assert base.one("select queue from qwf.switched_off where host = 'box-b'") == "gpu"


def test_a_backup_restores_and_running_jobs_run_again(
    base: Database, start: StartAgent, server: Server, tmp_path: Path
) -> None:
    done = base.enqueue("noop")
    first = start(*TASKS)
    base.ended(done)
    first.stop()
    waiting, running = base.enqueue("noop"), base.enqueue("noop")
    base.conn.execute("select qwf.change_job(%s, run_next => true)", (running,))
    base.conn.execute("select from qwf.claim('default', 'gone', 1, '1 s')")
    dump = tmp_path / "qwf.dump"
    programs = embedded.binaries()
    words = re.search(r"^pg_dump (.*?) -f qwf.dump", block("sh", "pg_restore"), re.MULTILINE)
    assert words is not None
    subprocess.run(
        [programs / "pg_dump", *words[1].split(), "-f", dump, base.dsn], check=True, timeout=120
    )
    with server.database(server.new_name()) as other:
        dsn = server.dsn(other.dbname)
        subprocess.run(
            [programs / "pg_restore", "--exit-on-error", "-d", dsn, dump], check=True, timeout=120
        )
        restored = Database(dsn)
        with restored.conn:
            assert restored.job(done)["status"] == "completed"
            assert run("doctor", "--only", "drift", "--only", "roles", "--dsn", dsn).exit_code == 0
            start(*TASKS, QWF_DSN=dsn)
            for job in (waiting, running):
                assert restored.ended(job)["status"] == "completed"
            assert restored.job(running)["losses"] == 1
            assert restored.invariants() == []


def test_an_agent_finds_the_writable_server(base: Database, start: StartAgent) -> None:
    info = base.conn.info
    both = (
        f"host=127.0.0.1,{info.host} port=1,{info.port} user={info.user} dbname={info.dbname}"
        " target_session_attrs=read-write connect_timeout=5"
    )
    start(*TASKS, QWF_DSN=both)
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_the_health_check_of_a_container(
    base: Database, start: StartAgent, monkeypatch: Any
) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    monkeypatch.setenv("QWF_DSN", base.dsn)
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    assert run("workers", "--check", "--host", "box-a").exit_code == 1
    start(*TASKS, "--host", "box-a")
    assert run("workers", "--check", "--host", "box-a").exit_code == 0
    base.conn.execute("update qwf.workers set last_seen = now() - interval '1 h'")
    until(lambda: run("workers", "--check", "--host", "box-a").exit_code == 0, "its next beat")


def test_the_roles_are_dropped_also_after_they_may_connect(server: Server, tmp_path: Path) -> None:
    """Roles belong to the whole server, and other tests use it: here they have other names."""
    with (
        server.database(server.new_name()) as made,
        psycopg.connect(server.dsn(made.dbname), autocommit=True) as conn,
    ):
        names = [f"{role}_{made.dbname}" for role in ("admin", "producer", "worker", "viewer")]
        for name in names:
            conn.execute(f"create role {name}")  # type: ignore[arg-type]
            conn.execute(f"grant connect on database {made.dbname} to {name}")  # type: ignore[arg-type]
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            conn.execute(f"drop role {names[0]}")  # type: ignore[arg-type]
        told = block("sql", "drop owned by").replace("qwf_", "")
        for role, name in zip(("admin", "producer", "worker", "viewer"), names, strict=True):
            told = re.sub(rf"\b{role}\b", name, told)
        for statement in told.strip().splitlines():
            conn.execute(statement)  # type: ignore[arg-type]


def test_the_metrics_of_the_alerts_exist(base: Database) -> None:
    expressions = block_of_table("alert")
    names = set(re.findall(r"\bqwf_\w+", expressions))
    served = run("metrics", "--dsn", base.dsn).stdout
    assert names
    for name in names:
        assert f"# TYPE {name} " in served or f"# TYPE {name.removesuffix('_total')} " in served, (
            name
        )


def test_the_commands_it_names_exist() -> None:
    for words in re.findall(r"\bqwf ([a-z]+(?: [a-z]+)?)", re.sub(r"qwf agent --", "", TEXT)):
        first, _, second = words.partition(" ")
        group = qwf.commands.get(first) or qwf.get_command(None, first)  # type: ignore[arg-type]
        if group is None:
            continue  # prose: "qwf knows"
        commands = getattr(group, "commands", None)
        if commands and second:
            assert second in commands, words


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    chapter = readme.partition("## Command line")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z-]+)", chapter))
    context = click.Context(qwf)
    assert set(qwf.list_commands(context)) - named <= {"demo", "agent", "version"}
    for verbs in re.findall(r"`([a-z]+) ([a-z]+(?:\\\|[a-z]+)+)", chapter):
        group = qwf.get_command(context, verbs[0])
        assert isinstance(group, click.Group), verbs
        assert set(verbs[1].split("\\|")) <= set(group.commands), verbs


def block_of_table(head: str) -> str:
    """The table whose first column has this heading."""
    found = re.search(rf"^\| {head} \|.*?\n\n", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]
