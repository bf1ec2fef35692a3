"""Ends the jobs that an agent holds: decides the outcome of each and hands it to the reporter of
its cell."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable

from qwf_agent.agent import db
from qwf_agent.agent.child_news import ChildDeath, JobAnswer, MovedFolder
from qwf_agent.agent.claim import Claim, Claimant, FailedAttempt
from qwf_agent.agent.failure_log import FAILED
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.watchdogs import Trip
from qwf_agent.child.outcome import JobOutcome, how_it_ended, of_exit_status, render
from qwf_agent.child.scoreboard import LISTENS
from qwf_agent.system.cgroup import OomKills, own_group

log = logging.getLogger("qwf_agent")

RELEASED = JobOutcome("released")
SERVER_LOST = JobOutcome(
    "lost", error="the model server ended under the request", detail={"reason": "server"}
)
SWITCHED_OFF = JobOutcome("released", detail={"reason": "worker_off"})

# Called when a job has ended, with its claim, outcome, reason, the seconds its body ran, and what
# its child answered, rendered; empty without an answer.
Listener = Callable[[Claim, str, "str | None", float, bytes], None]


class Endings:
    """Handles the answers and deaths of children, and the verdicts of the database.

    Invariant: every claim that leaves a slot or the backlog for good goes to the reporter, unless
    another worker has the job by now.
    """

    def __init__(self, slots: Pool, host: str, listener: Listener) -> None:
        self._slots = slots
        self._host = host
        self._listener = listener
        self._oom = OomKills(own_group())
        # Whether the model server that a job used has ended.
        self.lost_server: Callable[[Claim], bool] | None = None

    def tell_of_folder(self, claim: Claim, moved: MovedFolder) -> None:
        """Tell people that the folder of a job held files of another one."""
        log.warning(
            "job %d: %s held %s: moved to %s", claim.job_id, moved.folder, moved.held,
            moved.moved_to,
        )  # fmt: skip
        query = db.report_folder(claim.job_id, claim.token, json.dumps(moved._asdict()))
        claim.worker.links.soft.send(query)

    def conclude(self, answer: JobAnswer) -> None:
        """Report a job that its child has answered."""
        claim = answer.claim
        self._slots.batch_size.record(claim.task, answer.seconds)
        if claim.cancelled:
            self.report(claim, JobOutcome("cancelled", error="cancelled while it ran"), answer.log)
        elif not claim.dropped:
            log.debug(
                "job %d %s: %s in %.3f s", claim.job_id, claim.task, answer.outcome, answer.seconds
            )
            if answer.outcome == "error" and self.lost_server and self.lost_server(claim):
                self._conclude_lost_server(answer)
                return
            self._listener(claim, answer.outcome, answer.reason, answer.seconds, answer.rendered)
            failed = None
            if answer.outcome in FAILED:
                failed = FailedAttempt(claim, answer.outcome, answer.reason, answer.rendered)
            claim.worker.report(claim, answer.rendered, answer.log, failed, answer.seconds)

    def _conclude_lost_server(self, answer: JobAnswer) -> None:
        """Report a job whose body failed because its model server had ended: its HTTP client may
        be one that knows nothing of outcomes."""
        error = json.loads(answer.rendered).get("error")
        outcome = SERVER_LOST._replace(error=f"{SERVER_LOST.error}\n{error or ''}".strip())
        self._listener(answer.claim, outcome.outcome, "server", answer.seconds, b"")
        self.report(answer.claim, outcome, answer.log)

    def conclude_death(self, death: ChildDeath) -> None:
        """Report the job that was running when its child died; requeue those that had not
        started."""
        for answer in death.answers:
            self.conclude(answer)
        self._slots.backlog.extendleft(reversed(death.unstarted))
        oom = self._oom.any_new() if death.exit.out_of_memory is None else death.exit.out_of_memory
        outcome, claim = of_exit_status(death.exit.status, out_of_memory=oom), death.running
        if claim is not None:
            outcome = claim.forced_outcome or outcome
            detail = {**outcome.detail, "max_rss_bytes": death.exit.max_rss_bytes}
            self._listener(claim, outcome.outcome, detail.get("reason"), death.seconds, b"")
            self.report(claim, outcome._replace(detail=detail), death.log)
        elif not death.expected:
            how = how_it_ended(death.exit.status, oom)
            log.warning("a child died while it ran no job: %s\n%s", how, death.log)

    def trip(self, slot: Slot, claim: Claim, trip: Trip) -> None:
        """Kill a job on which a watchdog has tripped, and report what was measured."""
        detail = {"reason": trip.reason, "readings": trip.readings}
        self.end(slot, claim, JobOutcome("lost", error=trip.error, detail=detail))

    def end(self, slot: Slot, claim: Claim, forced_outcome: JobOutcome) -> None:
        """Kill the child of a job and report `forced_outcome`, even if the child answers."""
        claim.forced_outcome = claim.forced_outcome or forced_outcome
        slot.kill()

    def apply_verdict(self, claim: Claim | None, verdict: str, kill_at: float) -> None:
        """Act on a verdict of the database: the job is ours (ok), lost or to be cancelled (cancel).
        A body that is told to stop has until `kill_at`."""
        if claim is None or claim.dropped or verdict not in ("lost", "cancel"):
            return
        claim.dropped = verdict == "lost"
        if claim.dropped:
            log.info("job %d: lost to another worker", claim.job_id)
        elif claim.cancelled:
            return
        claim.cancelled = True
        slot = self._slots.slot_of(claim)
        if slot is not None:
            self._slots.take_back(slot)
        if claim in self._slots.backlog:
            self._slots.backlog.remove(claim)
            self.report(claim, JobOutcome("cancelled", error="cancelled before it started"))
        elif slot is not None and claim in slot.claims:
            if claim.dropped:
                self.end(slot, claim, JobOutcome("lost"))
            else:
                claim.kill_at = kill_at
                slot.tell(claim, "cancel", kill_at)

    def report(self, claim: Claim, outcome: JobOutcome, log_tail: str = "") -> None:
        """Hand the outcome to the reporter, unless another worker has the job."""
        if not claim.dropped:
            name, reason = outcome.outcome, outcome.detail.get("reason")
            why = f" ({reason})" if reason else ""
            log.debug("job %d %s: %s%s", claim.job_id, claim.task, name, why)
            rendered = render(outcome._replace(detail={**outcome.detail, "host": self._host}))
            failed = FailedAttempt(claim, name, reason, rendered) if name in FAILED else None
            claim.worker.report(claim, rendered, log_tail, failed)

    def release(self, claims: Iterable[Claim], outcome: JobOutcome = RELEASED) -> None:
        """Release jobs of the backlog for any worker. No attempt is counted."""
        for claim in list(claims):
            self._slots.backlog.remove(claim)
            self.report(claim, outcome)

    def park(self, worker: Claimant, kill: bool) -> None:
        """Release the jobs of the worker that have not started; with `kill`, running ones too."""
        for slot in self._slots:
            if any(claim.worker is worker for claim in slot.claims):
                self._slots.take_back(slot)
            if kill and slot.claims and slot.claims[0].worker is worker:
                self._end_switched_off(slot, slot.claims[0])
        waiting = [claim for claim in self._slots.backlog if claim.worker is worker]
        self.release(waiting, SWITCHED_OFF)

    def _end_switched_off(self, slot: Slot, claim: Claim) -> None:
        """Kill a body; one that listens has `cancel_grace` to give its job back."""
        if slot.body.hears() != LISTENS:
            self.end(slot, claim, SWITCHED_OFF)
        elif claim.kill_at == float("inf"):
            claim.kill_at = time.monotonic() + claim.worker.settings.cancel_grace
            slot.tell(claim, "stop", claim.kill_at)

    def kill_all(self) -> None:
        """Kill every body now and release its job."""
        for slot in self._slots:
            for claim in slot.claims:
                claim.forced_outcome = claim.forced_outcome or RELEASED
            slot.kill()
