"""The bodies that the child of a slot runs now, as it shows them in shared memory and prints."""

from __future__ import annotations

from collections.abc import Mapping

from qwf_agent.agent.child_process import ChildProcess
from qwf_agent.agent.claim import Claim
from qwf_agent.child.scoreboard import LISTENS, MAY_ASK, NOTHING, ProgressRecord, Running


class ExclusiveBody:
    """The body of the first of the `claims`, which are the jobs of a child; it may have more of
    them, as a batch.

    Invariant: what the child has written about another job is never told about this one. The memory
    is shared without a lock.
    """

    def __init__(self, claims: Mapping[int, Claim]) -> None:
        self.process: ChildProcess | None = None
        self.startable_at = 0.0  # when the child could have started it
        self._claims = claims

    @property
    def claims(self) -> list[Claim]:
        """The jobs that it runs: one, or those of a batch."""
        first = next(iter(self._claims.values()), None)
        if first is None or first.shape is None:
            return [] if first is None else [first]
        return [claim for claim in self._claims.values() if claim.unit == first.unit]

    def seconds(self, now: float) -> float:
        """Seconds that it has run; before it starts, seconds since the child could have started
        it."""
        running = self._running()
        if running is not None:
            return now - running.since
        return now - self.startable_at if self._claims and self.process is not None else 0.0

    def is_loading(self) -> bool:
        """True if the child is still loading its code or model."""
        running = self._running()
        return running is not None and running.loading

    def hears(self) -> int:
        """The way in which it hears that it should release its job; NOTHING before it starts."""
        running = self._running()
        return NOTHING if running is None else running.hears

    def printed(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes it has printed, and the last of them, at most `max_bytes`."""
        if self.process is None:
            return 0, ""
        return self.process.log.whole_tail(max_bytes)

    def streamed(self) -> tuple[int, str] | None:
        """How many bytes it has streamed, and the last of them; None before the first."""
        if not self._claims or self.process is None:
            return None
        return self.process.scoreboard.stream.read(_first(self._claims).ticket)

    def progress_version(self) -> int:
        """Version of its last progress report; 0 before its first."""
        if not self._claims or self.process is None:
            return 0
        return self.process.scoreboard.progress_version(_first(self._claims).ticket)

    def new_progress(self) -> ProgressRecord | None:
        """Its last progress report, once."""
        if not self._claims or self.process is None:
            return None
        record, claim = self.process.scoreboard.progress(), _first(self._claims)
        return _once(claim, record if record and record.ticket == claim.ticket else None)

    def _running(self) -> Running | None:
        """The record of the scoreboard, if it is about this body: a time before the job was sent
        belongs to another job."""
        if not self._claims or self.process is None:
            return None
        running, first = self.process.scoreboard.running(), _first(self._claims)
        is_mine = running.ticket == first.ticket and running.since >= first.given_at
        return running if is_mine else None


class ConcurrentBody:
    """The body of one of the jobs that a child runs at the same time."""

    def __init__(self, claim: Claim, process: ChildProcess | None) -> None:
        self.claims = [claim]
        self._claim = claim
        self._process = process

    def seconds(self, now: float) -> float:
        """Seconds since it was sent to the child, which begins it at once, unless it loads a model
        first."""
        claim = self._claim
        if self.is_loading():
            claim.loaded_at = now
            return now - claim.given_at
        return now - max(claim.given_at, claim.loaded_at)

    def is_loading(self) -> bool:
        """True if the child is still loading its code or model. Then it does nothing else."""
        return self._process is not None and self._process.scoreboard.running().loading

    def hears(self) -> int:
        """The way in which it hears that it should release its job."""
        return LISTENS if self._claim.shape and self._claim.shape.listens else MAY_ASK

    def printed(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes it has printed, and the last of them, at most `max_bytes`."""
        log = None if self._process is None else self._process.log.job(self._claim.ticket)
        return (0, "") if log is None else log.whole_tail(max_bytes)

    def streamed(self) -> tuple[int, str] | None:
        """How many bytes it has streamed, and the last of them; None before the first."""
        return self._claim.streamed

    def progress_version(self) -> int:
        """Version of its last progress report; 0 before its first."""
        return 0 if self._claim.progress is None else self._claim.progress.version

    def new_progress(self) -> ProgressRecord | None:
        """Its last progress report, once."""
        return _once(self._claim, self._claim.progress)


RunningBody = ExclusiveBody | ConcurrentBody


def _first(claims: Mapping[int, Claim]) -> Claim:
    return next(iter(claims.values()))


def _once(claim: Claim, record: ProgressRecord | None) -> ProgressRecord | None:
    if record is None or record.version == claim.progress_seen:
        return None
    claim.progress_seen = record.version
    return record
