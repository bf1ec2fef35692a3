"""Looks up the address of a host name. The C library waits for the answer of a name server, so a
process of its own asks."""

from __future__ import annotations

import ipaddress
import os
import selectors
import signal
import socket
from contextlib import suppress

from qwf_agent.system.fork import fork_helper

ANSWER_S, AGAIN_S = 10.0, 60.0
READ_BYTES, MOST = 256, 4  # bytes of an answer, and addresses in it


class Lookup:
    """The address of one host.

    Invariant: at most one process asks. An address is used until the next one is known.
    """

    def __init__(self, selector: selectors.BaseSelector, host: str) -> None:
        self._addresses = [host] if _is_number(host) else []
        self.why = "its name is not looked up yet"  # why there is no address
        self._selector = selector
        self._host = host
        self._ask_at = float("inf") if self._addresses else 0.0
        self._give_up_at = 0.0
        self._pid = self._reader = -1
        self._tried = 0

    @property
    def address(self) -> str | None:
        """The address to use; None if none is known."""
        return self._addresses[0] if self._addresses else None

    def try_next(self) -> bool:
        """Use the next address of the name, because nobody answers at this one: localhost may be
        ::1 first, and the server listen on 127.0.0.1. Returns whether it was not tried yet."""
        self._addresses = self._addresses[1:] + self._addresses[:1]
        self._tried += 1
        return self._tried % max(1, len(self._addresses)) > 0

    def step(self, now: float) -> None:
        """Ask if it is time, and give up a process that takes too long."""
        if self._pid >= 0:
            if now >= self._give_up_at:
                self._end("its name server does not answer")
        elif now >= self._ask_at:
            self._ask_at, self._give_up_at = now + AGAIN_S, now + ANSWER_S
            try:
                self._reader, writer = os.pipe()
            except OSError as error:
                self.why = f"no pipe to look up its name: {error}"
                return
            try:
                self._pid = fork_helper(
                    "qwf-lookup", lambda: _look_up(self._host, writer), [writer]
                )
            except OSError as error:
                os.close(self._reader)
                self.why = f"no process to look up its name: {error}"
                return
            finally:
                os.close(writer)
            self._selector.register(self._reader, selectors.EVENT_READ, self._on_answer)

    def _on_answer(self) -> None:
        found = os.read(self._reader, READ_BYTES).decode().split()
        if set(found) - set(self._addresses) or not self.address:
            self._addresses = found
        self._end("" if self.address else "its name has no address")

    def _end(self, why: str) -> None:
        self.why = why
        self._selector.unregister(self._reader)
        os.close(self._reader)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self._pid = -1


def _look_up(host: str, writer: int) -> None:
    with suppress(OSError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        numbers = dict.fromkeys(str(one[4][0]) for one in found)
        os.write(writer, " ".join(list(numbers)[:MOST]).encode())


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
