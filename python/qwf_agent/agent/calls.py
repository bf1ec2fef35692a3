"""A call of the database from the agent: what was asked, what came back, or why it failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from psycopg import pq
from psycopg.pq.abc import PGresult

from qwf_agent.agent.db import Query

Row = dict[str, Any]
Record = tuple[Any, ...]

# SQLSTATE classes for bad data: data, constraint, program limit, and the engine's own.
DATA_ERRORS = ("22", "23", "54", "QW")
# And for what passes: a standby behind a pooler, deadlock, no memory or disk, a lock timeout, a
# cancelled statement.
PASSING_ERRORS = ("25006", "40", "53", "55P03", "57")
# The line of a CONTEXT that names the function in which the error was raised, and how one of the
# engine looks: any other is in a trigger of somebody else.
IN_FUNCTION = re.compile(r"^(?!\s|SQL|JSON).*\S\(.*\) .*$", re.MULTILINE)
OWN = re.compile(r"\b_?qwf\.")


class Failure(NamedTuple):
    """Why a call failed. `lost`: the connection was lost, so the server may have executed it.
    `unreadable`: the server has executed it, but its answer cannot be read."""

    message: str
    sqlstate: str | None = None
    detail: str | None = None
    hint: str | None = None
    lost: bool = False
    unreadable: bool = False
    context: str | None = None

    @property
    def by_data(self) -> bool:
        """True if the data that was sent is the cause, so that sending it again is useless."""
        is_foreign = self.where and not OWN.search(self.where)
        by_data = (self.sqlstate or "")[:2] in DATA_ERRORS and not is_foreign
        return self.unreadable or by_data

    @property
    def where(self) -> str:
        """The function that has failed inside the server: of the engine, or a trigger."""
        found = IN_FUNCTION.search(self.context or "")
        return found[0] if found else ""

    @property
    def passing(self) -> bool:
        """True if the same query may succeed later: nothing is wrong with it."""
        return (self.sqlstate or "").startswith(PASSING_ERRORS)

    def __str__(self) -> str:
        return "; ".join(part for part in (self.message, self.detail, self.hint) if part)


class Notification(NamedTuple):
    """A NOTIFY: its channel and payload."""

    channel: str
    payload: str


class SentCall:
    """A query under way. When it is done, it has records or a failure. Columns of type
    jsonb, uuid and timestamptz arrive as text."""

    __slots__ = ("columns", "deadline", "done", "failure", "query", "records")

    def __init__(self, query: Query) -> None:
        self.query = query
        self.deadline: float | None = None
        self.columns: list[str] = []
        self.records: list[Record] = []
        self.failure: Failure | None = None
        self.done = False

    def fail(self, failure: Failure) -> None:
        """End it without an answer."""
        self.failure, self.done = failure, True

    @property
    def rows(self) -> list[Row]:
        """The records as dictionaries by column name."""
        return [dict(zip(self.columns, record, strict=True)) for record in self.records]

    def pick(self, *names: str) -> Iterator[Record]:
        """The records with only these columns, at least two, in this order. Much faster than `rows`
        for many records."""
        if not self.records:
            return iter(())
        return map(itemgetter(*map(self.columns.index, names)), self.records)

    def value(self) -> Any:
        """The only column of the first row."""
        return self.records[0][0] if self.records else None


def failure_of(result: PGresult) -> Failure:
    """The error that the server has put into a result."""

    def field(which: pq.DiagnosticField) -> str | None:
        value = result.error_field(which)
        return None if value is None else value.decode(errors="replace")

    fields = pq.DiagnosticField
    return Failure(
        field(fields.MESSAGE_PRIMARY)
        or result.error_message.decode(errors="replace")
        or "unknown error",
        field(fields.SQLSTATE),
        field(fields.MESSAGE_DETAIL),
        field(fields.MESSAGE_HINT),
        context=field(fields.CONTEXT),
    )
