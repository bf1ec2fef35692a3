"""Reads and writes JSON without changing a number: 2^53 + 1 and 0.10 keep their digits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from qwf_agent.look import masking, strict_json
from qwf_agent.look.draw.visible import visible
from qwf_agent.look.values import MAX_DIGITS

# Postgres would write 1e131071 with 131,072 digits.
MAX_EXPONENT = 1000
MAX_LEVELS = 499  # of lists and objects in each other; the database takes no more
# A NUL, or half of a surrogate pair: Postgres stores neither.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def read(text: str | bytes) -> Any:
    """The value of a JSON text; a number with a point or an exponent is a Decimal.

    Raises ValueError for what Postgres would refuse or Python would change.
    """
    try:
        return strict_json.read(text, number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"it is not JSON: {error.msg} at {where}") from None


def write(value: Any) -> str:
    """The value as JSON on one line, for Jsonb(value, dumps=write).

    Raises ValueError for what Postgres cannot store.
    """
    return "".join(_pieces(value, indent=False))


def pretty(value: Any) -> str:
    """The value as JSON for people: members and elements below each other, and an escape for each
    character that a reader could not see. Raises ValueError as write does."""
    return "".join(_pieces(value, indent=True))


def editable(text: str | None) -> str | None:
    """The JSON text as a field of a form begins with: exact, its secrets hidden. None if there is
    none, or if Python cannot read it exactly. `actions` puts the secrets back."""
    try:
        return None if text is None else pretty(masking.masked(read(text)))
    except ValueError:
        return None


def number(digits: str) -> int | Decimal:
    """The number that a JSON number stands for. Raises ValueError if it is too long or large."""
    if len(digits) > MAX_DIGITS or digits.removeprefix("-").isdecimal():
        return strict_json.whole(digits)
    found = Decimal(digits)
    if abs(found.adjusted()) > MAX_EXPONENT:
        raise ValueError(f"the number {digits[:20]} is too large or small: write it as a text")
    return found


def _pieces(value: Any, *, indent: bool) -> Iterator[str]:
    """The parts of the JSON. A loop, because a deep value would exhaust the stack of Python."""
    left: list[tuple[str | None, Any, int]] = [(None, value, 0)]
    while left:
        text, one, level = left.pop()
        if text is not None:
            yield _escaped(text) if indent else text
        elif not one or not isinstance(one, dict | list):
            yield _escaped(_scalar(one)) if indent else _scalar(one)
        elif level == MAX_LEVELS:
            raise ValueError(f"it is nested too deep: at most {MAX_LEVELS} levels")
        else:
            left += reversed(_members(one, level, indent))


def _members(
    value: dict[str, Any] | list[Any], level: int, indent: bool
) -> list[tuple[str | None, Any, int]]:
    """The brackets, the keys and commas as text, and the members as values."""
    inner, outer = ("\n" + "  " * (level + 1), "\n" + "  " * level) if indent else ("", "")
    parts: list[tuple[str | None, Any, int]] = []
    before = ("{" if isinstance(value, dict) else "[") + inner
    for key in value if isinstance(value, dict) else range(len(value)):
        member = value[key]  # type: ignore[index]
        parts.append((f"{before}{_text(key)}: " if isinstance(key, str) else before, None, 0))
        parts.append((None, member, level + 1))
        before = f",{inner or ' '}"
    return [*parts, (outer + ("}" if isinstance(value, dict) else "]"), None, 0)]


def _scalar(value: Any) -> str:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a JSON value")
        return str(value)
    return _text(value) if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _text(text: str) -> str:
    if UNSTORABLE.search(text):
        raise ValueError("a text in it has a NUL or half a surrogate pair: leave that out")
    return json.dumps(text, ensure_ascii=False)


def _escaped(text: str) -> str:
    """The JSON with an escape for each unseen character; the line ends of `pretty` stay."""
    if visible(text) == text:
        return text
    return "".join(one if visible(one) == one else json.dumps(one)[1:-1] for one in text)


def parts(value: Any, most: int) -> int:
    """How many parts a value has; it stops counting above `most`."""
    left, count = [value], 0
    while left and count <= most:
        one = left.pop()
        count += 1
        if isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, list):
            left += one
    return count
