"""What every process forked from the agent does first: become one of its own, and let go of all
that is the agent's."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15


def fork_helper(
    name: str, run: Callable[[], None], kept: Iterable[int], follow: bool = True
) -> int:
    """Fork a process that does `run` and nothing else; its pid. Of the descriptors it keeps those
    named and the standard ones. With `follow` it dies when this process does. Raises OSError."""
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    try:
        become_own(name)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the agent's end is what ends it
        if follow:
            die_with_parent(parent)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        let_go({0, 1, 2, null, *kept}, null)
        run()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def become_own(name: str) -> None:
    """Own group, default signals, and a name that ps shows."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.setpgid(0, 0)
    if PRCTL is not None:
        PRCTL(PR_SET_NAME, name.encode())


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent dies; elsewhere the parent's end shows as a
    closed pipe. Leaves if `parent` has died already."""
    if PRCTL is not None:
        PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def let_go(kept: Iterable[int], null: int) -> None:
    """Point every other inherited descriptor at /dev/null. Closing would not do: an inherited
    libpq connection that is finalised here says goodbye on the parent's session, or on whatever
    got its number since."""
    for fd in _open_descriptors():
        if fd not in kept:
            with suppress(OSError):  # closed meanwhile, or the list's own
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
