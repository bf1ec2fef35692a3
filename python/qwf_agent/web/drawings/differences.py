"""In which lines two definitions differ."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import dataclass
from typing import Any

from qwf_agent.web.site import render

MOST_LINES = 3000  # of a definition; comparing more of them takes seconds
AROUND = 3  # equal lines that are shown before and after those that differ


@dataclass(frozen=True)
class Line:
    """One line of a difference; kind is added, removed, place or equal."""

    kind: str
    text: str


async def differences(before: Any, after: Any) -> list[Line] | None:
    """The lines of a unified difference; None if the definitions are too long to be compared.

    The keys of each object are in the order of the alphabet, and what may be secret is masked.
    """
    return await asyncio.to_thread(_compared, before, after)


def _compared(before: Any, after: Any) -> list[Line] | None:
    old, new = (_written(value) for value in (before, after))
    if max(len(old), len(new)) > MOST_LINES:
        return None
    found = list(difflib.unified_diff(old, new, lineterm="", n=AROUND))[2:]
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return [Line(kinds.get(line[:1], "equal"), line) for line in found]


def _written(value: Any) -> list[str]:
    return render.as_json(_sorted(value)).splitlines()


def _sorted(value: Any) -> Any:
    """The value with its keys in order, an id or a name first: it says what the object is."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (key not in ("id", "name"), key))
        return {key: _sorted(value[key]) for key in keys}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
