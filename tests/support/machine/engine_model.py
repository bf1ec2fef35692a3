"""The engine in a few pages: the design as a program, written without a look at the SQL.

A `Model` holds the jobs and runs that a database should hold. Each method is a function of the API:
it changes them and returns the answer, or the refusal, that the real function should give. What the
design leaves open (ids, tokens, the order among equals, the jitter of a wait) a method takes from
what the database did, after checking that it was free to do so.

Another session's open transaction is a copy of the model that somebody acts on. What it changed
is `locked` for the others until it ends; `absorb` merges it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

from support.machine.attempts import Attempts
from support.machine.children import Children
from support.machine.claims import Claims
from support.machine.compensations import Compensations
from support.machine.enqueueing import Enqueueing
from support.machine.fan_out import FanOut
from support.machine.maps import Maps
from support.machine.mending import Mending
from support.machine.passing import Passing
from support.machine.people import People
from support.machine.state import changed


@dataclass
class Model(
    Maps, Children, Compensations, FanOut, Enqueueing, Claims, Attempts, People, Mending, Passing
):
    """A database, as it should be. Invariant: nothing is forgotten."""

    def fork(self) -> Model:
        """The model as a transaction that begins now sees it, and changes it."""
        self.turn += 1
        other = copy.deepcopy(self)
        other.touched = set()
        return other

    def lock(self, before: Model, after: Model) -> None:
        """Takes note of what a transaction has locked that saw `before` and left `after`."""
        self.locked_jobs = changed(before.jobs, after.jobs)
        self.locked_runs = frozenset(after.touched & set(before.runs))

    def absorb(self, before: Model, after: Model) -> None:
        """Merges what that transaction did when it commits."""
        for job_id in changed(before.jobs, after.jobs):
            self.jobs[job_id] = after.jobs[job_id]
        for run_id, run in after.runs.items():
            seen = len(before.runs[run_id].pending) if run_id in before.runs else 0
            if run_id not in before.runs:
                self.runs[run_id] = run
            elif run_id in after.touched:
                run.pending += self.runs[run_id].pending[seen:]
                self.runs[run_id] = run
            elif run_id in self.runs:
                self.runs[run_id].pending += run.pending[seen:]
        for of, count in after.ends.items():
            self.ends[of] = self.ends.get(of, 0) + count - before.ends.get(of, 0)
        for token, report in after.reports.items():
            if token not in before.reports:
                self.reports[token] = report
        self.unlock()

    def unlock(self) -> None:
        self.locked_jobs = self.locked_runs = frozenset()
