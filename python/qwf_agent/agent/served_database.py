"""The database that an agent serves: its connections, what goes over them, and its workers."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Callable, Iterable, Iterator

from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.failure_log import FailureLog
from qwf_agent.agent.link import Link, Links
from qwf_agent.agent.log_sender import LogSender
from qwf_agent.agent.opening import Opening, StartAborted
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.outage_log import OutageLog
from qwf_agent.agent.reporter import Reporter
from qwf_agent.agent.settings import Settings
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.telemetry import HostReport
from qwf_agent.agent.ticker import Ticker
from qwf_agent.agent.worker import Worker

log = logging.getLogger("qwf_agent")

SOFT_DEADLINE_S, DURABLE_DEADLINE_S = 10.0, 60.0


class ServedDatabase:
    """Invariant: once it is open, it has one worker for each queue of the agent, and stays open
    while the server is away."""

    def __init__(
        self, options: AgentOptions, selector: selectors.BaseSelector,
        infos: Callable[[], dict[str, str]],
    ) -> None:  # fmt: skip
        application = f"qwf agent {options.host} {','.join(options.queues)}"
        own = options.listen_dsn is None  # else a pooler may give the sessions to others
        soft = Link(options.dsn, application, selector, SOFT_DEADLINE_S, own)
        durable = Link(options.dsn, application, selector, DURABLE_DEADLINE_S, own)
        listener = soft  # behind a transaction pooler: a session of its own
        if options.listen_dsn is not None:
            listener = Link(options.listen_dsn, application, selector, SOFT_DEADLINE_S)
        self.links = Links(soft, durable, listener)
        self.failures = FailureLog(soft)
        self.reporter = Reporter(durable, self.failures)
        self.logs = LogSender(soft)
        self.ticker = Ticker(durable, options.until_empty)
        self.host_report = HostReport(options.host, options.dsn, soft)
        self.opening = Opening(self.links, self.reporter, options, infos)
        self._outages = OutageLog()
        self._reregistering: dict[Worker, Iterator[None]] = {}

    @property
    def workers(self) -> list[Worker]:
        """One for each queue of the agent; none before it is open."""
        return self.opening.workers

    @property
    def settings(self) -> Settings:
        """The settings of what all queues share: those of the first one."""
        return self.workers[0].settings

    @property
    def is_up(self) -> bool:
        """True if it is open, and the server is there."""
        return bool(self.workers) and self.links.soft.up and self.links.durable.up

    def open(self, now: float, give_up_at: float) -> bool:
        """Go on opening it; True once it is open. Raises StartAborted."""
        if self.opening.step(now):
            return True
        if now >= give_up_at:
            raise StartAborted(self.opening.code, self.opening.trouble or "no database")
        return False

    def step_links(self, now: float) -> None:
        """Let the connections act on their deadlines."""
        soft, durable, listener = self.links
        unanswered = soft.unanswered
        soft.step(now)
        if soft.unanswered > unanswered:
            # If one connection is cut, the other one probably is too.
            durable.expect_answer_within(SOFT_DEADLINE_S)
        if listener is not soft:
            listener.step(now)
        durable.step(now)

    def take_notifications(self) -> None:
        """Hand the notifications to the workers."""
        while self.links.listener.notifications:
            notification = self.links.listener.notifications.popleft()
            for worker in self.workers:
                worker.notified(notification)

    def take_answer_to_reports(self, now: float) -> None:
        """Handle the answer to reports, which may have opened nodes."""
        opened = self.reporter.take_answer(now)
        for worker in self.workers if opened else ():
            if worker.queue in opened:
                worker.claim_soon()

    def report(self, now: float) -> None:
        """Report the jobs that have ended, handle the answers, and log what has failed."""
        self.reporter.step(now)
        for worker in self.workers if self.reporter.take_change() else ():
            worker.beat_soon()
        self.failures.step(now)
        self._outages.step(self.links, now)

    def send_logs(self, slots: Iterable[Slot], now: float) -> None:
        """Send the followed logs."""
        self.logs.step(self.workers, slots, now)

    def reregister(self, infos: dict[str, str], draining: bool) -> None:
        """Register the workers again whose rows the database has lost; `infos` is what they
        register."""
        for worker in self.workers:
            if worker in self._reregistering:
                if next(self._reregistering[worker], "done") == "done":
                    del self._reregistering[worker]
            elif worker.control.unregistered and not draining and self.links.durable.up:
                log.warning("worker %s is no longer registered: registering it again", worker.id)
                self._reregistering[worker] = worker.reregister(infos[worker.queue])

    def next_at(self) -> float:
        """When there is something to do, unless something happens first."""
        parts = self.logs, self.failures, self.opening, self.reporter
        own = [part.next_at() for part in parts]
        own += [self.ticker.next_at()] if self.workers else []
        return min(
            *own, *(link.next_at() for link in self.links),
            *(worker.next_at() for worker in self.workers),
        )  # fmt: skip

    def leave(self) -> list[tuple[Worker, SentCall]]:
        """End what is not needed to deregister; returns the calls that end the registrations."""
        self.failures.close()
        self.reporter.give_up()
        self.links.soft.close()
        self.links.listener.close()
        self.host_report.close()
        return self.opening.deregister()
