"""What systemd wants to hear of a service: that it is up, alive, stopping (sd_notify(3))."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

MORE_S = 60  # of patience that is asked for at a time


class Systemd:
    """Tells systemd, where it started this process and wants to know (Type=notify); nothing
    elsewhere. The loop says that it is alive, so that one that hangs is restarted."""

    def __init__(self) -> None:
        address = os.environ.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        mine = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        microseconds = os.environ.pop("WATCHDOG_USEC", "0")
        self._every_s = int(microseconds) / 3e6 if mine and microseconds.isdigit() else 0.0
        self._starting = True
        self._next_at = 0.0

    def ready(self, status: str) -> None:
        """It serves."""
        self._starting = False
        self._say(f"READY=1\nSTATUS={status}")

    def alive(self, now: float) -> None:
        """The loop has come round. While it waits for a database, systemd is to wait with it."""
        if self._every_s and now >= self._next_at:
            self._next_at = now + self._every_s
            more = f"\nEXTEND_TIMEOUT_USEC={MORE_S * 1_000_000}" if self._starting else ""
            self._say(f"WATCHDOG=1{more}")

    def stopping(self) -> None:
        """It lets the bodies finish."""
        self._say("STOPPING=1")

    def next_at(self) -> float:
        """When it has something to say."""
        return self._next_at if self._every_s else float("inf")

    def _say(self, text: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
            speaker.setblocking(False)
            speaker.sendto(text.encode(), self._address)
