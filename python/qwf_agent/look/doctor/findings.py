"""Findings of a check, and helpers that the checks in Python share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from qwf_agent.look import draw
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

MAX_SHOWN = 5  # findings of one kind


@dataclass(frozen=True)
class Finding:
    """A problem or a check that could not be made, which make the exit code 1, or a note; and what
    to do."""

    level: Literal["problem", "unchecked", "note"]
    what: str
    advice: str = ""
    subject: str | None = None  # such as `job 7`


def read(row: dict[str, Any]) -> Finding:
    """A row of qwf.doctor(); what foreign programs wrote into it cannot act on a terminal."""
    return Finding(row["level"], visible(row["says"]), visible(row["hint"] or ""), row["subject"])


def problem(what: str, advice: str = "") -> Finding:
    """Something is wrong."""
    return Finding("problem", what, advice)


def note(what: str, advice: str = "") -> Finding:
    """Worth knowing, but nothing is wrong."""
    return Finding("note", what, advice)


def unchecked(why: str, advice: str) -> Finding:
    """The check could not be made, so nobody knows."""
    return Finding("unchecked", f"this could not be checked: {why}", advice)


def first_few(found: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of a kind, and how many more there are."""
    all_of_them = list(found)
    yield from all_of_them[:MAX_SHOWN]
    if len(all_of_them) > MAX_SHOWN:
        yield problem(f"and {len(all_of_them) - MAX_SHOWN} more of that kind")


def query_value(conn: Connection, query: Any, parameters: tuple[Any, ...] = ()) -> Any:
    """The only value that a query returns; None if it returns no row."""
    row = conn.execute(query, parameters).fetchone()
    return None if row is None else next(iter(row.values()))


def duration(length: timedelta) -> str:
    """A length of time as a person writes it."""
    return draw.duration(length.total_seconds())
