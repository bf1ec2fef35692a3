"""A stream of server-sent events, and the answer of a model that comes in it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

from qwf_agent.llm.errors import ServerFailed

END = "[DONE]"


def events(parts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream, each as soon as it is complete. Raises ServerFailed."""
    for data in _data_lines(parts):
        if data == END:
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            raise ServerFailed(f"an event that is no JSON object: {data[:200]}")
        yield event


def _data_lines(parts: Iterable[bytes]) -> Iterator[str]:
    """The text after `data:`. The servers write each event in one line."""
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].decode(errors="replace").strip()


class Generation:
    """An answer while it comes. `tokens` counts the events with text: most servers send one for
    each token."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._began = time.monotonic()
        self._first_at: float | None = None
        self.events = 0
        self.tokens = 0
        self.finish_reason: str | None = None
        self.usage: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> str:
        """Add what is in the event; returns the new text. What a model thinks before it answers is
        new text, too, but no part of the answer."""
        self.events += 1
        if isinstance(event.get("usage"), dict):
            self.usage = counts(event["usage"])
        choices = event.get("choices")
        if not choices:
            return ""
        self.finish_reason = choices[0].get("finish_reason") or self.finish_reason
        delta = choices[0].get("delta") or {}
        thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
        text = delta.get("content") or ""
        if thought or text:
            self.tokens += 1
            self._first_at = self._first_at or time.monotonic()
            self._parts.append(text)
        return storable(thought + text)

    def text(self) -> str:
        """The answer so far."""
        return storable("".join(self._parts))

    def seconds(self) -> float:
        """How long the request has taken."""
        return time.monotonic() - self._began

    def tokens_per_s(self) -> float:
        """Tokens a second, counted from the first one; 0 before the second."""
        if self.tokens < 2 or self._first_at is None:
            return 0.0
        return (self.tokens - 1) / max(time.monotonic() - self._first_at, 1e-6)


def counts(usage: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a count of tokens, which has counts of parts in it."""
    found: dict[str, Any] = {}
    for name, value in usage.items():
        if isinstance(value, dict):
            found[storable(name)] = counts(value)
        elif isinstance(value, (int, float)) and math.isfinite(value):
            found[storable(name)] = value
    return found


def storable(text: str) -> str:
    """The text without what Postgres cannot store: NUL is left out, half a surrogate pair is
    replaced."""
    text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
