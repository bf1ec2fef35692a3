"""Signals for a process and everything that it started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

GONE = (ProcessLookupError, PermissionError)
PF_EXITING = 0x4  # of linux/sched.h


def kill_tree(pid: int) -> None:
    """Kill a process, its process group and all its descendants."""
    below = descendants(pid)
    kill_group(pid)
    for one in (pid, *below):
        with suppress(*GONE):
            os.kill(one, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Kill every process of the process group with this number."""
    with suppress(*GONE):
        os.killpg(pid, signal.SIGKILL)


def end_tree(pid: int) -> None:
    """Send SIGTERM once to every process of a group and to the descendants that have left it."""
    outside = [one for one in descendants(pid) if _group_of(one) != pid]
    with suppress(*GONE):
        os.killpg(pid, signal.SIGTERM)
    for one in outside:
        with suppress(*GONE):
            os.kill(one, signal.SIGTERM)


def descendants(pid: int) -> list[int]:
    """The descendants of a process, except those that another process has adopted. Empty on systems
    other than Linux."""
    found = children_of(pid)
    return found + [below for child in found for below in descendants(child)]


def children_of(pid: int) -> list[int]:
    """The children of a process, those that have ended and wait to be reaped too. Empty on systems
    other than Linux."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # the thread has ended
                found += map(int, (task / "children").read_text().split())
    return found


def is_zombie(pid: int) -> bool:
    """Return True if the process has ended and waits to be reaped, or is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def name_of(pid: int) -> str:
    """The name of the program, without its arguments: these may be secret."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return "?"


def is_exiting(pid: int) -> bool:
    """Return True if the kernel is ending the process. False on systems other than Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return bool(int(fields[6]) & PF_EXITING)


def _group_of(pid: int) -> int | None:
    with suppress(OSError):
        return os.getpgid(pid)
    return None
