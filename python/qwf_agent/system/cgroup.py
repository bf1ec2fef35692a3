"""Control groups of Linux (cgroup v2): a limit on the memory of each child, an end for all that it
has started, wherever that has gone, and who was killed for want of memory."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("qwf_agent")

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
DELEGATED = ("user.delegate", "trusted.delegate")  # systemd writes this on what it leaves to others
REMOVE_S = 1.0  # until those that were killed in a group have gone from it


class CannotUse(Exception):
    """There is no making groups below the one that was named. The message says why."""


class OomKills:
    """Whether the kernel has killed something in a group for want of memory; where there is no
    group, or it does not count, on the whole machine."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._seen = _oom_kills(folder)

    def more(self) -> bool:
        """Whether there were any since last asked."""
        before, self._seen = self._seen, _oom_kills(self._folder)
        return self._seen > before


class ControlGroup:
    """The group of the children of one slot, one after the other."""

    def __init__(self, folder: Path, max_bytes: int | None) -> None:
        """Make it. Raises OSError."""
        self.folder = folder
        folder.mkdir()
        self.oom = OomKills(folder)
        if max_bytes is not None:
            self._write("memory.max", str(max_bytes))
            self._write("memory.oom.group", "1")  # all of it, or a body hangs on a dead helper
            with suppress(OSError):  # no swap here
                self._write("memory.swap.max", "0")

    def enter(self) -> None:
        """Move this process in, and with it all that it will start. Raises OSError."""
        self._write("cgroup.procs", "0")

    def kill(self) -> None:
        """Kill whatever is in it."""
        kill(self.folder)

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)


class ControlGroups:
    """The groups of an agent, all below one that is left to it.

    A group with limits may hold processes or groups, never both: an agent that lives in the group
    that is left to it moves into one below.
    """

    def __init__(self, base: Path, max_bytes: int | None) -> None:
        """Raises OSError where the group cannot be used."""
        self.prefix = f"qwf-{os.getpid()}-{os.urandom(4).hex()}-"  # pids come again
        self.base = base
        self._max_bytes = max_bytes
        self._made = 0
        self._forget_the_dead()
        if str(os.getpid()) in (base / "cgroup.procs").read_text().split():
            own = base / f"{self.prefix}agent"
            own.mkdir(exist_ok=True)
            (own / "cgroup.procs").write_text("0")
        if max_bytes is not None and not self._can_limit():
            self._max_bytes = None
            log.warning("control group %s cannot limit memory: --max-rss is a watchdog only", base)

    def make(self) -> ControlGroup:
        """A group for one more slot. Raises OSError."""
        self._made += 1
        return ControlGroup(self.base / f"{self.prefix}{self._made}", self._max_bytes)

    def folders(self) -> list[Path]:
        """The groups of the slots."""
        return list(self.base.glob(f"{self.prefix}[0-9]*"))

    def _forget_the_dead(self) -> None:
        """Give back what agents before this one have left, where nothing is in it."""
        for folder in self.base.glob("qwf-*-*-*"):
            if not Path("/proc", folder.name.split("-")[1]).exists():
                with suppress(OSError):
                    folder.rmdir()

    def _can_limit(self) -> bool:
        with suppress(OSError):
            (self.base / "cgroup.subtree_control").write_text("+memory")
        with suppress(OSError):
            return "memory" in (self.base / "cgroup.subtree_control").read_text().split()
        return False


def open_groups(given: Path | None, max_bytes: int | None) -> ControlGroups | None:
    """Groups below the one given, else below the one that systemd has left to this process; None
    where there is neither. Raises CannotUse for the one given."""
    base = given or _delegated()
    try:
        return None if base is None else ControlGroups(base, max_bytes)
    except OSError as error:
        if given is not None:
            raise CannotUse(f"control group {base} cannot be used: {error}") from None
        log.warning("control group %s cannot be used: %s", base, error)
        return None


def own_group() -> Path | None:
    """The group of the agent this process belongs to, with its children; None where it has none of
    its own."""
    found = _own_folder()
    if found is not None and re.fullmatch(r"qwf-\d+-\w+-agent", found.name):
        return found.parent
    return None if found in MOUNTS and not (found / "memory.current").exists() else found


def _oom_kills(folder: Path | None) -> int:
    counters = [] if folder is None else [folder / "memory.events"]
    for counter in (*counters, Path("/proc/vmstat")):
        with suppress(OSError, ValueError, IndexError):
            words = counter.read_text().split()
            return int(words[words.index("oom_kill") + 1])
    return 0


def kill(folder: Path) -> None:
    """Kill whatever is in a group, at once; before Linux 5.14 one by one."""
    try:
        (folder / "cgroup.kill").write_text("1")
    except OSError:
        with suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(int(pid), signal.SIGKILL)


def remove(folder: Path) -> None:
    """Kill whatever is in a group, and give it back once that has gone."""
    deadline = time.monotonic() + REMOVE_S
    while folder.is_dir():
        kill(folder)
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)


def _own_folder() -> Path | None:
    with suppress(OSError):
        mount = next((mount for mount in MOUNTS if (mount / "cgroup.procs").exists()), None)
        path = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
        return None if mount is None else mount / path
    return None


def _delegated() -> Path | None:
    """The nearest group around this process that systemd has left to it (Delegate=)."""
    own = _own_folder()
    if own is None or not hasattr(os, "getxattr"):
        return None
    for folder in (own, own.parent):  # the second with DelegateSubgroup=
        for name in DELEGATED:
            with suppress(OSError):
                if os.getxattr(folder, name) == b"1":
                    return folder
    return None
