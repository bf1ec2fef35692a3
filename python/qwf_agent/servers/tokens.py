"""Counts the tokens that the jobs of a model server have used."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

WINDOW_S = 60.0
MOST = 10**12  # of one job: user code may have made the number


class TokenCount:
    """The tokens of the jobs of one server that have ended. Times are in seconds.

    Invariant: `_recent` has the jobs that generated tokens and ended at most WINDOW_S ago, oldest
    first: when each ended, how long it ran, and its tokens.
    """

    def __init__(self) -> None:
        self.prompt = self.generated = 0
        self._recent: deque[tuple[float, float, int]] = deque()

    def add(self, usage: Mapping[str, Any], seconds: float, now: float) -> None:
        """Count a job that has ended now and ran for so long, with its `usage` as a server of the
        protocol of OpenAI counts it."""
        self.prompt += _number(usage.get("prompt_tokens"))
        generated = _number(usage.get("completion_tokens"))
        self.generated += generated
        if generated:
            self._recent.append((now, max(seconds, 1e-3), generated))

    def per_s(self, now: float) -> float:
        """Tokens generated a second in the last WINDOW_S. A job counts with the part of its run
        that lies in it."""
        while self._recent and self._recent[0][0] <= now - WINDOW_S:
            self._recent.popleft()
        within = (
            tokens * min(1.0, (WINDOW_S - (now - ended)) / seconds)
            for ended, seconds, tokens in self._recent
        )
        return sum(within) / WINDOW_S

    def stats(self, now: float) -> dict[str, Any]:
        """The part of a heartbeat about this."""
        return {
            "tokens": self.generated, "prompt_tokens": self.prompt,
            "tokens_per_s": round(self.per_s(now), 1),
        }  # fmt: skip


def _number(given: Any) -> int:
    """A count of tokens; 0 for what is none."""
    valid = isinstance(given, int | float) and 0 <= given <= MOST
    return int(given) if valid else 0
