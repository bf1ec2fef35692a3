"""The callers that wait for jobs and runs to end, and the time of the next look at each."""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Iterable
from typing import Any, Literal, Protocol

from qwf_agent.app.connections import SqlCall, SqlExpression
from qwf_agent.app.options import SqlValue
from qwf_agent.app.statuses import JobStatus, RunStatus, read_job, read_run

log = logging.getLogger("qwf_agent")

Kind = Literal["job", "run"]
Key = tuple[Kind, int]

# The longer a caller has waited, the rarer are the looks at its job. All looks together take at
# most a tenth of the time of their connection.
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 1.0
LONGEST_AFTER_SLOW_LOOK_S = 5.0
SHARE = 0.1
MOST_AT_ONCE = 10_000  # ids in a call of qwf.ended
GIVE_UP_S = 60.0  # without an answer of the database: then those who wait get its error
RECONNECT_S = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)  # pauses before it connects again
# What another connection would be told, too: no right, no function, no database, a wrong password.
HOPELESS = ("28", "42", "3D", "0A")


class Promise(Protocol):
    """A future, of threads or of asyncio."""

    def done(self) -> bool:
        """Return True if it has a result, or was cancelled."""

    def set_result(self, result: Any, /) -> None:
        """Give it its result."""

    def set_exception(self, exception: BaseException, /) -> None:
        """Give it an error to raise."""


class WaitList:
    """Which callers wait for which jobs and runs, and when to look at each next.

    Invariant: each key has somebody who waits for it, and stands in the heap with the time in
    `_due`; other entries of the heap are old and mean nothing.
    """

    def __init__(self) -> None:
        self._promises: dict[Key, list[Promise]] = {}
        self._began: dict[Key, float] = {}
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, Key]] = []
        self._not_before = 0.0  # of the next look
        self._failing_since: float | None = None
        self._failures = 0

    def add(self, key: Key, promise: Promise) -> None:
        """Somebody begins to wait."""
        self._promises.setdefault(key, []).append(promise)
        self._began[key] = time.monotonic()
        self._look_at(key, self._began[key])

    def remove(self, key: Key, promise: Promise) -> None:
        """Somebody no longer waits."""
        left = self._promises.get(key, [])
        if promise in left:
            left.remove(promise)
            if not left:
                self._forget(key)

    def pause_s(self) -> float | None:
        """Seconds until somebody is to be looked for; None if nobody waits."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        if not self._heap:
            return None
        return max(self._heap[0][0], self._not_before) - time.monotonic()

    def due(self) -> list[Key]:
        """The jobs and runs to look at now, as many as one call takes."""
        now = time.monotonic()
        found: list[Key] = []
        while self._heap and self._heap[0][0] <= now and len(found) < MOST_AT_ONCE:
            at, key = heapq.heappop(self._heap)
            if self._due.get(key) == at:
                found.append(key)
                del self._due[key]
        return found

    def answer(self, due: Iterable[Key], ended: list[dict[str, Any]], looked_s: float) -> None:
        """Tell those whose job or run has ended, and say when to look for the others again."""
        now = time.monotonic()
        if self._failing_since is not None:
            log.warning("waiting for jobs: the database answers again")
        self._failing_since, self._failures = None, 0
        pause_s = max(looked_s / SHARE, SHORTEST_PAUSE_S)
        self._not_before = now + min(pause_s, LONGEST_AFTER_SLOW_LOOK_S)
        for told in ended:
            self._tell(told)
        for key in due:
            if key in self._promises and key not in self._due:
                waited_s = now - self._began[key]
                pause_s = min(max(waited_s * SHARE, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
                self._look_at(key, now + pause_s)

    def failed(self, due: Iterable[Key], error: Exception) -> None:
        """The look has failed: try again, or give up if it has failed for long."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
            log.warning("waiting for jobs: %s; connecting again", str(error).strip() or repr(error))
        hopeless = isinstance(error, (TypeError, ValueError)) or _sqlstate(error)[:2] in HOPELESS
        if hopeless or now - self._failing_since > GIVE_UP_S:
            self.fail_all(error)
            self._failing_since, self._failures = None, 0
            return
        self._not_before = now + RECONNECT_S[min(self._failures, len(RECONNECT_S) - 1)]
        self._failures += 1
        for key in due:
            if key in self._promises:
                self._look_at(key, now)

    def look_again(self) -> None:
        """Nobody will answer the look that was begun last: look for all now."""
        for key in self._promises:
            self._look_at(key, time.monotonic())

    def fail_all(self, error: Exception) -> None:
        """All who wait get this error."""
        for promises in self._promises.values():
            for promise in promises:
                if not promise.done():
                    promise.set_exception(error)
        for key in list(self._promises):
            self._forget(key)

    def _tell(self, told: dict[str, Any]) -> None:
        if "run" in told:
            key: Key = ("run", told["run"]["id"])
            self._give(key, read_run(told))
        elif told["status"] is None:
            kind: Kind = "job" if "job_id" in told else "run"
            self._lose((kind, told[f"{kind}_id"]))
        elif "job_id" in told:
            self._give(("job", told["job_id"]), read_job(told))

    def _give(self, key: Key, status: JobStatus | RunStatus) -> None:
        for promise in self._forget(key):
            if not promise.done():
                promise.set_result(status)

    def _lose(self, key: Key) -> None:
        kind, number = key
        for promise in self._forget(key):
            if not promise.done():
                promise.set_exception(LookupError(
                    f"{kind} {number} is not there: its transaction has not committed, or it has "
                    "ended and was deleted"
                ))  # fmt: skip

    def _look_at(self, key: Key, at: float) -> None:
        self._due[key] = at
        heapq.heappush(self._heap, (at, key))

    def _forget(self, key: Key) -> list[Promise]:
        self._due.pop(key, None)
        self._began.pop(key, None)
        return self._promises.pop(key, [])


def ended(due: Iterable[Key]) -> SqlCall:
    """The query about these jobs and runs: those that have ended."""

    def ids(wanted: Kind) -> SqlValue:
        numbers = ",".join(str(number) for kind, number in due if kind == wanted)
        return SqlValue(f"{{{numbers}}}", "{}::bigint[]")

    return SqlCall("ended", {"job_ids": ids("job"), "run_ids": ids("run")})


def statuses(ids: list[int]) -> SqlExpression:
    """The query for the statuses of these runs."""
    given = SqlValue(f"{{{','.join(map(str, ids))}}}", "{}::bigint[]")
    return SqlExpression("qwf.run_status(id) from unnest({ids}) id", {"ids": given})


def _sqlstate(error: BaseException) -> str:
    """The SQLSTATE of an error of any driver; empty if it has none."""
    for one in (error, getattr(error, "orig", None), error.__cause__):
        state = getattr(one, "sqlstate", None) or getattr(one, "pgcode", None)
        if isinstance(state, str):
            return state
    return ""
