"""Memory that a child shares with its parent: what it is running, since when, and the
progress of that job; and the answers of the parent to its checkpoints.

The child writes it without a system call, however often a body reports progress; the parent reads
it when it needs to. It outlives the child, so a crash loses nothing.
"""

from __future__ import annotations

import mmap
import struct
import time
import zlib
from typing import NamedTuple

from qwf_agent.child.stream_page import StreamPage

MESSAGE_BYTES = 2000
CHECKSUM = struct.Struct("<I")  # of all that follows in the record
# Ticket, time on the monotonic clock, whether it is still loading, what the body hears.
RUNNING = struct.Struct("<Qd?B")
PROGRESS = struct.Struct("<QQdI")  # version, ticket, fraction, length of the message that follows
SAVED = struct.Struct("<QI")  # number of the checkpoint, length of the refusal that follows
RUNNING_AT, ON_CPU_AT, PROGRESS_AT, SAVED_AT = 0, 48, 64, 4096
REFUSAL_BYTES = 1000
PLACES, PLACE_BYTES = 512, 1024  # for answers to checkpoints: more than bodies run at once
READS = 3  # how often a record that is just being written is read
# What a body hears when it should release its job: nothing; it may ask its `job`; it has asked to
# be told.
NOTHING, MAY_ASK, LISTENS = 0, 1, 2


class Running(NamedTuple):
    """The present work of a child: the ticket of its last job (0: none yet), since when on the
    monotonic clock, whether it is still loading the job's code or model, and what the body
    hears."""

    ticket: int
    since: float
    loading: bool
    hears: int = NOTHING


class ProgressRecord(NamedTuple):
    """The last progress report of a body."""

    version: int
    ticket: int
    fraction: float
    message: str


class SaveAnswer(NamedTuple):
    """The answer to a checkpoint: its number, and why it was refused; empty if it is committed."""

    number: int
    refusal: str


class Scoreboard:
    """One writer and one reader of each record, no lock. A record has a checksum: the reader takes
    it whole, or keeps the last one that it has read. The order in which a processor shows what
    another one has written does not matter."""

    def __init__(self) -> None:
        self.stream = StreamPage()
        self._page = mmap.mmap(-1, SAVED_AT + PLACES * PLACE_BYTES)
        self._version = 0
        self._running = Running(0, 0.0, False)  # as last read
        self._progress: ProgressRecord | None = None  # as last read

    def start(self, ticket: int, hears: int = NOTHING) -> None:
        """Note that the body of this job starts now (child)."""
        self._write(RUNNING_AT, RUNNING.pack(ticket, time.monotonic(), False, hears))

    def load(self, ticket: int) -> None:
        """Note that loading the code or model of this job starts now (child)."""
        self._write(RUNNING_AT, RUNNING.pack(ticket, time.monotonic(), True, NOTHING))

    def step(self, ticket: int) -> None:
        """Note that one of many bodies goes on now, until `rest` (child)."""
        self._write(RUNNING_AT, RUNNING.pack(ticket, time.monotonic(), False, NOTHING))
        self._page[ON_CPU_AT] = 1

    def rest(self) -> None:
        """Note that this body waits again (child)."""
        self._page[ON_CPU_AT] = 0

    def beat(self) -> None:
        """Note that the event loop of many bodies is alive (child)."""
        self._write(RUNNING_AT, RUNNING.pack(0, time.monotonic(), False, NOTHING))

    def is_on_cpu(self) -> bool:
        """Return True if one of many bodies is in a step, that of `running` (parent)."""
        return self._page[ON_CPU_AT] == 1

    def report(self, ticket: int, fraction: float, message: str) -> None:
        """Write how far the body is (child)."""
        text = message.encode(errors="replace")[:MESSAGE_BYTES]
        self._version += 1
        self._write(PROGRESS_AT, PROGRESS.pack(self._version, ticket, fraction, len(text)) + text)

    def running(self) -> Running:
        """The present work of the child (parent)."""
        for _ in range(READS):
            data = self._read(RUNNING_AT, RUNNING.size)
            if data is not None:
                self._running = Running(*RUNNING.unpack(data))
                break
        return self._running

    def progress(self) -> ProgressRecord | None:
        """The last record; None if there is none (parent)."""
        for _ in range(READS):
            size = PROGRESS.unpack_from(self._page, PROGRESS_AT + CHECKSUM.size)[-1]
            data = self._read(PROGRESS_AT, PROGRESS.size + min(size, MESSAGE_BYTES))
            if data is not None:
                version, ticket, fraction, size = PROGRESS.unpack_from(data)
                text = data[PROGRESS.size : PROGRESS.size + size].decode(errors="replace")
                self._progress = ProgressRecord(version, ticket, fraction, text)
                break
        return self._progress

    def progress_version(self, ticket: int) -> int:
        """The version of the last record if it belongs to this job, else 0 (parent)."""
        record = self.progress()
        return record.version if record is not None and record.ticket == ticket else 0

    def answer_save(self, number: int, refusal: str) -> None:
        """Answer the checkpoint of this number (parent). Its answer has the place of no other one
        that is still to be read: the child sees to that."""
        text = refusal.encode(errors="replace")[:REFUSAL_BYTES]
        self._write(_place(number), SAVED.pack(number, len(text)) + text)

    def save_answer(self, number: int) -> SaveAnswer | None:
        """The answer to the checkpoint of this number; None if it is not there yet (child)."""
        place = _place(number)
        size = SAVED.unpack_from(self._page, place + CHECKSUM.size)[-1]
        data = self._read(place, SAVED.size + min(size, REFUSAL_BYTES))
        if data is None:
            return None
        answered, size = SAVED.unpack_from(data)
        refusal = data[SAVED.size : SAVED.size + size].decode(errors="replace")
        return SaveAnswer(answered, refusal) if answered == number else None

    def _write(self, at: int, data: bytes) -> None:
        self._page[at : at + CHECKSUM.size + len(data)] = CHECKSUM.pack(_checksum(data)) + data

    def _read(self, at: int, size: int) -> bytes | None:
        """A record without its checksum; None if it is not whole or not there."""
        begin = at + CHECKSUM.size
        (checksum,), data = CHECKSUM.unpack_from(self._page, at), self._page[begin : begin + size]
        return data if checksum == _checksum(data) else None

    def close(self) -> None:
        """Free the page."""
        self._page.close()
        self.stream.close()


def _place(number: int) -> int:
    return SAVED_AT + number % PLACES * PLACE_BYTES


def _checksum(data: bytes) -> int:
    """Not 0 for zeros, which a page without a record has."""
    return zlib.crc32(data) ^ 0xFFFFFFFF
