"""A registration on one queue: it looks for work, sleeps where there is none, and renews the
leases of what it holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from qwf_agent import db
from qwf_agent.claim import Claim, from_row
from qwf_agent.jitter import spread
from qwf_agent.link import Call, Link

log = logging.getLogger("qwf_agent")

RECHECK_S = (0.005, 0.025, 0.1)  # after falling asleep: a wake-up may have crossed with it
SAY_AGAIN_S = 2.0  # the database forgets a sleeper after five seconds
TROUBLE_S = 1.0  # pause after a call that failed


@dataclass(frozen=True)
class Settings:
    """What the database says about the queue; times in seconds, sizes in bytes."""

    lease: float
    heartbeat: float
    poll: float
    tick: float
    timeout: float
    cancel_grace: float
    stop_grace: float
    max_log_bytes: int
    max_value_bytes: int
    max_error_bytes: int


def read_settings(text: str, poll: float | None) -> Settings:
    """Settings from the JSON that qwf.agent_settings() returns; `poll` overrides the one given
    there."""
    given: dict[str, Any] = json.loads(text)
    settings = Settings(**{name: given[name] for name in Settings.__dataclass_fields__})
    return settings if poll is None else replace(settings, poll=poll)


class Worker:
    """One queue's claims, sleep and heartbeats, over the link for calls that commit softly.

    Invariant: at most one claim and one heartbeat are under way. It is asleep, as far as the
    database knows, only after a claim found nothing, and until one finds something or the agent
    has no room.
    """

    def __init__(
        self, worker_id: str, queue: str, settings: Settings, link: Link, lease: float | None
    ) -> None:
        self.id = worker_id
        self.queue = queue
        self.settings = settings
        self.asked = 0  # jobs asked for by the claim under way
        self._link = link
        self._lease = lease
        self._claiming: Call | None = None
        self._beating: Call | None = None
        self._asleep = False
        self._said_at = 0.0
        self._rechecks: list[float] = []
        self._look_at = 0.0
        self._beat_at = 0.0
        self._beat_s = min(settings.heartbeat, (lease or settings.lease) / 3)

    def look(self, room: int, share: int, now: float) -> None:
        """Claim up to `share` of the agent's `room` if it is time to. Without room, let wake-ups
        go to others."""
        if room <= 0:
            self._wake()
        elif share > 0 and self._claiming is None and now >= self._look_at and self._link.up:
            self.asked = min(share, 1000)
            self._claiming = self._link.send(db.claim(self.queue, self.id, self.asked, self._lease))

    def claimed(self, now: float) -> list[Claim]:
        """What a claim has brought, once."""
        call = self._claiming
        if call is None or not call.done:
            return []
        self._claiming, self.asked = None, 0
        if call.failure:
            self._look_at = now + spread(TROUBLE_S)
            if not call.failure.lost:
                log.warning("claiming from %s failed: %s", self.queue, call.failure)
            return []
        self._plan(bool(call.rows), now)
        return [from_row(row, self.settings.timeout) for row in call.rows]

    def told(self, payload: str) -> None:
        """A notification: the name of a queue that has work, or that a job was cancelled."""
        if payload == self.queue:
            self._look_at = 0.0
        if payload == "cancel":
            self._beat_at = 0.0

    def beat_due(self, now: float) -> bool:
        """Whether it is time to renew the leases."""
        return self._beating is None and now >= self._beat_at and self._link.up

    def beat(self, claims: Iterable[Claim], now: float) -> None:
        """Renew the leases of those that came from this queue."""
        tokens = [claim.token for claim in claims if claim.message["queue"] == self.queue]
        self._beating = self._link.send(db.heartbeat(self.id, tokens, self._lease))
        self._beat_at = now + self._beat_s

    def verdicts(self, now: float) -> dict[str, str]:
        """Verdict by token from a heartbeat that has come back, once."""
        call = self._beating
        if call is None or not call.done:
            return {}
        self._beating = None
        if call.failure:
            self._beat_at = now + min(TROUBLE_S, self._beat_s)
            return {}
        return {row["token"]: row["verdict"] for row in call.rows}

    def next_at(self, room: int) -> float:
        """When there is something to do, if nothing happens before."""
        beat = self._beat_at if self._beating is None else float("inf")
        look = self._look_at if self._claiming is None and room > 0 else float("inf")
        return min(beat, look) if self._link.up else float("inf")

    def _plan(self, found: bool, now: float) -> None:
        """When to look again: at once while there is work, and once more after falling asleep;
        then ever later."""
        if found:
            self._wake()
            self._look_at = now
        elif not self._asleep:
            self._rechecks = list(RECHECK_S)
            self._sleep(now)
            self._look_at = now
        else:
            poll = spread(self.settings.poll)
            self._look_at = now + (self._rechecks.pop(0) if self._rechecks else poll)
            if now >= self._said_at + SAY_AGAIN_S:
                self._sleep(now)

    def _sleep(self, now: float) -> None:
        self._asleep, self._said_at = True, now
        self._link.send(db.sleep(self.id, self.queue))

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            self._link.send(db.wake(self.id))
