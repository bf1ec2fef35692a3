"""Moves a database with work in every state to a newer Postgres, by the commands of
docs/operations.md, with an agent that was at work before and goes on after."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from qwf_agent import embedded, migrate
from qwf_agent.cli import qwf
from support.every_state import contents, fill
from support.harness import Agent, Database, StartAgent, agents, until
from support.servers import DEBIAN
from support.thorough import THOROUGH
from support.two_servers import DATABASE, SETTINGS, Servers, block, deployed_data, two_servers

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("QWF_TEST_DSN")), reason="these tests start and stop servers of their own"
)
TASKS = ("--app", "bodies", "--queue", "default")


def moves_on(debian: Path) -> bool:
    """Return True if the 18 of the wheel can read what this server stores. 15.20 stores an option
    of columns that 18.4 does not know: a move goes to a minor release of the same day or later."""
    option = b"pg_attver"
    own, wheel = debian / "bin" / "postgres", embedded.binaries(18) / "postgres"
    return own.exists() and (option not in own.read_bytes() or option in wheel.read_bytes())


OLDEST = 15 if moves_on(DEBIAN / "15") else 16  # 16 and 18 are in the wheel
STEPS = {(OLDEST, 18), (16, 18), (OLDEST, 16)} - {(16, 16)} if THOROUGH else {(OLDEST, 18)}
thorough = pytest.mark.skipif(not THOROUGH, reason="QWF_TEST_ALL=1 runs it")
each_step = pytest.mark.parametrize(
    "servers", sorted(STEPS), indirect=True, ids=lambda step: f"{step[0]} to {step[1]}"
)


@pytest.fixture(scope="module")
def data() -> Iterator[Callable[[int], Path]]:
    """Returns a data directory of a version with the engine in it; each is made once."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda version: stack.enter_context(deployed_data(version)))


@pytest.fixture
def servers(data: Callable[[int], Path], request: pytest.FixtureRequest) -> Iterator[Servers]:
    old, new = request.param
    with two_servers(data(old), old, new) as made:
        yield made


@pytest.fixture
def start(servers: Servers, tmp_path: Path) -> Iterator[StartAgent]:
    with agents(servers.dsn, tmp_path) as started:
        yield started


def session(dsn: str) -> contextlib.closing[psycopg.Connection[Any]]:
    return contextlib.closing(psycopg.connect(dsn, autocommit=True))


class Work:
    """Work that an agent and people had begun before the move, and go on with after it."""

    def __init__(self, servers: Servers, file: Path) -> None:
        self.dsn, self.file = servers.dsn, file
        with session(self.dsn) as db:
            self.run = fill(db)
        self.base = Database(self.dsn)
        self.before = self.base.enqueue("noop")
        self.base.ended(self.before)

    def start_body(self) -> int:
        """Start a body that runs until its file exists."""
        args = {"steps": 1, "file": str(self.file)}
        job = self.base.enqueue("counting", args)
        self.base.running(job)
        return job

    def states(self) -> list[tuple[Any, ...]]:
        """The jobs that no agent of the test serves."""
        query = (
            "select id, status, position, token, inputs, output, lease_expires_at"
            " from qwf.jobs where queue in ('made', 'later') or status = 'awaiting_input'"
            " order by id"
        )
        with session(self.dsn) as db:
            return db.execute(query).fetchall()

    def ends_body(self, job: int) -> None:
        """Let the body end: its report counts, under the claim from before the move."""
        self.file.touch()
        query = "select status::text, attempt, losses from qwf.jobs where id = %s"

        def look() -> Any:
            with contextlib.suppress(psycopg.OperationalError), session(self.dsn) as db:
                row = db.execute(query, [job]).fetchone()
                return row if row and row[0] != "running" else None

        assert until(look, "the report of the body") == ("completed", 1, 0)

    def goes_on(self) -> None:
        """The new server takes work and answers, and qwf finds nothing wrong."""
        self.base = Database(self.dsn)
        newest = self.base.one("select max(id) from qwf.jobs")
        job = self.base.enqueue("noop")
        assert job == newest + 1
        assert self.base.ended(job)["status"] == "completed"
        self.base.one("select qwf.submit_input(%s, 'ask', '5')", self.run)
        until(
            lambda: self.base.one(
                "select status = 'queued' from qwf.jobs where node_id = 'do/first'"
            ),
            "the node behind the question",
        )
        assert self.base.invariants() == []
        assert migrate.verify(self.dsn)
        checks = ("drift", "roles")
        words = [word for check in checks for word in ("--only", check)]
        told = CliRunner().invoke(qwf, ["doctor", *words, "--dsn", self.dsn])
        assert told.exit_code == 0, told.output


@pytest.fixture
def agent(start: StartAgent) -> Agent:
    return start(*TASKS, "--slots", "2", "--lease", "600")


@pytest.fixture
def work(servers: Servers, agent: Agent, tmp_path: Path) -> Work:
    return Work(servers, tmp_path / "go on")


@each_step
def test_pg_upgrade_under_a_running_body(servers: Servers, work: Work, agent: Agent) -> None:
    job, before = work.start_body(), work.states()
    programs = {"old": servers.old.bin, "new": servers.new.bin}
    variables = {**programs, "from": servers.old.data, "to": servers.new.data}
    make = block("$new/initdb")
    if not makes_checksums(servers.new):
        make = make.replace(" --no-data-checksums", "")
    servers.do(make, **variables)
    settle(servers.new)
    servers.serves(servers.new)
    servers.do(block("$new/pg_upgrade"), **variables)
    assert work.states() == before
    work.ends_body(job)
    work.goes_on()
    assert agent.stop() == 0


@each_step
def test_a_dump_is_restored_into_a_newer_version(
    servers: Servers, work: Work, agent: Agent, start: StartAgent
) -> None:
    assert agent.stop() == 0
    with session(servers.dsn) as db:
        before = contents(db)
    start_new(servers)
    servers.do(block("pg_restore --exit-on-error"), **servers.addresses)
    servers.serves(servers.new)
    with session(servers.dsn) as db:
        assert contents(db) == before
    start(*TASKS)
    work.goes_on()


@each_step
def test_logical_replication_and_a_switch_under_a_running_body(
    servers: Servers, work: Work, agent: Agent
) -> None:
    start_new(servers)
    servers.do(block("create subscription"), **servers.addresses)
    job = work.start_body()
    for _ in range(3):  # it goes on while it is copied, and statistics are rolled up
        work.base.ended(work.base.enqueue("noop"))
        work.base.one("select _qwf.roll_up_counts()")
    switch_over(servers, work, job)
    assert agent.stop() == 0


@thorough
@pytest.mark.parametrize("servers", [pytest.param((18, 18), id="18")], indirect=True)
def test_a_standby_becomes_the_new_server(servers: Servers, work: Work, agent: Agent) -> None:
    variables = {**servers.addresses, "to": servers.new.data}
    servers.do('pg_basebackup -R -c fast -D "$to" -d "$old"', **variables)
    settle(servers.new)
    servers.do(block("pg_createsubscriber"), **variables)
    servers.new.start(SETTINGS)
    job = work.start_body()
    switch_over(servers, work, job)
    assert agent.stop() == 0


def switch_over(servers: Servers, work: Work, job: int) -> None:
    """Make the new server, which has a subscription, the one that serves."""
    servers.do(block("drop subscription"), **servers.addresses)
    with session(servers.at(servers.old.data)) as old, session(servers.at(servers.new.data)) as new:
        assert contents(new) == contents(old)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            old.execute("select qwf.enqueue('noop')")
    servers.serves(servers.new)
    servers.old.stop()
    work.ends_body(job)
    work.goes_on()


def start_new(servers: Servers) -> None:
    """Start the new server, with an empty database."""
    servers.new.create()
    servers.new.start(SETTINGS)
    servers.new.ensure_database(DATABASE)


def settle(cluster: embedded.Cluster) -> None:
    """Give a data directory the settings with which the tests start servers."""
    settings = {**SETTINGS, "unix_socket_directories": ".", "listen_addresses": ""}
    with (cluster.data / "postgresql.conf").open("a") as file:
        file.writelines(f"{key} = '{value}'\n" for key, value in settings.items())


def makes_checksums(cluster: embedded.Cluster) -> bool:
    """Return True if initdb of this version makes checksums unless told otherwise."""
    told = subprocess.run(
        [cluster.bin / "initdb", "--help"], capture_output=True, text=True, check=True
    )
    return "--no-data-checksums" in told.stdout
