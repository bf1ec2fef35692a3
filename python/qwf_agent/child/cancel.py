"""The events that tell a body to stop, and the records by which its agent sets them."""

from __future__ import annotations

import asyncio
import os
import select
import struct
import time
from contextlib import suppress
from typing import NamedTuple

# What an agent tells a body: the ticket of its job, the number of a word, and when the body is
# killed, on the monotonic clock.
TOLD = struct.Struct("<QBd")
WORDS = ("cancel", "stop", "drain", "timeout", "end")
CANCEL, END = WORDS.index("cancel"), WORDS.index("end")  # the last one: the body has to end now
MOST_TOLD = 200  # records in one read


class CancelEvent:
    """Like threading.Event, with `is_set`, `set` and `wait`, but safe to set from a signal handler.

    A handler that sets a threading.Event deadlocks if the signal comes while the same thread holds
    the event's lock. This one is a pipe, made for the first who waits: `set` writes to it, `wait`
    polls it, and a select loop can poll it through `fileno`.
    """

    def __init__(self) -> None:
        self._set = False
        self._pipe: tuple[int, int] | None = None

    def is_set(self) -> bool:
        """Return True if the body was told to stop."""
        return self._set

    def set(self) -> None:
        """Tell the body to stop."""
        if not self._set:
            self._set = True
            self._fill()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the event is set, at most `timeout` seconds; returns whether it is."""
        if not self._set:
            poll = select.poll()
            poll.register(self.fileno(), select.POLLIN)
            poll.poll(None if timeout is None else max(0, timeout * 1000))
        return self._set

    def clear(self) -> None:
        """Reset the event for the next job."""
        if self._set:
            self._set = False
            if self._pipe is not None:
                with suppress(BlockingIOError):
                    os.read(self._pipe[0], 16)

    def close(self) -> None:
        """Close the pipe. A child never does: its last body may still use it."""
        for fd in self._pipe or ():
            os.close(fd)
        self._pipe = None

    def fileno(self) -> int:
        """Descriptor that is readable while the event is set."""
        if self._pipe is None:
            pipe = os.pipe()
            for fd in pipe:
                os.set_blocking(fd, False)
            self._pipe = pipe
            if self._set:  # perhaps by a signal since the line before
                self._fill()
        return self._pipe[0]

    def _fill(self) -> None:
        if self._pipe is not None:
            with suppress(BlockingIOError):
                os.write(self._pipe[1], b"!")


class Stopping(CancelEvent):
    """Set when the body should save what it has and release its job.

    `reason`: "stop", the agent ends or was switched off; "drain", it takes no more jobs; "timeout",
    the body will be killed. None before that. The first reason stays.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reason: str | None = None
        self._until = float("inf")

    @property
    def left_s(self) -> float | None:
        """Seconds until the body is killed; None before it is told to stop."""
        return max(0.0, self._until - time.monotonic()) if self._set else None

    def tell(self, reason: str, until: float) -> None:
        """Tell the body to stop, for this reason, before `until` on the monotonic clock. That time
        only comes nearer."""
        self.reason = self.reason or reason
        self._until = min(self._until, until)
        self.set()

    def clear(self) -> None:
        """Reset the event for the next job."""
        if self._set:
            self.reason, self._until = None, float("inf")
            super().clear()


class AsyncStopping(Stopping):
    """The same for one of many bodies in an event loop: `await stopping.wait()`."""

    def __init__(self) -> None:
        super().__init__()
        self._event = asyncio.Event()

    def set(self) -> None:
        """Tell the body to stop."""
        super().set()
        self._event.set()

    async def wait(self, timeout: float | None = None) -> bool:  # type: ignore[override]
        """Wait until it is set, at most `timeout` seconds; returns whether it is."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), timeout)
        return self._set


class BodyEvents(NamedTuple):
    """The events of one body."""

    cancel: CancelEvent
    stopping: Stopping

    def clear(self) -> None:
        """Reset them for the next job."""
        self.cancel.clear()
        self.stopping.clear()

    def close(self) -> None:
        """Close them, when no body can use them any more."""
        self.cancel.close()
        self.stopping.close()


def new_events() -> BodyEvents:
    """Events that are not set."""
    return BodyEvents(CancelEvent(), Stopping())


def new_async_events() -> BodyEvents:
    """The same for one of many bodies in an event loop."""
    return BodyEvents(CancelEvent(), AsyncStopping())
