"""The best that a fleet could do, computed from the same arrivals."""

from __future__ import annotations

import random
from collections.abc import Iterator

Job = tuple[float, float]  # when it arrives, and how long it runs, in seconds


def arrivals(rate: float, seconds: float, mean_s: float) -> Iterator[Job]:
    """Jobs that arrive at random, `rate` a second, and run for 0.5 to 1.5 times `mean_s`. Equal
    arguments give equal jobs."""
    dice = random.Random(1)
    at = 0.0
    while at < seconds:
        yield at, mean_s * dice.uniform(0.5, 1.5)
        at += dice.expovariate(rate)


def packed(jobs: list[Job], slots: list[int], wait_s: float) -> tuple[list[int], list[float]]:
    """How many jobs each box does, the best box first, and the seconds that each job waits, if no
    step takes time. A job goes to the best box that has a free slot within `wait_s` of its arrival,
    else to the first slot that is free."""
    free_at = [[0.0] * count for count in slots]
    done, waits = [0] * len(slots), []
    for at, runs_s in jobs:
        first = [min(box) for box in free_at]
        soon = [n for n, free in enumerate(first) if free <= at + wait_s]
        box = soon[0] if soon else first.index(min(first))
        start = max(at + (wait_s if box else 0.0), first[box])  # others wait for the best in vain
        free_at[box][free_at[box].index(first[box])] = start + runs_s
        done[box] += 1
        waits.append(start - at)
    return done, waits
