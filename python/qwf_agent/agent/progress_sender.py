"""Sends what running bodies report to the database: twice a second the last progress of each, and
every five seconds what it has tracked. Checkpoints are sent at once."""

from __future__ import annotations

import logging

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.checkpoints import CheckpointSender
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.running_body import RunningBody

log = logging.getLogger("qwf_agent")

EVERY_S = 0.5
TRACKED_EVERY_S = 5.0


class ProgressSender:
    """Sends new progress reports; each answer is a verdict on the job.

    Invariant: what a body tracked last is sent, also after its end, unless the database refuses it.
    """

    def __init__(self) -> None:
        self._sent: list[tuple[Claim, SentCall, str | None]] = []
        self._next_at = 0.0
        self._tracked: list[Claim] = []  # have something to send
        self._checkpoints = CheckpointSender()

    def step(self, slots: Pool, now: float) -> list[tuple[Claim, str]]:
        """Send new reports if it is time; returns the verdicts (ok, lost, cancel) that arrived."""
        for slot in slots:
            while slot.tracked:
                claim = slot.tracked.pop()
                if claim not in self._tracked:
                    self._tracked.append(claim)
        if now >= self._next_at:
            self._next_at = now + EVERY_S
            for slot in slots:
                for body in slot.bodies():
                    self._send(body, now)
        if self._tracked:
            self._send_tracked(slots, now)
        return self._verdicts() + self._checkpoints.step(slots, now)

    def _verdicts(self) -> list[tuple[Claim, str]]:
        answered = [one for one in self._sent if one[1].done]
        self._sent = [one for one in self._sent if not one[1].done]
        for claim, call, series in answered:
            if call.failure is None or series is None or claim.series is not None:
                continue
            if call.failure.by_data:
                log.warning("what job %s has tracked is not stored: %s", claim.job_id, call.failure)
            else:
                claim.series = series
                self._tracked.append(claim)
        return [(claim, call.value()) for claim, call, _ in answered if call.failure is None]

    def _send(self, body: RunningBody, now: float) -> None:
        claim = body.claims[0]
        record = body.new_progress() if claim.worker.links.soft.up else None
        if record is not None:
            message = record.message.replace("\0", "") or None
            self._call(claim, record.fraction, message, now)

    def _send_tracked(self, slots: Pool, now: float) -> None:
        """Send what was tracked, if that is due or the body has ended."""
        for claim in list(self._tracked):
            has_ended = slots.slot_of(claim) is None
            if (has_ended or _is_due(claim, now)) and claim.worker.links.soft.up:
                self._call(claim, None, None, now, ends=has_ended)

    def _call(
        self, claim: Claim, fraction: float | None, message: str | None, now: float,
        ends: bool = False,
    ) -> None:  # fmt: skip
        series = claim.series if ends or _is_due(claim, now) else None
        if series is not None:
            claim.series, claim.series_at = None, now
            self._tracked.remove(claim)
        query = db.progress(claim.job_id, claim.token, fraction, message, series)
        self._sent.append((claim, claim.worker.links.soft.send(query), series))


def _is_due(claim: Claim, now: float) -> bool:
    return claim.series is not None and now >= claim.series_at + TRACKED_EVERY_S
