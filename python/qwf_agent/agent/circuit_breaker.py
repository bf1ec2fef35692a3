"""Detects a worker whose jobs all fail at once. Such a worker would take more and more jobs away
from workers that could run them. If all are of one task, only this task is kept away from it."""

from __future__ import annotations

import logging

from qwf_agent.agent import db
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.control import Control
from qwf_agent.agent.link import Link

log = logging.getLogger("qwf_agent")

MIN_FAILURES, MIN_JOBS = 5, 3  # failures in a row, of at least this many jobs
FAST_S = 2.0
# Reasons that point to the host. An error that the body raised is the fault of the job.
HOST_REASONS = ("crashed", "oom", "accelerator", "disk_full", "import", "model")


class CircuitBreaker:
    """Counts a worker's fast failures. If there are too many, and of different tasks, its host
    withdraws for five minutes.

    Invariant: `_failures` holds job and task of every fast failure since a job last ended in
    another way. A retried job counts only if it is in that list: its first failure may have been on
    another host. After the pause the worker is on trial: it runs one job at a time.
    """

    def __init__(self, worker_id: str, control: Control, link: Link) -> None:
        self.on_trial = False  # one job at a time, until one ends without a fast failure
        self._worker_id = worker_id
        self._control = control
        self._link = link
        self._failures: list[tuple[int, str]] = []

    def record(self, claim: Claim, outcome: str, reason: str | None, seconds: float) -> str | None:
        """Note how a job ended and how long its body ran. Returns why its task should get no more
        jobs here, if only this task fails."""
        if outcome in ("released", "cancelled") or reason == "out_root":
            return None
        failure = claim.job_id, claim.task
        if reason not in HOST_REASONS or seconds > FAST_S:
            self._failures, self.on_trial = [], False
        elif claim.attempt == 1 or failure in self._failures:
            self._failures.append(failure)
            too_many = len(self._failures) >= MIN_FAILURES and len(set(self._failures)) >= MIN_JOBS
            if self.on_trial or too_many:
                return self._open(reason)
        return None

    def _open(self, reason: str) -> str | None:
        jobs = ", ".join(f"{job_id} {task}" for job_id, task in dict.fromkeys(self._failures))
        what = "the trial job after a pause" if self.on_trial else "several jobs in a row"
        text = f"{what} failed within {FAST_S:g} s ({reason}): {jobs}"
        if not self.on_trial and len({task for _, task in self._failures}) == 1:
            self._failures = []
            return text
        self.withdraw(text)
        return None

    def withdraw(self, text: str) -> None:
        """Switch the host off for this queue for five minutes, unless it is off already."""
        if not self._control.on and self._control.known:
            return
        log.error("withdrawing this box from the queue for five minutes: %s", text)
        self._failures, self.on_trial = [], True
        self._link.send(db.withdraw_worker(self._worker_id, text))
        self._control.assume_off()
