"""The first steps of every process forked from the agent: leave the agent's process group, signal
handlers and descriptors."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36


def fork_helper(
    name: str, run: Callable[[], None], kept: Iterable[int], outlives_parent: bool = False
) -> int:
    """Fork a process that only calls `run`; returns its pid. It keeps the descriptors in `kept` and
    the standard ones. It dies with this process unless `outlives_parent`. Raises OSError."""
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    try:
        detach(name)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # it ends when the agent ends, not before
        if not outlives_parent:
            die_with_parent(parent)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        redirect_descriptors({0, 1, 2, null, *kept}, null)
        run()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def detach(name: str) -> None:
    """Give this process its own process group, default signals, and a name that ps shows."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.setpgid(0, 0)
    if PRCTL is not None:
        PRCTL(PR_SET_NAME, name.encode())


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent dies; on other systems a closed pipe shows it.
    Exits if `parent` is dead already."""
    if PRCTL is not None:
        PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Ask Linux to make this process the parent of every process below it whose own parent has
    ended, in other sessions too."""
    if PRCTL is not None:
        PRCTL(PR_SET_CHILD_SUBREAPER, 1)


def redirect_descriptors(kept: Iterable[int], null: int) -> None:
    """Point every inherited descriptor that is not in `kept` at /dev/null.

    Closing them is not enough: when an inherited libpq connection is finalised here, it would end
    the parent's session, or write to the file that has reused its descriptor.
    """
    for fd in _open_descriptors():
        if fd not in kept:
            with suppress(OSError):  # closed by now, or the one that listed the folder
                os.dup2(null, fd, inheritable=False)


def _open_descriptors() -> list[int]:
    for folder in (Path("/proc/self/fd"), Path("/dev/fd")):
        if folder.is_dir():
            return [int(entry.name) for entry in folder.iterdir()]
    return list(range(3, 1024))


def _load_prctl() -> Any:
    try:
        import ctypes

        return ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None


PRCTL = _load_prctl()
