"""The set-up of a child before its first job: its configuration, and its end of what it shares with
its parent."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from qwf_agent.child.answers import AnswerRing
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.system.cgroup import ControlGroup


@dataclass(frozen=True)
class Limits:
    """Maximum sizes in bytes, from the settings of the database."""

    value_bytes: int = 1 << 20
    error_bytes: int = 1 << 18
    log_bytes: int = 1 << 16


@dataclass(frozen=True)
class Setup:
    """The configuration of a child."""

    host: str
    app: str | None
    nodes: str | None
    allow_commands: Path | None
    environment: dict[str, str]
    limits: Limits
    max_rss: int | None  # bytes
    gpu: bool  # errors of a card are faults of the host, not of the body
    model_idle: float  # seconds
    reload: bool  # report which files the code came from
    otel: bool  # make spans
    mark: str  # the guardian recognises the processes that a body started by it


class ParentChannel(NamedTuple):
    """The child's end of everything it shares with its parent."""

    parent: int
    socket: socket.socket
    tickets: int
    told: int
    log: int
    mark: bytes
    scoreboard: Scoreboard
    answers: AnswerRing
    group: ControlGroup | None
