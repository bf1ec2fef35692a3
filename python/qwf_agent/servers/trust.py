"""Trust in a server that calls itself healthy: the ends of the jobs that use it tell."""

from __future__ import annotations

# After a lost request: vLLM may say that it is healthy when its engine has just died.
DOUBT_S = 1.0
GIVEN_UP = ("stalled", "timeout")  # reasons for which a watchdog ends a job


class Trust:
    """Evidence of the ends and the progress of jobs about a server that is ready. Times are on the
    monotonic clock, in seconds."""

    def __init__(self) -> None:
        self._lost = False  # it has lost a request since the last step
        self._doubt_until: float | None = None  # it lost one: no new one until it is healthy then
        self._answered = False  # a job has completed since the last step
        self._stall_s: float | None = None  # a job was given up that may be silent for so long
        self._progress = 0
        self._progress_at = 0.0

    @property
    def holds(self) -> bool:
        """True if the server may get a new request."""
        return not self._lost and self._doubt_until is None

    def begin(self, now: float) -> None:
        """The server has become ready."""
        self._lost, self._doubt_until, self._stall_s = False, None, None
        self._progress_at = now

    def job_ended(self, reason: str | None, stall_s: float) -> None:
        """Learn from the end of a job, which may be silent for `stall_s`. The engine of a server
        may be dead or hang while its health path answers: then jobs are lost, silent, or take too
        long."""
        if reason == "server":
            self._lost = True
        elif reason is None:
            self._answered, self._stall_s = True, None
        elif reason in GIVEN_UP and not self._answered:
            self._stall_s = stall_s

    def is_silent(self, now: float, progress: int) -> bool:
        """Return True if a job was given up and no other one made progress for as long as it may be
        silent. `progress` grows when a request makes progress. To be called in each step."""
        stall_s, self._stall_s = self._stall_s, None
        if stall_s is not None and now >= self._progress_at + stall_s:
            return True
        if progress > self._progress or self._answered:
            self._progress_at, self._answered = now, False
        self._progress = progress
        if self._lost:
            self._lost, self._doubt_until = False, now + DOUBT_S
        return False

    def silent_s(self, now: float) -> float:
        """For how long no request has made progress."""
        return now - self._progress_at

    def was_healthy(self, now: float) -> None:
        """A check has found the server healthy."""
        if self._doubt_until is not None and now >= self._doubt_until:
            self._doubt_until = None
