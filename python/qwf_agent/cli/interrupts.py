"""Signals that end a command as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the block like Ctrl-C, so that it cleans up after itself:
    the programs that a command has started do not outlive it."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    kept = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
