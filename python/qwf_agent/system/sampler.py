"""A helper process that measures how busy this host is, how much memory the agent's children use
and how busy the cards are. A hung driver delays its answers and nothing else."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from qwf_agent.system import gpu
from qwf_agent.system.cgroup import groups_of_agents
from qwf_agent.system.gpu import MIB
from qwf_agent.system.guardian import NAME as GUARDIAN

HOST, PROCESSES = b"h", b"p"  # the two kinds of request
CARDS_S = 1.0  # how often to read the cards
FIRST_CARDS_S = 2.0  # how long the first answer waits for them
DISK_S, OLD_DISK_S = 15.0, 60.0  # how often to look at the disk, and when a reading is too old


def serve(requests: int, answers: int, agent: int, out_root: str) -> None:
    """Answer each request, a byte, with a line of JSON, until the agent closes the pipe."""
    import psutil  # imported here, because the agent itself does not need it

    cards, host, disk = CardReader(), Host(psutil), Disk(out_root)
    while request := os.read(requests, 1):
        if request == HOST:
            answer: dict[str, Any] = {"host": {**host.sample(), "gpus": cards.payload()}}
        else:
            answer = {"processes": _processes(psutil, agent), "cards": cards.uses()}
        answer["at"], answer["out_free_bytes"] = time.monotonic(), disk.free_bytes()
        os.write(answers, json.dumps(answer).encode() + b"\n")


class CardReader:
    """The cards as a thread last read them: a driver may answer late, or never."""

    def __init__(self) -> None:
        self._seen: tuple[float, list[gpu.GpuCard]] = (0.0, [])  # when, and what
        self._first = threading.Event()
        self._started = False

    def payload(self) -> list[dict[str, Any]]:
        """The cards as listeners of hw_metrics expect them."""
        return [
            {
                "id": card.number,
                "use_pct": card.use_percent,
                "vram_used_mb": card.used_bytes // MIB,
                "vram_total_mb": card.total_bytes // MIB,
            }
            for card in self._read()[1]
        ]

    def uses(self) -> dict[str, Any]:
        """By number of the card: its use in percent and its used memory in bytes; and when that was
        measured, at the earliest."""
        at, cards = self._read()
        return {"at": at, "uses": {one.number: [one.use_percent, one.used_bytes] for one in cards}}

    def _read(self) -> tuple[float, list[gpu.GpuCard]]:
        if not self._started:
            self._started = True
            threading.Thread(target=self._watch, daemon=True).start()
            self._first.wait(FIRST_CARDS_S)
        return self._seen

    def _watch(self) -> None:
        driver = gpu.find_driver()
        while driver is not None:
            with suppress(Exception):  # the driver failed this time: keep the last reading
                at = time.monotonic()
                self._seen = at, driver()
            self._first.set()
            time.sleep(CARDS_S)
        self._first.set()


class Disk:
    """The free space of a folder as a thread last read it: a network may answer late, or never."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._at = 0.0
        self._free: int | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def free_bytes(self) -> int | None:
        """The number of bytes that this user may still write; None if nobody knows."""
        return self._free if time.monotonic() < self._at + OLD_DISK_S else None

    def _watch(self) -> None:
        while True:
            at = time.monotonic()
            with suppress(OSError):  # the folder may come with the first job
                found = os.statvfs(self._folder)
                self._at, self._free = at, found.f_bavail * found.f_frsize
            time.sleep(DISK_S)


class Host:
    """How busy the machine is, and the share of its agents' control groups."""

    def __init__(self, psutil: Any) -> None:
        self._psutil = psutil
        self._cpu_s, self._at = _cpu_s(groups_of_agents(GUARDIAN)), time.monotonic()
        psutil.cpu_percent()

    def sample(self) -> dict[str, Any]:
        """The host as report_metrics() takes it; a value is null if it is unknown here."""
        memory, swap = self._psutil.virtual_memory(), self._psutil.swap_memory()
        groups = groups_of_agents(GUARDIAN)
        ours = _bytes(groups)
        return {
            "cpu_percent": self._psutil.cpu_percent(),
            "cpu_ours_percent": self._cpu_percent(groups),
            "ram_percent": memory.percent,
            "ram_used_mb": (memory.total - memory.available) // MIB,
            "ram_total_mb": memory.total // MIB,
            "ram_ours_used_mb": None if ours is None else ours // MIB,
            "swap_used_mb": swap.used // MIB,
        }

    def _cpu_percent(self, groups: list[Path] | None) -> float | None:
        """Of the groups that were there at the last sample, too."""
        before, then = self._cpu_s, self._at
        self._cpu_s, self._at = _cpu_s(groups), time.monotonic()
        if self._cpu_s is None or before is None or self._at <= then:
            return None
        used_s = sum(now_s - before.get(group, now_s) for group, now_s in self._cpu_s.items())
        share = used_s / (self._at - then) / (os.cpu_count() or 1)
        return round(min(100.0, max(0.0, share * 100)), 1)


def _cpu_s(groups: list[Path] | None) -> dict[Path, float] | None:
    """The processor time of each group so far; None if it is unknown."""
    found: dict[Path, float] = {}
    with suppress(OSError, ValueError, IndexError):
        for group in groups or ():
            words = (group / "cpu.stat").read_text().split()
            found[group] = int(words[words.index("usage_usec") + 1]) / 1e6
        return found or None
    return None


def _bytes(groups: list[Path] | None) -> int | None:
    """The memory of the groups together; None if it is unknown."""
    with suppress(OSError, ValueError):
        sizes = [int((group / "memory.current").read_text()) for group in groups or ()]
        return sum(sizes) if sizes else None
    return None


def _processes(psutil: Any, agent: int) -> dict[int, list[Any]]:
    """By pid of each child of the agent: the memory of it and every process it started, in bytes,
    its state, the CPU seconds of all of them so far, and whether one of them uses the CPU or waits
    for it."""
    parents, sizes, states, seconds = {}, {}, {}, {}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError), process.oneshot():
            parents[process.pid] = process.ppid()
            sizes[process.pid] = process.memory_info().rss
            states[process.pid] = process.status()
            seconds[process.pid] = sum(process.cpu_times()[:4])  # with those it has waited for
    children = {pid for pid, parent in parents.items() if parent == agent}
    found: dict[int, list[Any]] = {pid: [0, states.get(pid, ""), 0.0, False] for pid in children}
    for pid, size in sizes.items():
        owner = next((above for above in _ancestors(pid, parents) if above in children), None)
        if owner is None:
            with suppress(OSError):  # its parent has ended, but its process group has not
                owner = os.getpgid(pid)
        if owner in found:
            found[owner][0] += size
            found[owner][2] += seconds.get(pid, 0.0)
            found[owner][3] |= states.get(pid) == psutil.STATUS_RUNNING
    return found


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    """The process, its parent, and so on."""
    seen: set[int] = set()
    while pid and pid not in seen:
        yield pid
        seen.add(pid)
        pid = parents.get(pid, 0)
