"""The type of the function with which a body tracks numbers."""

from __future__ import annotations

from typing import Protocol


class Track(Protocol):
    """A body gets it as `track`: `track(loss=0.31, step=700)`."""

    def __call__(self, step: float | None = None, **values: float) -> None:
        """Track these numbers at this step; without one, the calls are counted. The page of the job
        draws a line for each name: at most 20 names and 500 points of each, and says how many it
        leaves out. It makes no system call most of the time, and the database gets one write in
        five seconds. Raises TypeError or ValueError for a value that float() refuses, and
        RuntimeError in a process that the body has forked."""
