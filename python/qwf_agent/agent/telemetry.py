"""The agent's side of the sampler: starts it, asks it for samples, and sends them to the
database."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import selectors
import signal
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from qwf_agent.agent import db
from qwf_agent.agent.link import Link
from qwf_agent.system import sampler
from qwf_agent.system.fork import fork_helper

log = logging.getLogger("qwf_agent")

EVERY_S = 1.0  # how often to measure processes while bodies run
ANSWER_S = 3.0  # longest wait for an answer; then an empty sample takes its place
FRESH_S = 5.0  # older readings of a card are ignored
HUNG_S = 60.0  # a sampler that does not answer for this long is replaced
FORK_AGAIN_S = 5.0
EXIT_S = 1.0  # longest wait for the end of the sampler: a driver may block it in the kernel forever


class Sample(NamedTuple):
    """One measurement of the agent's children and the cards: of each card its use in percent and
    its used memory in bytes, read at `cards_at`. Times are on the monotonic clock. A card without a
    reading counts as idle."""

    at: float
    processes: dict[int, tuple[int, str, float, bool]] = {}  # noqa: RUF012 - never changed
    cards: dict[int, tuple[float, int]] = {}  # noqa: RUF012 - never changed
    cards_at: float = 0.0

    def rss_bytes(self, pid: int) -> int | None:
        """Memory of a child and of every process it started."""
        return self.processes[pid][0] if pid in self.processes else None

    def cpu_s(self, pid: int) -> float | None:
        """CPU seconds so far of a child and of every process it started."""
        return self.processes[pid][2] if pid in self.processes else None

    def is_runnable(self, pid: int) -> bool | None:
        """Return True if a child or a process that it started used the CPU or waited for it; None
        if it was not measured."""
        return self.processes[pid][3] if pid in self.processes else None

    def state(self, pid: int) -> str | None:
        """State of a child: running, sleeping, stopped, disk-sleep..."""
        return self.processes[pid][1] if pid in self.processes else None


class HostReport:
    """Return True if this agent reports how busy the host is: on each host one
    agent does, the one that holds the lock."""

    def __init__(self, host: str, dsn: str, link: Link) -> None:
        self._host = host
        self._link = link
        self._path = _lock_path(host, dsn)
        self._lock = -1
        self._lock_at = 0.0

    @property
    def is_ours(self) -> bool:
        """True if this agent reports."""
        return self._lock >= 0

    def step(self, now: float, every_s: float) -> None:
        """Try to get the lock, if it is time."""
        if self._lock < 0 and now >= self._lock_at:
            self._lock_at = now + every_s
            self._lock = _try_lock(self._path)

    def send(self, sample: dict[str, Any]) -> None:
        """Send a sample, if this agent reports."""
        if self._lock >= 0 and self._link.up:
            self._link.send(db.report_metrics(self._host, json.dumps(sample)))

    def close(self) -> None:
        """Let another agent report this host."""
        if self._lock >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1


class Telemetry:
    """Forks the sampler when something has to be measured: bodies, or the host, if this
    agent reports it.

    Invariant: at most one request for processes waits for its answer. After ANSWER_S an empty
    sample replaces the answer, so that a hung sampler delays no watchdog.
    """

    def __init__(self, selector: selectors.BaseSelector, out_root: Path) -> None:
        self.sample = Sample(0.0)
        self.out_free_bytes: int | None = None  # of the folder for files
        self._out_root = str(out_root)
        self._selector = selector
        self._reports = False  # whether this agent reports the host
        self._pid = self._requests = self._answers = -1
        self._buffer = b""
        self._host_samples: list[dict[str, Any]] = []
        self._asked_at = float("-inf")
        self._unanswered_since: float | None = None
        self._next_at = self._host_at = self._fork_at = 0.0

    def step(self, now: float, busy: bool, every_s: float, report: HostReport) -> None:
        """Measure what is due: processes while bodies run, and the host if this agent reports
        it."""
        self._reap(now)
        report.step(now, every_s)
        self._reports = report.is_ours
        if self._pid < 0 and now >= self._fork_at and (busy or self._reports):
            self._fork(now)
        if busy and now >= self._next_at:
            self._next_at = now + EVERY_S
            self._ask_processes(now)
        if now >= self._host_at:  # also when to try again to get a lock
            self._host_at = now + every_s
            if self._reports:
                self._ask(sampler.HOST)
        for sample in self._host_samples:
            report.send(sample)
        self._host_samples = []

    def stats(self) -> dict[str, Any]:
        """The part of a heartbeat about the folder for files."""
        free = self.out_free_bytes
        return {} if free is None else {"out_free_bytes": free}

    def next_at(self, busy: bool) -> float:
        """When it has something to do."""
        return min(self._host_at, self._next_at) if busy else self._host_at

    def close(self) -> None:
        """End the sampler."""
        if self._pid >= 0:
            self._close_pipes()
            give_up_at = time.monotonic() + EXIT_S
            with suppress(ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                while not os.waitpid(self._pid, os.WNOHANG)[0] and time.monotonic() < give_up_at:
                    time.sleep(0.005)

    def _fork(self, now: float) -> None:
        self._fork_at = now + FORK_AGAIN_S
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        agent = os.getpid()
        try:
            self._pid = fork_helper(
                "qwf-sampler",
                lambda: sampler.serve(requests, answers, agent, self._out_root),
                [requests, answers],
            )
        except OSError as error:
            log.error("cannot fork the sampler: %s", error)
        finally:
            os.close(requests)
            os.close(answers)
        for fd in (self._requests, self._answers):
            os.set_blocking(fd, False)
        self._buffer = b""
        self._selector.register(self._answers, selectors.EVENT_READ, self._read)

    def _ask_processes(self, now: float) -> None:
        if self.sample.at < self._asked_at and now < self._asked_at + ANSWER_S:
            return  # still waiting for the answer
        if self.sample.at < self._asked_at:
            self.sample = Sample(now)
        self._asked_at = now
        self._ask(sampler.PROCESSES)

    def _ask(self, what: bytes) -> None:
        if self._requests < 0:
            return
        with suppress(BlockingIOError, BrokenPipeError):  # the sampler hangs or has died
            os.write(self._requests, what)
        self._unanswered_since = self._unanswered_since or time.monotonic()

    def _read(self) -> None:
        try:
            data = os.read(self._answers, 1 << 16)
        except BlockingIOError:
            return
        self._unanswered_since = None
        if not data:
            self._close_pipes()
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, answer: dict[str, Any]) -> None:
        self.out_free_bytes = answer["out_free_bytes"]
        if "host" in answer:
            self._host_samples.append(answer["host"])
            return
        cards, stale = answer["cards"], answer["at"] - answer["cards"]["at"] > FRESH_S
        self.sample = Sample(
            answer["at"],
            {int(pid): tuple(seen) for pid, seen in answer["processes"].items()},
            {} if stale else {int(n): (use, used) for n, (use, used) in cards["uses"].items()},
            cards["at"],
        )

    def _close_pipes(self) -> None:
        if self._answers >= 0:
            self._selector.unregister(self._answers)
            os.close(self._answers)
            os.close(self._requests)
            self._answers = self._requests = -1

    def _reap(self, now: float) -> None:
        if self._pid >= 0 and now > (self._unanswered_since or now) + HUNG_S:
            os.kill(self._pid, signal.SIGKILL)
        if self._pid >= 0 and os.waitpid(self._pid, os.WNOHANG)[0]:
            log.warning("the sampler died: starting another one")
            self._close_pipes()
            self._unanswered_since = None
            self._pid, self._fork_at = -1, now + FORK_AGAIN_S


def _lock_path(host: str, dsn: str) -> Path:
    """One file for each host name and database, so that every database gets the metrics of every
    host."""
    name = zlib.crc32(f"{host}\n{dsn}".encode())  # hashlib would cost half a MiB of memory
    return Path(tempfile.gettempdir(), f"qwf-metrics-{os.getuid()}-{name:08x}.lock")


def _try_lock(path: Path) -> int:
    """The descriptor that holds the lock; -1 if another process has it or the file cannot be
    made."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        log.debug("cannot lock metrics: %s", error)
        return -1
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_ino == path.stat().st_ino:
            return fd  # else another agent has just removed the file
    except OSError as error:
        log.debug("another agent reports this host: %s", error)
    os.close(fd)
    return -1
