"""Reads JSON, and refuses what Postgres would refuse or Python would change."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from qwf_agent.look.values import MAX_DIGITS


def read(text: str | bytes, number: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text. `number`: the value of the digits of each number.

    Raises ValueError: for a key that stands twice, NaN, a number that is too long or too large, and
    what is nested too deeply.
    """
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=_refuse_constant,
            parse_int=number or whole, parse_float=number or finite,
        )  # fmt: skip
    except RecursionError:
        raise ValueError("it is nested too deeply: at most a few hundred levels") from None


def whole(digits: str) -> int:
    """The whole number. Raises ValueError if it is too long."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is too long: write it as a text")
    return int(digits)


def finite(digits: str) -> float:
    """The number with a point or an exponent. Raises ValueError if it is too large."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:20]} is too large: write it as a text")
    return number


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object. Raises ValueError if a key stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
