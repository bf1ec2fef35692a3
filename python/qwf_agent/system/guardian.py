"""A small process that outlives a killed agent for a moment, to take along what its children
started."""

from __future__ import annotations

import os
import signal
import struct
from contextlib import suppress
from pathlib import Path

from qwf_agent.system import cgroup
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.fork import fork_helper

ENTRY = struct.Struct("<cq")  # what to do, and a child's pid
ADD, REMOVE, SWEEP = b"+", b"-", b"!"
MARK = "QWF_AGENT"  # a variable that whatever a body starts inherits, unless it is made to forget


class Guardian:
    """The agent's end of it. The guardian reads which children there are from a pipe; at its end,
    which comes however the agent ends, it kills what is left of them and of what they started.

    A child dies with the agent by itself, on Linux; what the child started does not. That is in
    the child's control group, where it has one; else in its process group; else, in a session of
    its own, it is known by the mark in its environment.
    """

    def __init__(self, groups: ControlGroups | None) -> None:
        """Fork it. Raises OSError."""
        self.mark = f"{os.getpid()}-{os.urandom(8).hex()}"
        reader, self._writer = os.pipe()
        try:
            self.pid = fork_helper(
                "qwf-guardian", lambda: _guard(reader, self.mark, groups), [reader], follow=False
            )
        finally:
            os.close(reader)

    def add(self, pid: int) -> None:
        """Look after this child's group."""
        self._say(ADD, pid)

    def remove(self, pid: int, sweep: bool) -> None:
        """It has ended, and its group with it; `sweep`: so is everything else to end that children
        with that pid have started."""
        self._say(SWEEP if sweep else REMOVE, pid)

    def close(self) -> None:
        """There is nothing to look after any more."""
        os.close(self._writer)
        os.waitpid(self.pid, 0)

    def _say(self, what: bytes, pid: int) -> None:
        with suppress(BrokenPipeError):  # somebody killed the guardian
            os.write(self._writer, ENTRY.pack(what, pid))


def _guard(reader: int, mark: str, groups: ControlGroups | None) -> None:
    children: set[int] = set()
    with open(reader, "rb", buffering=0) as pipe:
        while data := pipe.read(ENTRY.size):
            what, pid = ENTRY.unpack(data)
            children.add(pid) if what == ADD else children.discard(pid)
            if what == SWEEP and groups is None:
                _kill_marked(f"{mark}.{pid}")
    for pid in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    for folder in groups.folders() if groups else ():
        cgroup.remove(folder)
    _kill_marked(mark)


def _kill_marked(mark: str) -> None:
    """Kill every process that carries this mark, or one that begins with it and a dot."""
    wanted = f"\0{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = b"\0" + (folder / "environ").read_bytes() + b"\0"
            after = environment.partition(wanted)[2][:1]
            if after in (b".", b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
