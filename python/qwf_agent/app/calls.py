"""How a call is made: its steps are written once, and run on connections of both kinds.

A step is a query, whose values come back as texts, or a pause in seconds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any, TypeVar

from qwf_agent.app.connections import (
    AsyncConnection,
    Connection,
    Query,
    SqlCall,
    fetch,
    fetch_async,
)

T = TypeVar("T")
Steps = Generator[Query | float, list[str], T]


def drive(conn: Connection, steps: Steps[T]) -> T:
    """Run the steps on a synchronous connection, and return what they return."""
    values: list[str] | None = None
    while True:
        try:
            step = steps.send(values) if values is not None else next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if isinstance(step, float):
            time.sleep(step)
            values = []
        else:
            values = fetch(conn, step)


async def drive_async(conn: AsyncConnection, steps: Steps[T]) -> T:
    """Run the steps on an asynchronous connection, and return what they return."""
    import asyncio  # takes longer to import than all of `app`

    values: list[str] | None = None
    while True:
        try:
            step = steps.send(values) if values is not None else next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if isinstance(step, float):
            await asyncio.sleep(step)
            values = []
        else:
            values = await fetch_async(conn, step)


def value(query: Query) -> Steps[str]:
    """The only value that the query returns."""
    (only,) = yield query
    return only


def number(call: SqlCall) -> Steps[int]:
    """The only value that the call returns, an id."""
    return int((yield from value(call)))


def document(call: SqlCall) -> Steps[dict[str, Any]]:
    """The JSON object that the call returns."""
    read: dict[str, Any] = json.loads((yield from value(call)))
    return read
