"""Reads what a child prints, splits it at the marks between jobs, and keeps of a long log its
beginning and its end, and of a line what follows its last carriage return."""

from __future__ import annotations

import codecs
import os
import struct
from collections import deque

READ_BYTES = 65536
READS_AT_ONCE = 16
MARK_BYTES = 16
RAW_BYTES = 16384  # at most, of the end that is kept as it was printed
GAP_BYTES = 64  # at most, of the line that says how much is left out
CONTINUATIONS = bytes(range(0x80, 0xC0))  # bytes of a character of UTF-8 after its first one
NEAR = 1000  # a log is cut at the end of a line if one is so near
FRAME_HEAD = struct.Struct("<QH")  # ticket of the job, length of its output that follows
FRAME_MOST = 4000  # bytes of output: a whole frame is written at once, so no other cuts it


class KeptLog:
    """The output of one job as far as it is kept.

    Invariant: the output is `_head`, then `_dropped` bytes that are left out, then `tail`. Only if
    something is left out there is a head, of a quarter of `limit` bytes; the tail has at most about
    twice `limit`. Once it would have more, its lines lose what they have overwritten, except in its
    end of `_raw` bytes, which is what followers are sent.
    """

    def __init__(self, limit: int) -> None:
        self.printed = 0  # bytes
        self.tail = b""
        self._head, self._dropped = b"", 0
        self._limit = limit
        self._raw = min(RAW_BYTES, limit) + MARK_BYTES

    def add(self, data: bytes) -> None:
        """Take what was printed next."""
        self.printed += len(data)
        self.keep(self.tail + data)

    def keep(self, rest: bytes) -> None:
        """Replace the tail, and shorten it."""
        if len(rest) > 2 * self._limit + MARK_BYTES:
            rest = last_writing(rest[: -self._raw]) + rest[-self._raw :]
        if len(rest) > 2 * self._limit + MARK_BYTES:
            rest = self._drop(rest)
        self.tail = rest

    def is_cut(self) -> bool:
        """Return True if something is left out."""
        return self._dropped > 0

    def end(self) -> str:
        """All that is kept; begins anew."""
        text = shorten(self._head, self._dropped, self.tail, self._limit)
        self._head, self._dropped, self.tail, self.printed = b"", 0, b"", 0
        return text

    def whole_tail(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes of whole characters were printed, and the last of them. The rest of a
        character may come with the next read."""
        end = self.tail[-max_bytes:]
        whole = whole_characters(end)
        return self.printed - (len(end) - len(whole)), decode(whole)

    def _drop(self, rest: bytes) -> bytes:
        """The end of a long log; notes its beginning, and how much lies between."""
        if not self._dropped:
            self._head, rest = rest[: self._limit // 4], rest[self._limit // 4 :]
        end = rest[-(self._limit + MARK_BYTES) :]
        self._dropped += len(rest) - len(end)
        return end


class LogPipe:
    """Reads a child's output pipe. The bytes before a mark are the log of the job that just ended.
    Jobs that run at the same time have logs of their own: their output comes in frames, each with
    the ticket of its job. What is in no frame then belongs to nobody.
    """

    def __init__(self, fd: int, mark: bytes, limit: int) -> None:
        self.fd = fd
        self.mark = mark
        self._limit = limit
        self._log = KeptLog(limit)  # since the last mark
        self._ended: deque[bytes] = deque()
        self._early = 0  # logs that were taken before their mark has come
        self._frame_mark = frame_mark(mark)
        self._of_jobs: dict[int, KeptLog] = {}  # by ticket
        self._has_frames = False
        self._cut = b""  # the beginning of a frame whose end comes with the next read
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

    @property
    def printed(self) -> int:
        """Bytes since the last mark."""
        return self._log.printed

    def open_job(self, ticket: int) -> None:
        """Keep the log of this job, which runs at the same time as others."""
        self._has_frames = True
        self._of_jobs[ticket] = KeptLog(self._limit)

    def take_job(self, ticket: int) -> str:
        """The log of this job, which has ended."""
        self.read()  # it was written before the answer
        kept = self._of_jobs.pop(ticket, None)
        return "" if kept is None else kept.end()

    def job(self, ticket: int) -> KeptLog | None:
        """The output of such a job so far."""
        return self._of_jobs.get(ticket)

    def take(self) -> str:
        """The log of the next job that ended, or of the one that was running when the child died.
        The mark of a short job may come a moment after its answer."""
        if not self._ended:
            self.read()
        if self._ended:
            ended = self._ended.popleft()
            return shorten(b"", 0, ended, self._limit) if ended else ""
        self._early += 1
        return self._log.end()

    def tail(self, max_bytes: int) -> str:
        """The end of the output since the last mark, at most `max_bytes`."""
        return decode(self.end(max_bytes))

    def whole_tail(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes of whole characters were printed since the last mark, and the last of
        them."""
        return self._log.whole_tail(max_bytes)

    def end(self, max_bytes: int) -> bytes:
        """The same as `tail`, as it was printed; the last 16 KiB at most are sure to be."""
        return self._log.tail[-max_bytes:]

    def _feed(self, data: bytes) -> None:
        if self._has_frames:
            data = self._take_frames(data)
        log = self._log
        *ended, rest = (log.tail + data).split(self.mark)
        if ended and log.is_cut():
            log.tail = ended[0]
            ended[0] = log.end().encode()
        while self._early and ended:
            del ended[0]
            self._early -= 1
        self._ended.extend(ended)
        log.printed = len(rest) if ended else log.printed + len(data)
        log.keep(rest)

    def _take_frames(self, data: bytes) -> bytes:
        """Give the frames to the jobs that are open; returns what is in no frame."""
        data, self._cut = self._cut + data, b""
        mark, outside, begin = self._frame_mark, [], 0
        while (at := data.find(mark, begin)) >= 0:
            outside.append(data[begin:at])
            head = at + len(mark)
            begin = head + FRAME_HEAD.size
            if len(data) >= begin:
                ticket, size = FRAME_HEAD.unpack_from(data, head)
                if len(data) >= begin + size:
                    printed = data[begin : begin + size]
                    if (kept := self._of_jobs.get(ticket)) is not None:
                        kept.add(printed)
                    else:  # of what the body of a job that has ended has left running
                        outside.append(printed)
                    begin += size
                    continue
            self._cut = data[at:]
            return b"".join(outside)
        rest = data[begin:]
        for size in range(min(len(mark) - 1, len(rest)), 0, -1):
            if rest.endswith(mark[:size]):
                rest, self._cut = rest[:-size], rest[-size:]
                break
        return b"".join([*outside, rest])


def frame_mark(mark: bytes) -> bytes:
    """The bytes that every frame of a log pipe with this mark begins with."""
    return bytes(byte ^ 0xFF for byte in mark)


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
