"""The bodies of the workflow benchmark. Every system runs these same functions.

A body returns `[steps, wall seconds, CPU seconds]`: how many steps have run so far, and how long
their computations took. The sums show that no step is missing.
"""

from __future__ import annotations

import os
import time

Done = list[float]
NAP_S = 0.3  # longer than it takes to notice that a step has started


def fibo(n: int) -> int:
    """The naive function of Windmill's comparison."""
    return n if n <= 1 else fibo(n - 1) + fibo(n - 2)


def step(done: Done, n: int) -> Done:
    """Compute fibo(n), or nothing if n is 0, and add it to what was done before."""
    if not n:
        return [done[0] + 1, done[1], done[2]]
    wall, cpu = time.perf_counter(), time.thread_time()
    fibo(n)
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    return [done[0] + 1, done[1] + wall, done[2] + cpu]


def first(n: int) -> Done:
    """The first step, or one that adds nothing to others."""
    return step([0, 0, 0], n)


def total(many: list[Done]) -> Done:
    """The sum over several steps."""
    return [sum(one[place] for one in many) for place in range(3)]


def last(many: list[Done]) -> Done:
    """The last step, which waits for several."""
    return step(total(many), 0)


def mark(number: int, path: str) -> int:
    """Append a line to a file, then sleep. Returns the number of the next step."""
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(out, b"%d %.6f\n" % (number, time.time()))
    os.close(out)
    time.sleep(NAP_S)
    return number + 1
