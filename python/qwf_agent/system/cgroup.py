"""Linux control groups (cgroup v2). They limit the memory of each child, find and kill every
process that it started, and count kills for lack of memory."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("qwf_agent")

PROC = Path("/proc")
MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
DELEGATED = ("user.delegate", "trusted.delegate")  # systemd sets one of these on delegated groups
REMOVE_S = 1.0  # longest wait until killed processes have left their group


class CannotUse(Exception):
    """Groups cannot be created below the given one. The message says why."""


class OomKills:
    """Counts processes that the kernel killed for lack of memory: in a group, or on the whole
    machine if there is no group or the group does not count them."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._seen = _oom_kills(folder)

    def any_new(self) -> bool:
        """Return True if there was a kill since the last call."""
        before, self._seen = self._seen, _oom_kills(self._folder)
        return self._seen > before


class ControlGroup:
    """The control group of one slot: its children use it one after another."""

    def __init__(self, folder: Path, max_bytes: int | None) -> None:
        """Create the group. Raises OSError."""
        self.folder = folder
        folder.mkdir()
        self.oom = OomKills(folder)
        if max_bytes is not None:
            self._write("memory.max", str(max_bytes))
            # Kill the whole group: a body would wait forever for a helper that was killed alone.
            self._write("memory.oom.group", "1")
            with suppress(OSError):  # this machine has no swap
                self._write("memory.swap.max", "0")

    def enter(self) -> None:
        """Move this process, and with it every process it will start, into the group. Raises
        OSError."""
        self._write("cgroup.procs", "0")

    def kill(self) -> None:
        """Kill every process in the group."""
        kill(self.folder)

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)


class ControlGroups:
    """The control groups of an agent, all below `base`.

    A group with limits may hold processes or groups, not both. So an agent that runs in `base`
    itself moves into a group below it.
    """

    def __init__(self, base: Path, max_bytes: int | None) -> None:
        """Raises OSError if `base` cannot be used."""
        self.prefix = f"qwf-{os.getpid()}-{os.urandom(4).hex()}-"  # random, as pids are reused
        self.base = base
        self._max_bytes = max_bytes
        self._made = 0
        self._remove_stale_groups()
        if str(os.getpid()) in (base / "cgroup.procs").read_text().split():
            own = base / f"{self.prefix}agent"
            own.mkdir(exist_ok=True)
            (own / "cgroup.procs").write_text("0")
        if max_bytes is not None and not self._can_limit():
            self._max_bytes = None
            log.warning(
                "control group %s cannot limit memory: only the watchdog enforces --max-rss", base
            )

    def make(self, limited: bool = True) -> ControlGroup:
        """Create one more group; unless `limited`, it may use as much memory as it likes. Raises
        OSError."""
        self._made += 1
        folder = self.base / f"{self.prefix}{self._made}"
        return ControlGroup(folder, self._max_bytes if limited else None)

    def folders(self) -> list[Path]:
        """The groups of the slots and of the model servers."""
        return list(self.base.glob(f"{self.prefix}[0-9]*"))

    def _remove_stale_groups(self) -> None:
        """Remove the empty groups of agents that no longer run."""
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
    """The groups below `given`, else below the group that systemd delegated to this process; None
    if there is neither. Raises CannotUse if `given` cannot be used."""
    base = given or _delegated()
    try:
        return None if base is None else ControlGroups(base, max_bytes)
    except OSError as error:
        if given is not None:
            raise CannotUse(f"control group {base} cannot be used: {error}") from None
        log.warning("control group %s cannot be used: %s", base, error)
        return None


def own_group() -> Path | None:
    """The group that holds this agent and its children; None if they have no group of their own."""
    return _group_of("self")


def groups_of_agents(guardian: str) -> list[Path] | None:
    """The groups of all agents of this box, those in another one left out; None if one of them has
    no group of its own. Each agent has a process with the name `guardian`."""
    found = {own_group()}
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if (folder / "comm").read_text(errors="replace").strip() == guardian:
                found.add(_group_of(folder.name))
    groups = [group for group in found if group is not None]
    if len(groups) < len(found):
        return None
    return [group for group in groups if found.isdisjoint(group.parents)]


def _group_of(process: str) -> Path | None:
    found = _folder_of(process)
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
    """Kill every process in a group at once; before Linux 5.14 one by one."""
    try:
        (folder / "cgroup.kill").write_text("1")
    except OSError:
        with suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(int(pid), signal.SIGKILL)


def remove(folder: Path) -> None:
    """Kill every process in a group, and remove the group once they have gone."""
    deadline = time.monotonic() + REMOVE_S
    while folder.is_dir():
        kill(folder)
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)


def _folder_of(process: str) -> Path | None:
    with suppress(OSError):
        mount = next((mount for mount in MOUNTS if (mount / "cgroup.procs").exists()), None)
        path = (PROC / process / "cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
        return None if mount is None else mount / path
    return None


def _delegated() -> Path | None:
    """The nearest group around this process that systemd delegated to it (Delegate=)."""
    own = _folder_of("self")
    if own is None or not hasattr(os, "getxattr"):
        return None
    for folder in (own, own.parent):  # the parent if DelegateSubgroup= is set
        for name in DELEGATED:
            with suppress(OSError):
                if os.getxattr(folder, name) == b"1":
                    return folder
    return None
