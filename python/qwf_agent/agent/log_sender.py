"""Sends the output of running bodies to the database while somebody follows it."""

from __future__ import annotations

from collections.abc import Iterable

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.link import Link
from qwf_agent.agent.running_body import RunningBody
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.worker import Worker

EVERY_S = 0.5
TAIL_BYTES = 16384


class LogSender:
    """Sends the end of followed logs as they grow, until the database answers that nobody follows
    any more."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._asking: list[SentCall] = []
        self._sent: dict[int, int] = {}  # by followed job: number of printed bytes when last sent
        self._sending: dict[int, SentCall] = {}
        self._next_at = 0.0

    def step(self, workers: Iterable[Worker], slots: Iterable[Slot], now: float) -> None:
        """Ask which jobs are followed, after a notification; send the logs that have grown."""
        for worker in workers:
            if worker.take_log_request():
                self._asking.append(self._link.send(db.followed_logs(worker.id)))
        for call in [call for call in self._asking if call.done]:
            self._asking.remove(call)
            self._sent.update({job_id: -1 for row in call.rows for job_id in row.values()})
        for job_id in [job_id for job_id, call in self._sending.items() if call.done]:
            if self._sending.pop(job_id).value() is False:
                self._sent.pop(job_id, None)
        if self._sent and now >= self._next_at and self._link.up:
            self._next_at = now + EVERY_S
            running = {
                claim.job_id: (claim, body)
                for slot in slots
                for body in slot.bodies()
                for claim in body.claims
            }
            self._sent = {job: sent for job, sent in self._sent.items() if job in running}
            for job_id in self._sent.keys() - self._sending.keys():
                self._send(*running[job_id])

    def next_at(self) -> float:
        """When there may be something to send."""
        return self._next_at if self._sent and self._link.up else float("inf")

    def _send(self, claim: Claim, body: RunningBody) -> None:
        printed, tail = body.printed(TAIL_BYTES)
        if printed > self._sent[claim.job_id]:
            self._sent[claim.job_id] = printed
            query = db.report_log(claim.job_id, claim.token, printed, tail)
            self._sending[claim.job_id] = self._link.send(query)
