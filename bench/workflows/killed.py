"""The delay of a chain whose worker is killed without warning."""

from __future__ import annotations

import contextlib
import functools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import until
from bench.samples import Sample
from bench.server import BenchError, Server
from bench.workflows.running import Setting
from bench.workflows.systems import System

LEASES = (10.0, None)  # None: what the system sets itself
Mark = tuple[int, float]  # the number of a step, and when its body started


def kills(
    server: Server, system: System, steps: int, kill_at: int, patience: float
) -> Iterator[Sample]:
    """Kill the worker while step `kill_at` runs, start another, and count the steps that ran."""
    for lease in LEASES:
        if lease is None or system.leases:
            yield killed(server, system, steps, kill_at, lease, patience)


def killed(
    server: Server, system: System, steps: int, kill_at: int, lease: float | None, patience: float
) -> Sample:
    """One kill."""
    with (
        tempfile.TemporaryDirectory() as folder,
        system.started(server, Setting(lease=lease)) as running,
    ):
        path = Path(folder) / "marks"
        running.begin(steps, path)
        until(lambda: len(read(path)) > kill_at, "a step")
        at = time.time()
        running.kill()
        running.start()
        with contextlib.suppress(BenchError):
            until(functools.partial(complete, path, steps), "the last step", patience)
        marks = read(path)
    after = [when for _, when in marks if when > at]
    ran = {number for number, _ in marks}
    more = {"twice": float(len(marks) - len(ran))}
    if after:
        more["resumed_after_s"] = min(after) - at
    how = "as it comes" if lease is None else f"lease of {lease:g} s"
    figure = f"worker killed in a chain of {steps}, {how}"
    return Sample("kill -9", figure, float(steps - len(ran)), "steps lost", system.name, more)


def complete(path: Path, steps: int) -> bool:
    """Return True if the last step has started."""
    return any(number == steps - 1 for number, _ in read(path))


def read(path: Path) -> list[Mark]:
    """All marks so far."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(number), float(when)) for number, when in (line.split() for line in lines)]
