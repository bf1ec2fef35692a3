"""Prints which files of tests take the time of the processors: in pytest, in the processes that
they start, and in their servers. They hardly depend on the load of the machine.

    PYTHONPATH=tools .venv/bin/python -m pytest -n 2 -p cpu_of_tests tests/agent
"""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LINES = 40
TICKS = os.sysconf("SC_CLK_TCK")
Times = list[float]  # seconds of this Python, of its processes, of its servers

found: dict[str, Times] = defaultdict(lambda: [0.0, 0.0, 0.0])
servers: set[int] = set()  # process ids


def of_process(pid: int, *, with_ended: bool) -> float:
    """Seconds of a process, and of those that it has waited for; 0 if it is not there."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11 : 15 if with_ended else 13])) / TICKS


def children(pid: int) -> Iterator[int]:
    """Process ids of all that the process has started and that still run."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return
    for child in map(int, found):
        yield child
        yield from children(child)


def now() -> Times:
    """The seconds until now."""
    own, ended = (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    running = sum(of_process(pid, with_ended=True) for pid in children(os.getpid()))
    of_servers = sum(
        of_process(one, with_ended=True)
        + sum(of_process(pid, with_ended=True) for pid in children(one))
        for one in servers
    )
    return [own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime + running, of_servers]


def watch_servers() -> None:
    """Note each embedded server that a test starts: it is not a child of this process."""
    from qwf_agent.embedded import Cluster

    start = Cluster.start

    def noting(self: Any, *words: Any, **options: Any) -> Any:
        answer = start(self, *words, **options)
        if (process := self.postmaster()) is not None:
            servers.add(process.pid)
        return answer

    Cluster.start = noting  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Add the time of a test, with its fixtures, to its file."""
    if not watched:
        watch_servers()
        watched.append(True)
    before = now()
    answer = yield
    file = item.nodeid.partition("::")[0]
    # a server that has ended takes its times with it
    spent = [max(0.0, b - a) for a, b in zip(before, now(), strict=True)]
    found[file] = [a + b for a, b in zip(found[file], spent, strict=True)]
    return answer


watched: list[bool] = []


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the times to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cpu"] = dict(found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the times of a process of pytest-xdist."""
    for file, times in getattr(node, "workeroutput", {}).get("cpu", {}).items():
        found[file] = [a + b for a, b in zip(found[file], times, strict=True)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the files, with the most expensive first."""
    terminalreporter.section("seconds of the processors")
    totals = [sum(column) for column in zip(*found.values(), strict=True)] or [0.0] * 3
    rows = sorted(found.items(), key=lambda row: -sum(row[1]))[:LINES]
    terminalreporter.write_line("    all  pytest  others  Postgres")
    for name, (own, others, postgres) in [("all files", totals), *rows]:
        total = own + others + postgres
        terminalreporter.write_line(
            f"{total:7.1f} {own:7.1f} {others:7.1f} {postgres:7.1f}  {name}"
        )
