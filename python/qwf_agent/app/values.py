"""How values are written as JSON and read, and which known word a misspelt one is closest to."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import PurePath
from typing import Any

# jsonb cannot hold this character: \u0000, unless the backslash itself is escaped.
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
FRACTION = re.compile(r"\.\d{1,6}")


def to_json(value: Any) -> str:
    """The JSON text of a value; a path becomes its text. Raises TypeError or ValueError."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=path_to_text)
        text.encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it contains half a surrogate pair, which UTF-8 cannot hold") from None
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error}{place_in(value)}") from None
    if has_nul(text):
        raise ValueError("it contains a NUL character, which Postgres cannot store")
    return text


def place_in(value: object) -> str:
    """Where in a value JSON has no word for what is there, such as " at scores[2]", and what to do
    about an array; "" if the value as a whole is meant or nothing is found."""
    to_do, seen = [("", value)], set[int]()
    while to_do:
        path, one = to_do.pop()
        inside: list[tuple[str, object]] = []
        if isinstance(one, dict):
            inside = [(f"{path}.{name}" if path else str(name), part) for name, part in one.items()]
        elif isinstance(one, (list, tuple)):
            inside = [(f"{path}[{number}]", part) for number, part in enumerate(one)]
        elif isinstance(one, float) and math.isfinite(one):
            continue
        elif isinstance(one, float) or not isinstance(one, (str, int, PurePath, type(None))):
            is_array = hasattr(one, "tolist") and not isinstance(one, float)
            advice = ": store its tolist()" if is_array else ""
            return (f" at {path[:200]}" if path else "") + advice
        if id(one) not in seen:  # a value may hold itself
            seen.add(id(one))
            to_do += reversed(inside)
    return ""


def has_nul(text: str) -> bool:
    """Return True if a JSON text contains a NUL character."""
    return "\\u0000" in text and NUL.search(text) is not None


def path_to_text(value: object) -> str:
    """The text of a path. Raises TypeError for a value that JSON does not have."""
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"it contains a value of type {type(value).__name__}")


def moment(text: str) -> datetime:
    """The time that Postgres wrote in JSON; of infinity, the last one that Python has."""
    if text == "infinity":
        return datetime.max.replace(tzinfo=timezone.utc)
    return datetime.fromisoformat(FRACTION.sub(lambda found: f"{found[0]:0<7}", text))


def suggestion(word: str, words: Iterable[str]) -> str:
    """Which of `words` was meant, or all of them if none is like `word`."""
    known = sorted(words)
    if not known:
        return "it takes none"
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known)}"
