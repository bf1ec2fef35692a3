"""Logs the attempts that failed: one line for each, with what happens next to the job."""

from __future__ import annotations

import json
import logging
from collections import Counter

from qwf_agent.agent import db
from qwf_agent.agent.calls import Row, SentCall
from qwf_agent.agent.claim import FailedAttempt
from qwf_agent.agent.link import Link
from qwf_agent.agent.log_format import fields

log = logging.getLogger("qwf_agent")

FAILED = ("error", "fatal", "tempfail", "lost")
MAX_LINES, INTERVAL_S = 50, 10.0  # lines in an interval; the failures beyond are counted
MAX_ERROR = 300  # characters of an error
MAX_KINDS = 5  # kinds of failures that a summary names


class FailureLog:
    """Asks the database what happens next, and logs it.

    Invariant: at most one call is under way, and at most MAX_LINES failures wait or are logged in
    an interval, so that a flood of failures costs next to nothing.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._waiting: list[FailedAttempt] = []
        self._asked: list[FailedAttempt] = []
        self._asking: SentCall | None = None
        self._lines = 0
        self._more: Counter[str] = Counter()
        self._interval_at = 0.0

    def add(self, failed: FailedAttempt) -> None:
        """Log this one, or count it if there are too many."""
        self._lines += 1
        if self._lines <= MAX_LINES:
            self._waiting.append(failed)
        else:
            self._more[f"{failed.claim.task} {_kind(failed)}"] += 1

    def step(self, now: float) -> None:
        """Log what the database has answered, and ask about the next ones."""
        if self._asking is not None and self._asking.done:
            rows = {(row["job_id"], row["attempt"]): row for row in self._asking.rows}
            for failed in self._asked:
                _log(failed, rows.get((failed.claim.job_id, failed.claim.attempt)))
            self._asking, self._asked = None, []
        if self._waiting and self._asking is None:
            self._asked, self._waiting = self._waiting, []
            jobs = [failed.claim.job_id for failed in self._asked]
            attempts = [failed.claim.attempt for failed in self._asked]
            outcomes = [failed.outcome for failed in self._asked]
            self._asking = self._link.send(db.after_failures(jobs, attempts, outcomes))
        if self._lines and now >= self._interval_at:
            self._sum_up()
            self._interval_at = now + INTERVAL_S

    def next_at(self) -> float:
        """When the interval ends, if failures were counted in it."""
        return self._interval_at if self._more else float("inf")

    def close(self) -> None:
        """Log what was not logged yet."""
        for failed in (*self._asked, *self._waiting):
            _log(failed, None)
        self._asked, self._waiting = [], []
        self._sum_up()

    def _sum_up(self) -> None:
        more, self._more, self._lines = self._more, Counter(), 0
        if not more:
            return
        kinds = ", ".join(f"{count} x {kind}" for kind, count in more.most_common(MAX_KINDS))
        rest = ", and others" if len(more) > MAX_KINDS else ""
        log.warning(
            "%d more attempts failed in %g s: %s%s", more.total(), INTERVAL_S, kinds, rest,
            extra=fields(failures=more.total()),
        )  # fmt: skip


def _log(failed: FailedAttempt, row: Row | None) -> None:
    """Log one attempt; `row` is what the database says about its job, if it has answered."""
    if failed.reason == "arguments" and row and row["retry_s"] is not None:  # see older_code
        failed = failed._replace(outcome="released", reason="older_code")
    claim, error = failed.claim, _first_line(failed.report)
    where = "" if claim.run_id is None else f" (run {claim.run_id}, node {claim.node_id})"
    what = f"{_kind(failed)}, {_try(failed, row)}{_next(row)}"
    log.warning(
        "%s",
        f"job {claim.job_id} {claim.task}{where}: {what}: {error}",
        extra=fields(
            job=claim.job_id, run=claim.run_id, node=claim.node_id, task=claim.task,
            queue=claim.queue, attempt=claim.attempt, outcome=failed.outcome, reason=failed.reason,
            error=error, status=row and row["status"], retry_s=row and row["retry_s"],
            tries=row and row["tries"], max_tries=row and row["max_tries"],
        ),
    )  # fmt: skip


def _kind(failed: FailedAttempt) -> str:
    return failed.outcome if failed.reason is None else f"{failed.outcome} ({failed.reason})"


def _try(failed: FailedAttempt, row: Row | None) -> str:
    if row is None or row["max_tries"] is None:
        return f"attempt {failed.claim.attempt}"
    what = "loss" if failed.outcome == "lost" else "try"
    return f"{what} {row['tries']} of {row['max_tries']}"


def _next(row: Row | None) -> str:
    """The next step of the job, in words."""
    if row is None:
        return ""
    if row["retry_s"] is not None:
        return f", runs again in {row['retry_s']:.3g} s"
    words = {"queued": "runs again", "running": "runs again", "awaiting_input": "asks what to do"}
    return f", {words.get(row['status'], row['status'])}"


def _first_line(report: bytes) -> str:
    """The first line of the error in a report."""
    try:
        error = json.loads(report)["error"] or ""
        return str(error).strip().partition("\n")[0][:MAX_ERROR]
    except Exception:  # a report that is no JSON: the database will refuse it
        return ""
