"""Signals that end a command as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def by_signals() -> Iterator[list[int]]:
    """SIGTERM and a closed terminal end the block like Ctrl-C, so that it cleans up after itself:
    the programs that a command has started do not outlive it, and process 1 of a container, which
    the kernel spares signals without a handler, ends. Yields the signals that came.

    A signal that is ignored, as by nohup, stays ignored.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    here = threading.current_thread() is threading.main_thread()
    caught = [one for one in ENDS if here and signal.getsignal(one) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
