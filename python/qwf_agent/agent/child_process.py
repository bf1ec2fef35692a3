"""One forked child as its parent sees it: what it is sent, what it says, how it ends."""

from __future__ import annotations

import os
import selectors
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qwf_agent.agent.log_pipe import MARK_BYTES, LogPipe
from qwf_agent.child import main
from qwf_agent.child.main import TICKET
from qwf_agent.child.messages import Message, Unpacker
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.system.cgroup import ControlGroup

READ_BYTES = 1 << 18
GONE = (ProcessLookupError, PermissionError)


class ChildExit(NamedTuple):
    """The end of a process: its wait status, the most memory it has had, in bytes, and whether
    its control group ran out of memory (None: it has none)."""

    status: int
    max_rss_bytes: int
    out_of_memory: bool | None


class ChildProcess:
    """A child from fork to burial. Nothing here blocks.

    Jobs go down a socket and their tickets into a pipe that both sides can read: see `child`.
    """

    def __init__(
        self, selector: selectors.BaseSelector, setup: Setup, group: ControlGroup | None
    ) -> None:
        """Fork. Raises OSError when the system has no process or descriptor to give."""
        self._group = group
        self.scoreboard = Scoreboard()
        self._selector = selector
        self._messages: list[Message] = []
        self._unpacker = Unpacker()
        self._outgoing = bytearray()
        self._socket, theirs = socket.socketpair()
        self._tickets, self._tickets_in = os.pipe()
        self._cancels, self._cancels_in = os.pipe()
        log_out, log_in = os.pipe()
        self.log = LogPipe(log_out, os.urandom(MARK_BYTES), setup.limits.log_bytes)
        os.set_blocking(self._tickets, False)
        os.set_blocking(self._cancels, False)
        shared = (theirs, self._tickets, self._cancels, log_in, self.log.mark, self.scoreboard)
        channel = ParentChannel(os.getpid(), *shared, group)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                main.main(channel, setup)
        except OSError:
            self.close()
            raise
        finally:  # the child does not get here
            theirs.close()
            os.close(log_in)
        self._set_group()
        self._socket.setblocking(False)
        self._events = selectors.EVENT_READ  # that are watched for on the socket; 0: it is dead
        selector.register(self._socket, self._events, self._on_socket)
        selector.register(log_out, selectors.EVENT_READ, self._on_log)

    def send(self, jobs: bytes, tickets: bytes) -> None:
        """Hand over jobs, and the tickets that allow to start them: so few at a time that they fit
        into the smallest pipe there is."""
        self._outgoing += jobs
        self._flush()
        os.write(self._tickets_in, tickets)  # last: it wakes the child

    def take_tickets(self) -> set[int]:
        """Tickets the child has not read: those jobs it will never start."""
        try:
            data = os.read(self._tickets, 1 << 16)
        except BlockingIOError:
            return set()
        return {ticket for (ticket,) in TICKET.iter_unpack(data)}

    def cancel(self, ticket: int) -> None:
        """Tell the body of this job to stop."""
        os.write(self._cancels_in, TICKET.pack(ticket))
        os.kill(self.pid, signal.SIGUSR1)

    def hear(self) -> list[Message]:
        """What the child has said since last asked."""
        messages, self._messages = self._messages, []
        return messages

    def hang_up(self) -> None:
        """No more jobs: the child leaves."""
        if self._tickets_in >= 0:
            os.close(self._tickets_in)
            self._tickets_in = -1

    def kill(self) -> None:
        """Kill the child, its groups, and all that descends from it."""
        if self._group is not None:
            self._group.kill()
        below = descendants(self.pid)
        for kill in (os.killpg, os.kill):
            with suppress(*GONE):
                kill(self.pid, signal.SIGKILL)
        for pid in below:
            with suppress(*GONE):
                os.kill(pid, signal.SIGKILL)

    def wait(self) -> ChildExit | None:
        """How the child ended, if it has; then its last words are there to `hear`, and no ticket
        can be read any more."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        with suppress(*GONE):
            os.killpg(self.pid, signal.SIGKILL)  # what it left behind in its group
        out_of_memory = None
        if self._group is not None:
            self._group.kill()
            out_of_memory = self._group.oom.any_new()
        self._read()
        return ChildExit(status, usage.ru_maxrss * main.RSS_UNIT, out_of_memory)

    def close(self) -> None:
        """Give everything back, once the child has ended."""
        self.hang_up()
        for fd in (self._socket.fileno(), self.log.fd):
            if fd in self._selector.get_map():
                self._selector.unregister(fd)
        self._socket.close()
        for fd in (self._tickets, self._cancels, self._cancels_in, self.log.fd):
            os.close(fd)
        self.scoreboard.close()

    def _set_group(self) -> None:
        with suppress(*GONE):
            os.setpgid(self.pid, self.pid)  # the child does it too; whoever comes first

    def _on_socket(self) -> None:
        self._flush()
        if not self._read():
            self._selector.unregister(self._socket)  # it is dead, or as good as: SIGCHLD tells
            self._events = 0

    def _on_log(self) -> None:
        if not self.log.read():
            self._selector.unregister(self.log.fd)

    def _flush(self) -> None:
        try:
            while self._outgoing:
                del self._outgoing[: self._socket.send(self._outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            self._outgoing.clear()  # the child is dead
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outgoing else 0)
        if self._events not in (0, events):
            self._events = events
            self._selector.modify(self._socket, events, self._on_socket)

    def _read(self) -> bool:
        """Take in what is on the socket. False at its end."""
        while True:
            try:
                data = self._socket.recv(READ_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._messages.extend(self._unpacker.feed(data))


def descendants(pid: int) -> list[int]:
    """Processes that the process started, and they in turn, as far as their parents live; none
    where the system does not say (Linux does)."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found + [below for child in found for below in descendants(child)]
