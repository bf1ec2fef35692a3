"""Whether a worker is a black hole: one whose jobs fail at once, one after another, so that it
draws ever more of them away from workers that could do them."""

from __future__ import annotations

import logging

from qwf_agent import db
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.control import Control
from qwf_agent.agent.link import Link

log = logging.getLogger("qwf_agent")

IN_A_ROW, OF_JOBS = 5, 3  # so many failures, of so many jobs at least
FAST_S = 2.0
# What speaks against the host. An error that the body raised is the job's affair.
HOST_REASONS = ("crashed", "oom", "accelerator", "disk_full", "import", "model")


class CircuitBreaker:
    """Counts a worker's fast failures, and switches its host off for a while when they are too
    many.

    Invariant: `failures` holds the job of every fast failure since a job last ended otherwise. A
    job that has been tried before, maybe elsewhere, says nothing about this host unless it is
    among them. After a pause the worker is on trial: one job alone is tried.
    """

    def __init__(self, worker_id: str, control: Control, link: Link) -> None:
        self.on_trial = False  # one job at a time, until one has ended as jobs do
        self._worker_id = worker_id
        self._control = control
        self._link = link
        self._failures: list[int] = []

    def saw(self, claim: Claim, outcome: str, reason: str | None, seconds: float) -> None:
        """A job ended like this, after its body had run for so long."""
        if outcome in ("released", "cancelled"):
            return
        if reason not in HOST_REASONS or seconds > FAST_S:
            self._failures, self.on_trial = [], False
        elif claim.attempt == 1 or claim.job_id in self._failures:
            self._failures.append(claim.job_id)
            many = len(self._failures) >= IN_A_ROW and len(set(self._failures)) >= OF_JOBS
            if self.on_trial or many:
                self._open(reason)

    def _open(self, reason: str) -> None:
        jobs = ", ".join(map(str, dict.fromkeys(self._failures)))
        tried = "the job tried after a pause" if self.on_trial else "jobs one after another"
        text = f"{tried} failed within {FAST_S:g} s ({reason}): {jobs}"
        log.error("switching this worker off for five minutes: %s", text)
        self._failures, self.on_trial = [], True
        self._link.send(db.suspend_worker(self._worker_id, text))
        self._control.assume_off()
