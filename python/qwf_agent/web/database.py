"""Statements of the page: read-only, bounded in time, few at once, and one answer for all tabs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from qwf_agent.cli import values
from qwf_agent.web.stored_graphs import STORED, Document, StoredGraphs

if TYPE_CHECKING:
    from typing_extensions import LiteralString, Self

Connection = psycopg.AsyncConnection[DictRow]
Rows = list[dict[str, Any]]
Key = tuple[int, str, str]  # number of changes before it, statement, parameters

APPLICATION = "qwf web"
MOST_CONNECTIONS = 4
CONNECT_S = 5
FRESH_S = 1.0  # how long an answer serves everybody who asks the same
MOST_ANSWERS = 1000
LONGEST_KEPT = 10_000  # characters of the parameters of an answer that is kept
_COMMON = """
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
  pg_catalog.set_config('datestyle', 'ISO', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true),
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


async def connect(dsn: str, **options: Any) -> Connection:
    """A connection for one call of a person, which may write."""
    conn = await psycopg.AsyncConnection.connect(
        dsn,
        autocommit=True,
        row_factory=dict_row,
        cursor_factory=ActingCursor,
        application_name=APPLICATION,
        connect_timeout=CONNECT_S,
        client_encoding="utf8",
        **options,
    )
    await _prepare(conn)
    return conn


async def _prepare(conn: Connection) -> None:
    for type_name, loader in values.LOADERS.items():
        conn.adapters.register_loader(type_name, loader)
    set_json_loads(values.read_json, conn)


@dataclass
class _Answer:
    rows: Rows
    at: float
    took_s: float


@dataclass
class Statement:
    """A statement that a page sent, for "Show the SQL" and the times of an answer."""

    text: str
    took_s: float


class Database:
    """Answers statements.

    Invariants: at most MOST_CONNECTIONS statements run at once; of equal statements one runs, and
    its answer serves all who ask within FRESH_S of it, unless something was changed since.
    """

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.graphs = StoredGraphs()
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()
        self._changes = 0
        self._answers: dict[Key, _Answer] = {}
        self._running: dict[Key, asyncio.Task[_Answer]] = {}

    async def rows(
        self, query: LiteralString, params: Mapping[str, Any], fresh_s: float = FRESH_S
    ) -> tuple[Rows, float]:
        """The rows, at most `fresh_s` old, and how long the statement took.

        Raises psycopg.Error: OperationalError without a connection, QueryCanceled after 2 s.
        """
        key = (self._changes, query, repr(sorted(params.items())))
        known = self._answers.get(key)
        if known is not None and time.monotonic() - known.at < fresh_s:
            return known.rows, known.took_s
        running = self._running.get(key)
        if running is None:
            running = asyncio.create_task(self._ask(key, query, params))
            self._running[key] = running
            running.add_done_callback(lambda _: self._running.pop(key, None))
        answer = await asyncio.shield(running)  # a tab that leaves stops nobody else's statement
        return answer.rows, answer.took_s

    def forget(self) -> None:
        """Read everything again: somebody has changed something."""
        self._changes += 1
        self._answers.clear()

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _ask(self, key: Key, query: LiteralString, params: Mapping[str, Any]) -> _Answer:
        """Send the statement, again if a connection was lost while nobody used it."""
        pool = await self._open()
        lost = 0
        while True:
            async with pool.connection() as conn:
                began = time.monotonic()
                try:
                    rows: Rows = await (await conn.execute(query, params)).fetchall()
                    break
                except psycopg.OperationalError:
                    lost += 1
                    if not conn.broken or lost > MOST_CONNECTIONS:
                        raise
        now = time.monotonic()
        answer = _Answer(rows, now, now - began)
        if len(self._answers) >= MOST_ANSWERS:
            self._answers = {
                known: kept for known, kept in self._answers.items() if now - kept.at < FRESH_S
            }
        if len(key[-1]) <= LONGEST_KEPT:
            self._answers[key] = answer
        return answer

    async def _open(self) -> AsyncConnectionPool[Connection]:
        """The pool, opened by the first statement: a mounted application hears no start."""
        async with self._opening:
            if self._pool is None:
                pool = AsyncConnectionPool(
                    self.dsn,
                    connection_class=Connection,
                    kwargs={
                        "autocommit": True,
                        "row_factory": dict_row,
                        "cursor_factory": ReadingCursor,
                        "application_name": APPLICATION,
                        "connect_timeout": CONNECT_S,
                        "client_encoding": "utf8",
                    },
                    configure=_prepare,
                    min_size=0,
                    max_size=MOST_CONNECTIONS,
                    timeout=CONNECT_S,
                    reconnect_timeout=CONNECT_S,
                    open=False,
                )
                await pool.open()
                self._pool = pool
        return self._pool


@dataclass
class Look:
    """What one page asks the database: its statements, in order.

    With fresh_s 0 no answer is older than the question, for a page that shows what its reader has
    just done.
    """

    database: Database
    fresh_s: float = FRESH_S
    statements: list[Statement] = field(default_factory=list)

    async def rows(self, query: LiteralString, **params: Any) -> Rows:
        """The rows of a statement."""
        rows, took_s = await self.database.rows(query, params, self.fresh_s)
        self.statements.append(Statement(written(query, params), took_s))
        return rows

    async def row(self, query: LiteralString, **params: Any) -> dict[str, Any] | None:
        """The first row of a statement, if there is one."""
        rows = await self.rows(query, **params)
        return rows[0] if rows else None

    async def value(self, query: LiteralString, **params: Any) -> Any:
        """The first value of the first row."""
        row = await self.row(query, **params)
        return None if row is None else next(iter(row.values()))

    async def graph(self, graph: int, compiled_at: datetime) -> Document:
        """A compiled graph, which everybody who looks shares. Raises psycopg.Error."""
        document = self.database.graphs.find(graph, compiled_at)
        if document is None:
            document = cast("Document", await self.value(STORED, graph=graph))
            self.database.graphs.keep(graph, compiled_at, document)
        else:
            self.statements.append(Statement(written(STORED, {"graph": graph}), 0.0))
        return document


def written(query: str, params: Mapping[str, Any]) -> str:
    """A statement as a person can paste it into psql."""
    literals = {name: sql.Literal(value).as_string(None) for name, value in params.items()}
    return (query % literals if literals else query).strip() + ";"


def named_call(function: str, params: Mapping[str, tuple[str, Any]]) -> sql.Composed:
    """`select * from qwf.function(name => value::type, ...)`; the values are (type, value)."""
    arguments = [
        sql.SQL("{} => {}::{}").format(sql.Identifier(name), sql.Literal(value), sql.SQL(kind))
        for name, (kind, value) in params.items()
    ]
    return sql.SQL("select * from qwf.{}({})").format(
        sql.Identifier(function), sql.SQL(", ").join(arguments)
    )


def sequence(value: Any) -> Sequence[Any]:
    """A JSON value that should be a list, whatever it is."""
    return value if isinstance(value, list) else []
