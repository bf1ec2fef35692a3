"""The jobs of one slot: which ones its child has, and how many more it may get."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from qwf_agent.agent.child_orders import ChildOrders
from qwf_agent.agent.child_process import ChildProcess
from qwf_agent.agent.claim import Claim, Claimant
from qwf_agent.agent.held_jobs import HeldJobs
from qwf_agent.agent.running_body import ConcurrentBody, ExclusiveBody, RunningBody
from qwf_agent.child.messages import Message

LONG_BODY_S = 0.2
STUCK_S = 1.0  # jobs do not wait behind a body that runs longer than this
MOMENT_S = 0.01  # a job that starts so long after its claim has kept the rate of its limit
MAX_JOBS = 500  # their tickets fit into one page, the smallest pipe there is


class SlotJobs:
    """The jobs that the child has, and those that are assigned to it and not sent yet.

    Invariant: an assigned job is in `jobs` from then on. The child starts it in its turn, or, if it
    is one of many that run at the same time, at once.
    """

    def __init__(self) -> None:
        self.jobs = HeldJobs()
        self.claims = self.jobs.claims
        self.body = ExclusiveBody(self.claims)  # of the first job, unless many run at once
        self.orders = ChildOrders()
        self.process: ChildProcess | None = None
        self.ready = False  # the child has imported the user's app, and may get more jobs
        self.work_s = 0.0  # expected seconds of work in `claims`, unless they run at once
        self.yields = False  # takes no more jobs that run at once, until another kind has its turn
        self._jobs_left = 0
        self._ticket = 0
        self._assigned: list[Message] = []  # jobs and orders to send, each with its ticket

    @property
    def jobs_left(self) -> int:
        """How many more jobs the child takes before it is replaced."""
        return self._jobs_left

    def has_room(self, claim: Claim, seconds: float, budget_s: float) -> bool:
        """Return True if the child can take a job that is expected to run for `seconds`: yes if it
        is idle or the job runs beside those it has, else up to a budget of work."""
        if not self.ready or self._jobs_left <= 0 or self.orders.exist():
            return False
        beside = self.jobs.takes_beside(claim)
        if beside is None:
            return len(self.claims) < MAX_JOBS and self.work_s + seconds <= budget_s
        return beside and len(self.claims) < MAX_JOBS and not (self.yields and self.claims)

    def room(self, batch: int, now: float) -> int:
        """How many more jobs the child should get, up to `batch`; none behind a long body."""
        if not self.ready or self.orders.exist():
            return 0
        if self.jobs.are_concurrent:
            if self.yields:
                return 0
        elif self.claims and self.body.seconds(now) > LONG_BODY_S:
            return 0
        return max(0, min(self._jobs_left, batch - len(self.claims)))

    def startable(self, at_once: int, now: float) -> int:
        """How many jobs that are handed to the child before all others begin now: at most `at_once`
        if it is idle; where many run, the free places; else one, if its body should end in a
        moment. Never behind another job of a rate: that one may take longer than usual."""
        if not self.ready or self._jobs_left <= 0 or self.orders.exist():
            return 0
        first = self.jobs.first
        if first is None:
            return max(1, min(at_once, self._jobs_left))
        if first.is_concurrent:
            return 0 if self.yields else max(0, self.jobs.free_places(first))
        if any(claim.rated for claim in self.claims.values()):
            return 0
        seconds, expected_s = self.body.seconds(now), first.expected_s
        return int(expected_s - seconds <= MOMENT_S and seconds < max(expected_s, MOMENT_S))

    def can_start_soon(self, claim: Claim | None, now: float) -> bool:
        """Return True if this waiting job, or any, could start here soon."""
        if not self.ready or self.orders.exist():
            return False
        if self.jobs.are_concurrent:
            return claim is None or self.has_room(claim, 0.0, 0.0)
        return self.body.seconds(now) <= STUCK_S

    def has_free_place(self) -> bool:
        """Return True if a job could run now, beside others or alone."""
        first = self.jobs.first
        if first is None or not self.ready:
            return self.ready
        return first.is_concurrent and not self.yields and self.jobs.free_places(first) > 0

    def bodies(self) -> list[RunningBody]:
        """The bodies that run, or are the next to run."""
        if not self.jobs.are_concurrent:
            return [self.body] if self.claims else []
        return [ConcurrentBody(claim, self.process) for claim in self.claims.values()]

    def runs_other(self, worker: Claimant) -> bool:
        """Return True if the child runs a job of another worker."""
        return any(claim.worker is not worker for body in self.bodies() for claim in body.claims)

    def assign(self, claim: Claim, seconds: float) -> None:
        """Add a job for the child; `flush` sends it."""
        self._add(claim, seconds)
        claim.unit = claim.ticket
        if claim.is_concurrent:
            if self.process is not None:
                self.process.log.open_job(claim.ticket)
            seconds = 0.0
        self.work_s += seconds
        message = (claim.ticket, *claim.for_child, claim.server)
        is_batch = claim.shape is not None and not claim.shape.concurrent
        self._assigned.append((claim.ticket, [message]) if is_batch else message)

    def assign_batch(self, claims: list[Claim], seconds: float) -> None:
        """Add jobs for one call of their body, each expected to take `seconds` of it."""
        for claim in claims:
            self._add(claim, seconds)
            claim.unit = claims[0].ticket
            self.work_s += seconds
        fields = [(claim.ticket, *claim.for_child, claim.server) for claim in claims]
        self._assigned.append((claims[0].ticket, fields))

    def _add(self, claim: Claim, seconds: float) -> None:
        self._ticket += 1
        self._jobs_left -= 1
        claim.ticket, claim.expected_s = self._ticket, seconds
        claim.given_at = time.monotonic()
        if not self.claims:
            self.body.startable_at = claim.given_at
            self.yields = False
        self.jobs.add(claim)

    def take_ordinary(
        self, backlog: deque[Claim], expected: Callable[[str], float], budget_s: float
    ) -> None:
        """Assign jobs from the head of the backlog while they fit into a budget of work, up to one
        that needs a card or a model, or is no ordinary one."""
        if not self.ready or self.orders.exist() or self.jobs.are_concurrent:
            return
        room = min(self._jobs_left, MAX_JOBS - len(self.claims))
        while room > 0 and backlog and _is_ordinary(backlog[0]):
            seconds = expected(backlog[0].task)
            if self.claims and self.work_s + seconds > budget_s:
                return
            self.assign(backlog.popleft(), seconds)
            room -= 1


def _is_ordinary(claim: Claim) -> bool:
    return not claim.heavy and claim.model is None and claim.shape is None
