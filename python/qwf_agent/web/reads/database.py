"""Statements of the page: few at once, and one answer for all tabs."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import psycopg
from psycopg import sql

from qwf_agent.look import masking
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.servers import PageServer
from qwf_agent.web.reads.stored_graphs import STORED, Document, StoredGraphs

if TYPE_CHECKING:
    from typing_extensions import LiteralString

# Number of changes before it, statement, parameters.
Key = tuple[int, str, str]

log = logging.getLogger("qwf_agent.web")
FRESH_S = 1.0  # how long an answer serves everybody who asks the same
SELDOM_S = 60.0  # and of statements that read 100,000 rows
MOST_ANSWERS = 1000
LONGEST_KEPT = 10_000  # characters of the parameters of an answer that is kept
NOTHING = repr([])  # the parameters of a statement that has none, in a key
# Errors of one statement, after which others are answered.
LEFT_OUT = (
    psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable, psycopg.DataError,
    psycopg.InternalError,
)  # fmt: skip


@dataclass
class StatementAnswer:
    """The rows of a statement, when they came, and how long it took. Each has a number."""

    rows: Rows
    at: float
    took_s: float
    number: int = field(default_factory=itertools.count().__next__)


@dataclass
class ShownStatement:
    """A statement that a page sent, for "Show the SQL" and the times of an answer."""

    query: str
    params: Mapping[str, Any]
    took_s: float

    @property
    def text(self) -> str:
        """The statement as a person can paste it into psql, without secrets of JSON in it."""
        hidden = {
            name: masking.masked_start(value)
            if isinstance(value, str) and value.lstrip().startswith(("{", "["))
            else value
            for name, value in self.params.items()
        }
        return written(self.query, hidden)


class Database:
    """Answers statements.

    Invariants: at most MOST_CONNECTIONS statements run at once on a server; of equal statements one
    runs, and its answer serves all who ask within FRESH_S of it, unless something was changed
    since.
    """

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.graphs = StoredGraphs()
        self._server = PageServer(dsn)
        self._changes = 0
        self._answers: dict[Key, StatementAnswer] = {}
        self._running: dict[Key, asyncio.Task[StatementAnswer]] = {}

    async def rows(
        self, query: LiteralString, params: Mapping[str, Any], fresh_s: float = FRESH_S,
    ) -> tuple[Rows, float]:  # fmt: skip
        """The rows and how long the statement took: see `answer`."""
        answer = await self.answer(query, params, fresh_s)
        return answer.rows, answer.took_s

    async def answer(
        self, query: LiteralString, params: Mapping[str, Any], fresh_s: float = FRESH_S,
    ) -> StatementAnswer:  # fmt: skip
        """The answer, at most `fresh_s` old.

        Raises psycopg.Error: OperationalError without a connection, QueryCanceled after 2 s.
        """
        key = (self._changes, query, repr(sorted(params.items())))
        known = self._answers.get(key)
        if known is not None and time.monotonic() - known.at < fresh_s:
            return known
        running = self._running.get(key) or self._start(key, query, params)
        return await asyncio.shield(running)  # a tab that leaves stops nobody else's statement

    def expect(self, query: LiteralString, fresh_s: float) -> None:
        """Send a statement without parameters now, whose answer is asked for in a moment."""
        key = (self._changes, query, NOTHING)
        known = self._answers.get(key)
        fresh = known is not None and time.monotonic() - known.at < fresh_s
        if not fresh and key not in self._running:
            self._start(key, query, {}).add_done_callback(_look_at)

    def forget(self) -> None:
        """Read everything again: somebody has changed something."""
        self._changes += 1
        self._answers.clear()

    async def close(self) -> None:
        """Close all connections."""
        await self._server.close()

    def _start(
        self, key: Key, query: LiteralString, params: Mapping[str, Any]
    ) -> asyncio.Task[StatementAnswer]:
        running = asyncio.create_task(self._ask(key, query, params))
        self._running[key] = running
        running.add_done_callback(lambda _: self._running.pop(key, None))
        return running

    async def _ask(
        self, key: Key, query: LiteralString, params: Mapping[str, Any]
    ) -> StatementAnswer:
        rows, took_s = await self._server.rows(query, params)
        answer = StatementAnswer(rows, time.monotonic(), took_s)
        if len(self._answers) >= MOST_ANSWERS:
            self._answers = {
                known: kept
                for known, kept in self._answers.items()
                if answer.at - kept.at < FRESH_S
            }
        if len(key[-1]) <= LONGEST_KEPT:
            self._answers[key] = answer
        return answer


@dataclass
class Look:
    """The requests of one page to the database: its statements, in order.

    With fresh_s 0 no answer is older than the question, for a page that shows what its reader has
    just done.
    """

    database: Database
    fresh_s: float = FRESH_S
    statements: list[ShownStatement] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    used: list[int] = field(default_factory=list)  # numbers of the answers

    async def part(self, name: str, query: LiteralString, **params: Any) -> Rows:
        """The rows of a part of a page. If the database needs too long, or cannot compute them,
        there are none, and the page says that the part `name` is left out."""
        try:
            return await self.rows(query, **params)
        except LEFT_OUT as error:
            log.warning("left out: %s: %s", name, str(error).strip())
            if name not in self.left_out:
                self.left_out.append(name)
            return []

    async def seldom(self, name: str, query: LiteralString, **params: Any) -> Rows:
        """As `part`, for what takes long: the rows may be a minute old."""
        slow = replace(self, fresh_s=max(self.fresh_s, SELDOM_S))  # it shares the lists
        return await slow.part(name, query, **params)

    async def rows(self, query: LiteralString, **params: Any) -> Rows:
        """The rows of a statement."""
        answer = await self.database.answer(query, params, self.fresh_s)
        self.statements.append(ShownStatement(query, params, answer.took_s))
        self.used.append(answer.number)
        return answer.rows

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
            self.statements.append(ShownStatement(STORED, {"graph": graph}, 0.0))
        return document


def _look_at(task: asyncio.Task[StatementAnswer]) -> None:
    """Take the error of a statement that nobody asks for in the end: the page has failed."""
    if not task.cancelled():
        task.exception()


def written(query: str, params: Mapping[str, Any]) -> str:
    """A statement as a person can paste it into psql."""
    literals = {name: sql.Literal(value).as_string(None) for name, value in params.items()}
    return (query % literals if literals else query).strip() + ";"


def named_call(function: str, params: Mapping[str, tuple[str, Any]]) -> sql.Composed:
    """`select * from qwf.function(name => value::type, ...)`; the values are (type, value)."""
    arguments: list[sql.Composable] = []  # joined here: SQL.format() reads its text each time
    for name, (kind, value) in params.items():
        given = [sql.Identifier(name), _GETS, sql.Literal(value), _AS, sql.SQL(kind)]
        arguments += [_NEXT, *given] if arguments else given
    return sql.Composed([_SELECT, sql.Identifier(function), _OPEN, *arguments, _CLOSE])


_SELECT, _OPEN, _CLOSE = sql.SQL("select * from qwf."), sql.SQL("("), sql.SQL(")")
_GETS, _AS, _NEXT = sql.SQL(" => "), sql.SQL("::"), sql.SQL(", ")


def sequence(value: Any) -> Sequence[Any]:
    """A JSON value that should be a list, whatever it is."""
    return value if isinstance(value, list) else []
