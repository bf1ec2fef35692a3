"""Four boxes with networks of their own: three for databases, and `front` for agents and producers,
which has the switch. The addresses are the same in every run, because nothing else can see them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

FRONT = "front"
DATABASES = {"db1": "10.77.0.11", "db2": "10.77.0.12", "db3": "10.77.0.13"}
FRONT_ADDRESS = "10.77.0.1"
PREFIX = "qwfha"  # of the names of namespaces and folders
NEW_NETWORK = 0x40000000  # CLONE_NEWNET
END_S = 30.0

_libc = ctypes.CDLL(None, use_errno=True)


class Network:
    """The namespaces of this process. Invariant: after `remove` nothing runs in them."""

    def __init__(self) -> None:
        self._mark = f"{PREFIX}-{os.getpid()}"

    def build(self) -> None:
        """Raises OSError or CalledProcessError if this user may not."""
        front = self.space(FRONT)
        for box in (FRONT, *DATABASES):
            run("ip", "netns", "add", self.space(box))
            run("ip", "-netns", self.space(box), "link", "set", "lo", "up")
        run("ip", "-netns", front, "link", "add", "switch", "type", "bridge")
        run("ip", "-netns", front, "address", "add", f"{FRONT_ADDRESS}/24", "dev", "switch")
        run("ip", "-netns", front, "link", "set", "switch", "up")
        for box, address in DATABASES.items():
            space = self.space(box)
            run("ip", "-netns", front, "link", "add", f"to-{box}", "type", "veth",
                "peer", "name", "eth0", "netns", space)  # fmt: skip
            run("ip", "-netns", front, "link", "set", f"to-{box}", "master", "switch")
            run("ip", "-netns", space, "address", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-netns", space, "link", "set", "eth0", "up")
            self.mend(box)

    def space(self, box: str) -> str:
        return f"{self._mark}-{box}"

    def inside(self, box: str) -> tuple[str, ...]:
        """The prefix of a command that runs it in this box, in the same process."""
        return ("nsenter", f"--net=/run/netns/{self.space(box)}")

    def pids(self, box: str) -> list[int]:
        """All processes of the box."""
        return pids(self.space(box))

    def cut(self, box: str) -> None:
        """Pull the cable out of the switch: packets are lost, without an error."""
        run("ip", "-netns", self.space(FRONT), "link", "set", f"to-{box}", "down")

    def mend(self, box: str) -> None:
        run("ip", "-netns", self.space(FRONT), "link", "set", f"to-{box}", "up")

    @contextlib.contextmanager
    def visit(self, box: str) -> Iterator[None]:
        """Sockets that this thread opens meanwhile are in the network of the box."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.space(box)}", os.O_RDONLY)
        try:
            _enter(there)
            yield
        finally:
            _enter(home)
            os.close(home)
            os.close(there)

    def remove(self) -> None:
        for box in (FRONT, *DATABASES):
            _remove(self.space(box))


def sweep() -> None:
    """Remove what runs have left whose process has ended."""
    for space in _spaces():
        if not _owner_lives(space):
            _remove(space)
    for parent in (Path(tempfile.gettempdir()), Path("/dev/shm")):
        for folder in parent.glob(f"{PREFIX}-*"):
            if not _owner_lives(folder.name):
                shutil.rmtree(folder, ignore_errors=True)


def pids(space: str) -> list[int]:
    return [int(pid) for pid in run("ip", "netns", "pids", space).split()]


def send(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter the network")


def _spaces() -> list[str]:
    names = [line.split()[0] for line in run("ip", "netns", "list").splitlines() if line]
    return [name for name in names if name.startswith(f"{PREFIX}-")]


def _owner_lives(name: str) -> bool:
    owner = name.split("-")[1]
    return owner.isdigit() and Path(f"/proc/{owner}").exists()


def _remove(space: str) -> None:
    if space not in _spaces():
        return
    deadline = time.monotonic() + END_S
    while (left := pids(space)) and time.monotonic() < deadline:
        send(left, signal.SIGKILL)  # it ends a stopped process, too
        time.sleep(0.05)
    with contextlib.suppress(subprocess.CalledProcessError):
        run("ip", "netns", "delete", space)
