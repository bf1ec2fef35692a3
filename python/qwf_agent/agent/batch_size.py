"""How long bodies take, and so how many jobs to claim at once."""

from __future__ import annotations

BATCH_S = 0.1  # seconds of work that one claim should bring to a slot
SMOOTHING = 0.1
CLAIM_S = 0.002  # seconds until the jobs of a claim are with their child, on a busy machine
MIN_S = 40e-6  # time that a child takes for a job whose body does nothing


class BatchSize:
    """Moving averages of body times, over all tasks and per task.

    Invariant: `batch`, the number of jobs that one claim should bring to a slot, is 1 until bodies
    prove short. It at most doubles after that many bodies have ended, and drops at once after a
    long one.
    """

    def __init__(self, max_batch: int) -> None:
        self.batch = 1
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
        if self._ended < self.batch and self._mean * self.batch <= BATCH_S:
            return  # too early to grow, and no reason to shrink
        target = max(1, min(self._max_batch, int(BATCH_S / max(self._mean, 1e-6))))
        if target < self.batch:
            self.batch = target
        elif self._ended >= self.batch:
            self.batch = min(target, self.batch * 2)
            self._ended = 0

    @property
    def hold(self) -> int:
        """How many jobs a slot should hold: it runs one batch while the next is claimed, or several
        if they last for less time than a claim."""
        if self.batch == 1:
            return 1
        return self.batch + max(self.batch, int(CLAIM_S / max(self._mean, MIN_S)))

    def expected(self, task: str) -> float:
        """Seconds that a job of this task is expected to take; an unknown task counts as long."""
        return max(MIN_S, self._tasks.get(task, BATCH_S))
