"""Runs the same work on qwf and on each peer, in turn, on the same server."""

from __future__ import annotations

import contextlib
import functools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.cpu import Cpu
from bench.measure import Meter, drained, percentiles, until
from bench.peers.systems import GRAPHILE, PGQUEUER, PROCRASTINATE, QWF, System
from bench.samples import Sample
from bench.scenarios.latency import idle
from bench.scenarios.snapshot import holding, rates
from bench.scenarios.throughput import BEHIND, WARM_S
from bench.server import Database, Server

# Batch sizes, whether qwf keeps the jobs that completed, and the systems that run with them. 500 is
# the default of qwf's agent and graphile-worker's own choice; procrastinate has no batches.
# graphile-worker never keeps a job that completed.
DRAINS: tuple[tuple[int, bool, tuple[System, ...]], ...] = (
    (10, True, (QWF, PGQUEUER)),
    (100, True, (QWF, PGQUEUER)),
    (500, True, (QWF, GRAPHILE, PROCRASTINATE)),
    (500, False, (QWF, GRAPHILE)),
)
KEEP_NOTHING = "select qwf.create_queue('default', keep_completed => false)"


def drains(
    server: Server, systems: list[System], jobs: int, fleets: tuple[int, ...]
) -> Iterator[Sample]:
    """Drain a full queue with each number of worker processes in `fleets`."""
    for number in fleets:
        for batch, keeps, who in DRAINS:
            for system in (one for one in who if one in systems):
                some = max(200, round(jobs * system.share))
                with server.database(system.deploy) as base:
                    system.fill(base, some)
                    if system is QWF and not keeps:
                        base.conn.execute(KEEP_NOTHING)
                    meter = Meter(base)
                    with system.workers(base, number, batch) as started:
                        cpu = Cpu(server, started)
                        rate = drained(base, some, system.left)
                        more = meter.wal(some) | cpu.per_job(some)
                    more |= meter.commits(some)
                how = f"{system.at_once} at once" if system.at_once else f"batch {batch}"
                figure = f"{how}, {number} worker process{'es' if number > 1 else ''}"
                figure += "" if keeps else ", keeps nothing"
                yield Sample("drain", figure, rate, "jobs/s", system.name, more)


def throughputs(server: Server, systems: list[System], seconds: float) -> Iterator[Sample]:
    """One producer and one worker process at the same time, ten jobs per call."""
    for system in (one for one in (QWF, PGQUEUER, GRAPHILE) if one in systems):
        with (
            server.database(system.deploy) as base,
            system.producer(base, 10, BEHIND),
            system.workers(base, 1, 10),
        ):
            time.sleep(WARM_S)
            first, began, meter = ended(base, system), time.monotonic(), Meter(base)
            time.sleep(seconds)
            done, took = ended(base, system) - first, time.monotonic() - began
            more = meter.wal(max(1, done))
        figure = "1 producer x 10, 1 worker process, batch 10"
        yield Sample("throughput", figure, done / took, "jobs/s", system.name, more)


def ended(base: Database, system: System) -> int:
    """The number of jobs that have ended, read in one snapshot."""
    return int(base.value(f"select ({system.produced}) - ({system.left})"))


def latencies(server: Server, systems: list[System], samples: int) -> Iterator[Sample]:
    """Time from enqueue to the start of the body, with one idle worker process."""
    for system in systems:
        with server.database(system.deploy) as base, tempfile.TemporaryDirectory() as folder:
            if system is QWF:
                asked = idle(base, system.workers(base, 1, 500), 1, samples)
                found = [delay.whole for delay in asked]
            else:
                file = Path(folder) / "seconds"
                with system.workers(base, 1, 500 if system is GRAPHILE else 10, file):
                    time.sleep(1.5)
                    system.probe(base, samples)
                    until(functools.partial(complete, file, samples), "the last sample")
                    found = read(file)
        ranks = percentiles(found)
        p50 = ranks.pop("p50")
        yield Sample("latency", "idle, 1 worker process", p50, "ms", system.name, ranks)


def complete(file: Path, samples: int) -> bool:
    """Return True if all samples have been written."""
    return len(read(file)) >= samples


def read(file: Path) -> list[float]:
    """The numbers in a file, except a last line that is still being written."""
    text = file.read_text() if file.exists() else ""
    return [float(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def snapshots(server: Server, systems: list[System], seconds: float) -> Iterator[Sample]:
    """Throughput without and with a snapshot held open."""
    for system in (one for one in (QWF, PGQUEUER) if one in systems):
        for held in (False, True):
            with server.database(system.deploy) as base:
                with (
                    holding(base.dsn) if held else contextlib.nullcontext(),
                    system.producer(base, 10, BEHIND),
                    system.workers(base, 1, 10),
                ):
                    time.sleep(WARM_S)
                    began = time.time()
                    time.sleep(seconds)
                how = "held" if held else "not held"
                assert system.ends is not None
                yield rates(base, how, began, seconds, system.ends, system.name)
