"""The server that answers the statements of the page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

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


class PageServer:
    """Answers statements, at most MOST_CONNECTIONS at once."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
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
                    timeout=CONNECT_S,
                    reconnect_timeout=CONNECT_S,
                    open=False,
                )
                await pool.open()
                self._pool = pool
        return self._pool
