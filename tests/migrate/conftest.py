"""Pretended releases, and databases that have one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qwf_agent import __version__, migrate
from support.servers import Server
from support.sources import NEXT, Sources


@pytest.fixture(scope="session")
def tagged(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """The first release, to copy."""
    found = Sources.copied(tmp_path_factory.mktemp("tagged") / "checkout")
    assert found.release(server, __version__) == [
        f"all sources are frozen in sql/releases/{__version__}.sql"
    ]
    return found


@pytest.fixture(scope="session")
def next_release(
    server: Server, tagged: Sources, tmp_path_factory: pytest.TempPathFactory
) -> Sources:
    """The release after it, which changes objects of every kind."""
    found = tagged.copy(tmp_path_factory.mktemp("next") / "checkout")
    found.change()
    found.release(server, NEXT, yes=True)
    return found


@pytest.fixture(scope="session")
def released(server: Server, tagged: Sources) -> Iterator[str]:
    """Name of a database of the first release, to clone from."""
    with server.database(server.new_name(), as_template=True) as janitor:
        name = janitor.template_dbname or janitor.dbname
        migrate.deploy(server.dsn(name), plan=tagged.plan)
        yield name


@pytest.fixture
def upgraded_dsn(server: Server, released: str) -> Iterator[str]:
    """A database of the first release, before its upgrade."""
    with server.database(server.new_name(), released) as janitor:
        yield server.dsn(janitor.dbname)
