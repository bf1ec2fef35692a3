"""A small process that outlives a killed agent for a moment, to take along what its children
started."""

from __future__ import annotations

import os
import signal
import struct
from contextlib import suppress

from qwf_agent.forking import fork_helper

ENTRY = struct.Struct("<q")  # a child's pid, negative once it has been buried


class Guardian:
    """The agent's end of it. The guardian reads which children there are from a pipe; at its end,
    which comes however the agent ends, it kills the groups of those that are left.

    A child dies with the agent by itself, on Linux; what the child started does not.
    """

    def __init__(self) -> None:
        """Fork it. Raises OSError."""
        reader, self._writer = os.pipe()
        try:
            self.pid = fork_helper("qwf-guardian", lambda: _guard(reader), [reader], follow=False)
        finally:
            os.close(reader)

    def add(self, pid: int) -> None:
        """Look after this child's group."""
        self._say(pid)

    def remove(self, pid: int) -> None:
        """It has ended, and its group with it."""
        self._say(-pid)

    def close(self) -> None:
        """There is nothing to look after any more."""
        os.close(self._writer)
        os.waitpid(self.pid, 0)

    def _say(self, pid: int) -> None:
        with suppress(BrokenPipeError):  # somebody killed the guardian
            os.write(self._writer, ENTRY.pack(pid))


def _guard(reader: int) -> None:
    children: set[int] = set()
    with open(reader, "rb", buffering=0) as pipe:
        while data := pipe.read(ENTRY.size):
            (pid,) = ENTRY.unpack(data)
            children.add(pid) if pid > 0 else children.discard(-pid)
    for pid in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
