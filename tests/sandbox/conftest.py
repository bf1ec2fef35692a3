"""The built sandbox, a web server for it, and a browser that looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from support import sandbox
from support.browser import Pages, chromium, served

PREFIX = "/some/where"  # it may lie anywhere on a server


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder with the page and the database."""
    base = tmp_path_factory.getbasetemp()
    return sandbox.build((base if worker_id == "master" else base.parent) / "built")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def pages(browser: Browser) -> Iterator[Pages]:
    """Opens pages; the test fails if one of them does what no page may do."""
    opened = Pages(browser)
    yield opened
    assert opened.close() == []


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    """Where a plain static server has the sandbox."""
    app = Starlette(routes=[Mount(PREFIX, StaticFiles(directory=built, html=True))])
    with served(app) as root:
        yield f"{root}{PREFIX}/"
