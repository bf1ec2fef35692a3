"""What a check can find, and what all checks use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from qwf_agent.cli import draw
from qwf_agent.cli.connection import Connection

MOST_SHOWN = 5  # of the same kind one by one


@dataclass(frozen=True)
class Finding:
    """Something worth saying: a problem (the exit code tells), or a note; and what to do."""

    level: Literal["problem", "note"]
    what: str
    advice: str = ""


def problem(what: str, advice: str = "") -> Finding:
    """Something is wrong."""
    return Finding("problem", what, advice)


def note(what: str, advice: str = "") -> Finding:
    """Something to know; nothing is wrong."""
    return Finding("note", what, advice)


def some(found: Iterable[Finding]) -> Iterator[Finding]:
    """The first of many of a kind, and how many more there are."""
    all_of_them = list(found)
    yield from all_of_them[:MOST_SHOWN]
    if len(all_of_them) > MOST_SHOWN:
        yield problem(f"and {len(all_of_them) - MOST_SHOWN} more of that kind")


def one(conn: Connection, query: Any, parameters: tuple[Any, ...] = ()) -> Any:
    """The only value a query returns; None for none."""
    row = conn.execute(query, parameters).fetchone()
    return None if row is None else next(iter(row.values()))


def long(length: timedelta) -> str:
    """A length of time as a person writes it."""
    return draw.duration(length.total_seconds())


def jobs(count: int, verb: str = "") -> str:
    """So many jobs, with what they do."""
    alone = count == 1
    return f"{count} job{'' if alone else 's'}" + (f" {verb}{'s' if alone else ''}" if verb else "")
