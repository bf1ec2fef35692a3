"""The end of an agent: it lets bodies end, kills those that take too long, waits for reports."""

from __future__ import annotations

import logging
from collections.abc import Collection

from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.served_database import ServedDatabase
from qwf_agent.agent.worker import Worker
from qwf_agent.system.exit_codes import SWITCHED_OFF

log = logging.getLogger("qwf_agent")

STOPPED = 0
# Longest wait for reports after the last body has ended or was killed, and the shortest for the end
# of the registrations.
REPORT_GRACE_S, LEAVE_S = 10.0, 1.0


class Shutdown:
    """The end of an agent, from the first reason to stop to the last report.

    Invariant: once it has `begun`, the agent claims nothing, and ends at `give_up_at` whatever the
    database does. That time only comes nearer.
    """

    def __init__(self, options: AgentOptions, slots: Pool, database: ServedDatabase) -> None:
        self.begun = False
        self.code = STOPPED  # the exit code of an agent with --until-empty
        self.kill_at = self.give_up_at = float("inf")
        self._options = options
        self._slots = slots
        self._database = database

    def begin(self, now: float) -> None:
        """Stop claiming, take back the jobs that have not started, let the others finish."""
        self.begun = True
        grace = self._options.grace
        self.kill_at = now + (self._database.settings.stop_grace if grace is None else grace)
        for slot in self._slots:
            self._slots.take_back(slot)
        self._database.reporter.try_soon()
        running = sum(len(slot.bodies()) for slot in self._slots)
        who = f"{running} running {'body has' if running == 1 else 'bodies have'}"
        log.info("stopping: %s", "no body runs" if not running else
                 f"{who} {self.kill_at - now:g} s to end; a second Ctrl-C or SIGTERM stops "
                 "at once")  # fmt: skip

    def is_empty(self, workers: Collection[Worker], now: float) -> bool:
        """True if an agent with --until-empty has nothing left to run. A tick has come after the
        last report, and then two claims from each queue: the second one began after the tick. A
        queue that is switched off for this box may have more, which the exit code says."""
        if not self._options.until_empty:
            return False
        if self._slots.claims() or not self._database.reporter.has_drained():
            self._database.ticker.note_work(now)
        ticked = self._database.ticker.ticked
        waiting = [w for w in workers if w.control.on and w.empty_claims < 2]
        for worker in waiting if ticked else ():
            worker.claim_soon()
        known = self._database.is_up and all(worker.control.known for worker in workers)
        if waiting or not ticked or not known:
            return False
        if off := [worker.queue for worker in workers if not worker.control.on]:
            log.warning("queue %s is switched off for this box: it may have jobs", ", ".join(off))
            self.code = SWITCHED_OFF
        return True

    def kill(self, now: float) -> None:
        """All bodies are killed now: wait for nothing but their reports."""
        self.kill_at = float("inf")
        self.give_up_at = min(self.give_up_at, now + REPORT_GRACE_S)

    def all_is_reported(self, workers: Collection[Worker], now: float) -> bool:
        """True if no body runs, no claim is under way, and all reports are taken or refused."""
        if self._slots.claims() or any(worker.asked.total for worker in workers):
            return False
        self.give_up_at = min(self.give_up_at, now + REPORT_GRACE_S)
        return self._database.reporter.has_tried()

    def leave_by(self, now: float) -> float:
        """When to wait no longer for the end of the registrations."""
        return max(now + LEAVE_S, min(self.give_up_at, now + REPORT_GRACE_S))
