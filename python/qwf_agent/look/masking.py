"""Hides texts that may be secret from people who look over a shoulder.

A secret is a text under a key like `password` or `api_key`, at any depth below it. Numbers,
booleans and null are shown: `max_tokens` and `prompt_tokens_details` are counts. The words are the
setting secret_keys of the database whose values are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

MASK = "••••••"
Words = tuple[str, ...]
EVERY: Words = ("",)  # each key has it
_of_this_request: ContextVar[Words | None] = ContextVar("_of_this_request", default=None)
_of_this_process: Words = ()
# A text, with the colon after it if it is a key; or what opens, closes or ends a value. A text may
# be cut anywhere.
PIECE = re.compile(r'("(?:[^"\\]|\\.?)*"?)(\s*:)?|[\[\]{},]', re.DOTALL)


class MaskLeftError(ValueError):
    """A value that came back has a mask, and what it hides is not known."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is hidden, and its value is not known: enter the value")


def hide(words: Iterable[str]) -> None:
    """Mask in the answer to this request what has one of these words in its key."""
    _of_this_request.set(tuple(word.lower() for word in words))


def hide_everywhere(words: Iterable[str]) -> None:
    """The same for a process that shows the values of one database, such as a command."""
    global _of_this_process
    _of_this_process = tuple(word.lower() for word in words)


def secret_words() -> Words:
    """The words that make a key secret, in lower case."""
    words = _of_this_request.get()
    return _of_this_process if words is None else words


def masked(value: Any, secret: bool = False) -> Any:
    """The value without texts under secret keys; `secret`: it is itself under one."""
    if isinstance(value, dict):
        return {key: masked(item, secret or is_secret(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, secret) for item in value]
    return MASK if secret and isinstance(value, str) else value


def may_have_mask(text: str) -> bool:
    """True unless no text of this JSON is a mask, which may be written with escapes."""
    return MASK in text or "\\u2022" in text


def unmasked(value: Any, stored: Any, path: str = "") -> Any:
    """A value that a person has edited, with the secrets of `stored` instead of their masks.

    A mask stands for the secret at the same place. In a list places move, so an element with a mask
    has to be as it was. Raises MaskLeftError.
    """
    if isinstance(value, dict):
        known = stored if isinstance(stored, dict) else {}
        return {key: unmasked(item, known.get(key), f"{path}.{key}" if path else str(key))
                for key, item in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [_element(item, stored, at, f"{path}[{at}]") for at, item in enumerate(value)]
    if value != MASK:
        return value
    if isinstance(stored, str):
        return stored
    raise MaskLeftError(path)


def _element(value: Any, stored: Any, at: int, path: str) -> Any:
    if not _has_mask(value):
        return value
    known = stored[at] if isinstance(stored, list) and at < len(stored) else None
    if value in (masked(known), masked(known, secret=True)):
        return known
    raise MaskLeftError(path)


def _has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    return any(map(_has_mask, value)) if isinstance(value, list) else value == MASK


def masked_start(text: str) -> str:
    """The same for JSON that is cut at its end."""
    depth, hidden_at = 0, None  # hidden_at: the depth of the secret key whose value this is

    def shown(piece: re.Match[str]) -> str:
        nonlocal depth, hidden_at
        found, colon = piece[1], piece[2]
        if found is None:
            depth += (piece[0] in "[{") - (piece[0] in "]}")
            if hidden_at is not None and depth < hidden_at + (piece[0] == ","):
                hidden_at = None
        elif colon is None:
            return f'"{MASK}"' if hidden_at is not None else found
        elif hidden_at is None and is_secret(found):
            hidden_at = depth
        return piece[0]

    return PIECE.sub(shown, text)


def is_secret(key: object) -> bool:
    """Return True if texts under this key may be secret."""
    name = str(key).lower()
    return any(word in name for word in secret_words())
