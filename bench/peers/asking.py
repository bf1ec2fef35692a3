"""How a peer's program is told what to run: one JSON object per line, and one line as answer."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Run = Callable[[str, int, int, int], list[float]]


def answer(run: Run, begin: Callable[[int, str], None]) -> None:
    """Answer requests until stdin ends.

    `run(shape, size, runs, n)` returns the sum of what the last steps returned;
    `begin(steps, path)` starts a chain of marks and returns at once.
    """
    say({"ready": True})
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if "path" in asked:
            begin(asked["size"], asked["path"])
            say({"begun": True})
            continue
        began = time.perf_counter()
        done = run(asked["shape"], asked["size"], asked["runs"], asked["n"])
        say({"seconds": time.perf_counter() - began, "done": done})


def say(what: dict[str, Any]) -> None:
    """Print a line that the benchmark reads, past whatever replaced sys.stdout."""
    os.write(1, b"\nbench %s\n" % json.dumps(what).encode())
