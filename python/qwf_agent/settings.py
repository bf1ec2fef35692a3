"""What the database says about a queue: the answer of qwf.agent_settings()."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Times in seconds, sizes in bytes."""

    lease: float
    heartbeat: float
    poll: float
    tick: float
    timeout: float
    cancel_grace: float
    stop_grace: float
    stall_timeout: float
    stall_samples: int
    idle_gpu_percent: float
    idle_ram_bytes: int
    gpu_health_window: float
    model_load_grace: float
    model_idle: float
    recycle_jobs: int
    metrics: float
    max_log_bytes: int
    max_value_bytes: int
    max_error_bytes: int


def read_settings(text: str, poll: float | None) -> Settings:
    """Settings from the JSON that qwf.agent_settings() returns; `poll` overrides the one given
    there."""
    given: dict[str, Any] = json.loads(text)
    settings = Settings(**{name: given[name] for name in Settings.__dataclass_fields__})
    return settings if poll is None else replace(settings, poll=poll)
