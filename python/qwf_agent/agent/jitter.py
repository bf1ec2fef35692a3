"""Random variation of times, so that agents that started together do not act together."""

from __future__ import annotations

import random


def spread(seconds: float, share: float = 0.25) -> float:
    """A random time around `seconds`, different by at most `share` of it."""
    return seconds * random.uniform(1 - share, 1 + share)  # noqa: S311 - not a secret
