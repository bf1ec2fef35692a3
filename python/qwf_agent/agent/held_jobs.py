"""The jobs that one child has and has not answered yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from qwf_agent.agent.claim import Claim
from qwf_agent.child.scoreboard import Scoreboard

SILENT_S = 5.0  # an event loop that shows no sign of life for so long is blocked by a body
SILENT_LOOKS = 10  # so often it must have looked silent: this agent may have slept as well


class HeldJobs:
    """The jobs by their tickets, in order.

    Invariant: they are of one kind. Those that run at the same time need the same model; of the
    others the child runs the first one, or the first ones as a batch, and then the next.
    """

    def __init__(self) -> None:
        self.claims: dict[int, Claim] = {}
        self._of_task: Counter[str] = Counter()  # that run at the same time
        self._seen = 0.0  # the last sign of life of their event loop
        self._seen_at = 0.0
        self._looks = 0

    @property
    def first(self) -> Claim | None:
        """The first one."""
        return next(iter(self.claims.values()), None)

    @property
    def are_concurrent(self) -> bool:
        """True if all of them run at the same time."""
        first = self.first
        return first is not None and first.is_concurrent

    def add(self, claim: Claim) -> None:
        """Add a job at the end."""
        if not self.claims:
            self._looks = 0
        self.claims[claim.ticket] = claim
        if claim.is_concurrent:
            self._of_task[claim.task] += 1

    def remove(self, claim: Claim) -> None:
        """Remove a job that was answered or taken back."""
        del self.claims[claim.ticket]
        if claim.is_concurrent:
            self._of_task[claim.task] -= 1

    def clear(self) -> None:
        """The child has died."""
        self.claims.clear()
        self._of_task.clear()

    def is_answered_next(self, claim: Claim) -> bool:
        """Return True if the child may answer about this job now: in any order about those that run
        at the same time or in one batch, else in the order of the jobs."""
        first = self.first
        return claim.is_concurrent or first is None or claim.unit == first.unit

    def takes_beside(self, claim: Claim) -> bool | None:
        """Return True if the job may run at the same time as these; None if it may wait behind
        them."""
        first = self.first
        if first is None:
            return True
        if not (first.is_concurrent or claim.is_concurrent):
            return None
        if first.is_concurrent is not claim.is_concurrent or first.model != claim.model:
            return False
        return self.free_places(claim) > 0

    def free_places(self, claim: Claim) -> int:
        """How many more bodies of the task of this job may run beside these."""
        first = self.first
        if claim.shape is None or (first is not None and (claim.alone or first.alone)):
            return 0
        return claim.shape.jobs - self._of_task[claim.task]

    def running(self, unread: Container[int]) -> list[Claim]:
        """The jobs whose bodies run; the child has not read the tickets that are `unread`."""
        return [claim for claim in self.claims.values() if claim.unit not in unread]

    def on_cpu(self, board: Scoreboard) -> Claim | None:
        """The job whose body is on the CPU now, of those that run at the same time."""
        ticket = board.running().ticket if board.is_on_cpu() else 0
        return self.claims.get(ticket)

    def is_silent(self, board: Scoreboard, now: float) -> bool:
        """Return True if their event loop shows no sign of life, and does not load a model. Call it
        again and again."""
        running = board.running()
        if not self._looks or running.since != self._seen or running.loading:
            self._seen, self._seen_at, self._looks = running.since, now, 0
        self._looks += 1
        return now - self._seen_at >= SILENT_S and self._looks >= SILENT_LOOKS
