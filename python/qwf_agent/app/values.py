"""How values are written as JSON, and which known word a misspelt one is closest to."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

# jsonb cannot hold this character: \u0000, unless the backslash itself is escaped.
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def to_json(value: Any) -> str:
    """The JSON text of a value; a path becomes its text. Raises TypeError or ValueError."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=path_to_text)
        text.encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it contains half a surrogate pair, which UTF-8 cannot hold") from None
    if has_nul(text):
        raise ValueError("it contains a NUL character, which Postgres cannot store")
    return text


def has_nul(text: str) -> bool:
    """Whether a JSON text contains a NUL character."""
    return "\\u0000" in text and NUL.search(text) is not None


def path_to_text(value: object) -> str:
    """The text of a path. Raises TypeError for a value that JSON does not have."""
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"it contains a value of type {type(value).__name__}")


def suggestion(word: str, words: Iterable[str]) -> str:
    """Which of `words` was meant, or all of them if none is like `word`."""
    known = sorted(words)
    if not known:
        return "it takes none"
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known)}"
