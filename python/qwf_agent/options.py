"""What an agent was asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Everything from the command line, the environment and qwf.toml. Times in seconds."""

    dsn: str
    queues: tuple[str, ...]
    host: str
    out_root: Path
    slots: int = 1
    app: str | None = None
    nodes: str | None = None
    allow_commands: Path | None = None
    gpu: str | None = None
    grace: float | None = None
    fresh: bool = False
    recycle_jobs: int = 1000
    batch: int = 500
    lease: float | None = None
    poll: float | None = None
    wait: float = 120.0


@dataclass(frozen=True)
class Limits:
    """Sizes, bytes, from the settings of the database."""

    value_bytes: int = 1 << 20
    error_bytes: int = 1 << 18
    log_bytes: int = 1 << 16
