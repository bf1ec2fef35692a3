"""Measures the same workflows on each system, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

from bench.measure import Meter
from bench.samples import Sample
from bench.server import BenchError, Server
from bench.workflows.running import Running, Setting
from bench.workflows.systems import System
from bench.workflows.work import Answer, Work

FLUSH_S = 1.2  # sessions report commits at most once a second
TEN = 10
LEASE_S = 30.0  # qwf's own default; peers get the same


def hops(
    server: Server, system: System, chains: int, length: int, width: int, runs: int
) -> Iterator[Sample]:
    """Workflows with bodies that do nothing: one at a time, then many at once."""
    times = max(1, round(chains * system.share))
    with system.started(server, Setting(lease=LEASE_S)) as running:
        yield alone(running, system.name, Work("chain", 5), times)
        yield alone(running, system.name, Work("chain", length), max(1, times // 8))
        yield alone(running, system.name, Work("fan", width), max(1, times // 4))
        many = Work("chain", 5, max(1, round(runs * system.share)))
        figure = f"{runs} chains of 5 at once"
        yield together(running, system.name, many, figure)


def alone(running: Running, name: str, work: Work, times: int) -> Sample:
    """One workflow after the other; the first is not counted."""
    checked(running, name, work)
    found = [checked(running, name, work).seconds for _ in range(times)]
    middle, least = statistics.median(found), min(found)
    if work.shape == "chain":
        hop = 1000 / work.size
        figure, more = f"one chain of {work.size}, a hop", {"fastest": hop * least}
        return Sample("workflows", figure, hop * middle, "ms", name, more)
    figure, more = f"1 to {work.size} to 1", {"fastest": work.steps / least}
    return Sample("workflows", figure, work.steps / middle, "steps/s", name, more)


def together(running: Running, name: str, work: Work, figure: str) -> Sample:
    """Many workflows at the same time, started one by one by one caller. Stops the workers, because
    their sessions report their commits when they end."""
    checked(running, name, replace(work, runs=3))
    time.sleep(FLUSH_S)
    checked(running, name, replace(work, runs=1))
    meter = Meter(running.base) if running.base else None
    before, server_s, clients_s = running.written(), *running.cpu_seconds()
    answer = checked(running, name, work)
    server_now, clients_now = running.cpu_seconds()
    more = {
        "server_us": 1e6 * (server_now - server_s) / work.steps,
        "clients_us": 1e6 * (clients_now - clients_s) / work.steps,
        **{key: (size - before[key]) / work.steps for key, size in running.written().items()},
    }
    if meter:
        more |= meter.wal(work.steps)
    running.stop()
    if meter:
        more |= meter.commits(work.steps)
    return Sample("workflows", figure, work.steps / answer.seconds, "steps/s", name, more)


def computing(server: Server, system: System, light: int, heavy: int) -> Iterator[Sample]:
    """Windmill's comparison: light and heavy bodies, one after the other and on ten workers."""
    if not system.computes:
        return
    with system.started(server, Setting(lease=LEASE_S)) as running:
        checked(running, system.name, Work("chain", 40, n=5))
        for size, n in ((40, light), (10, heavy)):
            yield one_by_one(running, system.name, Work("chain", size, n=n))
    with system.started(server, Setting(TEN, LEASE_S, queued=True)) as running:
        checked(running, system.name, Work("loose", 40, n=5))
        for size, n in ((400, light), (100, heavy)):
            yield on_ten(running, system.name, Work("loose", size, n=n))


def one_by_one(running: Running, name: str, work: Work) -> Sample:
    """Steps one after the other, and the share of the time spent in bodies."""
    answer = checked(running, name, work)
    more = {"percent_in_bodies": 100 * answer.done[1] / answer.seconds}
    figure = f"{work.size} x fibo({work.n}), one after the other"
    return Sample("fibo", figure, answer.seconds, "s", name, more)


def on_ten(running: Running, name: str, work: Work) -> Sample:
    """Steps on ten workers, and the share of all CPU time spent in bodies: with more workers than
    cores, a body waits for its core, and its elapsed time says nothing."""
    before = sum(running.cpu_seconds())
    answer = checked(running, name, work)
    spent = sum(running.cpu_seconds()) - before
    more = {"percent_of_cpu_in_bodies": 100 * answer.done[2] / spent}
    figure = f"{work.size} x fibo({work.n}) on ten workers"
    return Sample("fibo", figure, answer.seconds, "s", name, more)


def checked(running: Running, name: str, work: Work) -> Answer:
    """The answer, if every step has run. Raises BenchError."""
    answer = running.ask(work)
    if answer.done[0] != work.steps:
        raise BenchError(f"{name}: {answer.done[0]:g} of {work.steps} steps ran")
    return answer
