"""The event that tells a body to stop."""

from __future__ import annotations

import os
import select


class CancelEvent:
    """Like threading.Event, with `is_set`, `set` and `wait`, but safe to set from a signal handler.

    A handler that sets a threading.Event deadlocks if the signal comes while the same thread holds
    the event's lock. This one is a pipe: `set` writes to it, `wait` polls it, and a select loop can
    poll it through `fileno`.
    """

    def __init__(self) -> None:
        self._set = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def is_set(self) -> bool:
        """Return True if the body was told to stop."""
        return self._set

    def set(self) -> None:
        """Tell the body to stop."""
        if not self._set:
            self._set = True
            os.write(self._writer, b"!")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the event is set, at most `timeout` seconds; returns whether it is."""
        if not self._set:
            poll = select.poll()
            poll.register(self._reader, select.POLLIN)
            poll.poll(None if timeout is None else max(0, timeout * 1000))
        return self._set

    def clear(self) -> None:
        """Reset the event for the next job."""
        if self._set:
            self._set = False
            os.read(self._reader, 1)

    def close(self) -> None:
        """Close the pipe. A child never does: its last body may still use it."""
        os.close(self._reader)
        os.close(self._writer)

    def fileno(self) -> int:
        """Descriptor that is readable while the event is set."""
        return self._reader
