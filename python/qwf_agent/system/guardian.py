"""A small process that outlives a killed agent for a moment and kills the processes that the
agent's children started."""

from __future__ import annotations

import os
import signal
import struct
from contextlib import suppress
from pathlib import Path

from qwf_agent.system import cgroup
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.fork import fork_helper

ENTRY = struct.Struct("<cq")  # an action and the pid of a child
ADD, REMOVE, SWEEP = b"+", b"-", b"!"
MARK = "QWF_AGENT"  # processes that a body starts inherit this variable, unless it removes it


class Guardian:
    """The agent's side of the guardian process. The guardian reads from a pipe which children there
    are. The pipe closes however the agent ends; then the guardian kills the children and every
    process that they started.

    On Linux a child dies with its agent, but the processes it started do not. The guardian finds
    them by the child's control group, if it has one, by its process group, or, if they are in
    another session, by the mark in their environment.
    """

    def __init__(self, groups: ControlGroups | None) -> None:
        """Fork the guardian. Raises OSError."""
        self.mark = f"{os.getpid()}-{os.urandom(8).hex()}"
        reader, self._writer = os.pipe()
        try:
            self.pid = fork_helper(
                "qwf-guardian",
                lambda: _guard(reader, self.mark, groups),
                [reader],
                outlives_parent=True,
            )
        finally:
            os.close(reader)

    def add(self, pid: int) -> None:
        """Watch over this child."""
        self._send(ADD, pid)

    def remove(self, pid: int, sweep: bool) -> None:
        """The child and its process group have ended. With `sweep`, the guardian also kills every
        other process that the child started."""
        self._send(SWEEP if sweep else REMOVE, pid)

    def close(self) -> None:
        """End the guardian, after the last child has ended."""
        os.close(self._writer)
        os.waitpid(self.pid, 0)

    def _send(self, action: bytes, pid: int) -> None:
        with suppress(BrokenPipeError):  # somebody killed the guardian
            os.write(self._writer, ENTRY.pack(action, pid))


def _guard(reader: int, mark: str, groups: ControlGroups | None) -> None:
    children: set[int] = set()
    with open(reader, "rb", buffering=0) as pipe:
        while data := pipe.read(ENTRY.size):
            action, pid = ENTRY.unpack(data)
            children.add(pid) if action == ADD else children.discard(pid)
            if action == SWEEP and groups is None:
                _kill_marked(f"{mark}.{pid}")
    for pid in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    for folder in groups.folders() if groups else ():
        cgroup.remove(folder)
    _kill_marked(mark)


def _kill_marked(mark: str) -> None:
    """Kill every process whose mark is this one, or begins with it and a dot."""
    wanted = f"\0{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = b"\0" + (folder / "environ").read_bytes() + b"\0"
            after = environment.partition(wanted)[2][:1]
            if after in (b".", b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
