"""How long bodies take, and what that means for how many jobs to hold."""

from __future__ import annotations

BATCH_S = 0.1  # work that one claim should bring a slot
SMOOTHING = 0.1
LEAST_S = 40e-6  # what a child takes for a job whose body does nothing


class BatchSize:
    """Moving averages of body times, over all tasks and per task.

    Invariant: `batch`, the number of jobs one claim should bring a slot, is 1 until bodies have
    shown to be short, at most doubles each time that many have ended, and drops at once when one
    was long.
    """

    def __init__(self, most: int) -> None:
        self.batch = 1
        self._most = most
        self._mean = BATCH_S
        self._tasks: dict[str, float] = {}
        self._ended = 0

    def saw(self, task: str, seconds: float) -> None:
        """A body of this task took so long."""
        known = self._tasks.get(task, seconds)
        self._tasks[task] = known + (seconds - known) * SMOOTHING
        self._mean += (seconds - self._mean) * SMOOTHING
        self._ended += 1
        if self._ended < self.batch and self._mean * self.batch <= BATCH_S:
            return  # neither more nor fewer
        wanted = max(1, min(self._most, int(BATCH_S / max(self._mean, 1e-6))))
        if wanted < self.batch:
            self.batch = wanted
        elif self._ended >= self.batch:
            self.batch = min(wanted, self.batch * 2)
            self._ended = 0

    @property
    def hold(self) -> int:
        """How many jobs a slot should hold: while it does those of one claim, the next is made."""
        return self.batch if self.batch == 1 else 2 * self.batch

    def expected(self, task: str) -> float:
        """Seconds a job of this task is expected to take; a task never seen counts as long."""
        return max(LEAST_S, self._tasks.get(task, BATCH_S))
