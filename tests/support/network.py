"""Boxes with their own networks: a namespace each, and a cable to this host that can be cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NET = "10.213.{cable}.{end}"  # this host is end 1 of every cable


@dataclass
class Box:
    """A network namespace, and the address of this host as seen from it. Without a namespace the
    box is only a name and cannot be cut off."""

    name: str
    namespace: str | None = None
    gateway: str = "127.0.0.1"

    @property
    def inside(self) -> Sequence[str]:
        """The prefix of a command that runs it in this network, in the same process."""
        return () if self.namespace is None else ("nsenter", f"--net=/run/netns/{self.namespace}")

    def cut(self) -> None:
        """Drop all packets from now on, without an error."""
        self._link("down")

    def mend(self) -> None:
        """Reconnect the cable."""
        self._link("up")

    def _link(self, state: str) -> None:
        _run(*self.inside, "ip", "link", "set", "eth0", state)


@contextlib.contextmanager
def boxes(names: Sequence[str]) -> Iterator[dict[str, Box]]:
    """A box for each name, with its own network if this user may create one."""
    made = {name: Box(name) for name in names}
    try:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            cables = _free_cables()
            made = {name: _make(name, number, next(cables)) for number, name in enumerate(names)}
        yield made
    finally:
        for number in range(len(names)):
            _drop(number)


def _free_cables() -> Iterator[int]:
    """Numbers of networks that are not in use, for example by another run of these tests."""
    if os.getuid() != 0 or shutil.which("nsenter") is None:
        raise OSError("only root may create namespaces")
    used = _run("ip", "-oneline", "-4", "address")
    return (n for n in range(256) if NET.format(cable=n, end=1) not in used)


def _make(name: str, number: int, network: int) -> Box:
    space, cable = f"{_prefix()}{number}", f"{_prefix()}v{number}"
    host, box = (NET.format(cable=network, end=end) for end in (1, 2))
    _run("ip", "netns", "add", space)
    _run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
    _run("ip", "address", "add", f"{host}/30", "dev", cable)
    _run("ip", "link", "set", cable, "up")
    for words in (
        ("address", "add", f"{box}/30", "dev", "eth0"),
        ("link", "set", "eth0", "up"),
        ("link", "set", "lo", "up"),
    ):
        _run("ip", "-netns", space, *words)
    return Box(name, space, host)


def _drop(number: int) -> None:
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        _run("ip", "netns", "delete", f"{_prefix()}{number}")  # and the cable with it


def _prefix() -> str:
    return f"q{os.getpid()}"


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
