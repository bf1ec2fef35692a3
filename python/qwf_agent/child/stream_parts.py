"""The streams of bodies that run at once, on their way to the parent."""

from __future__ import annotations

import threading
from typing import Protocol

from qwf_agent.child.stream_page import WINDOW


class StreamWriter(Protocol):
    """Takes what bodies stream."""

    def write(self, ticket: int, text: str) -> None:
        """Add text to the stream of this job."""


class StreamParts:
    """The text that bodies have streamed and nobody has taken yet: of each at most the last WINDOW
    bytes. Any thread of a body may write."""

    def __init__(self) -> None:
        self._written: dict[int, int] = {}
        self._new: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def write(self, ticket: int, text: str) -> None:
        """Add text to the stream of this job."""
        piece = text.replace("\0", "").encode(errors="replace")
        if not piece:
            return
        with self._lock:
            self._written[ticket] = self._written.get(ticket, 0) + len(piece)
            self._new[ticket] = (self._new.get(ticket, b"") + piece)[-WINDOW:]

    def tickets(self) -> list[int]:
        """The jobs that have streamed something new."""
        with self._lock:
            return list(self._new)

    def take(self, ticket: int) -> tuple[int, str] | None:
        """How many bytes this job has streamed, and the new ones; None if there are none."""
        with self._lock:
            new = self._new.pop(ticket, None)
            return None if new is None else (self._written[ticket], new.decode(errors="ignore"))

    def end(self, ticket: int) -> None:
        """Forget this job."""
        with self._lock:
            self._written.pop(ticket, None)
            self._new.pop(ticket, None)


class NoStream:
    """The stream of a job whose body runs for a whole batch."""

    def write(self, ticket: int, text: str) -> None:
        """Refuse the text."""
        raise RuntimeError("a job of a batch has no stream: job.stream is for bodies of one job")


def joined(before: tuple[int, str] | None, written: int, text: str) -> tuple[int, str]:
    """The end of a stream of so many bytes, from what was known before and the last part of it, as
    Postgres can store it (parent)."""
    data = text.encode(errors="replace")
    if before is not None and before[0] + len(data) == written:
        data = before[1].encode() + data
    return written, data[-WINDOW:].decode(errors="ignore").replace("\0", "")
