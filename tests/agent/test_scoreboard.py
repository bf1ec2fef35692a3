"""The parent never reads a half-written entry of the page that it shares with a child."""

from __future__ import annotations

import os
import signal
import time

from qwf_agent.child.scoreboard import Scoreboard


def test_a_ticket_is_never_read_with_the_time_of_another() -> None:
    """A child starts job after job as fast as it can; the parent never reads a ticket with the time
    of a job that started earlier."""
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
            running = board.running()
            seen += running.ticket > 0
            assert running.ticket == 0 or began <= running.since <= time.monotonic()
        assert seen
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
