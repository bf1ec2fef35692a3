"""The standard streams of a child. What a body prints goes to its own job, also if many bodies run
in the same process: a context variable says whose body prints, in its threads too."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextvars import ContextVar
from typing import TextIO

from qwf_agent.system.log_pipe import FRAME_HEAD, FRAME_MOST, frame_mark


class JobOutput:
    """The printed text of one job that runs beside others, on its way to the agent: whole lines, if
    they are not too long. It is written in pieces that no other writer can cut apart."""

    def __init__(self, ticket: int, fd: int, mark: bytes) -> None:
        self.ticket = ticket
        self._fd = fd
        self._mark = frame_mark(mark)
        self._rest = bytearray()
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Take text; what ends with a line goes out at once."""
        with self._lock:
            self._rest += text.encode(errors="backslashreplace")
            end = len(self._rest) if len(self._rest) >= FRAME_MOST else self._rest.rfind(b"\n") + 1
            self._send(end)

    def flush(self) -> None:
        """Send what is left of a line."""
        with self._lock:
            self._send(len(self._rest))

    def _send(self, end: int) -> None:
        for begin in range(0, end, FRAME_MOST):
            part = self._rest[begin : min(end, begin + FRAME_MOST)]
            os.write(self._fd, self._mark + FRAME_HEAD.pack(self.ticket, len(part)) + part)
        del self._rest[:end]


# The job whose body runs, if it runs beside others in one event loop.
CURRENT: ContextVar[JobOutput | None] = ContextVar("qwf_job", default=None)


class Output(io.TextIOWrapper):
    """A standard stream that shows every line at once and takes any text."""

    def write(self, text: str) -> int:
        """Write the text to the job that prints it, or else to the stream."""
        job = CURRENT.get()
        if job is None:
            return super().write(text)
        job.write(text)
        return len(text)

    def flush(self) -> None:
        """Send what is left of a line."""
        job = CURRENT.get()
        if job is not None:
            job.flush()
        super().flush()


def open_output(fd: int) -> TextIO:
    """A standard stream that shows every line at once and takes any text."""
    raw = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    return Output(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def flush_output() -> None:
    """Flush the standard streams after a body, while no other one runs."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - suppress() is slower, and this runs for every job
            io.TextIOWrapper.flush(stream) if type(stream) is Output else stream.flush()
        except Exception:  # noqa: S110 - the body closed it, or put something else there
            pass
