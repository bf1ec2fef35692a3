"""What becomes of the jobs an agent holds: how each ends, and who is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.reporter import Reporter
from qwf_agent.agent.slot import ChildDeath, JobAnswer, Slot
from qwf_agent.agent.watchdogs import Trip
from qwf_agent.child.outcome import Outcome, of_exit_status, render
from qwf_agent.system.cgroup import OomKills, own_group

log = logging.getLogger("qwf_agent")

RELEASED = Outcome("released")
SWITCHED_OFF = Outcome("released", detail={"reason": "worker_off"})

# Who wants to know how a job of a queue ended: its claim, outcome, reason, seconds of its body.
Listener = Callable[[Claim, str, "str | None", float], None]


class Endings:
    """Takes what children say and how they die, and what the database wants, to its end.

    Invariant: every claim that leaves a slot or the backlog for good goes to the reporter, unless
    another worker has the job by now.
    """

    def __init__(self, slots: Pool, reporter: Reporter, host: str, listener: Listener) -> None:
        self._slots = slots
        self._reporter = reporter
        self._host = host
        self._listener = listener
        self._oom = OomKills(own_group())

    def conclude(self, answer: JobAnswer) -> None:
        """Its body has ended by itself."""
        claim = answer.claim
        self._slots.batch_size.saw(claim.task, answer.seconds)
        if claim.cancelled:
            self.tell(claim, Outcome("cancelled", error="cancelled while it ran"), answer.log)
        elif not claim.dropped:
            log.debug(
                "job %d %s: %s in %.3f s", claim.job_id, claim.task, answer.outcome, answer.seconds
            )
            self._listener(claim, answer.outcome, answer.reason, answer.seconds)
            self._reporter.add(claim, answer.rendered, answer.log)

    def conclude_death(self, death: ChildDeath) -> None:
        """Its child has died, and with it the job that was running, but nobody else's."""
        for answer in death.answers:
            self.conclude(answer)
        self._slots.backlog.extendleft(reversed(death.unstarted))
        oom = self._oom.any_new() if death.exit.out_of_memory is None else death.exit.out_of_memory
        outcome, claim = of_exit_status(death.exit.status, out_of_memory=oom), death.running
        if claim is not None:
            outcome = claim.forced_outcome or outcome
            detail = {**outcome.detail, "max_rss_bytes": death.exit.max_rss_bytes}
            self._listener(claim, outcome.outcome, detail.get("reason"), death.seconds)
            self.tell(claim, outcome._replace(detail=detail), death.log)
        elif not death.expected:
            log.warning("a child died without a job: %s\n%s", outcome.error, death.log)

    def trip(self, slot: Slot, claim: Claim, trip: Trip) -> None:
        """A watchdog says that it has to go: kill it, and say what was measured."""
        log.warning("job %d %s: %s", claim.job_id, claim.task, trip.error)
        detail = {"reason": trip.reason, "readings": trip.readings}
        self.end(slot, claim, Outcome("lost", error=trip.error, detail=detail))

    def end(self, slot: Slot, claim: Claim, forced_outcome: Outcome) -> None:
        """Kill its child; that is its outcome, whatever the child says."""
        claim.forced_outcome = claim.forced_outcome or forced_outcome
        slot.kill()

    def apply_verdict(self, claim: Claim | None, verdict: str, kill_at: float) -> None:
        """The database says whether it is still ours, and wanted. Told to stop, it has until
        `kill_at`."""
        if claim is None or claim.dropped or verdict == "ok":
            return
        claim.dropped = verdict == "lost"
        if claim.dropped:
            log.info("job %d: lost, another worker has it", claim.job_id)
        elif claim.cancelled:
            return
        claim.cancelled = True
        slot = self._slots.slot_of(claim)
        if slot is not None:
            self._slots.take_back(slot)
        if claim in self._slots.backlog:
            self._slots.backlog.remove(claim)
            self.tell(claim, Outcome("cancelled", error="cancelled before it started"))
        elif slot is not None and claim in slot.claims:
            if claim.dropped:
                self.end(slot, claim, Outcome("lost"))
            else:
                claim.kill_at = kill_at
                slot.cancel(claim)

    def tell(self, claim: Claim, outcome: Outcome, log_tail: str = "") -> None:
        """It has ended: hand that to the reporter, unless it is another's."""
        if not claim.dropped:
            log.debug(
                "job %d %s: %s (%s)", claim.job_id, claim.task, outcome.outcome, outcome.error
            )
            detail = {**outcome.detail, "host": self._host}
            self._reporter.add(claim, render(outcome._replace(detail=detail)), log_tail)

    def release(self, claims: Iterable[Claim], outcome: Outcome = RELEASED) -> None:
        """Give jobs of the backlog back, for any worker to take; nothing is counted."""
        for claim in list(claims):
            self._slots.backlog.remove(claim)
            self.tell(claim, outcome)

    def park(self, queue: str, kill: bool) -> None:
        """Give back what has come from the queue and not started; with `kill` also what runs."""
        for slot in self._slots:
            if any(claim.queue == queue for claim in slot.claims):
                self._slots.take_back(slot)
            if kill and slot.claims and slot.claims[0].queue == queue:
                self.end(slot, slot.claims[0], SWITCHED_OFF)
        waiting = [claim for claim in self._slots.backlog if claim.queue == queue]
        self.release(waiting, SWITCHED_OFF)

    def kill_all(self) -> None:
        """End every body now; its job is released."""
        for slot in self._slots:
            for claim in slot.claims:
                claim.forced_outcome = claim.forced_outcome or RELEASED
            slot.kill()
