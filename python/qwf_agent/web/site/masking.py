"""Hides texts that may be secret from people who look over a shoulder.

A secret is a text under a key like `password` or `api_key`, at any depth below it. Numbers,
booleans and null are shown: `max_tokens` and `prompt_tokens_details` are counts.
"""

from __future__ import annotations

import re
from typing import Any

SECRET_KEYS = ("password", "passwd", "token", "secret", "authorization", "api_key", "apikey")
MASK = "••••••"
# A text, with the colon after it if it is a key; or what opens, closes or ends a value. A text may
# be cut anywhere.
PIECE = re.compile(r'("(?:[^"\\]|\\.?)*"?)(\s*:)?|[\[\]{},]', re.DOTALL)


def masked(value: Any, secret: bool = False) -> Any:
    """The value without texts under secret keys; `secret`: it is itself under one."""
    if isinstance(value, dict):
        return {key: masked(item, secret or is_secret(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, secret) for item in value]
    return MASK if secret and isinstance(value, str) else value


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
    return any(word in str(key).lower() for word in SECRET_KEYS)
