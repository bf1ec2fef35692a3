"""The bodies that take more than one job, and the jobs that run together in a batch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from qwf_agent.agent.claim import Claim
from qwf_agent.app.bodies import Shape


class BodyShapes:
    """Knows the shapes of the tasks of this agent.

    Invariant: the jobs of a batch are of one worker, task and model, and none was tried before.
    """

    def __init__(self) -> None:
        self._of_tasks: dict[str, Shape] = {}

    def change(self, shapes: Mapping[str, list[Any]]) -> None:
        """Know these shapes, by task."""
        self._of_tasks = {task: Shape(*shape) for task, shape in shapes.items()}

    def exist(self) -> bool:
        """Return True if some bodies take more than one job."""
        return bool(self._of_tasks)

    def places(self) -> int:
        """How many jobs a child runs at once at most."""
        return max([shape.jobs for shape in self._of_tasks.values()], default=1)

    def note(self, claims: Iterable[Claim]) -> None:
        """Note in the claims how their bodies run; they wait from now on."""
        now = time.monotonic()
        for claim in claims:
            claim.shape, claim.waits_since = self._of_tasks.get(claim.task), now

    def waits(self, claim: Claim, backlog: Iterable[Claim]) -> bool:
        """Return True if the job should wait for more jobs of its batch."""
        if _wait_until(claim) <= time.monotonic() or claim.shape is None:
            return False
        return len(_others_of(claim, backlog)) + 1 < claim.shape.jobs

    def next_at(self, backlog: Iterable[Claim]) -> float:
        """When a job has waited long enough for others."""
        if not self._of_tasks:
            return float("inf")
        return min((_wait_until(one) for one in backlog if _wait_until(one)), default=float("inf"))

    def take_batch(
        self, claim: Claim, backlog: deque[Claim], most: int, may_start: Callable[[Claim], bool]
    ) -> list[Claim]:
        """The jobs to run with this one, itself first; the others leave the backlog."""
        batch = [claim]
        for other in _others_of(claim, backlog):
            if claim.shape is None or len(batch) >= min(claim.shape.jobs, most):
                break
            if may_start(other):
                backlog.remove(other)
                batch.append(other)
        return batch


def _wait_until(claim: Claim) -> float:
    """Until when the job waits for others of its batch; 0 if it does not."""
    if claim.shape is None or not claim.shape.wait_s or not claim.is_batched:
        return 0.0
    return claim.waits_since + claim.shape.wait_s


def _others_of(claim: Claim, backlog: Iterable[Claim]) -> list[Claim]:
    """The other jobs of the backlog that may run in a batch with this one."""
    kind = (claim.worker, claim.task, claim.model, claim.heavy)
    return [
        other
        for other in backlog
        if other is not claim
        and other.is_batched
        and (other.worker, other.task, other.model, other.heavy) == kind
    ]
