"""How often a model server has failed, and how long it pauses before it is started again."""

from __future__ import annotations

from collections import deque

LONGEST_WAIT_S = 60.0
BROKEN_FAILURES, BROKEN_WINDOW_S, BROKEN_RETRY_S = 5, 600.0, 300.0


class Failures:
    """The failures of one server.

    Invariant: once it is `broken`, it stays so until it was ready.
    """

    def __init__(self) -> None:
        self.broken = False  # it failed too often
        self.in_a_row = 0
        self.retry_at = float("inf")  # when the pause after the last one is over
        self._at: deque[float] = deque()

    @property
    def retries_now(self) -> bool:
        """True if somebody has just ended the pause."""
        return self.retry_at == 0.0

    def add(self, now: float) -> float:
        """Note a failure; returns the seconds of the pause after it."""
        self.in_a_row += 1
        self._at.append(now)
        while self._at[0] < now - BROKEN_WINDOW_S:
            self._at.popleft()
        self.broken = self.broken or max(len(self._at), self.in_a_row) >= BROKEN_FAILURES
        wait_s = BROKEN_RETRY_S if self.broken else min(2.0 ** (self.in_a_row - 1), LONGEST_WAIT_S)
        self.retry_at = now + wait_s
        return wait_s

    def pause(self, now: float) -> None:
        """It was stopped: if it is broken, it is tried again after a pause."""
        self.retry_at = now + BROKEN_RETRY_S

    def retry_soon(self) -> None:
        """Do not wait for the end of the pause."""
        self.retry_at = 0.0
