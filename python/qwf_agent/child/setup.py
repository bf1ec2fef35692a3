"""What a child is told before its first job, and its end of what it shares with its parent."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.system.cgroup import ControlGroup


@dataclass(frozen=True)
class Limits:
    """Sizes, bytes, from the settings of the database."""

    value_bytes: int = 1 << 20
    error_bytes: int = 1 << 18
    log_bytes: int = 1 << 16


@dataclass(frozen=True)
class Setup:
    """What every child of an agent is told."""

    host: str
    app: str | None
    nodes: str | None
    out_root: Path
    allow_commands: Path | None
    environment: dict[str, str]
    limits: Limits
    max_rss: int | None  # bytes
    gpu: bool  # errors of a card are the host's, not the body's
    model_idle: float
    reload: bool  # say which files the code came from
    mark: str  # by which the guardian knows what a body has started


class ParentChannel(NamedTuple):
    """The child's end of everything it shares with its parent."""

    parent: int
    socket: socket.socket
    tickets: int
    cancels: int
    log: int
    mark: bytes
    scoreboard: Scoreboard
    group: ControlGroup | None
