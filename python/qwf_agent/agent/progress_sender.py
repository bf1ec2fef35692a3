"""What bodies say about how far they are, on its way to the database: now and then, the last
word of each."""

from __future__ import annotations

from collections.abc import Iterable

from qwf_agent import db
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.link import Call, Link
from qwf_agent.agent.slot import Slot

EVERY_S = 0.5


class ProgressSender:
    """Sends news of running bodies; the answers say whether to go on."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._sent: list[tuple[Claim, Call]] = []
        self._next_at = 0.0

    def step(self, slots: Iterable[Slot], now: float) -> list[tuple[Claim, str]]:
        """Send what is new, if it is time to; verdicts (ok, lost, cancel) that have come back."""
        if now >= self._next_at and self._link.up:
            self._next_at = now + EVERY_S
            for slot in slots:
                self._send(slot)
        answered = [(claim, call) for claim, call in self._sent if call.done]
        self._sent = [(claim, call) for claim, call in self._sent if not call.done]
        return [(claim, call.value()) for claim, call in answered if call.failure is None]

    def _send(self, slot: Slot) -> None:
        said = slot.progress()
        if said is not None:
            claim, message = slot.claims[0], said.message.replace("\0", "") or None
            query = db.progress(claim.job_id, claim.token, said.fraction, message)
            self._sent.append((claim, self._link.send(query)))
