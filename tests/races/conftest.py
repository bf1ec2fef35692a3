"""Races: two or more sessions on a clean database, in the order that the test dictates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support.kept_fixtures import connect, db, dsn

pytest.register_assert_rewrite("support.interleave")

from support.interleave import Race  # noqa: E402  (after its asserts are rewritten)

__all__ = ["connect", "db", "dsn", "race"]


@pytest.fixture
def race(connect: Callable[[], psycopg.Connection[Any]]) -> Iterator[Race]:
    """The first session, which opens the others."""
    first = Race(connect)
    try:
        yield first
    finally:
        first.end()
