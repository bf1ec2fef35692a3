"""Fixtures for rooms whose tests share databases and sessions: see kept.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support.kept import Database


@pytest.fixture
def dsn(kept: Database) -> str:
    """Address of a database with the engine in it that is as new."""
    return kept.dsn


@pytest.fixture
def db(kept: Database) -> psycopg.Connection[Any]:
    """A session, in autocommit, on the database of `dsn`."""
    return kept.connect()


@pytest.fixture
def connect(kept: Database) -> Callable[[], psycopg.Connection[Any]]:
    """Gives further sessions, in autocommit, on the database of `dsn`."""
    return kept.connect
