"""The fixtures for pytest. Each imports what it needs when a test first takes it."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import psycopg

    from qwf_agent.testing import Clock, RunUntilIdle

FOLDER = "_qwf_folder"  # of the server of this run of pytest: an attribute of its config
KEY = "qwf_folder"  # what pytest-xdist hands to its processes


def pytest_configure(config: pytest.Config) -> None:
    """This runs wherever the package is installed: nothing here fails a run without qwf."""
    with contextlib.suppress(OSError):  # no folder for temporary files; `qwf_server` says so
        _choose_folder(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All processes of pytest-xdist use one server."""
    if (folder := getattr(node.config, FOLDER, None)) is not None:
        node.workerinput[KEY] = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = getattr(config, FOLDER, None)
    if folder is not None and folder.exists() and not hasattr(config, "workerinput"):
        from qwf_agent.testing import databases

        databases.remove_server(folder)


def _choose_folder(config: pytest.Config) -> Path:
    """Choose the folder of the server. Raises FileNotFoundError if no folder is writable."""
    given = getattr(config, "workerinput", {}).get(KEY)
    name = f"qwf-tests-{secrets.token_hex(8)}"  # as databases.FOLDERS
    folder = Path(given or Path(tempfile.gettempdir(), name))
    setattr(config, FOLDER, folder)
    return folder


@pytest.fixture(scope="session")
def qwf_server(pytestconfig: pytest.Config) -> str:
    """Address of a database of the server that the tests use: QWF_TEST_DSN, else an embedded server
    for this run of pytest. Databases of the tests are made next to it, and dropped."""
    from qwf_agent.testing import databases

    if given := os.environ.get("QWF_TEST_DSN"):
        return given
    chosen = getattr(pytestconfig, FOLDER, None)
    return databases.start_server(chosen or _choose_folder(pytestconfig))


@pytest.fixture(scope="session")
def qwf_blank(qwf_server: str) -> Iterator[str]:
    """Address of an empty database, which becomes the template."""
    from qwf_agent.testing import databases

    with databases.new_database(qwf_server) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def qwf_template(qwf_blank: str) -> str:
    """Address of the database that each test gets a copy of: it has the schema of qwf. Override it
    to add your own tables; leave no connection open."""
    from qwf_agent.testing import databases

    databases.deploy(qwf_blank)
    return qwf_blank


@pytest.fixture
def qwf_dsn(qwf_server: str, qwf_template: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Address of the test's own database, a libpq URL. QWF_DSN names it, too."""
    from qwf_agent.testing import databases

    with databases.new_database(qwf_server, qwf_template) as dsn:
        monkeypatch.setenv("QWF_DSN", dsn)
        yield dsn


@pytest.fixture
def qwf_db(qwf_dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A psycopg connection to the test's own database, in autocommit."""
    import psycopg

    with contextlib.closing(psycopg.connect(qwf_dsn, autocommit=True)) as conn:
        yield conn


@pytest.fixture
def qwf_clock(qwf_dsn: str) -> Clock:
    """The clock of the engine in the test's own database. It stands still."""
    from qwf_agent.testing import Clock

    return Clock(qwf_dsn)


@pytest.fixture
def run_until_idle(qwf_dsn: str, tmp_path: Path) -> RunUntilIdle:
    """Runs the jobs of the test's own database in this process: see
    `qwf_agent.testing.run_until_idle`. Bodies write below `tmp_path / "out"`."""
    from qwf_agent import testing

    return functools.partial(testing.run_until_idle, qwf_dsn, out_root=tmp_path / "out")
