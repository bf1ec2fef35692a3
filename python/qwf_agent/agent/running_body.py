"""The body that a slot runs now, as its child shows it in shared memory and prints it."""

from __future__ import annotations

from collections.abc import Sequence

from qwf_agent.agent.child_process import ChildProcess
from qwf_agent.agent.claim import Claim
from qwf_agent.child.scoreboard import NOTHING, ProgressRecord


class RunningBody:
    """The body of the first of the `claims`, which are the jobs of a child.

    Invariant: what the child has written about another job is never told about this one. The memory
    is shared without a lock.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.process: ChildProcess | None = None
        self.startable_at = 0.0  # when the child could have started it
        self._claims = claims

    def seconds(self, now: float) -> float:
        """Seconds that it has run; before it starts, seconds since the child could have started
        it."""
        if not self._claims or self.process is None:
            return 0.0
        running, first = self.process.scoreboard.running(), self._claims[0]
        # A time before the job was sent belongs to another job.
        mine = running.ticket == first.ticket and running.since >= first.given_at
        return now - (running.since if mine else self.startable_at)

    def is_loading(self) -> bool:
        """True if the child is still loading its code or model."""
        if not self._claims or self.process is None:
            return False
        running = self.process.scoreboard.running()
        return running.loading and running.ticket == self._claims[0].ticket

    def hears(self) -> int:
        """The way in which it hears that it should give its job back; NOTHING before it starts."""
        if not self._claims or self.process is None:
            return NOTHING
        running, first = self.process.scoreboard.running(), self._claims[0]
        mine = running.ticket == first.ticket and running.since >= first.given_at
        return running.hears if mine else NOTHING

    def printed(self, max_bytes: int) -> tuple[int, str]:
        """How many bytes it has printed, and the last of them, at most `max_bytes`."""
        if self.process is None:
            return 0, ""
        return self.process.log.whole_tail(max_bytes)

    def streamed(self) -> tuple[int, str] | None:
        """How many bytes it has streamed, and the last of them; None before the first."""
        if not self._claims or self.process is None:
            return None
        return self.process.scoreboard.stream.read(self._claims[0].ticket)

    def progress_version(self) -> int:
        """Version of its last progress report; 0 before its first."""
        if not self._claims or self.process is None:
            return 0
        return self.process.scoreboard.progress_version(self._claims[0].ticket)

    def new_progress(self) -> ProgressRecord | None:
        """Its last progress report, once."""
        if not self._claims or self.process is None:
            return None
        record, claim = self.process.scoreboard.progress(), self._claims[0]
        if record is None or record.ticket != claim.ticket or record.version == claim.progress_seen:
            return None
        claim.progress_seen = record.version
        return record
