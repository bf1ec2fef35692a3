"""The search box of a list: its text, words that may be left out, and suggestions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

import psycopg

from qwf_agent.look.query import Language, QueryError
from qwf_agent.web.reads.database import Look

NAMES = """
select n.kind || ':' || n.name as word from qwf.known_names n
where n.kind = any (%(kinds)s) order by n.kind, n.name limit 300
"""
KINDS = ("queue", "task", "host", "workflow")


async def read(
    look: Look, language: Language, given: Mapping[str, str], address: Mapping[str, str]
) -> dict[str, Any]:
    """The text of the box, without the state, which is a tab. A wrong one stays as typed."""
    kinds = [kind for kind in KINDS if kind in language.fields]
    rest = {name: value for name, value in given.items() if name != "status"}
    return {
        "query": language.write(rest) or ("" if given else address.get("q", "")),
        "terms": list(language.terms(given)),
        "words": [row["word"] for row in await look.rows(NAMES, kinds=kinds)],
        "fields": [f"{name}:" for name in language.fields if name not in ("status", "args")],
        "has_args": "args" in language.fields,
        "rest": rest,
    }


def now() -> datetime:
    """The time from which `since:2h` counts back."""
    return datetime.now(timezone.utc)


def is_about_values(error: psycopg.Error) -> bool:
    """Return True if a statement was refused for the values that a person gave."""
    return isinstance(error, psycopg.DataError) or (error.sqlstate or "").startswith("QW")


def refused(error: psycopg.Error, what: str) -> QueryError:
    """The sentence about a filter that the database has refused; raises what is another error."""
    if not is_about_values(error):
        raise error
    if isinstance(error, psycopg.errors.UntranslatableCharacter):
        return QueryError(f"No {what} has a NUL character: Postgres cannot store one.")
    detail = error.diag.message_detail or error.diag.message_primary or "it cannot be read"
    hint = f". {error.diag.message_hint}" if error.diag.message_hint else ""
    return QueryError(f"This filter is invalid: {detail}{hint}")
