"""A page of memory that a child shares with its parent: what it is running, since when, and the
progress of that job.

The child writes it without a system call, however often a body reports progress; the parent reads
it when it needs to. It outlives the child, so a crash loses nothing.
"""

from __future__ import annotations

import mmap
import struct
import time
from typing import NamedTuple

MESSAGE_BYTES = 2000
TICKET = struct.Struct("<Q")  # of the job
SINCE = struct.Struct("<d?")  # time on the monotonic clock; whether it is still loading
# Version (odd while being written), ticket, fraction, length of the message.
PROGRESS = struct.Struct("<QQdI")
PROGRESS_AT = 64


class Running(NamedTuple):
    """What a child is doing: the ticket of its last job (0: none yet), since when on the monotonic
    clock, and whether it is still loading the job's code or model."""

    ticket: int
    since: float
    loading: bool


class ProgressRecord(NamedTuple):
    """The last progress report of a body."""

    version: int
    ticket: int
    fraction: float
    message: str


class Scoreboard:
    """One writer, one reader. A version number ensures that a progress record is read whole or not
    at all."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, 4096)
        self._version = 0

    def start(self, ticket: int) -> None:
        """Note that the body of this job starts now (child)."""
        self._begin(ticket, loading=False)

    def load(self, ticket: int) -> None:
        """Note that loading the code or model of this job starts now (child)."""
        self._begin(ticket, loading=True)

    def running(self) -> Running:
        """What the child is doing (parent)."""
        (ticket,) = TICKET.unpack_from(self._page, 0)
        return Running(ticket, *SINCE.unpack_from(self._page, TICKET.size))

    def _begin(self, ticket: int, loading: bool) -> None:
        """Write the ticket last: a reader that sees it also sees the time that belongs to it. As in
        `_write`, nothing is packed in place."""
        self._page[TICKET.size : TICKET.size + SINCE.size] = SINCE.pack(time.monotonic(), loading)
        self._page[: TICKET.size] = TICKET.pack(ticket)

    def _write(self, at: int, data: bytes) -> None:
        """Copy `data` to the page. Packing in place would first write zeros, which the parent could
        see."""
        self._page[at : at + len(data)] = data

    def report(self, ticket: int, fraction: float, message: str) -> None:
        """Write how far the body is (child)."""
        text = message.encode(errors="replace")[:MESSAGE_BYTES]
        record = (ticket, fraction, len(text))
        self._write(PROGRESS_AT, PROGRESS.pack(self._version + 1, *record))
        self._write(PROGRESS_AT + PROGRESS.size, text)
        self._version += 2
        self._write(PROGRESS_AT, PROGRESS.pack(self._version, *record))

    def progress(self) -> ProgressRecord | None:
        """The last record; None if there is none or it is being written (parent)."""
        version, ticket, fraction, size = PROGRESS.unpack_from(self._page, PROGRESS_AT)
        text = self._page[PROGRESS_AT + PROGRESS.size : PROGRESS_AT + PROGRESS.size + size]
        if (
            version % 2
            or version == 0
            or PROGRESS.unpack_from(self._page, PROGRESS_AT)[0] != version
        ):
            return None
        return ProgressRecord(version, ticket, fraction, text.decode(errors="replace"))

    def progress_version(self, ticket: int) -> int:
        """The version of the last record if it belongs to this job, else 0 (parent)."""
        version, of_ticket, _, _ = PROGRESS.unpack_from(self._page, PROGRESS_AT)
        return version if of_ticket == ticket else 0

    def close(self) -> None:
        """Free the page."""
        self._page.close()
