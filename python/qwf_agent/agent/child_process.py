"""One forked child as its parent sees it: sends it jobs, reads its messages, and reaps it."""

from __future__ import annotations

import logging
import os
import selectors
import signal
import socket
import struct
import time
from contextlib import suppress
from operator import itemgetter
from typing import NamedTuple

from qwf_agent.child import main
from qwf_agent.child.answers import ALL, AnswerRing
from qwf_agent.child.cancel import TOLD, WORDS
from qwf_agent.child.main import TICKET
from qwf_agent.child.messages import LENGTH, Message, Unpacker, read_message
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.usage import RSS_UNIT
from qwf_agent.system.cgroup import ControlGroup
from qwf_agent.system.log_pipe import MARK_BYTES, LogPipe
from qwf_agent.system.processes import GONE, kill_group, kill_tree

log = logging.getLogger("qwf_agent")

READ_BYTES, READS_AT_ONCE = 1 << 18, 16
MORE_BYTES = 16 << 20  # of an answer, besides output and error: the paths of up to 10,000 files
REST_S = 5.0  # longest wait for the next part of a message


class ChildExit(NamedTuple):
    """The end of a process: its wait status, its peak memory in bytes, and whether its control
    group ran out of memory (None: it has no group)."""

    status: int
    max_rss_bytes: int
    out_of_memory: bool | None


class ChildProcess:
    """A child from fork to exit. Nothing here blocks.

    Jobs go over a socket, their tickets through a pipe that both sides can read: see `child.main`.
    """

    def __init__(
        self, selector: selectors.BaseSelector, setup: Setup, group: ControlGroup | None
    ) -> None:
        """Fork. Raises OSError if the system is out of processes or descriptors."""
        self._group = group
        self.scoreboard = Scoreboard()
        self._answers = AnswerRing()
        self._selector = selector
        self._messages: list[Message] = []  # from the socket, not taken yet
        self._received = 0  # messages from the socket
        # As JSON, a byte of an error may take six.
        limits = setup.limits
        self._unpacker = Unpacker(limits.value_bytes + 6 * limits.error_bytes + MORE_BYTES)
        self._reaped = False
        self._read_at = 0.0  # when it last read a part of a message
        self.garbled: str | None = None  # why nothing more is read from it
        self._outgoing = bytearray()
        self._socket, theirs = socket.socketpair()
        self._tickets, self._tickets_in = os.pipe()
        self._told, self._told_in = os.pipe()
        log_out, log_in = os.pipe()
        self.log = LogPipe(log_out, os.urandom(MARK_BYTES), setup.limits.log_bytes)
        os.set_blocking(self._tickets, False)
        os.set_blocking(self._told, False)
        shared = (theirs, self._tickets, self._told, log_in, self.log.mark)
        memory = (self.scoreboard, self._answers)
        channel = ParentChannel(os.getpid(), *shared, *memory, group)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                main.main(channel, setup)
        except OSError:
            self.close()
            raise
        finally:  # the child never gets here
            theirs.close()
            os.close(log_in)
        self._set_group()
        self._socket.setblocking(False)
        self._events = selectors.EVENT_READ  # events watched on the socket; 0: it is closed
        selector.register(self._socket, self._events, self._on_socket)
        selector.register(log_out, selectors.EVENT_READ, self._on_log)

    def send(self, jobs: bytes, tickets: bytes) -> None:
        """Send jobs and the tickets that allow the child to start them. The tickets must fit into
        the smallest pipe there is."""
        self._outgoing += jobs
        self._flush()
        os.write(self._tickets_in, tickets)  # last, because it wakes the child

    def take_tickets(self) -> set[int]:
        """The tickets that the child has not read: it will never start those jobs."""
        try:
            data = os.read(self._tickets, 1 << 16)
        except BlockingIOError:
            return set()
        try:
            return {ticket for (ticket,) in TICKET.iter_unpack(data)}
        except struct.error:
            self.end_garbled("it has read a part of a ticket")
            return set()

    def tell(self, ticket: int, word: str, until: float) -> None:
        """Tell the body of this job to stop: a word of WORDS, and when it is killed."""
        os.write(self._told_in, TOLD.pack(ticket, WORDS.index(word), until))
        os.kill(self.pid, signal.SIGUSR1)

    def take_messages(self) -> list[Message]:
        """The messages of the child since the last call, in its order: those that came over the
        socket, and the answers that lie in the shared memory."""
        messages, self._messages = self._messages, []
        kept = self._answers.take(ALL if self.garbled is not None else self._received)
        if not messages:
            return [read_message(one.answer[LENGTH.size :]) for one in kept]
        first = self._received - len(messages)
        answers = [(one.after, read_message(one.answer[LENGTH.size :])) for one in kept]
        # An answer comes before the message of the same number.
        numbered = sorted([*answers, *enumerate(messages, first)], key=itemgetter(0))
        return [message for _, message in numbered]

    def end_garbled(self, why: object) -> None:
        """Kill the child, and read nothing more from it: what it sent is not from its main loop,
        because its body wrote to the socket or changed what the main loop uses."""
        if self.garbled is None:
            log.warning("killing the child %d, which sent nonsense: %s", self.pid, why)
            self.garbled = str(why)
            if not self._reaped:  # else its pid may be that of another process
                self.kill()

    def check_rest(self, now: float) -> None:
        """Kill the child if it has sent a part of a message, and then nothing more."""
        if self._unpacker.is_within() and now > self._read_at + REST_S:
            self.end_garbled("a message without its end")

    def close_tickets(self) -> None:
        """Send no more jobs: the child exits after those it has."""
        if self._tickets_in >= 0:
            os.close(self._tickets_in)
            self._tickets_in = -1

    def kill(self) -> None:
        """Kill the child, its groups and all its descendants."""
        if self._group is not None:
            self._group.kill()
        kill_tree(self.pid)

    def wait(self) -> ChildExit | None:
        """How the child ended, or None while it runs. After the end `take_messages` returns its
        last messages, and nobody reads tickets any more."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._reaped = True
        kill_group(self.pid)  # the processes that it left
        out_of_memory = None
        if self._group is not None:
            self._group.kill()
            out_of_memory = self._group.oom.any_new()
        self._read()
        return ChildExit(status, usage.ru_maxrss * RSS_UNIT, out_of_memory)

    def close(self) -> None:
        """Close all descriptors, after the child has ended."""
        self.close_tickets()
        for fd in (self._socket.fileno(), self.log.fd):
            if fd in self._selector.get_map():
                self._selector.unregister(fd)
        self._socket.close()
        for fd in (self._tickets, self._told, self._told_in, self.log.fd):
            os.close(fd)
        self.scoreboard.close()
        self._answers.close()

    def _set_group(self) -> None:
        with suppress(*GONE):
            os.setpgid(self.pid, self.pid)  # the child does the same: either may come first

    def _on_socket(self) -> None:
        self._flush()
        if not self._read():
            self._selector.unregister(self._socket)  # the child is dying: SIGCHLD will come
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
        """Read what is on the socket, at most 4 MiB. False at its end, or if nothing more is to be
        read."""
        for _ in range(READS_AT_ONCE):
            if self.garbled is not None:
                return False
            try:
                data = self._socket.recv(READ_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._read_at = time.monotonic()
            try:
                for part in self._unpacker.feed(data):
                    self._messages.append(read_message(part))
                    self._received += 1
            except Exception as error:
                self.end_garbled(error)
        return True
