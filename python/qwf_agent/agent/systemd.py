"""Tells systemd that the agent is up, alive or stopping (sd_notify(3))."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

EXTEND_S = 60  # how much start time to ask for at once


class Systemd:
    """Notifies systemd if it started this process with Type=notify; does nothing otherwise. The
    loop reports that it is alive, so that systemd restarts an agent that hangs."""

    def __init__(self) -> None:
        address = os.environ.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        mine = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        microseconds = os.environ.pop("WATCHDOG_USEC", "0")
        self._every_s = int(microseconds) / 3e6 if mine and microseconds.isdigit() else 0.0
        self._starting = True
        self._next_at = 0.0

    def ready(self, status: str) -> None:
        """Tell systemd that the agent serves its queues."""
        self._starting = False
        self._notify(f"READY=1\nSTATUS={status}")

    def alive(self, now: float) -> None:
        """Tell systemd that the loop runs. While the agent waits for a database, also ask systemd
        for more start time."""
        if self._every_s and now >= self._next_at:
            self._next_at = now + self._every_s
            more = f"\nEXTEND_TIMEOUT_USEC={EXTEND_S * 1_000_000}" if self._starting else ""
            self._notify(f"WATCHDOG=1{more}")

    def stopping(self) -> None:
        """Tell systemd that the agent is stopping."""
        self._notify("STOPPING=1")

    def next_at(self) -> float:
        """When to call `alive` next."""
        return self._next_at if self._every_s else float("inf")

    def _notify(self, text: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
            speaker.setblocking(False)
            speaker.sendto(text.encode(), self._address)
