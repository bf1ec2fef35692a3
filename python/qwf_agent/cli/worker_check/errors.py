"""How a check ends that does not pass."""

from __future__ import annotations


class Failed(Exception):
    """The worker did something else than it should. The message says what was seen."""


class Skipped(Exception):
    """The check cannot be made here. The message says why."""


class NotStarted(Failed):
    """The worker did not register, so no other check can be made either."""
