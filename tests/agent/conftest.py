"""Agents and databases for the tests of the agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.harness import USER, Database, StartAgent, agents
from support.kept import Database as Kept
from support.kept_fixtures import connect, db, dsn

__all__ = ["connect", "db", "dsn"]

sys.path.insert(0, str(USER))  # for tests of what producers import


@pytest.fixture
def base(kept: Kept, dsn: str) -> Database:
    """A database with the engine in it that is as new."""
    return Database(dsn, kept.connect())


@pytest.fixture
def start(dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    """Starts agents on the database of `base`."""
    with agents(dsn, tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def shared(
    server: Any, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A database with one agent, shared by all tests of a module that only check single jobs."""
    home = tmp_path_factory.mktemp("agent")
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        with agents(dsn, home) as started:
            database = Database(dsn)
            with database.conn:
                database.conn.execute("update qwf.settings set crash_hold = '0 s'")
                commands = str(USER / "commands")
                started(
                    "--app", "bodies", "--nodes", "steps", "--queue", "default", "--queue", "cpu",
                    "--slots", "2", "--allow-commands", commands, "--out-root", str(home / "out"),
                )  # fmt: skip
                yield database


@pytest.fixture(autouse=True)
def between(request: pytest.FixtureRequest) -> Iterator[None]:
    """Completes a job after each test with the shared agent, which would switch itself off if all
    its jobs crashed."""
    yield
    if "shared" in request.fixturenames:
        shared: Database = request.getfixturevalue("shared")
        shared.ended(shared.enqueue("noop"))
