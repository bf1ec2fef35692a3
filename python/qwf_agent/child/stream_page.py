"""Memory that a child shares with its parent: the end of what its body streams.

The child writes it without a system call, and the parent reads it only while somebody follows.
"""

from __future__ import annotations

import mmap
import struct
import threading
import zlib

BYTES = 1 << 17
WINDOW = 1 << 16  # what is sure to be there, and what is sent at most
MOST_CHARACTERS = 1 << 13  # in one piece: at most a quarter of BYTES
PIECE = 4 * MOST_CHARACTERS
# Ticket, bytes written, bytes of the last piece and their checksum; the checksum of all these.
HEAD = struct.Struct("<QQII")
CHECKSUM = struct.Struct("<I")
TICKET = struct.Struct("<Q")
BEGIN = HEAD.size + CHECKSUM.size
READS = 3


class StreamPage:
    """A ring of bytes with one writer and one reader, without a lock between them. The reader gets
    whole characters, or keeps what it has.

    Invariant: the last `WINDOW` bytes before the number in the head are not overwritten by the
    piece that is being written.
    """

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, BEGIN + BYTES)
        self._lock = threading.Lock()  # of the threads of a body
        self._ticket, self._written = 0, 0

    def write(self, ticket: int, text: str) -> None:
        """Add text to the stream of this job (child)."""
        with self._lock:
            if ticket != self._ticket:
                self._ticket, self._written = ticket, 0
            for begin in range(0, len(text), MOST_CHARACTERS):
                piece = text[begin : begin + MOST_CHARACTERS].replace("\0", "")
                self._put(piece.encode(errors="replace"))

    def read(self, ticket: int) -> tuple[int, str] | None:
        """How many bytes this job has streamed, and the last of them; None if it has not streamed
        anything, or if its child writes too fast to be read now."""
        if TICKET.unpack_from(self._page, CHECKSUM.size)[0] != ticket:
            return None  # the usual case
        for _ in range(READS):
            head = self._head()
            if head is None or head[0] != ticket or not head[1]:
                return None
            _, written, size, checksum = head
            data = self._end(written, min(written, WINDOW))
            after = self._head()
            if after is None or after[0] != ticket or after[1] - written > BYTES - WINDOW - PIECE:
                continue
            if zlib.crc32(data[-size:]) == checksum:
                return written, data.decode(errors="ignore")
        return None

    def close(self) -> None:
        """Free the memory."""
        self._page.close()

    def _put(self, piece: bytes) -> None:
        if not piece:
            return
        at = self._written % BYTES
        first = piece[: BYTES - at]
        self._page[BEGIN + at : BEGIN + at + len(first)] = first
        rest = piece[len(first) :]
        self._page[BEGIN : BEGIN + len(rest)] = rest
        self._written += len(piece)
        head = HEAD.pack(self._ticket, self._written, len(piece), zlib.crc32(piece))
        self._page[:BEGIN] = CHECKSUM.pack(zlib.crc32(head)) + head

    def _head(self) -> tuple[int, int, int, int] | None:
        page = self._page[:BEGIN]
        head = page[CHECKSUM.size :]
        if CHECKSUM.unpack_from(page)[0] != zlib.crc32(head):
            return None
        ticket, written, size, checksum = HEAD.unpack(head)
        return ticket, written, size, checksum

    def _end(self, written: int, size: int) -> bytes:
        """The last `size` bytes before the one with this number."""
        begin, end = (written - size) % BYTES, written % BYTES
        if not size or begin < end:
            return self._page[BEGIN + begin : BEGIN + end]
        return self._page[BEGIN + begin : BEGIN + BYTES] + self._page[BEGIN : BEGIN + end]
