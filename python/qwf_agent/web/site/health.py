"""Checks that a page shows and never waits for: they run beside it, and seldom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolTimeout

from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Database

if TYPE_CHECKING:
    from typing_extensions import LiteralString

# The doctor's page checks all invariants: that reads every job.
INVARIANTS = "select * from qwf.check_invariants(true) limit 20"
UNASSIGNABLE = "select * from qwf.find_unassignable() limit 20"
FIRST_S = 0.2  # how long the first page waits for the first answer
SHARE = 100  # the pause is at least this many times as long as the check took
AFTER_FAILURE_S = 600.0  # a check that was too slow is not tried again for this long


class Check:
    """A statement that runs beside the pages, for all who look.

    Invariants: it runs only when a page asks, once at a time, and after it rests for `every_s` and
    SHARE times what it took. A page gets the last answer.
    """

    def __init__(
        self,
        database: Database,
        statement: LiteralString,
        every_s: float,
        tell: Callable[[Iterable[str]], Awaitable[None]],
    ) -> None:
        self.statement = statement
        self.rows: Rows | None = None  # the last answer; None: there is none
        self.why = ""  # why there is none
        self._database, self._every_s, self._tell = database, every_s, tell
        self._due_at = 0.0
        self._running: asyncio.Task[None] | None = None

    async def look(self) -> Check:
        """Start the check if it is due. Only the first page of all waits for it, and not long."""
        if self._running is None and time.monotonic() >= self._due_at:
            self._running = asyncio.create_task(self._run())
        if self._running is not None and self.rows is None and not self.why:
            await asyncio.wait({self._running}, timeout=FIRST_S)
        return self

    async def _run(self) -> None:
        before = (self.rows, self.why)
        began = time.monotonic()
        try:
            self.rows, _ = await self._database.rows(self.statement, {}, fresh_s=0.0)
            self.why = ""
            rest_s = max(self._every_s, SHARE * (time.monotonic() - began))
        except psycopg.errors.QueryCanceled:
            self.rows, self.why, rest_s = None, "it takes more than 2 s", AFTER_FAILURE_S
        except (psycopg.Error, PoolTimeout) as error:
            self.rows, self.why, rest_s = None, type(error).__name__, self._every_s
        finally:
            self._running = None
        self._due_at = time.monotonic() + rest_s
        if before != (self.rows, self.why):
            await self._tell(["health"])


class PageHealth:
    """The checks of the first page."""

    def __init__(
        self, database: Database, tell: Callable[[Iterable[str]], Awaitable[None]]
    ) -> None:
        self.invariants = Check(database, INVARIANTS, 60.0, tell)
        self.unassignable = Check(database, UNASSIGNABLE, 5.0, tell)
