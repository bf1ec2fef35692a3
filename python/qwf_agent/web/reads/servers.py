"""The servers that answer the statements of the page: the primary, and perhaps a standby."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from qwf_agent.look import standby
from qwf_agent.web.reads.connections import (
    APPLICATION,
    CONNECT_S,
    ReadingConnection,
    ReadingCursor,
    Rows,
)

if TYPE_CHECKING:
    from typing_extensions import LiteralString

MOST_CONNECTIONS = 4
REST_S = 10.0  # how long a standby that did not answer is not asked again
WAIT_S = 1.0  # for a connection to a standby
LOOK_S = 1.0  # how often a standby is asked how far it is
CONFLICT = "40001"  # a standby ends a statement that holds up what it has to replay
COMMITTED: LiteralString = "select pg_current_wal_insert_lsn()::text as lsn"
HAS: LiteralString = """
select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= %(lsn)s::pg_lsn as has
"""


class PageServer:
    """Answers statements, at most MOST_CONNECTIONS at once."""

    def __init__(self, dsn: str, wait_s: float = CONNECT_S) -> None:
        self._dsn, self._wait_s = dsn, wait_s
        self._pool: AsyncConnectionPool[ReadingConnection] | None = None
        self._opening = asyncio.Lock()

    async def rows(self, query: LiteralString, params: Mapping[str, Any]) -> tuple[Rows, float]:
        """The rows of a statement and how long it took. It is sent again if a connection was lost
        while nobody used it. Raises psycopg.Error, PoolTimeout."""
        pool = await self._open()
        lost = 0
        while True:
            async with pool.connection() as conn:
                began = time.monotonic()
                try:
                    return await conn.read(query, params), time.monotonic() - began
                except psycopg.OperationalError:
                    lost += 1
                    if not conn.broken or lost > MOST_CONNECTIONS:
                        raise

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _open(self) -> AsyncConnectionPool[ReadingConnection]:
        """The pool, opened by the first statement: a mounted application hears no start."""
        async with self._opening:
            if self._pool is None:
                pool = AsyncConnectionPool(
                    self._dsn,
                    connection_class=ReadingConnection,
                    kwargs={
                        "autocommit": True,
                        "row_factory": dict_row,
                        "cursor_factory": ReadingCursor,
                        "application_name": APPLICATION,
                        "connect_timeout": CONNECT_S,
                        "client_encoding": "utf8",
                    },
                    configure=ReadingConnection.prepare_to_read,
                    min_size=0,
                    max_size=MOST_CONNECTIONS,
                    timeout=self._wait_s,
                    reconnect_timeout=CONNECT_S,
                    open=False,
                )
                await pool.open()
                self._pool = pool
        return self._pool


class PageStandby:
    """A standby that answers statements, unless the primary has to.

    Invariants: from `changed` on it answers nothing until it has all that was committed then, so
    nobody sees the state from before what they did. What it cannot answer (an unlogged table, a
    statement that it had to end) the primary answers. If it is not there, it rests.
    """

    def __init__(self, dsn: str, primary: PageServer) -> None:
        self._server, self._primary = PageServer(dsn, wait_s=WAIT_S), primary
        self._refused: set[str] = set()  # statements; all are constants of this package
        self._rests_until = 0.0
        self._changes = self._has = 0  # changes that we heard of; how many of them it has
        self._wanted: tuple[int, str] | None = None  # changes, and the place in the log after them
        self._looked_at = -LOOK_S
        self._seen: list[standby.Standby | None] = [None, None]  # the last two looks

    def changed(self) -> None:
        """Somebody has changed something on the primary, and that is committed."""
        self._changes += 1

    async def rows(
        self, query: LiteralString, params: Mapping[str, Any]
    ) -> tuple[Rows, float] | None:
        """The rows of a statement and how long it took; None: ask the primary."""
        if query in self._refused or time.monotonic() < self._rests_until:
            return None
        try:
            return await self._server.rows(query, params) if await self._is_current() else None
        except psycopg.Error as error:
            if error.sqlstate in standby.REFUSED:
                self._refused.add(query)
            elif error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
                self._rest()
            elif error.sqlstate != CONFLICT:
                raise
        except PoolTimeout:
            self._rest()
        return None

    async def warning(self) -> str | None:
        """A warning about the data that is shown, if it may be too old."""
        now = time.monotonic()
        if now < self._rests_until:
            return "the standby does not answer: the primary is read"
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            answer = await self.rows(standby.STATE, {})
            self._seen = [self._seen[1], _state(answer[0][0]) if answer is not None else None]
        # Once is no sign: on an idle primary, the newest change is old while the next is replayed.
        warnings = [seen.warning if seen is not None else None for seen in self._seen]
        return warnings[1] if warnings[0] is not None else None

    async def close(self) -> None:
        """Close all connections."""
        await self._server.close()

    async def _is_current(self) -> bool:
        """Return True if it has all changes that we heard of."""
        changes = self._changes
        if self._has >= changes:
            return True
        if self._wanted is None or self._wanted[0] < changes:
            (committed,), _ = await self._primary.rows(COMMITTED, {})
            self._wanted = (changes, committed["lsn"])
        number, lsn = self._wanted
        (replayed,), _ = await self._server.rows(HAS, {"lsn": lsn})
        if replayed["has"]:
            self._has = max(self._has, number)
        return bool(replayed["has"])

    def _rest(self) -> None:
        self._rests_until = time.monotonic() + REST_S


def _state(row: Mapping[str, Any]) -> standby.Standby | None:
    """How far the standby is; None if it has become a primary."""
    if not row["standby"]:
        return None
    return standby.Standby(row["has_all"] and row["receives"], row["receives"], row["age"])
