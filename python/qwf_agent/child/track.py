"""The numbers that a body tracks, such as a loss: the page of its job draws them as lines."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

MOST_NAMES, MOST_POINTS, LONGEST_NAME = 20, 500, 100
BURST, EVERY_S = 20, 2.0  # the first 20 calls are sent at once, then one in two seconds
LOOK_S = 1.0
LONGEST_LINE = 1 << 16

Point = tuple[float, float | None]


class TrackedLine:
    """The points of one name. At most MOST_POINTS are kept, as far apart as each other, and the
    last."""

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._last: Point | None = None  # if it is not one of the points
        self._stride = 1
        self._reported = 0

    def add(self, step: float, value: float) -> None:
        """Add a point. A value that is not a finite number is kept as a gap."""
        point = (step, value if math.isfinite(value) else None)
        if self._reported % self._stride == 0:
            if len(self._points) == MOST_POINTS - 1:
                self._points, self._stride = self._points[::2], self._stride * 2
            self._points.append(point)
            self._last = None
        else:
            self._last = point
        self._reported += 1

    def as_json(self) -> dict[str, Any]:
        """The points, and how many were reported."""
        last = [] if self._last is None else [self._last]
        return {"points": [*self._points, *last], "reported": self._reported}


class Tracker:
    """The function that a body gets as `track`. Any thread of the body may call it.

    Invariant: what was sent last, or what `end` sends, has all that was tracked before.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._lines: dict[str, TrackedLine] = {}
        self._left_out: set[str] = set()
        self._calls = 0
        self._is_new = False
        self._has_ended = False
        self._pid = os.getpid()
        self._budget, self._budget_at = float(BURST), time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, step: float | None = None, **values: float) -> None:
        """Track these numbers at this step; without one, the calls are counted. The page shows at
        most 20 names and 500 points of each, and says how many it leaves out. Raises TypeError or
        ValueError for a value that float() refuses, and RuntimeError in a process that the body has
        forked."""
        self.add(step, values)

    def add(self, step: Any, values: Mapping[str, Any]) -> None:
        """Track the numbers of this mapping."""
        numbers = {name: float(value) for name, value in values.items()}
        if os.getpid() != self._pid:
            raise RuntimeError("track in the process that runs the body")
        with self._lock:
            if self._has_ended:  # a thread that the body left: its job is over
                return
            self._calls += 1
            at = float(self._calls if step is None else step)
            if not math.isfinite(at):
                raise ValueError(f"step must be a finite number, not {step!r}")
            new = [name for name in map(_storable, numbers) if self._lacks_room(name)]
            for name, value in numbers.items():
                line = self._lines.get(_storable(name))
                if line is not None:
                    line.add(at, value)
            self._is_new = True
            if self._may_send():
                self._send_all()
        if new:
            names = ", ".join(new)
            print(f"warning: track keeps {MOST_NAMES} names and leaves out {names}", flush=True)

    def end(self) -> None:
        """Send what was not sent yet: the body has ended."""
        with self._lock:
            if self._is_new:
                self._send_all()
            self._has_ended = True

    def _lacks_room(self, name: str) -> bool:
        """Make a line for the name; return True if it is one too many, the first time."""
        if name in self._lines or name in self._left_out:
            return False
        if len(self._lines) < MOST_NAMES:
            self._lines[name] = TrackedLine()
            return False
        if len(self._left_out) < MOST_POINTS:
            self._left_out.add(name)
            return True
        return False

    def _may_send(self) -> bool:
        now = time.monotonic()
        self._budget = min(BURST, self._budget + (now - self._budget_at) / EVERY_S)
        self._budget_at = now
        if self._budget < 1:
            return False
        self._budget -= 1
        return True

    def _send_all(self) -> None:
        names = {name: line.as_json() for name, line in self._lines.items()}
        self._is_new = False
        self._send(json.dumps({"names": names, "left_out": len(self._left_out)}))


class TrackFile:
    """The file QWF_TRACK, to which a command writes JSON objects, one a line: numbers, and `step`.
    It is looked at once a second and at the end of the command."""

    def __init__(self, path: Path, tracker: Tracker) -> None:
        self.path = path
        self._tracker = tracker
        self._next_at = time.monotonic() + LOOK_S
        self._read = 0
        self._refused = 0  # lines

    def step(self) -> None:
        """Track what the command has written, if it is time."""
        now = time.monotonic()
        if now >= self._next_at:
            self._next_at = now + LOOK_S
            self._take(ends=False)

    def close(self) -> None:
        """Track what the command wrote last."""
        self._take(ends=True)
        if self._refused > 1:
            print(f"warning: {self._refused} lines of QWF_TRACK are left out in all", flush=True)

    def _take(self, ends: bool) -> None:
        """Track the whole lines; at the end also the last one, if it has no end."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._read)
            while line := file.readline(LONGEST_LINE):
                if not line.endswith(b"\n") and len(line) < LONGEST_LINE and not ends:
                    break
                self._read += len(line)
                if line.strip():
                    self._track(line)

    def _track(self, line: bytes) -> None:
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("it is not an object")
            step = value.pop("step", None)
            self._tracker.add(step, value)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            self._refused += 1
            if self._refused == 1:
                shown = line[:200].decode(errors="replace").rstrip()
                print(f"warning: a line of QWF_TRACK is left out: {shown}: {error}", flush=True)


def _storable(name: str) -> str:
    """The name as the database takes it."""
    text = name.replace("\0", "").encode(errors="replace").decode()
    return text[:LONGEST_NAME] or "?"
