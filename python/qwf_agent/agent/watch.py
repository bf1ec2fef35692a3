"""Looks after running bodies: measures them, kills those on which a watchdog trips, and takes jobs
back that would wait too long."""

from __future__ import annotations

import json
import logging

from qwf_agent.agent import db, watchdogs
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import SWITCHED_OFF, Endings
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.served_databases import ServedDatabases
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.shutdown import Shutdown
from qwf_agent.agent.slot import STUCK_S, Slot
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

    def step(self, now: float, databases: ServedDatabases) -> None:
        """Kill a body if a watchdog trips or if it does not stop when cancelled, and take back the
        jobs behind a long body."""
        if now < self._watched_at + WATCH_S:
            return
        self._watched_at = now
        every_s, reports = databases.settings.metrics, [one.host_report for one in databases.open]
        self._telemetry.step(now, self._needs_samples(now), every_s, reports)
        for slot in self._slots:
            slot.check_messages(now)
            seconds = slot.body.seconds(now)
            if seconds > STUCK_S and len(slot.claims) > 1:
                self._slots.take_back(slot)
            if slot.is_overdue(now):
                log.error("a child took too long to import the app or load a model: killing it")
                slot.kill()
            if not slot.claims or slot.claims[0].forced_outcome is not None:
                continue
            claim = slot.claims[0]
            if now >= claim.kill_at:
                self._endings.end(slot, claim, DID_NOT_STOP if claim.cancelled else SWITCHED_OFF)
            elif (trip := watchdogs.check(self._observe(slot, claim, seconds, now))) is not None:
                self._endings.trip(slot, claim, trip)
            elif claim.watchdog_state.suspected_stall is not None:
                readings = json.dumps(claim.watchdog_state.suspected_stall)
                claim.watchdog_state.suspected_stall = None
                link = claim.worker.links.soft
                link.send(db.suspect_stall(claim.job_id, claim.token, readings))
            if slot.claims and slot.claims[0] is claim and slot.body.hears() != NOTHING:
                self._tell(slot, claim, seconds, now)
        self._release_stranded(now)

    def next_at(self, now: float) -> float:
        """When there is something to do."""
        watch_at = self._watched_at + BUSY_WAIT_S if self._slots.busy() else now + IDLE_WAIT_S
        measure_at = self._telemetry.next_at(self._needs_samples(now))
        return min(watch_at, max(measure_at, self._watched_at + WATCH_S))

    def _tell(self, slot: Slot, claim: Claim, seconds: float, now: float) -> None:
        """Tell a body that it should give its job back, once for each reason."""
        ends_at, grace = now + claim.timeout - seconds, claim.worker.settings.cancel_grace
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

    def _observe(self, slot: Slot, claim: Claim, seconds: float, now: float) -> Observation:
        """The state of the first job of the slot, for the watchdogs."""
        sample, pid = self._telemetry.sample, slot.process.pid if slot.process else 0
        use, used = sample.cards.get(-1 if slot.card is None else slot.card, (0.0, 0))
        return Observation(
            claim,
            claim.worker.settings,
            now,
            seconds,
            slot.body.is_loading(),
            slot.body.progress_version(),
            sample.at,
            sample.rss_bytes(pid),
            sample.state(pid),
            sample.cpu_s(pid),
            sample.is_runnable(pid),
            None if slot.card is None else use,
            used,
            self._max_rss,
        )

    def _release_stranded(self, now: float) -> None:
        """Release the jobs that no child can start soon."""
        for heavy in (True, False):
            if any(slot.heavy >= heavy and slot.can_start_soon(now) for slot in self._slots):
                self._startable_at[heavy] = now
            elif now > self._startable_at[heavy] + STUCK_S:
                self._endings.release(
                    [claim for claim in self._slots.backlog if claim.heavy >= heavy]
                )
