"""Sends the output of running bodies to the database while somebody follows it: what they print and
what they stream."""

from __future__ import annotations

from collections.abc import Iterable

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.link import Link
from qwf_agent.agent.running_body import RunningBody
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.worker import Worker

EVERY_S = 0.25
TAIL_BYTES = 16384
END_SENT = 4  # times that the end of a stream is sent, if its row is locked


class Followed:
    """A job that somebody follows: what was sent of it."""

    def __init__(self) -> None:
        self.claim: Claim | None = None  # once it runs
        self.printed = -1
        self.streamed = 0
        self.ends_sent = 0


class LogSender:
    """Sends the end of followed logs and streams as they grow, until the database answers that
    nobody follows any more; and the end of a stream when its body has ended."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._asking: list[SentCall] = []
        self._followed: dict[int, Followed] = {}
        self._sending: dict[int, SentCall] = {}
        self._next_at = 0.0

    def step(self, workers: Iterable[Worker], slots: Iterable[Slot], now: float) -> None:
        """Ask which jobs are followed, after a notification; send what has grown."""
        for worker in workers:
            if worker.take_log_request():
                self._asking.append(self._link.send(db.followed_logs(worker.id)))
        for call in [call for call in self._asking if call.done]:
            self._asking.remove(call)
            for job_id in [job_id for row in call.rows for job_id in row.values()]:
                self._followed[job_id] = Followed()
        for job_id in [job_id for job_id, call in self._sending.items() if call.done]:
            self._take_answer(job_id, self._sending.pop(job_id))
        if self._followed and now >= self._next_at and self._link.up:
            self._next_at = now + EVERY_S
            self._send_all(list(slots))

    def next_at(self) -> float:
        """When there may be something to send."""
        return self._next_at if self._followed and self._link.up else float("inf")

    def _take_answer(self, job_id: int, call: SentCall) -> None:
        followed, stored = self._followed.get(job_id), call.value()
        if followed is None:
            return
        if followed.ends_sent:
            if stored is not False or followed.ends_sent >= END_SENT:
                del self._followed[job_id]
        elif stored is False:
            del self._followed[job_id]

    def _send_all(self, slots: list[Slot]) -> None:
        running = {
            claim.job_id: (claim, body)
            for slot in slots
            for body in slot.bodies()
            for claim in body.claims
        }
        held = {claim.job_id for slot in slots for claim in slot.claims.values()}
        for job_id, followed in list(self._followed.items()):
            if job_id in self._sending:
                continue
            if job_id in running:
                self._send(followed, *running[job_id])
            elif job_id not in held and followed.claim is not None:
                self._send_end(followed, followed.claim)
            elif job_id not in held:
                del self._followed[job_id]

    def _send(self, followed: Followed, claim: Claim, body: RunningBody) -> None:
        if followed.claim is not claim:  # another attempt, or the first
            followed.claim, followed.printed, followed.streamed = claim, -1, 0
        printed, tail = body.printed(TAIL_BYTES)
        streamed, stream = body.streamed() or (0, None)
        if printed > followed.printed or streamed > followed.streamed:
            is_new = streamed > followed.streamed
            followed.printed, followed.streamed = printed, max(streamed, followed.streamed)
            more = (streamed, stream) if is_new else None
            query = db.report_log(claim.job_id, claim.token, printed, tail, more, ended=False)
            self._sending[claim.job_id] = self._link.send(query)

    def _send_end(self, followed: Followed, claim: Claim) -> None:
        followed.ends_sent += 1
        query = db.report_log(claim.job_id, claim.token, 0, "", claim.streamed, ended=True)
        self._sending[claim.job_id] = self._link.send(query)
