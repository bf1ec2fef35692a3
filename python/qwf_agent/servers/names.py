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
READ_BYTES = 256


class Lookup:
    """The address of one host.

    Invariant: at most one process asks. An address is used until the next one is known.
    """

    def __init__(self, selector: selectors.BaseSelector, host: str) -> None:
        self.address = host if _is_number(host) else None
        self.why = "its name is not looked up yet"  # why there is no address
        self._selector = selector
        self._host = host
        self._ask_at = float("inf") if self.address else 0.0
        self._give_up_at = 0.0
        self._pid = self._reader = -1

    def step(self, now: float) -> None:
        """Ask if it is time, and give up a process that takes too long."""
        if self._pid >= 0:
            if now >= self._give_up_at:
                self._end("its name server does not answer")
        elif now >= self._ask_at:
            self._ask_at, self._give_up_at = now + AGAIN_S, now + ANSWER_S
            self._reader, writer = os.pipe()
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
        found = os.read(self._reader, READ_BYTES).decode()
        self.address = found or self.address
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
        os.write(writer, str(found[0][4][0]).encode())


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
