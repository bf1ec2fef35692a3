"""Reports ended attempts to the database: many in one call, and again after a lost connection."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping

from qwf_agent.agent import db
from qwf_agent.agent.calls import Failure, SentCall
from qwf_agent.agent.claim import Claim, FailedAttempt
from qwf_agent.agent.failure_log import FailureLog
from qwf_agent.agent.link import Link
from qwf_agent.child.outcome import SILENT, JobOutcome, render, report

log = logging.getLogger("qwf_agent")

MAX_REPORTS, MAX_BYTES = 500, 4 << 20  # in one call
RETRY_S = 0.5


class Report:
    """A claim and the report about it; `failed` is to be logged when the database has it."""

    __slots__ = ("claim", "failed", "replaced", "text")

    def __init__(self, claim: Claim, text: bytes, failed: FailedAttempt | None) -> None:
        self.claim = claim
        self.failed = failed
        self.text = text
        self.replaced = False


class Reporter:
    """Sends reports, one call at a time, and drains the outbox after them. A report about a node
    may open the next one, so a claim can go in the same call: one commit and one round trip.

    Invariant: a report is kept until the database has answered it: ok, or lost to another worker. A
    report that the database cannot store is replaced, once, by a failure that says so; it never
    delays the others. If a call with a claim fails, its reports go again without one.
    """

    def __init__(self, link: Link, failures: FailureLog) -> None:
        self._link = link
        self._failures = failures
        self._waiting: deque[Report] = deque()
        self._sent: list[Report] = []
        self._finishing: SentCall | None = None
        self._claiming: SentCall | None = None  # the claim that the call under way makes too
        self._draining: SentCall | None = None
        self._one_by_one = 0  # how many reports to send singly, to find the bad one
        self._alone = 0  # how many reports to send without a claim, because one has failed
        self._queues: set[str] = set()  # queues of the nodes among the waiting reports
        self._drain = False
        self._retry_at = 0.0

    def add(
        self,
        claim: Claim,
        rendered: bytes,
        log_tail: str = "",
        failed: FailedAttempt | None = None,
        seconds: float | None = None,
    ) -> None:
        """Queue a report; `rendered` comes from `outcome.render`. An empty log says that the body
        printed nothing; a report without one would say that nobody sent it."""
        more: Mapping[str, str | int] = {"log_tail": log_tail} if log_tail else SILENT
        if claim.gpu_peak_bytes:
            more = {**more, "gpu_peak_bytes": claim.gpu_peak_bytes}
        text = report(claim.job_id, claim.token, rendered, more, seconds)
        self._waiting.append(Report(claim, text, failed))
        if claim.run_id is not None:
            self._queues.add(claim.queue)

    def claims(self) -> list[Claim]:
        """Claims whose reports are not answered yet: their leases still need renewing."""
        return [waiting.claim for waiting in (*self._sent, *self._waiting)]

    def busy(self) -> bool:
        """Return True if a call is under way, so that new reports have to wait."""
        return self._finishing is not None

    def is_behind(self) -> bool:
        """Return True if so many reports wait that the agent should not claim more jobs."""
        return len(self._waiting) > 2 * MAX_REPORTS

    def idle(self) -> bool:
        """Return True if all reports are answered."""
        return not self._waiting and not self._sent

    def has_drained(self) -> bool:
        """Return True if all reports are answered, and what they left in the outbox is applied."""
        return self.idle() and not self._drain and self._draining is None

    def takes_claim(self, queue: str, now: float) -> bool:
        """Return True if a claim from this queue should go with the reports: they are about to be
        sent, and are about nodes of the queue."""
        return (
            queue in self._queues
            and self._finishing is None
            and now >= self._retry_at
            and self._alone == self._one_by_one == 0
            and self._link.idle
        )

    def send_with_claim(self, wanted: db.Wanted) -> SentCall:
        """Send the waiting reports and claim; the claim is done when the reports are answered."""
        self._claiming = SentCall(db.claim(wanted))
        self._send(wanted)
        return self._claiming

    def take_answer(self, now: float) -> set[str]:
        """Handle the answer to reports, and to the claim that went with them. Returns the queues in
        which nodes may have opened that this claim cannot have found."""
        if self._finishing is None or not self._finishing.done:
            return set()
        queues = set() if self._claiming else {r.claim.queue for r in self._sent if r.claim.run_id}
        self._settle(self._finishing, now)
        return queues

    def step(self, now: float) -> None:
        """Send the reports that have gathered, and drain the outbox if they left something."""
        if self._draining is not None and self._draining.done:
            self._drain = self._drain or (self._draining.value() or 0) > 0
            self._draining = None
        if not self._link.up or now < self._retry_at:
            return
        if self._waiting and self._finishing is None:
            self._send(None)
        if self._drain and self._draining is None:
            self._drain = False
            self._draining = self._link.send(db.drain_outbox())

    def _send(self, wanted: db.Wanted | None) -> None:
        max_reports, size = (1 if self._one_by_one > 0 else MAX_REPORTS), 0
        while self._waiting and len(self._sent) < max_reports and size < MAX_BYTES:
            self._sent.append(self._waiting.popleft())
            size += len(self._sent[-1].text)
        self._one_by_one = max(0, self._one_by_one - 1)
        self._alone = max(0, self._alone - len(self._sent))
        if not self._waiting:
            self._queues.clear()
        reports = b"[" + b",".join(r.text for r in self._sent) + b"]"
        self._finishing = self._link.send(
            db.finish_many(reports) if wanted is None else db.finish_and_claim(reports, wanted)
        )

    def _settle(self, call: SentCall, now: float) -> None:
        sent, self._sent, self._finishing = self._sent, [], None
        had_claim = self._claiming is not None
        if self._claiming is not None:
            self._split(call, len(sent), self._claiming)
            self._claiming = None
        if call.failure is None:
            taken_over = set()
            for job_id, verdict, pending in call.pick("job_id", "verdict", "pending"):
                self._drain = self._drain or pending
                if verdict != "ok":
                    log.info("job %s: %s to another worker", job_id, verdict)
                    taken_over.add(job_id)
            for answered in sent:
                if answered.failed is not None and answered.claim.job_id not in taken_over:
                    self._failures.add(answered.failed)
        elif had_claim and not call.failure.lost:
            self._waiting.extendleft(reversed(sent))
            self._alone = len(sent)
            log.warning("reporting with a claim failed, reporting without: %s", call.failure)
        elif not call.failure.by_data:
            self._waiting.extendleft(reversed(sent))
            self._retry_at = now + (0 if call.failure.lost else RETRY_S)
            if not call.failure.lost:
                log.warning("reporting failed: %s", call.failure)
        elif len(sent) > 1:
            self._waiting.extendleft(reversed(sent))
            self._one_by_one = len(sent)
        else:
            self._replace(sent[0], call.failure)

    def _split(self, call: SentCall, reports: int, claiming: SentCall) -> None:
        """Give the claim its part of the answer: the rows after the verdicts."""
        claiming.columns, claiming.records = call.columns, call.records[reports:]
        claiming.failure, claiming.done = call.failure, True
        call.records = call.records[:reports]

    def _replace(self, refused: Report, failure: Failure) -> None:
        """Replace a report that the database cannot store by a failure that says so."""
        log.warning("job %s: the database refused the report: %s", refused.claim.job_id, failure)
        if refused.replaced:
            return  # give up: the lease will lapse
        outcome = JobOutcome(
            "error", error=f"the output cannot be stored: {failure.message} ({failure.sqlstate})"
        )
        refused.text = report(refused.claim.job_id, refused.claim.token, render(outcome), {})
        refused.replaced = True
        self._waiting.appendleft(refused)
