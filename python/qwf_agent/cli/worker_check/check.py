"""A check of a worker: its name, what it is about, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qwf_agent.cli.worker_check.kit import Kit


@dataclass(frozen=True)
class WorkerCheck:
    """`make` returns a sentence about what was seen, or raises Failed or Skipped with one."""

    name: str
    about: str
    hint: str  # what to do if it fails
    section: str  # of docs/clients.md
    make: Callable[[Kit], str]


def check(
    name: str, *, about: str, hint: str, section: str
) -> Callable[[Callable[[Kit], str]], WorkerCheck]:
    """Make a check of a function."""

    def decorate(make: Callable[[Kit], str]) -> WorkerCheck:
        return WorkerCheck(name, about, hint, section, make)

    return decorate
