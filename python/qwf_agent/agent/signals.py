"""Turns signals into flags that the loop checks; a byte in a pipe ends the wait of the loop."""

from __future__ import annotations

import os
import selectors
import signal
from types import FrameType


class Signals:
    """Counts signals; the handler does nothing else."""

    HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self.stops = 0
        self._hangups = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        selector.register(self._reader, selectors.EVENT_READ, self._drain)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in self.HANDLED:
            signal.signal(number, self._count)
        # A child inherits this: a cancel right after the fork must not kill it.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    def take_hangup(self) -> bool:
        """Return True if a SIGHUP has come since the last call."""
        hangups, self._hangups = self._hangups, 0
        return hangups > 0

    def take_second_stop(self) -> bool:
        """Return True if a further stop signal has come since this last returned true."""
        second, self.stops = self.stops > 1, min(self.stops, 1)
        return second

    def _count(self, number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGTERM, signal.SIGINT):
            self.stops += 1
        elif number == signal.SIGHUP:
            self._hangups += 1

    def _drain(self) -> None:
        try:
            while os.read(self._reader, 4096):
                pass
        except BlockingIOError:
            pass
