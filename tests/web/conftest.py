"""Visitors of the page, a real browser for its tests, and a server for it.

The browser is the Chromium of the system, driven by Playwright. Without one these tests are
skipped; with QWF_BROWSER=required they fail instead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette

from support import logins, visitors
from support.browser import Pages, chromium, served
from support.kept_fixtures import connect, db
from support.kept_fixtures import reopening_dsn as dsn
from support.servers import Server

__all__ = ["connect", "db", "dsn"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser. It is given module by module: meanwhile asyncio.run() fails in this thread."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def serve() -> Iterator[Callable[[Starlette], str]]:
    """Serves an application on a free port of this machine and returns its address."""
    with contextlib.ExitStack() as stack:
        yield lambda app: stack.enter_context(served(app))


@pytest.fixture
def pages(browser: Browser, serve: Callable[[Starlette], str]) -> Iterator[Pages]:
    """Opens pages; the test fails if one of them does what no page may do.

    They close before `serve` ends: a page that asks a server that is gone logs an error."""
    opened = Pages(browser)
    yield opened
    assert opened.close() == []


@pytest.fixture
def visit(db: psycopg.Connection[Any], dsn: str) -> Iterator[visitors.Visit]:
    """visit("viewer") is a visitor of that level; keywords go to build."""
    with contextlib.ExitStack() as stack:
        yield lambda level="admin", **options: stack.enter_context(
            visitors.visitor(db, dsn, level, **options)
        )


@pytest.fixture
def passwords(server: Server, db: psycopg.Connection[Any], dsn: str) -> Iterator[str]:
    """Address over TCP of a server that wants the password of ada, and trusts everybody else."""
    if server.cluster is None:
        pytest.skip("this test changes pg_hba.conf, and QWF_TEST_DSN names somebody else's server")
    with logins.passwords(server, db, dsn) as address:
        yield address
