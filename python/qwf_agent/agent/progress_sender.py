"""Sends the progress of running bodies to the database: twice a second, the last report of each.
Checkpoints are sent at once."""

from __future__ import annotations

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.checkpoints import CheckpointSender
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.running_body import RunningBody

EVERY_S = 0.5


class ProgressSender:
    """Sends new progress reports; each answer is a verdict on the job."""

    def __init__(self) -> None:
        self._sent: list[tuple[Claim, SentCall]] = []
        self._next_at = 0.0
        self._checkpoints = CheckpointSender()

    def step(self, slots: Pool, now: float) -> list[tuple[Claim, str]]:
        """Send new reports if it is time; returns the verdicts (ok, lost, cancel) that arrived."""
        if now >= self._next_at:
            self._next_at = now + EVERY_S
            for slot in slots:
                for body in slot.bodies():
                    self._send(body)
        answered = [(claim, call) for claim, call in self._sent if call.done]
        self._sent = [(claim, call) for claim, call in self._sent if not call.done]
        verdicts = [(claim, call.value()) for claim, call in answered if call.failure is None]
        return verdicts + self._checkpoints.step(slots, now)

    def _send(self, body: RunningBody) -> None:
        claim = body.claims[0]
        link = claim.worker.links.soft
        record = body.new_progress() if link.up else None
        if record is not None:
            message = record.message.replace("\0", "") or None
            query = db.progress(claim.job_id, claim.token, record.fraction, message)
            self._sent.append((claim, link.send(query)))
