"""Reads what a child prints, splits it at the marks between jobs, and keeps of a long log its
beginning and its end, and of a line what follows its last carriage return."""

from __future__ import annotations

import codecs
import os
from collections import deque

READ_BYTES = 65536
READS_AT_ONCE = 16
MARK_BYTES = 16
RAW_BYTES = 16384  # at most, of the end that is kept as it was printed
GAP_BYTES = 64  # at most, of the line that says how much is left out
CONTINUATIONS = bytes(range(0x80, 0xC0))  # bytes of a character of UTF-8 after its first one
NEAR = 1000  # a log is cut at the end of a line if one is so near


class LogPipe:
    """Reads a child's output pipe. The bytes before a mark are the log of the job that just ended.

    Invariant: the output since the last mark is `_head`, then `_dropped` bytes that are left out,
    then `_tail`. Only if something is left out there is a head, of a quarter of `limit` bytes; the
    tail has at most about twice `limit`. Once it would have more, its lines lose what they have
    overwritten, except in its end of `_raw` bytes, which is what followers are sent.
    """

    def __init__(self, fd: int, mark: bytes, limit: int) -> None:
        self.fd = fd
        self.mark = mark
        self.printed = 0  # bytes since the last mark
        self._limit = limit
        self._raw = min(RAW_BYTES, limit) + MARK_BYTES
        self._head, self._dropped, self._tail = b"", 0, b""
        self._ended: deque[bytes] = deque()
        self._early = 0  # logs that were taken before their mark has come
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
        """The log of the next job that ended, or of the one that was running when the child died.
        The mark of a short job may come a moment after its answer."""
        if not self._ended:
            self.read()
        if self._ended:
            ended = self._ended.popleft()
            return shorten(b"", 0, ended, self._limit) if ended else ""
        self._early += 1
        self.printed = 0
        return self._end_log(self._tail)

    def tail(self, max_bytes: int) -> str:
        """The end of the output since the last mark, at most `max_bytes`."""
        return decode(self.end(max_bytes))

    def whole_tail(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes of whole characters were printed since the last mark, and the last of
        them. The rest of a character may come with the next read."""
        end = self.end(max_bytes)
        whole = whole_characters(end)
        return self.printed - (len(end) - len(whole)), decode(whole)

    def end(self, max_bytes: int) -> bytes:
        """The same as `tail`, as it was printed; the last 16 KiB at most are sure to be."""
        return self._tail[-max_bytes:]

    def _feed(self, data: bytes) -> None:
        *ended, rest = (self._tail + data).split(self.mark)
        if ended and self._dropped:
            ended[0] = self._end_log(ended[0]).encode()
        while self._early and ended:
            del ended[0]
            self._early -= 1
        self._ended.extend(ended)
        self.printed = len(rest) if ended else self.printed + len(data)
        if len(rest) > 2 * self._limit + MARK_BYTES:
            rest = last_writing(rest[: -self._raw]) + rest[-self._raw :]
        if len(rest) > 2 * self._limit + MARK_BYTES:
            rest = self._drop(rest)
        self._tail = rest

    def _drop(self, rest: bytes) -> bytes:
        """The end of a long log; notes its beginning, and how much lies between."""
        if not self._dropped:
            self._head, rest = rest[: self._limit // 4], rest[self._limit // 4 :]
        end = rest[-(self._limit + MARK_BYTES) :]
        self._dropped += len(rest) - len(end)
        return end

    def _end_log(self, tail: bytes) -> str:
        """The log that ends with `tail`; the next one begins."""
        text = shorten(self._head, self._dropped, tail, self._limit)
        self._head, self._dropped, self._tail = b"", 0, b""
        return text


def shorten(head: bytes, dropped: int, tail: bytes, limit: int) -> str:
    """A log of at most `limit` bytes: all of it, or its first quarter, a line that says how many
    bytes are left out, and its end. `dropped` bytes are missing between `head` and `tail`. Without
    room for that line, only the end."""
    first = decode(whole_characters(head)).encode()
    last = decode(last_writing(tail, ended=True)).encode()
    if not dropped and len(last) <= limit:
        return last.decode()
    size = len(first) + dropped + len(last)
    begin_bytes = limit // 4
    end_bytes = limit - begin_bytes - GAP_BYTES
    if end_bytes <= 0:
        return last[-limit:].decode(errors="ignore")
    begin, end = (first if dropped else last)[:begin_bytes], last[-end_bytes:]
    if len(begin) - begin.rfind(b"\n") <= NEAR:
        begin = begin[: max(0, begin.rfind(b"\n"))] or begin
    if 0 <= end.find(b"\n", 0, NEAR) < len(end) - 1:
        end = end[end.find(b"\n") + 1 :]
    left_out = f"\n… {size - len(begin) - len(end):,} bytes left out …\n"
    return begin.decode(errors="ignore") + left_out + end.decode(errors="ignore")


def last_writing(text: bytes, ended: bool = False) -> bytes:
    """The text, of each line only what follows its last carriage return: progress bars write a line
    again and again. One at the end of a line overwrites nothing. The last line keeps it, because
    more of the line may come, unless the text has `ended`."""
    first = text.find(b"\r")
    if first < 0:
        return text
    begin = text.rfind(b"\n", 0, first) + 1
    *lines, last = text[begin:].split(b"\n")
    seen = [line.rstrip(b"\r").rpartition(b"\r")[2] for line in (*lines, last)]
    waits = b"\r" if last.endswith(b"\r") and not ended else b""
    return text[:begin] + b"\n".join(seen) + waits


def whole_characters(data: bytes) -> bytes:
    """The bytes without those of a character of UTF-8 that is cut at the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data[-3:].lstrip(CONTINUATIONS))
    cut = len(decoder.getstate()[0])
    return data[:-cut] if cut else data


def decode(data: bytes) -> str:
    """Text that Postgres can store: without NUL, and with U+FFFD for bytes that are not UTF-8."""
    return data.decode(errors="replace").replace("\0", "")
