"""Stores the checkpoints that bodies save, and that bodies begin which run at most once, and tells
their children when it is committed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.child_news import NewCheckpoint
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.slot import Slot
from qwf_agent.child.messages import BEGUN

AGAIN_S = 0.2  # wait after a call that failed for a passing reason


@dataclass
class _Save:
    slot: Slot
    new: NewCheckpoint
    call: SentCall | None = None
    next_at: float = 0.0

    def is_wanted(self) -> bool:
        """Return True while the child has the job."""
        claim = self.new.claim
        return self.slot.claims.get(claim.ticket) is claim


class CheckpointSender:
    """Sends checkpoints over the connection that waits for the disk.

    Invariant: each is sent until the database has answered it, or its job has left the child. The
    body waits meanwhile.
    """

    def __init__(self) -> None:
        self._saves: list[_Save] = []

    def step(self, slots: Iterable[Slot], now: float) -> list[tuple[Claim, str]]:
        """Send new checkpoints; returns the verdicts on their jobs that arrived."""
        for slot in slots:
            while slot.checkpoints:
                self._saves.append(_Save(slot, slot.checkpoints.pop(0)))
        self._saves = [one for one in self._saves if one.is_wanted()]
        done = [one for one in self._saves if self._go_on(one, now)]
        self._saves = [one for one in self._saves if one not in done]
        return [(one.new.claim, one.call.value()) for one in done if one.call and one.call.records]

    def _go_on(self, save: _Save, now: float) -> bool:
        """Send it if that can be, and take its answer; returns True at its end."""
        claim, call = save.new.claim, save.call
        link = claim.worker.links.durable
        if call is None:
            if link.up and now >= save.next_at:
                text = save.new.text
                save.call = link.send(
                    db.begin(claim.job_id, claim.token)
                    if text == BEGUN
                    else db.save_checkpoint(claim.job_id, claim.token, text)
                )
            return False
        if not call.done:
            return False
        if call.failure is not None and not call.failure.by_data:
            save.call, save.next_at = None, now + AGAIN_S
            return False
        # The body of a job that is lost is killed: it is not told that its checkpoint was kept.
        if save.slot.process is not None and call.value() != "lost":
            refusal = "" if call.failure is None else str(call.failure)
            if save.new.text == BEGUN and call.failure is None and call.value() != "ok":
                refusal = "the job has to stop"
            save.slot.process.scoreboard.answer_save(save.new.number, refusal)
        return True
