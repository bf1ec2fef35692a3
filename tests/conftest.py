"""Servers, databases and sessions for the tests.

Tests take `dsn` (a fresh database with the engine in it) or `db` (a session on one). The databases
are cloned from a template that is deployed once per server. The server is an
embedded one of this test session's own; with QWF_TEST_DSN it is the one named there, where only
databases made here, next to the named one, are touched.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from pytest_postgresql.executors import NoopExecutor

from qwf_agent import embedded
from support.kept import Database, Databases
from support.servers import Server, deployed, given_server, own_server

pytest_plugins = ["qwf_agent.testing.plugin"]  # as users have it

# A busy machine is slow at everything, so the time of an example says nothing about the code.
hypothesis.settings.register_profile(
    "any machine", hypothesis.settings(), deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)  # fmt: skip
hypothesis.settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    # Agents and commands that tests start would compile the package each time.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # a shell that starts us in the background ignores SIGINT, and so would all we start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given = os.environ.get("QWF_TEST_DSN")
    if given and not str(conninfo_to_dict(given).get("dbname", "")).endswith("_test"):
        raise pytest.UsageError("QWF_TEST_DSN: the name of the database must end in _test")


# Files with tests that take longest. They start first, so that none of them is the last to end.
LONG = (
    "worker_check/test_faults.py", "worker_check/test_workers.py",
    "tree/test_lint.py", "web/test_browser.py", "cli/test_demo.py", "package/test_package.py",
    "sandbox/test_page.py", "docs/test_documents_that_run.py", "drills/test_machine.py",
    "drills/test_seeded_bugs.py", "races/test_deadlocks.py", "agent/test_day.py",
    "drills/test_crossings.py", "drills/test_chaos.py", "bench/test_bench.py",
    "operations/test_postgres_upgrade.py",
    "servers/test_failing_servers.py", "migrate/test_own_migrations.py", "migrate/test_upgrade.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect thousands of tests without looking for garbage, of which they leave none."""
    let_one_compile(session)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def let_one_compile(session: pytest.Session) -> None:
    """Where nothing is compiled yet, let one process do it: the others wait, and load what it has
    written. Each would take 13 s of the processor, and takes 5 s."""
    given = getattr(session.config, "workerinput", None)
    if given is None or given["workerid"] == "gw0" or compiled():
        return
    until = time.monotonic() + 120
    while not collected(given).exists() and time.monotonic() < until:
        time.sleep(0.05)


def compiled() -> bool:
    """Return True if the last of the rooms is compiled."""
    return any(Path(__file__).parent.glob("workflows/__pycache__/*pytest*"))


def collected(given: dict[str, Any]) -> Path:
    """The file that says that the first process has collected the tests."""
    return Path(tempfile.gettempdir(), f"qwf-collected-{given['testrunuid']}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    given = getattr(session.config, "workerinput", None)
    if given is not None and given["workerid"] == "gw0":
        collected(given).unlink(missing_ok=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long files first. Each process of pytest-xdist begins with as many tests of the list
    as the others, so each of these parts begins with its share of them."""
    count = getattr(config, "workerinput", {}).get("workercount", 1)
    if count == 1:
        return
    files: dict[str, list[pytest.Item]] = {f"tests/{name}": [] for name in LONG}
    others: list[pytest.Item] = []
    for item in items:
        files.get(item.nodeid.partition("::")[0], others).append(item)
    size, ordered = len(items) // count, []
    for number in range(count):
        part = [item for file in list(files.values())[number::count] for item in file]
        taken = max(0, size - len(part)) if number < count - 1 else len(others)
        ordered += [*part, *others[:taken]]
        del others[:taken]
    items[:] = ordered


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave thousands of tests out of every search for garbage."""
    gc.freeze()
    given = getattr(session.config, "workerinput", None)
    if given is not None and given["workerid"] == "gw0":
        collected(given).touch()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server of this test process: the newest Postgres there is, or the one given."""
    given = os.environ.get("QWF_TEST_DSN")
    with given_server(given) if given else own_server(embedded.binaries()) as found:
        yield found


@pytest.fixture(scope="session")
def qwf_server(server: Server) -> str:
    """The fixtures that users get make their databases on the server of the tests."""
    return server.dsn(server.maintenance)


@pytest.fixture(scope="session")
def executor(server: Server) -> Iterator[NoopExecutor]:
    """That server for pytest-postgresql, with the template."""
    with deployed(server) as found:
        yield found


@pytest.fixture(scope="session")
def template(executor: NoopExecutor) -> str:
    """Name of the database that fresh ones are cloned from."""
    return executor.template_dbname


@pytest.fixture(scope="session")
def databases(server: Server, template: str) -> Iterator[Databases]:
    """Lends one database to one test after the other."""
    with contextlib.closing(Databases(server, template)) as found:
        yield found


@pytest.fixture
def kept(databases: Databases, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with the engine in it that is as new, or new if the test is marked `fresh`."""
    fresh = request.node.get_closest_marker("fresh") is not None
    with databases.fresh() if fresh else databases.lent() as database:
        yield database


@pytest.fixture
def dsn(server: Server, template: str) -> Iterator[str]:
    """Address of a fresh database with the engine in it."""
    with server.database(server.new_name(), template) as janitor:
        yield server.dsn(janitor.dbname)


@pytest.fixture
def empty_dsn(server: Server) -> Iterator[str]:
    """Address of a fresh database with nothing in it."""
    with server.database(server.new_name()) as janitor:
        yield server.dsn(janitor.dbname)


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A session, in autocommit, on a fresh database with the engine in it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[[], psycopg.Connection[Any]]]:
    """Opens further sessions, in autocommit, on the database of `dsn`."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(psycopg.connect(dsn, autocommit=True))
