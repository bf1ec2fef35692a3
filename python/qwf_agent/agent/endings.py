"""Ends the jobs that an agent holds: decides the outcome of each and hands it to the reporter."""

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
from qwf_agent.agent.running_body import RunningBody
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
        detail = json.dumps(moved._asdict())
        query = db.report_event(claim.job_id, claim.token, "folder_moved", detail)
        claim.worker.links.soft.send(query)

    def conclude(self, answer: JobAnswer) -> None:
        """Report a job that its child has answered."""
        claim = answer.claim
        self._slots.batch_size.record(claim.task, answer.seconds)
        if claim.forced_outcome is not None and answer.outcome != "completed" and not claim.dropped:
            self._report_forced(claim, claim.forced_outcome, answer.seconds, answer.log)
        elif claim.cancelled:
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
        for claim, printed in zip(death.running, death.logs, strict=True):
            outcome = claim.forced_outcome or self._of_death(death, claim, oom)
            if claim is death.culprit and death.log:
                printed = f"{printed}\n{death.log}".strip()
            detail = {**outcome.detail, "max_rss_bytes": death.exit.max_rss_bytes}
            self._report_forced(claim, outcome._replace(detail=detail), death.seconds, printed)
        if not death.running and not death.expected:
            how = how_it_ended(death.exit.status, oom)
            log.warning("a child died while it ran no job: %s\n%s", how, death.log)

    def _of_death(self, death: ChildDeath, claim: Claim, oom: bool) -> JobOutcome:
        """The outcome of a job that ran when its child died. One of many is released, unless its
        own body was on the CPU."""
        if claim is death.culprit:
            return death.cause or of_exit_status(death.exit.status, out_of_memory=oom)
        culprit = death.culprit or next((one for one in death.running if one.forced_outcome), None)
        why = death.cause.error if death.cause else how_it_ended(death.exit.status, oom)
        whose = "" if culprit is None else f" because of job {culprit.job_id}"
        return neighbour(f"it ran with {len(death.running) - 1} others in a process that ended"
                         f"{whose}: {why}")  # fmt: skip

    def _report_forced(
        self, claim: Claim, outcome: JobOutcome, seconds: float, printed: str
    ) -> None:
        reason = outcome.detail.get("reason")
        self._listener(claim, outcome.outcome, reason, seconds, b"")
        self.report(claim, outcome, printed)

    def trip(self, slot: Slot, body: RunningBody, claim: Claim, trip: Trip) -> None:
        """Kill a body on which a watchdog has tripped, and report what was measured. If it has a
        batch, nobody knows whose fault it is: all jobs are released."""
        detail = {"reason": trip.reason, "readings": trip.readings}
        outcome = JobOutcome("lost", error=trip.error, detail=detail)
        if len(body.claims) > 1:
            outcome = neighbour(f"it ran in a batch of {len(body.claims)}: {trip.error}")
        for one in [claim, *body.claims]:
            self.end(slot, one, outcome)

    def end(self, slot: Slot, claim: Claim, forced_outcome: JobOutcome) -> None:
        """End a job and report `forced_outcome`, even if the child answers. Its child is killed,
        unless other jobs run in it: then its body is cancelled, and the child killed if it does not
        stop, or when all jobs of a batch have to end."""
        claim.forced_outcome = claim.forced_outcome or forced_outcome
        body = next((body for body in slot.bodies() if claim in body.claims), None)
        if body is not None and claim.is_concurrent and not body.is_loading():
            claim.kill_at = min(claim.kill_at, time.monotonic() + _grace(claim))
            slot.tell(claim, "end", claim.kill_at)
        elif body is None or all(map(_has_to_end, body.claims)):
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
        elif slot is not None and slot.claims.get(claim.ticket) is claim:
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
            if any(claim.worker is worker for claim in slot.claims.values()):
                self._slots.take_back(slot)
            for body in slot.bodies() if kill else ():
                for claim in [one for one in body.claims if one.worker is worker]:
                    self._end_switched_off(slot, body, claim)
        waiting = [claim for claim in self._slots.backlog if claim.worker is worker]
        self.release(waiting, SWITCHED_OFF)

    def _end_switched_off(self, slot: Slot, body: RunningBody, claim: Claim) -> None:
        """Kill a body; one that listens has `cancel_grace` to release its job."""
        if claim.forced_outcome is not None:
            return
        if body.hears() != LISTENS:
            self.end(slot, claim, SWITCHED_OFF)
        elif claim.kill_at == float("inf"):
            claim.kill_at = time.monotonic() + _grace(claim)
            slot.tell(claim, "stop", claim.kill_at)

    def kill_all(self) -> None:
        """Kill every body now and release its job."""
        for slot in self._slots:
            for claim in slot.claims.values():
                claim.forced_outcome = claim.forced_outcome or RELEASED
            slot.kill()


def neighbour(error: str) -> JobOutcome:
    """The outcome of a job whose process ended while it ran other jobs, too: it is not to blame."""
    return JobOutcome("released", error=error, detail={"reason": "neighbour"})


def _has_to_end(claim: Claim) -> bool:
    return claim.forced_outcome is not None or claim.dropped or claim.cancelled


def _grace(claim: Claim) -> float:
    return claim.worker.settings.cancel_grace
