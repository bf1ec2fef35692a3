"""Fixtures for rooms whose tests share databases and sessions: see kept.py."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support.kept import Database
from support.thorough import THOROUGH


@pytest.fixture
def dsn(kept: Database) -> str:
    """Address of a database with the engine in it that is as new."""
    return kept.dsn


@pytest.fixture
def reopening_dsn(kept: Database, request: pytest.FixtureRequest) -> Iterator[str]:
    """The same; what this process connects to it, closes and connects again gets the same session,
    unless the test is `fresh`."""
    fresh = THOROUGH or request.node.get_closest_marker("fresh") is not None
    with contextlib.nullcontext() if fresh else kept.reused.open():
        yield kept.dsn


@pytest.fixture
def db(kept: Database) -> psycopg.Connection[Any]:
    """A session, in autocommit, on the database of `dsn`."""
    return kept.connect()


@pytest.fixture
def connect(kept: Database) -> Callable[[], psycopg.Connection[Any]]:
    """Gives further sessions, in autocommit, on the database of `dsn`."""
    return kept.connect
