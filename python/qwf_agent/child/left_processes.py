"""Ends the processes that a body has started and left behind.

Three kinds stay for the next body: those that were there before this one, such as what a model
loader has started; those that the code still holds, such as the workers of a pool or a Popen in a
variable of a module; and the helpers of multiprocessing.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import types
from contextlib import suppress
from typing import Any, NamedTuple

from qwf_agent.system.processes import children_of, descendants, is_zombie, kill_tree, name_of

END_S = 1.0  # longest wait until killed processes have gone
NAMED = 10  # so many processes are named
NONE: frozenset[int] = frozenset()


class LeftBehind(NamedTuple):
    """The processes that a body had left: those that were ended, those that the code still holds,
    and those that could not be ended; each as name and pid."""

    ended: list[str]
    held: list[str]
    stuck: list[str]

    def sentences(self) -> list[str]:
        """The lines of the log about it."""
        found = []
        if self.ended:
            found.append(
                f"warning: ended {_names(self.ended)}, which the body had left running: a process "
                "that has to outlive its job is started by another service (systemd-run, docker)"
            )
        if self.held:
            found.append(
                f"note: {_names(self.held)} may stay for the next jobs: the code still holds it"
            )
        if self.stuck:
            found.append(
                f"warning: {_names(self.stuck)}, which the body had left running, cannot be ended: "
                "end it by hand"
            )
        return found


class LeftProcesses:
    """Knows which processes were there before a body, and ends those that it has left.

    It works on Linux. A body that starts no process costs one system call.
    """

    def __init__(self) -> None:
        self._kept: frozenset[int] = NONE
        self._is_old = True

    def may_have_changed(self) -> None:
        """Note that an import or a model loader may have started processes, or that one ended."""
        self._is_old = True

    def note(self) -> None:
        """Called before a body: the processes that are there now stay."""
        if self._is_old:
            self._kept, self._is_old = _started() if _has_any() else NONE, False

    def end(self) -> LeftBehind | None:
        """Called after a body: end what it has left; None if there is nothing to tell."""
        if not _has_any():
            self._kept = NONE
            return None
        _forget_ended()
        found = _started()
        new = found - self._kept
        if not new:
            self._kept = found
            return None
        held = _held(new)
        running = [pid for pid in sorted(new) if not is_zombie(pid)]
        names = {pid: f"{name_of(pid)} (pid {pid})" for pid in running}
        stuck = self._end_all(new - held, self._kept | held)
        self._is_old = True
        left = LeftBehind(
            [names[pid] for pid in running if pid not in held | stuck],
            [names[pid] for pid in running if pid in held],
            [names.get(pid, f"{name_of(pid)} (pid {pid})") for pid in sorted(stuck)],
        )
        return left if any(left) else None

    def _end_all(self, ending: frozenset[int], kept: frozenset[int]) -> frozenset[int]:
        """Kill these and what they leave in turn, which this process adopts; returns those that are
        still there. A process that a thread of the code has started meanwhile stays."""
        deadline, known = time.monotonic() + END_S, set(ending)
        while ending and time.monotonic() < deadline:
            for pid in ending:
                known |= {pid, *descendants(pid)}
                kill_tree(pid)
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            found = frozenset(children_of(os.getpid())) - kept
            if found - known:
                kept |= _held(found - known)
            ending = found - kept
            if ending:
                time.sleep(0.001)
        _forget_ended()
        return frozenset(pid for pid in ending if not is_zombie(pid))


def _has_any() -> bool:
    """Return True if this process has a child, which may have ended."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _started() -> frozenset[int]:
    """The children of this process and those of multiprocessing, which a fork server may have
    started for it."""
    return frozenset(children_of(os.getpid())) | {one.pid for one in _of_multiprocessing()}


def _held(new: frozenset[int]) -> frozenset[int]:
    """Those of these processes that an object of this process stands for, which is no garbage."""
    gc.collect()
    popen = getattr(sys.modules.get("subprocess"), "Popen", type(None))
    dropped = {one.pid for one in getattr(sys.modules.get("subprocess"), "_active", None) or ()}
    found = [one for one in gc.get_objects() if issubclass(type(one), popen)]
    held = {one.pid for one in found if one.pid not in dropped}
    processes = _of_multiprocessing()
    lists = processes, getattr(sys.modules.get("multiprocessing.process"), "_children", None)
    held |= {one.pid for one in processes if _has_holder(one, lists)}
    return new & (held | _helpers())


def _of_multiprocessing() -> list[Any]:
    """The Process objects that multiprocessing knows, the workers of pools too."""
    return list(getattr(sys.modules.get("multiprocessing.process"), "_children", ()))


def _has_holder(process: Any, lists: tuple[Any, ...]) -> bool:
    """Return True if more than these lists and running functions refers to it."""
    return any(
        not any(one is known for known in lists) and not isinstance(one, types.FrameType)
        for one in gc.get_referrers(process)
    )


def _helpers() -> set[int]:
    """The processes that multiprocessing and libraries like it start once for all others."""
    found = set()
    for name, module in list(sys.modules.items()):
        if name.endswith("resource_tracker"):
            found.add(getattr(getattr(module, "_resource_tracker", None), "_pid", None))
        elif name == "multiprocessing.forkserver":
            found.add(getattr(getattr(module, "_forkserver", None), "_forkserver_pid", None))
    return {pid for pid in found if pid is not None}


def _forget_ended() -> None:
    """Have subprocess and multiprocessing reap the processes of theirs that have ended and that
    nobody waits for."""
    cleanup = getattr(sys.modules.get("subprocess"), "_cleanup", None)
    if cleanup is not None:
        cleanup()
    if _of_multiprocessing():
        sys.modules["multiprocessing.process"].active_children()


def _names(processes: list[str]) -> str:
    more = len(processes) - NAMED
    rest = f" and {more} more" if more > 0 else ""
    return ("processes " if len(processes) > 1 else "the process ") + (
        ", ".join(processes[:NAMED]) + rest
    )
