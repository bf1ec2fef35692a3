"""How long bodies take, and so how many jobs to claim at once."""

from __future__ import annotations

from collections.abc import Sequence

from qwf_agent.app.bodies import Shape

BATCH_S = 0.1  # seconds of work that one claim should bring to a slot
SMOOTHING = 0.1
CLAIM_S = 0.008  # seconds until the jobs of a claim are with their child, on a busy machine
MIN_S = 40e-6  # time that a child takes for a job whose body does nothing


class BatchSize:
    """Moving averages of body times, over all tasks and per task.

    Invariant: `batch`, the number of jobs that one claim should bring to a slot, is 1 until bodies
    prove short, or take many jobs at once. It at most doubles after that many bodies have ended,
    and drops at once after a long one. For bodies that take many, it is four times as large after
    each claim that brought nothing else, and drops after a claim with other jobs: of these, a child
    could begin only one.
    """

    def __init__(self, max_batch: int) -> None:
        self.at_once = 1  # jobs that an idle child could begin at once
        self._batch = 1
        self._are_batches = False  # they run in batches, not beside each other
        self._max_batch = max_batch
        self._mean = BATCH_S
        self._tasks: dict[str, float] = {}
        self._ended = 0

    def record(self, task: str, seconds: float) -> None:
        """Note that a body of this task took `seconds`."""
        known = self._tasks.get(task, seconds)
        self._tasks[task] = known + (seconds - known) * SMOOTHING
        self._mean += (seconds - self._mean) * SMOOTHING
        self._ended += 1
        if self._ended < self._batch and self._mean * self._batch <= BATCH_S:
            return  # too early to grow, and no reason to shrink
        target = max(1, min(self._max_batch, int(BATCH_S / max(self._mean, 1e-6))))
        if target < self._batch:
            self._batch = target
        elif self._ended >= self._batch:
            self._batch = min(target, self._batch * 2)
            self._ended = 0

    def note_claimed(self, shapes: Sequence[Shape | None]) -> None:
        """Note the bodies of the jobs that a claim has brought."""
        many = [shape for shape in shapes if shape is not None]
        if len(many) < len(shapes):
            self.at_once = max(1, len(many))
        elif many:
            most = max(shape.jobs for shape in many)
            self.at_once = min(most, 4 * self.at_once)
            self._are_batches = not any(shape.concurrent for shape in many)

    @property
    def batch(self) -> int:
        """How many jobs one claim should bring to a slot."""
        return max(self._batch, self.at_once)

    @property
    def hold(self) -> int:
        """How many jobs a slot should hold: it runs one batch while the next is claimed, or several
        if they last for less time than a claim."""
        at_once = 2 * self.at_once if self._are_batches else self.at_once
        if self._batch == 1:
            return max(1, at_once)
        hold = self._batch + max(self._batch, int(CLAIM_S / max(self._mean, MIN_S)))
        return max(hold, at_once)

    def expected(self, task: str) -> float:
        """Seconds that a job of this task is expected to take; an unknown task counts as long."""
        return max(MIN_S, self._tasks.get(task, BATCH_S))
