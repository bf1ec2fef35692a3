"""Answers of a child in memory that it shares with its parent. They outlive the child: a job whose
answer is here has ended, however the child ends.

A child that writes an answer makes no system call. It wakes its parent with what it writes to its
log pipe afterwards.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from typing import NamedTuple

BYTES = 1 << 17  # of the ring: more than a child answers while its parent does other things
MOST_BYTES = BYTES // 4  # of one answer: a larger one goes over the socket
FREED = struct.Struct("<IQ")  # checksum; bytes that the parent has read, since the fork
RING_AT = 64
HEAD = struct.Struct("<III")  # checksum of all that follows, messages sent before it, length
CHECKSUM = struct.Struct("<I")
REST = struct.Struct("<II")
WORD = ALL = 0xFFFFFFFF


class KeptAnswer(NamedTuple):
    """An answer, and how many messages the child had sent over the socket before it."""

    after: int
    answer: bytes


class AnswerRing:
    """A ring of answers: the child puts them in, the parent takes them out. One writer, one reader,
    no lock.

    Invariant: the parent takes each answer whole and once, in order. A checksum begins with the
    place of its answer since the fork, so what is left of an earlier round is not taken for an
    answer.
    """

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, RING_AT + BYTES)
        self._end = 0  # where the next answer goes (child), or comes from (parent)
        self._freed = 0  # how far the parent has read, as far as the child knows

    def put(self, answer: bytes, after: int) -> bool:
        """Keep an answer (child); False if there is no room for it."""
        size = HEAD.size + len(answer)
        if size > MOST_BYTES:
            return False
        if self._end + size > self._freed + BYTES:
            self._freed = self._read_freed()
            if self._end + size > self._freed + BYTES:
                return False
        data = REST.pack(after, len(answer)) + answer
        data = CHECKSUM.pack(_checksum(data, self._end)) + data
        begin = RING_AT + self._end % BYTES
        room = RING_AT + BYTES - begin
        if size <= room:
            self._page[begin : begin + size] = data
        else:
            self._page[begin : begin + room] = data[:room]
            self._page[RING_AT : RING_AT + size - room] = data[room:]
        self._end += size
        return True

    def take(self, after: int) -> list[KeptAnswer]:
        """The answers since the last call (parent), up to one that comes after a message that has
        not arrived: `after` have. ALL takes all."""
        found: list[KeptAnswer] = []
        while True:
            checksum, before, length = HEAD.unpack(self._read(self._end, HEAD.size))
            if not 0 < length <= MOST_BYTES or before > after:
                break
            data = self._read(self._end + CHECKSUM.size, REST.size + length)
            if checksum != _checksum(data, self._end):
                break  # it is not there, or only a part of it
            self._end += HEAD.size + length
            found.append(KeptAnswer(before, data[REST.size :]))
        if found:
            number = self._end.to_bytes(8, "little")
            self._page[: FREED.size] = FREED.pack(_checksum(number, 0), self._end)
        return found

    def close(self) -> None:
        """Free the memory."""
        self._page.close()

    def _read(self, at: int, size: int) -> bytes:
        begin = RING_AT + at % BYTES
        room = RING_AT + BYTES - begin
        if size <= room:
            return self._page[begin : begin + size]
        return self._page[begin:] + self._page[RING_AT : RING_AT + size - room]

    def _read_freed(self) -> int:
        """How far the parent has read; what was known before if it is just being written."""
        checksum, freed = FREED.unpack_from(self._page)
        is_whole = checksum == _checksum(freed.to_bytes(8, "little"), 0)
        return int(freed) if is_whole else self._freed


def _checksum(data: bytes, place: int) -> int:
    return zlib.crc32(data, place & WORD) ^ WORD
