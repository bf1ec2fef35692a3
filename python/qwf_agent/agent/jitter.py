"""Spread in time, so that agents that started together do not act together."""

from __future__ import annotations

import random


def spread(seconds: float, share: float = 0.25) -> float:
    """A time around `seconds`, off by at most that share of it."""
    return seconds * random.uniform(1 - share, 1 + share)  # noqa: S311 - no secret
