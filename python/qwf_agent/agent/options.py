"""The options of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qwf_agent.servers.config import ServerConfig

SERVED_QUEUE = "llm"  # an agent of this queue runs the model servers of its box
NO_CARD = frozenset({"cpu", "default", SERVED_QUEUE})


@dataclass(frozen=True)
class AgentOptions:
    """The options from the command line, the environment and qwf.toml. Times in seconds, memory in
    bytes, `vram_mb` in MiB. `listen_dsn`: where to LISTEN if `dsn` leads through a transaction
    pooler."""

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
    otel: bool = False
    recycle_jobs: int | None = None
    batch: int = 500
    lease: float | None = None
    durable_claims: bool = False
    poll: float | None = None
    wait: float = 120.0
    labels: tuple[tuple[str, str], ...] = ()
    rank: int = 0
    project: str | None = ""  # None: all
    vram_mb: int | None = None
    max_rss: int | None = None
    cgroup: Path | None = None
    until_empty: bool = False
    servers: tuple[ServerConfig, ...] = ()
    receivers: tuple[str, ...] = ()  # names
    listen_dsn: str | None = None

    @property
    def gpu_queues(self) -> frozenset[str]:
        """Queues whose jobs need a card to themselves unless they are light: the queue gpu; with
        --gpu every queue except cpu, default and llm; if there is no other, all but llm."""
        if self.gpu is None:
            return frozenset({"gpu"} & set(self.queues))
        return frozenset(set(self.queues) - NO_CARD or set(self.queues) - {SERVED_QUEUE})

    @property
    def lanes(self) -> bool:
        """True if the agent serves such a queue."""
        return bool(self.gpu_queues)
