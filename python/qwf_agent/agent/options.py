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
    slots: int | None = None
    app: str | None = None
    nodes: str | None = None
    allow_commands: Path | None = None
    gpu: str | None = None
    grace: float | None = None
    fresh: bool = False
    reload: bool = False
    recycle_jobs: int | None = None
    batch: int = 500
    lease: float | None = None
    poll: float | None = None
    wait: float = 120.0
    labels: tuple[tuple[str, str], ...] = ()
    rank: int = 0
    project: str | None = None
    vram_mb: int | None = None
    max_rss: int | None = None
    cgroup: Path | None = None
    listen_dsn: str | None = None

    @property
    def gpu_queues(self) -> frozenset[str]:
        """Queues whose jobs need a card to themselves unless they are light: those called gpu, or
        with --gpu all but cpu and default, or all if it serves no other."""
        if self.gpu is None:
            return frozenset({"gpu"} & set(self.queues))
        return frozenset(set(self.queues) - {"cpu", "default"} or self.queues)

    @property
    def lanes(self) -> bool:
        """Whether it serves such a queue."""
        return bool(self.gpu_queues)
