"""Sessions of the page: how they read values, and the settings of each statement."""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import PoolTimeout

from qwf_agent.look import values

if TYPE_CHECKING:
    from typing_extensions import Self

Connection = psycopg.AsyncConnection[DictRow]
Rows = list[dict[str, Any]]

APPLICATION = "qwf web"
CONNECT_S = 5
MOST_CALLS = 8  # connections for calls and checks of people, at once
WAIT_S = 10.0  # for one of them
PLANNED_S = 60.0  # how long a plan serves: tables grow
_COMMON = """
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
  pg_catalog.set_config('datestyle', 'ISO', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true),
  pg_catalog.set_config('jit', 'off', true),
  pg_catalog.set_config('timezone', 'UTC', true),"""
# Sent before each statement and in force for it alone: behind PgBouncer, the next statement may be
# on another session, and what a SET leaves behind is there for other clients.
READING = f"""select {_COMMON}
  pg_catalog.set_config('transaction_read_only', 'on', true),
  pg_catalog.set_config('lock_timeout', '1s', true),
  pg_catalog.set_config('statement_timeout', '2s', true);
"""
ACTING = f"""select {_COMMON}
  pg_catalog.set_config('lock_timeout', '3s', true),
  pg_catalog.set_config('statement_timeout', '10s', true);
"""
# The same for a session that nobody shares.
READING_SESSION = READING.replace("'transaction_", "'default_transaction_").replace("true", "false")
SERVED_BY = "select pg_catalog.pg_backend_pid() as pid"
NUMBER_OF_ROWS = "limit %("  # the planner guesses one that it does not know


class ReadingCursor(psycopg.AsyncClientCursor[DictRow]):
    """Runs each statement under READING."""

    settings = READING

    async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Send the settings and the statement in one message; the result is the statement's."""
        text = query.as_string(self) if isinstance(query, sql.Composable) else query
        await super().execute(self.settings + text, params, **options)
        self.nextset()
        return self


class ActingCursor(ReadingCursor):
    """Runs each statement under ACTING."""

    settings = ACTING


class ReadingConnection(psycopg.AsyncConnection[DictRow]):
    """A connection that reads.

    If nobody shares the session, it keeps the plans of statements that take no values or only whole
    numbers, for PLANNED_S: most of them read views, which take longer to plan than to run. The best
    plan of any other statement depends on its values, so it is planned each time. Behind a pooler
    each statement also sets what it needs.
    """

    is_ours = False  # no pooler is between us and the server
    _planned_at = 0.0

    async def prepare_to_read(self) -> None:
        """Set what holds for all statements."""
        await prepare(self)
        row = await (await self.execute(SERVED_BY)).fetchone()
        self.is_ours = row is not None and row["pid"] == self.info.backend_pid
        if self.is_ours:
            await psycopg.AsyncClientCursor(self).execute(READING_SESSION)

    async def read(self, query: str, params: Mapping[str, Any]) -> Rows:
        """The rows of a statement. Raises psycopg.Error."""
        if not self.is_ours:
            return await (await self.execute(query, params)).fetchall()
        if NUMBER_OF_ROWS in query or not all(type(value) is int for value in params.values()):
            cursor = psycopg.AsyncClientCursor(self, row_factory=dict_row)
            return await (await cursor.execute(query, params)).fetchall()
        if time.monotonic() - self._planned_at > PLANNED_S:
            self._planned_at = time.monotonic()
            await psycopg.AsyncCursor(self).execute("discard plans", prepare=False)
        prepared = psycopg.AsyncCursor(self, row_factory=dict_row)
        try:
            await prepared.execute(query, params or None, prepare=True)
        except psycopg.errors.FeatureNotSupported:  # a view has other columns since then
            await prepared.execute("deallocate all", prepare=False)
            await prepared.execute(query, params or None, prepare=True)
        return await prepared.fetchall()


# For each loop, because a semaphore belongs to one.
_places: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
_places = weakref.WeakKeyDictionary()


@contextlib.asynccontextmanager
async def connect(dsn: str) -> AsyncIterator[Connection]:
    """A connection for one call of a person, which may write. At most MOST_CALLS are open at once:
    agents and applications need the connections of the server. Raises psycopg.Error, PoolTimeout.
    """
    places = _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_CALLS))
    try:
        await asyncio.wait_for(places.acquire(), WAIT_S)
    except asyncio.TimeoutError:
        raise PoolTimeout(f"{MOST_CALLS} calls run, and none ended within {WAIT_S:.0f} s") from None
    try:
        conn = await psycopg.AsyncConnection.connect(
            dsn,
            autocommit=True,
            row_factory=dict_row,
            cursor_factory=ActingCursor,
            application_name=APPLICATION,
            connect_timeout=CONNECT_S,
            client_encoding="utf8",
        )
        async with conn:
            await prepare(conn)
            yield conn
    finally:
        places.release()


async def prepare(conn: Connection) -> None:
    """Read values as the command line does."""
    for type_name, loader in values.LOADERS.items():
        conn.adapters.register_loader(type_name, loader)
    set_json_loads(values.read_json, conn)
