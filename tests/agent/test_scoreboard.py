"""The page that parent and child share is read whole, whenever it is read."""

from __future__ import annotations

import os
import signal
import time

from qwf_agent.child.scoreboard import Scoreboard


def test_whoever_sees_a_ticket_sees_its_time() -> None:
    """A child begins job after job as fast as it can; no ticket is seen with the time of another
    that began a while ago."""
    board, began = Scoreboard(), time.monotonic()
    pid = os.fork()
    if pid == 0:
        ticket = 0
        while True:
            ticket += 1
            board.start(ticket) if ticket % 2 else board.load(ticket)
    try:
        end, seen = time.monotonic() + 1.0, 0
        while time.monotonic() < end:
            before, running = time.monotonic(), board.running()
            seen += running.ticket > 0
            assert running.ticket == 0 or began <= running.since <= before + 1
        assert seen
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
