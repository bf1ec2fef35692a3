"""Looks after running bodies: measures them, kills those on which a watchdog trips, and takes jobs
back that would wait too long."""

from __future__ import annotations

import json
import logging

from qwf_agent.agent import db, watchdogs
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import SWITCHED_OFF, Endings
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.running_body import RunningBody
from qwf_agent.agent.served_database import ServedDatabase
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.shutdown import Shutdown
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.slot_jobs import STUCK_S
from qwf_agent.agent.telemetry import Telemetry
from qwf_agent.agent.watchdogs import Observation
from qwf_agent.child.outcome import JobOutcome
from qwf_agent.child.scoreboard import NOTHING

log = logging.getLogger("qwf_agent")

BUSY_WAIT_S = 0.2  # longest wait while bodies run: how late a watchdog may be
IDLE_WAIT_S = 1.0
WATCH_S = 0.05  # shortest time between two checks of all children
DID_NOT_STOP = JobOutcome("cancelled", error="cancelled, and killed because it did not stop")


class Watch:
    """Checks all children from time to time. Short bodies end before they need a check.

    Invariant: a job that no child can start soon is released after STUCK_S.
    """

    def __init__(
        self, slots: Pool, endings: Endings, serving: Serving, telemetry: Telemetry,
        shutdown: Shutdown, max_rss: int | None, now: float,
    ) -> None:  # fmt: skip
        self._slots = slots
        self._endings = endings
        self._serving = serving
        self._telemetry = telemetry
        self._shutdown = shutdown
        self._max_rss = max_rss
        self._watched_at = 0.0
        # By whether jobs are heavy: when one of them could last have started soon.
        self._startable_at = {True: now, False: now}

    def step(self, now: float, database: ServedDatabase) -> None:
        """Kill a body if a watchdog trips or if it does not stop when cancelled, and take back the
        jobs behind a long body."""
        if now < self._watched_at + WATCH_S:
            return
        self._watched_at = now
        self._telemetry.step(
            now, self._needs_samples(now), database.settings.metrics, database.host_report
        )
        for slot in self._slots:
            slot.check_messages(now)
            if self._has_stuck_jobs(slot, now):
                self._slots.take_back(slot)
            if slot.is_overdue(now):
                log.error("a child took too long to import the app or load a model: killing it")
                slot.kill()
            if slot.jobs.are_concurrent and slot.ready:
                self._check_many(slot, now)
            for body in slot.bodies():
                self._check(slot, body, now)
        self._release_stranded(now)

    def _has_stuck_jobs(self, slot: Slot, now: float) -> bool:
        """True if jobs wait behind a long body."""
        if slot.jobs.are_concurrent or slot.body.seconds(now) <= STUCK_S:
            return False
        return len(slot.claims) > len(slot.body.claims)

    def _check_many(self, slot: Slot, now: float) -> None:
        """Kill a child whose bodies use too much memory, or in which one blocks all others."""
        rss = self._telemetry.sample.rss_bytes(slot.process.pid if slot.process else 0)
        if self._max_rss is not None and rss is not None and rss > self._max_rss:
            slot.kill(watchdogs.out_of_memory(rss, self._max_rss))
        elif slot.is_silent(now):
            claim = slot.on_cpu()
            if claim is None:
                slot.kill(watchdogs.BLOCKED)
            else:
                claim.forced_outcome = claim.forced_outcome or watchdogs.BLOCKED
                slot.kill()

    def _check(self, slot: Slot, body: RunningBody, now: float) -> None:
        """Kill a body if a watchdog trips, or if it does not stop when told to."""
        claims, seconds = body.claims, body.seconds(now)
        claim = max(claims, key=lambda one: one.timeout)  # whose clock counts for a batch
        if all(now >= one.kill_at for one in claims):
            for one in claims:
                why = DID_NOT_STOP if one.cancelled else SWITCHED_OFF
                one.forced_outcome = one.forced_outcome or why
            slot.kill()
        elif all(one.forced_outcome is not None for one in claims):
            return
        elif (trip := watchdogs.check(self._observe(slot, body, claim, seconds, now))) is not None:
            self._endings.trip(slot, body, claim, trip)
            return
        elif claim.watchdog_state.suspected_stall is not None:
            detail = json.dumps({"readings": claim.watchdog_state.suspected_stall})
            claim.watchdog_state.suspected_stall = None
            link = claim.worker.links.soft
            link.send(db.report_event(claim.job_id, claim.token, "stall_suspected", detail))
        if body.hears() != NOTHING:
            for one in claims:
                self._tell(slot, one, claim.timeout - seconds, now)

    def next_at(self, now: float) -> float:
        """When there is something to do."""
        watch_at = self._watched_at + BUSY_WAIT_S if self._slots.busy() else now + IDLE_WAIT_S
        measure_at = self._telemetry.next_at(self._needs_samples(now))
        full_at = self._slots.shapes.next_at(self._slots.backlog)  # of a batch
        return min(watch_at, full_at, max(measure_at, self._watched_at + WATCH_S))

    def _tell(self, slot: Slot, claim: Claim, left_s: float, now: float) -> None:
        """Tell a body that it should release its job, once for each reason."""
        ends_at, grace = now + left_s, claim.worker.settings.cancel_grace
        due = {
            "stop": self._shutdown.begun,
            "drain": claim.worker.is_draining,
            "timeout": now >= ends_at - min(grace, claim.timeout / 2),
        }
        for reason in [one for one, is_due in due.items() if is_due and one not in claim.told]:
            claim.told += (reason,)
            until = self._shutdown.kill_at if reason == "stop" else claim.kill_at
            slot.tell(claim, reason, min(until, ends_at))

    def _needs_samples(self, now: float) -> bool:
        """True if a body has run long enough to be measured, or a model server needs to know what
        is free on its card."""
        return self._slots.any_long(now) or self._serving.wants_reading()

    def _observe(
        self, slot: Slot, body: RunningBody, claim: Claim, seconds: float, now: float
    ) -> Observation:
        """The state of a body, for the watchdogs."""
        sample, pid = self._telemetry.sample, slot.process.pid if slot.process else 0
        use, used = sample.cards.get(-1 if slot.card is None else slot.card, (0.0, 0))
        return Observation(
            claim,
            claim.worker.settings,
            now,
            seconds,
            body.is_loading(),
            body.progress_version(),
            sample.at,
            sample.rss_bytes(pid),
            sample.state(pid),
            sample.cpu_s(pid),
            sample.is_runnable(pid),
            None if slot.card is None else use,
            used,
            None if claim.is_concurrent else self._max_rss,
        )

    def _release_stranded(self, now: float) -> None:
        """Release the jobs that no child can start soon."""
        for heavy in (True, False):
            waiting = [claim for claim in self._slots.backlog if claim.heavy >= heavy]
            first, slots = (
                next(iter(waiting), None),
                [one for one in self._slots if one.heavy >= heavy],
            )
            if any(slot.can_start_soon(first, now) for slot in slots):
                self._startable_at[heavy] = now
            elif now > self._startable_at[heavy] + STUCK_S:
                self._endings.release(waiting)
                many = [slot for slot in slots if slot.jobs.are_concurrent]
                if waiting and len(many) == len(slots):  # else they would wait forever
                    min(many, key=lambda slot: len(slot.claims)).yields = True
