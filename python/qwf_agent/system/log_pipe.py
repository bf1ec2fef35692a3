"""Reads what a child prints, splits it at the marks between jobs, and keeps the end of each log."""

from __future__ import annotations

import os
from collections import deque

READ_BYTES = 65536
READS_AT_ONCE = 16
MARK_BYTES = 16


class LogPipe:
    """Reads a child's output pipe. The bytes before a mark are the log of the job that just ended.

    Invariant: `_tail` is the end of the output since the last mark, at most about twice `limit`
    bytes.
    """

    def __init__(self, fd: int, mark: bytes, limit: int) -> None:
        self.fd = fd
        self.mark = mark
        self.printed = 0  # bytes since the last mark
        self._limit = limit
        self._tail = b""
        self._ended: deque[bytes] = deque()
        os.set_blocking(fd, False)

    def read(self) -> bool:
        """Read what is in the pipe, at most 1 MiB. False if no process has it open for writing."""
        for _ in range(READS_AT_ONCE):
            try:
                data = os.read(self.fd, READ_BYTES)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._feed(data)
        return True

    def take(self) -> str:
        """The log of the next job that ended, or of the one that was running when the child died. A
        child writes the mark before it sends the answer."""
        if not self._ended:
            self.read()
        if self._ended:
            ended = self._ended.popleft()
            return decode(ended[max(0, len(ended) - self._limit) :]) if ended else ""
        rest, self._tail = self._tail, b""
        return decode(rest)

    def tail(self, max_bytes: int) -> str:
        """The end of the output since the last mark, at most `max_bytes`."""
        return decode(self.end(max_bytes))

    def end(self, max_bytes: int) -> bytes:
        """The same as `tail`, as it was printed."""
        return self._tail[-max_bytes:]

    def _feed(self, data: bytes) -> None:
        *ended, rest = (self._tail + data).split(self.mark)
        self._ended.extend(ended)
        self.printed = len(rest) if ended else self.printed + len(data)
        long = len(rest) > 2 * self._limit + MARK_BYTES
        self._tail = rest[-(self._limit + MARK_BYTES) :] if long else rest


def decode(data: bytes) -> str:
    """Text that Postgres can store: without NUL, and with U+FFFD for bytes that are not UTF-8."""
    return data.decode(errors="replace").replace("\0", "")
