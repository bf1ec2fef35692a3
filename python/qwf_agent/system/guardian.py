"""A small process that outlives a killed agent for a moment. It kills the processes that the
agent's children started, and runs the commands that stop what is in none of these processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qwf_agent.system import cgroup
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.fork import fork_helper

log = logging.getLogger("qwf_agent")

ADD, REMOVE, SWEEP = "add", "remove", "sweep"
NAME = "qwf-guardian"  # of its process
MARK = "QWF_AGENT"  # processes that a body starts inherit this variable, unless it removes it
STOP_S = 30.0  # longest time for the commands that stop what is left; `docker stop` takes 10 s


class Stop(NamedTuple):
    """A command that stops what is in no process of a child, such as a container."""

    argv: list[str]
    environment: dict[str, str]


class Guardian:
    """The agent's side of the guardian process. The guardian reads from a pipe which children there
    are. The pipe closes however the agent ends; then the guardian kills the children and every
    process that they started, and runs what `Stop` their entries have.

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
                NAME,
                lambda: _guard(reader, self.mark, groups),
                [reader],
                outlives_parent=True,
            )
        finally:
            os.close(reader)

    def add(self, pid: int, stop: Stop | None = None) -> None:
        """Watch over this child. With `stop`, the guardian runs that command if the agent ends
        before the child."""
        self._send(ADD, pid, stop)

    def remove(self, pid: int, sweep: bool) -> None:
        """The child and its process group have ended. With `sweep`, the guardian also kills every
        other process that the child started."""
        self._send(SWEEP if sweep else REMOVE, pid)

    def close(self) -> None:
        """End the guardian, after the last child has ended. Waits for the commands that it runs for
        children that have not, at most STOP_S."""
        os.close(self._writer)
        os.waitpid(self.pid, 0)

    def _send(self, action: str, pid: int, stop: Stop | None = None) -> None:
        entry = memoryview(json.dumps([action, pid, stop]).encode() + b"\n")
        with suppress(BrokenPipeError):  # somebody killed the guardian
            while entry:
                entry = entry[os.write(self._writer, entry) :]


def _guard(reader: int, mark: str, groups: ControlGroups | None) -> None:
    children: dict[int, Stop | None] = {}
    with open(reader, "rb") as pipe:
        for line in pipe:
            if not line.endswith(b"\n"):
                break  # the agent was killed while it wrote
            action, pid, stop = json.loads(line)
            children.pop(pid, None)
            if action == ADD:
                children[pid] = Stop(*stop) if stop else None
            if action == SWEEP and groups is None:
                _kill_marked(f"{mark}.{pid}")
    for pid in children:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    for folder in groups.folders() if groups else ():
        cgroup.remove(folder)
    _kill_marked(mark)
    _run_stops(stop for stop in children.values() if stop is not None)


def _run_stops(stops: Iterable[Stop]) -> None:
    """Run each command once, all at the same time, and kill those that take too long. They ignore
    SIGTERM, as the guardian does: who ends an agent may send it to all that the agent has left."""
    unique: list[Stop] = []
    for stop in stops:
        if stop not in unique:
            unique.append(stop)
    running = []
    for stop in unique:
        log.warning("the agent has ended before a model server: running %s", stop.argv)
        try:
            running.append(_start(stop))
        except OSError as error:
            log.error("cannot run %s: %s", stop.argv[0], error)
    deadline = time.monotonic() + STOP_S
    for process in running:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.error("killed after %g s: %s", STOP_S, process.args)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _start(stop: Stop) -> subprocess.Popen[bytes]:
    null = subprocess.DEVNULL
    return subprocess.Popen(
        stop.argv, env=stop.environment, stdin=null, stdout=null, start_new_session=True
    )


def _kill_marked(mark: str) -> None:
    """Kill every process whose mark is this one, or begins with it and a dot."""
    wanted = f"\0{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = b"\0" + (folder / "environ").read_bytes() + b"\0"
            after = environment.partition(wanted)[2][:1]
            if after in (b".", b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
