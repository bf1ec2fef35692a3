"""Reports ended attempts to the database: many in one call, and again after a lost connection."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from qwf_agent.agent import db
from qwf_agent.agent.calls import Failure, SentCall
from qwf_agent.agent.claim import Claim, Claimant, FailedAttempt
from qwf_agent.agent.failure_log import FailureLog
from qwf_agent.agent.link import Link
from qwf_agent.agent.log_format import fields
from qwf_agent.child.outcome import SILENT, JobOutcome, render, report

log = logging.getLogger("qwf_agent")

MAX_REPORTS, MAX_BYTES = 500, 4 << 20  # in one call
RETRY_S = 0.5
PAUSE_S, MOST_PAUSE_S = 1.0, 15.0  # between two tries of reports that the database refuses
MOST_TASKS, MOST_NAMED = 20, 200  # tasks and jobs that a heartbeat names
MOST_ERROR, MOST_CONTEXT = 300, 1000  # characters


class Report:
    """A claim and the report about it; `failed` is to be logged when the database has it. `calls`
    failed with it, and `refusal` says why the database does not take it."""

    __slots__ = ("calls", "claim", "failed", "first_text", "refusal", "text")

    def __init__(self, claim: Claim, text: bytes, failed: FailedAttempt | None) -> None:
        self.claim = claim
        self.failed = failed
        self.text = self.first_text = text
        self.calls = 0
        self.refusal: Failure | None = None


class Reporter:
    """Sends reports, one call at a time, and drains the outbox after them. A report about a node
    may open the next one, so a claim can go in the same call: one commit and one round trip.

    Invariant: a report is kept until the database has answered it: ok, or lost to another worker. A
    report that the database cannot store is replaced, once, by a failure that says so. If a call
    with a claim fails, its reports go again without one. If a call fails twice because of something
    that does not pass by itself, its reports go one by one, and those that are refused wait apart:
    a report that is refused never delays the others. Then one report of each task is tried again,
    after a pause that grows; when it is taken, the others of its task follow.
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
        self._refused: list[Report] = []  # wait apart
        self._suspects: Counter[str] = Counter()  # tasks of reports that were refused, to be taken
        self._pause_s, self._again_at = PAUSE_S, float("inf")
        self._has_failed = False  # the last call
        self._has_changed = False  # whether the database refuses reports
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
        return [report.claim for report in self._unanswered()]

    def _unanswered(self) -> list[Report]:
        return [*self._sent, *self._waiting, *self._refused]

    def busy(self) -> bool:
        """Return True if a call is under way, so that new reports have to wait."""
        return self._finishing is not None

    def is_behind(self) -> bool:
        """Return True if so many reports wait that the agent should not claim more jobs."""
        return len(self._waiting) + len(self._refused) > 2 * MAX_REPORTS

    def held_back(self) -> int | None:
        """How many reports wait for an answer, if the database does not take all of them: then
        claim no jobs ahead."""
        if not self._has_failed and not self._suspects:
            return None
        return len(self._waiting) + len(self._sent)

    def has_tried(self) -> bool:
        """Return True if all reports are answered, or wait apart because they were refused."""
        return not self._waiting and not self._sent

    def idle(self) -> bool:
        """Return True if all reports are answered."""
        return self.has_tried() and not self._refused

    def take_change(self) -> bool:
        """True if since the last call the database has begun to refuse reports, or has taken the
        last of them."""
        changed, self._has_changed = self._has_changed, False
        return changed

    def stats(self, worker: Claimant) -> dict[str, Any]:
        """The part of a heartbeat about the reports of a worker that the database refuses: how many
        of each task with the reason of the last one, and the ids of the first jobs."""
        refused = [one for one in self._unanswered() if one.refusal and one.claim.worker is worker]
        if not refused:
            return {}
        counts = Counter(one.claim.task for one in refused)
        why = {one.claim.task: _why(one.refusal) for one in refused if one.refusal}
        tasks = [
            {"task": task, "reports": count, "error": why[task]}
            for task, count in counts.most_common(MOST_TASKS)
        ]
        jobs = [one.claim.job_id for one in refused[:MOST_NAMED]]
        return {"unreported": {"reports": len(refused), "tasks": tasks, "jobs": jobs}}

    def next_at(self) -> float:
        """When it tries again, unless a call is under way."""
        if not self._link.up or self._finishing is not None:
            return float("inf")
        return max(self._retry_at, 0.0 if self._waiting else self._again_at)

    def try_soon(self) -> None:
        """Try at once what was refused: all of it, because the agent is about to stop."""
        self._waiting.extend(self._refused)
        self._refused, self._again_at = [], float("inf")

    def give_up(self) -> None:
        """Name the jobs whose reports were refused to the end: they run again."""
        for one in self._unanswered() if self._suspects else ():
            log.error(
                "job %s (%s) has ended, but the database refuses the report: it runs again. %s",
                one.claim.job_id, one.claim.task, _why(one.refusal),
            )  # fmt: skip

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
            and not self._suspects
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
        if now >= self._again_at and self._finishing is None:
            self._try_again(now)
        if self._waiting and self._finishing is None:
            self._send(None)
        if self._drain and self._draining is None:
            self._drain = False
            self._draining = self._link.send(db.drain_outbox())

    def _send(self, wanted: db.Wanted | None) -> None:
        max_reports, size = (1 if self._one_by_one > 0 else MAX_REPORTS), 0
        while self._waiting and len(self._sent) < max_reports and size < MAX_BYTES:
            is_suspect = self._waiting[0].claim.task in self._suspects
            if is_suspect and self._sent:
                break
            self._sent.append(self._waiting.popleft())
            size += len(self._sent[-1].text)
            if is_suspect:
                break
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
        self._has_failed = call.failure is not None
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
                if answered.refusal is not None:
                    self._was_taken(answered)
        elif had_claim and not call.failure.lost:
            self._waiting.extendleft(reversed(sent))
            self._alone = len(sent)
            log.warning("reporting with a claim failed, reporting without: %s", call.failure)
        elif call.failure.lost or call.failure.passing:
            self._waiting.extendleft(reversed(sent))
            self._retry_at = now + (0 if call.failure.lost else RETRY_S)
            if not call.failure.lost:
                log.warning("reporting failed: %s", call.failure)
        elif call.failure.by_data and len(sent) == 1:
            self._replace(sent[0], call.failure, now)
        elif call.failure.by_data:
            self._waiting.extendleft(reversed(sent))
            self._one_by_one = len(sent)
        else:
            self._refuse(sent, call.failure, now)

    def _refuse(self, sent: list[Report], failure: Failure, now: float) -> None:
        """Find the reports that the database refuses: those that have failed twice go alone."""
        for one in sent:
            one.calls += 1
        if len(sent) == 1 and (sent[0].calls > 1 or sent[0].claim.task in self._suspects):
            self._keep_apart(sent[0], failure, now)
            return
        log.warning("reporting failed: %s", failure)
        self._waiting.extendleft(reversed(sent))
        if any(one.calls > 1 for one in sent):
            self._one_by_one = len(sent)
        else:
            self._retry_at = now + RETRY_S

    def _keep_apart(self, report: Report, failure: Failure, now: float) -> None:
        """Let the others go on without this one, and tell people why it waits."""
        task, job_id = report.claim.task, report.claim.job_id
        if report.refusal is None:
            self._has_changed = self._has_changed or not self._suspects
            context = " ".join((failure.context or "none").split())[:MOST_CONTEXT]
            log.error(
                "job %s (%s) has ended, but the database refuses the report, which is tried again:"
                " %s%s", job_id, task, _why(failure),
                "" if self._suspects[task] else f"; CONTEXT: {context}",
                extra=fields(job=job_id, task=task, sqlstate=failure.sqlstate),
            )  # fmt: skip
            self._suspects[task] += 1
        if not self._refused:
            self._again_at = now + self._pause_s
        report.refusal = failure
        self._refused.insert(0, report)

    def _try_again(self, now: float) -> None:
        """Send one of the refused reports of each task, another one than last time."""
        last = {report.claim.task: report for report in self._refused}
        self._refused = [one for one in self._refused if one is not last[one.claim.task]]
        self._waiting.extendleft(last.values())
        self._pause_s = min(2 * self._pause_s, MOST_PAUSE_S)
        self._again_at = now + self._pause_s if self._refused else float("inf")

    def _was_taken(self, report: Report) -> None:
        """A report that was refused was taken: send the others of its task."""
        task = report.claim.task
        self._suspects[task] -= 1
        self._waiting.extend(one for one in self._refused if one.claim.task == task)
        self._refused = [one for one in self._refused if one.claim.task != task]
        if not self._suspects[task]:
            del self._suspects[task]
        if not self._refused:
            self._pause_s, self._again_at = PAUSE_S, float("inf")
        if not self._suspects:
            self._has_changed = True
            log.info("the database takes all reports again")

    def _split(self, call: SentCall, reports: int, claiming: SentCall) -> None:
        """Give the claim its part of the answer: the rows after the verdicts."""
        claiming.columns, claiming.records = call.columns, call.records[reports:]
        claiming.failure, claiming.done = call.failure, True
        call.records = call.records[:reports]

    def _replace(self, refused: Report, failure: Failure, now: float) -> None:
        """Replace a report that the database cannot store by a failure that says so. If it refuses
        that, too, it is not the report that is wrong."""
        if refused.text is not refused.first_text:
            refused.text = refused.first_text
            if not failure.unreadable:  # else the database has it
                self._keep_apart(refused, failure, now)
            return
        log.warning("job %s: the database refused the report: %s", refused.claim.job_id, failure)
        outcome = JobOutcome(
            "error", error=f"the output cannot be stored: {failure.message} ({failure.sqlstate})"
        )
        refused.text = report(refused.claim.job_id, refused.claim.token, render(outcome), {})
        self._waiting.appendleft(refused)


def _why(failure: Failure | None) -> str:
    """SQLSTATE, message and place of an error."""
    if failure is None:
        return ""
    where = f" ({failure.where})" if failure.where else ""
    return f"{failure.sqlstate} {failure.message}"[:MOST_ERROR] + where[:MOST_ERROR]
