"""The parent never reads a half-written entry of the page that it shares with a child."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

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


def mixes(before: bytes, after: bytes) -> list[bytes]:
    """Everything that a reader may see of a write, in whichever order its bytes arrive."""
    dice = random.Random(7)
    cuts = range(len(after))
    shuffled = [bytes(map(dice.choice, zip(before, after, strict=True))) for _ in cuts]
    return [
        *(after[:cut] + before[cut:] for cut in cuts),
        *(before[:cut] + after[cut:] for cut in cuts),
        *shuffled,
    ]


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda board, n: board.start(n), lambda board: board.running()),
        (lambda board, n: board.load(n), lambda board: board.running()),
        (lambda board, n: board.report(n, n / 3, "step " * 5 * n), lambda board: board.progress()),
    ],
)
def test_a_record_is_read_whole_in_whichever_order_its_bytes_arrive(
    write: Callable[[Scoreboard, int], None], read: Callable[[Scoreboard], Any]
) -> None:
    board = Scoreboard()
    empty = read(board)
    pages, seen = [bytes(board._page[:256])], [empty]
    for n in (1, 2, 3):
        write(board, n)
        pages.append(bytes(board._page[:256]))
        seen.append(read(board))
    assert len(set(seen)) == 4
    for number in (1, 2, 3):
        for page in mixes(pages[number - 1], pages[number]):
            reader = Scoreboard()
            reader._page[:256] = pages[number - 1]
            assert read(reader) == seen[number - 1]
            reader._page[:256] = page
            assert read(reader) in seen[number - 1 : number + 1]
            reader._page[:256] = pages[number]
            assert read(reader) == seen[number]


def test_an_empty_page_has_no_record() -> None:
    board = Scoreboard()
    assert board.progress() is None
    assert board.running() == (0, 0.0, False, 0)
    assert board.progress_version(0) == 0
