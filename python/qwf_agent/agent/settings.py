"""The settings of a queue, from qwf.agent_settings()."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from typing import Any

from qwf_agent.agent import db
from qwf_agent.agent.calls import Notification, SentCall
from qwf_agent.agent.link import Link
from qwf_agent.agent.options import AgentOptions

log = logging.getLogger("qwf_agent")

PAYLOAD = "settings"  # on the channel worker_control: settings have changed
READ_AGAIN_S = 60.0  # in case notifications do not arrive, as behind a transaction pooler
# Shortest time between two calls for the same thing: any login may send notifications, in a flood.
SHORTEST_S = 0.05


@dataclass(frozen=True)
class Settings:
    """Times in seconds, sizes in bytes."""

    lease: float
    heartbeat: float
    poll: float
    pack_patience: float | None  # how long a new job is left to a better worker; None: it is not
    tick: float
    timeout: float
    cancel_grace: float
    stop_grace: float
    stall_timeout: float
    stall_samples: int
    idle_gpu_percent: float
    idle_cpu_percent: float  # of one core
    idle_ram_bytes: int
    gpu_health_window: float
    model_load_grace: float
    model_idle: float
    affinity_max_wait: float
    recycle_jobs: int
    metrics: float
    max_log_bytes: int
    max_value_bytes: int
    max_error_bytes: int
    instance: str  # which database this is; `generation` grows when it is restored from a backup
    generation: int

    @property
    def beat_s(self) -> float:
        """Seconds between two heartbeats: at least three in the time of a lease."""
        return min(self.heartbeat, self.lease / 3)


def read_settings(text: str, options: AgentOptions) -> Settings:
    """Settings from the JSON that qwf.agent_settings() returns. --poll and --lease of the agent
    override its values."""
    given: dict[str, Any] = json.loads(text)
    settings = Settings(**{name: given[name] for name in Settings.__dataclass_fields__})
    return replace(
        settings, poll=options.poll or settings.poll, lease=options.lease or settings.lease
    )


class SettingsReader:
    """Reads the settings of a queue again after a notification and every 60 s.

    Invariant: at most one call is under way.
    """

    def __init__(self, queue: str, options: AgentOptions, link: Link, now: float) -> None:
        self._queue = queue
        self._options = options
        self._link = link
        self._reading: SentCall | None = None
        self._asked_at = now
        self._read_at = now + READ_AGAIN_S
        # Since it was connected again, it has not read them: it may be a restored database, or
        # another one, and its jobs must not get the files of other jobs.
        self.is_behind = False

    def notified(self, notification: Notification) -> None:
        """Read soon if the notification says that settings have changed."""
        if notification == (db.WORKER_CONTROL, PAYLOAD):
            self._read_at = min(self._read_at, self._asked_at + SHORTEST_S)

    def step(self, now: float) -> Settings | None:
        """Ask if it is time; returns each answer once."""
        call = self._reading
        if call is not None and call.done:
            self._reading = None
            if call.failure is None:
                self.is_behind = False
                return self._read(call.value())
            if self.is_behind:
                self._read_at = min(self._read_at, now + 1.0)
        if not self._link.up:
            self._read_at = 0.0  # a notification may have been missed
            self.is_behind = True
        if self._reading is None and now >= self._read_at and self._link.up:
            self._asked_at, self._read_at = now, now + READ_AGAIN_S
            self._reading = self._link.send(db.agent_settings(self._queue))
        return None

    def _read(self, text: str) -> Settings | None:
        try:
            return read_settings(text, self._options)
        except Exception as error:  # such as the settings of another version
            log.warning("cannot read the settings of %s, keeping the old: %r", self._queue, error)
            return None

    def next_at(self) -> float:
        """When it asks next."""
        return self._read_at if self._link.up and self._reading is None else float("inf")
