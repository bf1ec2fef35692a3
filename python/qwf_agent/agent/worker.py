"""A registration on one queue: it claims jobs, sleeps while there are none, and renews the leases
of the jobs it holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from qwf_agent.agent import db
from qwf_agent.agent.calls import Notification, SentCall
from qwf_agent.agent.circuit_breaker import CircuitBreaker
from qwf_agent.agent.claim import Claim, Claimant, FailedAttempt, from_call
from qwf_agent.agent.control import Control
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.link import Links
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.out_root import SHORT, announce, out_root_of
from qwf_agent.agent.pool import FEW
from qwf_agent.agent.reporter import Reporter
from qwf_agent.agent.settings import Settings, SettingsReader
from qwf_agent.agent.shares import NO_ROOM, ClaimsAhead, Share
from qwf_agent.agent.sleeper import Registration, Sleeper

log = logging.getLogger("qwf_agent")

CHANGING = ("tasks", "task_options", "models", "servers")  # what update_worker() takes
TROUBLE_S = 1.0  # pause after a call that failed
NONSENSE_S = 60.0  # pause after a claim whose answer has rows without a job


class Worker(Claimant):
    """The claims and heartbeats of one queue, over the soft link; its sleeper decides
    when to claim. A claim goes with reports about nodes of the queue instead, unless many jobs
    wait.

    Invariant: at most one claim is under way, and at most one of these two calls: a heartbeat, or
    the sleeper's `stay_asleep`, which replaces it while the worker sleeps without jobs.
    """

    def __init__(
        self,
        registration: Registration,
        settings: Settings,
        links: Links,
        reporter: Reporter,
        options: AgentOptions,
        info: str,
        now: float,
    ) -> None:
        self.queue = registration.queue
        self.settings, self.links, self.reporter = settings, links, reporter
        self.lanes = self.queue in options.gpu_queues  # jobs need a card unless they are light
        self.reader = SettingsReader(self.queue, options, links.soft, now)
        self.asked = NO_ROOM  # jobs that the claim under way asks for
        self.is_lost = False  # its database is another one now
        self.found_all = False  # the last claim found all it asked for: there may be more
        self.empty_claims = 0  # how many in a row have found nothing
        self.place = self._place(options)
        self._info: str | None = info  # as last registered
        self._updating: SentCall | None = None
        self._has_new_code = False  # that was not announced yet
        self._link = links.soft
        self._lease = options.lease
        self._durable_claims = options.durable_claims
        self._claiming: SentCall | None = None
        self._not_before = 0.0  # no claim until then, whatever wakes it up
        self._with_reports = False  # the claim under way
        self._beating: SentCall | None = None
        self._log_wanted = False
        self._light_only = False
        self._ahead = ClaimsAhead(now)
        self._has_room = False  # as of the last turn of the loop
        self._beat_at = 0.0
        self._become(registration)

    def _become(self, registration: Registration) -> None:
        """Use this registration; its orders are not known yet."""
        self.id, self.channel = registration.id, registration.channel
        self._registration = registration
        self.control = Control(
            self.id, registration.host, self.queue, self.settings.heartbeat, self._link
        )  # fmt: skip
        self.circuit_breaker = CircuitBreaker(self.id, self.control, self._link)
        self.sleeper = Sleeper(registration, self.settings, self.control, self.links)

    def take_settings(self, now: float) -> bool:
        """Apply the settings of the queue; returns whether they have changed."""
        settings = self.reader.step(now)
        if settings is None or settings == self.settings:
            return False
        if settings.instance != self.settings.instance:
            if not self.is_lost:
                log.error(
                    "not serving %s: its database was %s, and is now %s: start this agent again",
                    self.queue, self.settings.instance[:SHORT], settings.instance[:SHORT],
                )  # fmt: skip
            self.is_lost = True
            return False
        if settings.generation != self.settings.generation:
            log.warning(
                "the database of %s was restored from a backup: generation %d",
                self.queue, settings.generation,
            )  # fmt: skip
            self.place = (*self.place[:2], settings.generation)
        self.is_lost = False
        self.settings = self.sleeper.settings = settings
        self.control.every_s = settings.heartbeat
        self.beat_soon()
        self.claim_soon()
        return True

    def _place(self, options: AgentOptions) -> tuple[str, str, int]:
        settings = self.settings
        root = out_root_of(options.out_root, settings.instance)
        return str(root), settings.instance, settings.generation

    @property
    def may_claim(self) -> bool:
        """True if it is switched on and need not wait: its database may be another one, or reports
        come first."""
        is_unsure = self.is_lost or self.reader.is_behind
        return self.control.on and not is_unsure and not self.reporter.is_behind()

    @property
    def is_draining(self) -> bool:
        """True if it is switched off, and lets running bodies end."""
        return self.control.policy == "drain"

    @property
    def is_on_trial(self) -> bool:
        """True if it runs one job at a time, after many have failed."""
        return self.circuit_breaker.on_trial

    @property
    def knows_more(self) -> bool:
        """True if it claims, and its last claim found all that it asked for."""
        return self.found_all and self.control.on and self.links.soft.up

    def update_registration(self, info: str) -> None:
        """Register what this agent can run, if that has changed: `info` is what it registers."""
        call = self._updating
        if call is not None and call.done:
            self._updating = None
            self.claim_soon()
            if call.failure is not None and call.failure.lost:
                self._info = None  # the database may not have it
            elif call.failure is not None:
                log.warning("what %s offers now is not registered: %s", self.queue, call.failure)
        if self._updating is None and info != self._info and self.links.durable.up:
            self._info = info
            known = json.loads(info)
            changing = {name: known[name] for name in CHANGING if name in known}
            if self._has_new_code:
                changing["new_code"], self._has_new_code = True, False
            query = db.update_worker(self.id, json.dumps(changing))
            self._updating = self.links.durable.send(query)

    def announce_new_code(self) -> None:
        """Register again what this agent can run: a task that is held back is tried again."""
        self._has_new_code, self._info = True, None

    def claim_if_due(
        self, share: Share | None, now: float, with_reports: bool, are_busy: bool = False
    ) -> bool:
        """Claim its share of the agent's room, if it is time. Without one, or after a claim that
        found work, let wake-ups go to others; but on a packed queue the best worker gets them while
        it has room. `with_reports`, the claim may go with reports; `are_busy`: no child could
        begin a job. Returns whether it has claimed."""
        self.sleeper.test_notifications(now)
        self._has_room = False
        packed = self.settings.pack_patience is not None
        if share is None or (self.sleeper.found and not packed):
            self.sleeper.wake()
        if share is None:
            return False
        if self._claiming is None:
            self.sleeper.claim_within_poll(now)
        if self._light_only and not share.light_only:
            self.sleeper.claim_soon()  # a card is free again: heavy jobs may be waiting
        self._light_only = share.light_only
        if self._ahead.is_over(are_busy, now):
            self.sleeper.claim_soon()  # a child is idle again: jobs of a rate may be waiting
        if self.sleeper.found and self._ahead.should_pause(now):
            return False
        jobs = share.room.total
        self._has_room = jobs > 0
        if jobs <= 0 or self._claiming is not None or not self._link.up or now < self._not_before:
            return False
        # While more jobs wait than a large claim takes, it is faster beside the reports.
        few = jobs <= FEW or not self.found_all
        self._with_reports = few and with_reports and self.reporter.takes_claim(self.queue, now)
        if not self._with_reports and now < self.sleeper.claim_at:
            return False
        self.asked = share.room
        self.sleeper.claim_at = float("inf")
        wanted = db.Wanted(
            self.queue, self.id, jobs, self._lease, share.light_only, share.room.startable
        )
        if self._with_reports:
            self._claiming = self.reporter.send_with_claim(wanted)
        else:
            self._claiming = self._link.send(db.claim(wanted, self._durable_claims))
        return True

    def claimed(self, now: float) -> list[Claim]:
        """The jobs that a claim has returned, once."""
        call = self._claiming
        if call is None or not call.done:
            return []
        self.found_all = 0 < self.asked.total <= len(call.records)
        self._claiming, self.asked = None, NO_ROOM
        self.empty_claims = 0 if call.records or call.failure else self.empty_claims + 1
        if call.failure:
            refused = self._with_reports and not call.failure.lost  # the reporter has logged it
            self.sleeper.claim_at = now if refused else now + spread(TROUBLE_S)
            if call.failure.unreadable:  # to go on would be to claim jobs only to lose them
                raise RuntimeError(f"a claim from {self.queue} failed: {call.failure}")
            if not call.failure.lost and not refused:
                log.warning("claiming from %s failed: %s", self.queue, call.failure)
            return []
        claims = from_call(call, self, self.lanes)
        if len(claims) < len(call.records):
            self._pause(len(call.records) - len(claims), now)
        self.sleeper.plan(bool(claims), now)
        return claims

    def _pause(self, nonsense: int, now: float) -> None:
        """Claim nothing for a while, and say why, after rows without a job."""
        self.found_all, self._not_before = False, now + NONSENSE_S
        log.error(
            "claiming from %s returned %d rows without a job: nothing is claimed from it for %g s; "
            "qwf doctor tells whether qwf.claim() was changed",
            self.queue, nonsense, NONSENSE_S,
        )  # fmt: skip

    def notified(self, notification: Notification) -> None:
        """Act on a notification: the queue has work, a job was cancelled, a log is followed, an
        echo arrived, or orders or settings have changed."""
        self.control.notified(notification)
        self.reader.notified(notification)
        if notification.channel == self.channel and notification.payload == self.queue:
            self.claim_soon()
        elif notification.channel == self.channel and notification.payload == "cancel":
            self.beat_soon()
        elif notification.channel == self.channel and notification.payload == "log":
            self._log_wanted = True
        elif notification.channel == self.channel and notification.payload == "echo":
            self.sleeper.take_echo()

    def take_log_request(self) -> bool:
        """True if somebody has begun to follow a log since the last call."""
        wanted, self._log_wanted = self._log_wanted, False
        return wanted

    def claim_soon(self) -> None:
        """Claim again at once, because there may be work that a claim under way did not see."""
        self.sleeper.claim_soon()

    def beat_due(self, now: float) -> bool:
        """True if it is time to renew the leases, or to tell the database that the worker is still
        asleep."""
        sleeper = self.sleeper
        at = min(self._beat_at, sleeper.renew_at) if sleeper.asleep else self._beat_at
        return self._beating is None and not sleeper.is_renewing and now >= at and self._link.up

    def beat_soon(self) -> None:
        """Send a heartbeat at once, because the database should know about a change."""
        self._beat_at = 0.0

    def beat(self, claims: Iterable[Claim], stats: str, now: float) -> None:
        """Renew the leases of the claims of this worker, and report `stats`. Calls that are due
        soon are made with it, because a server process that is awake executes them much faster."""
        tokens = [claim.token for claim in claims if claim.worker is self]
        if self.sleeper.asleep and not tokens:
            self.sleeper.renew(stats, now)
            self._beat_at = self.sleeper.renew_at
        else:
            self._beat_at = now + self.settings.beat_s
            self._beating = self._link.send(db.heartbeat(self.id, tokens, self._lease, stats))
            if self.sleeper.asleep:
                self.sleeper.sleep(now)
                self.control.ask_if_due_before(self.sleeper.renew_at)
        self.sleeper.claim_early(now)

    def verdicts(self, now: float) -> dict[str, str]:
        """The verdicts of an answered heartbeat by token, once."""
        if not self.sleeper.take_answer(now):
            self._beat_at = now + min(TROUBLE_S, self.settings.beat_s)
        call = self._beating
        if call is None or not call.done:
            return {}
        self._beating = None
        if call.failure:
            self._beat_at = now + min(TROUBLE_S, self.settings.beat_s)
            if not call.failure.lost:
                log.warning("a heartbeat of %s failed: %s", self.queue, call.failure)
            return {}
        return {row["token"]: row["verdict"] for row in call.rows}

    def report(
        self,
        claim: Claim,
        rendered: bytes,
        log_tail: str,
        failed: FailedAttempt | None,
        seconds: float | None = None,
    ) -> None:
        """Hand the report to the reporter."""
        self.reporter.add(claim, rendered, log_tail, failed, seconds)

    def note_ended(
        self, claim: Claim, outcome: str, reason: str | None, seconds: float
    ) -> str | None:
        """Tell the circuit breaker; returns why its task should get no more jobs here."""
        return self.circuit_breaker.record(claim, outcome, reason, seconds)

    def reregister(self, info: str) -> Iterator[None]:
        """Register again, under a new id. The caller runs one step in each turn of the loop."""
        self._info, self._updating = info, None
        host = self._registration.host
        announced = announce(info, Path(self.place[0]))
        registering = self.links.durable.send(db.register_worker(host, self.queue, announced))
        while not registering.done:
            yield
        naming = self.links.durable.send(db.wake_channel(registering.value() or ""))
        while not naming.done:
            yield
        failure = registering.failure or naming.failure
        if failure is not None:
            log.warning("worker %s cannot be registered again: %s", self.id, failure)
        else:
            policy, servers = self.control.policy, self.control.servers
            self._become(
                self._registration._replace(id=registering.value(), channel=naming.value())
            )
            self.links.listener.listen(self.channel)
            # Until the database answers:
            self.control.policy, self.control.servers = policy, servers

    def next_at(self) -> float:
        """When there is something to do, unless something happens first."""
        beating = self._beating is not None or self.sleeper.is_renewing
        beat = float("inf") if beating else self._beat_at
        may_claim = self._claiming is None and self._has_room and self.control.on
        claim = max(self.sleeper.claim_at, self._not_before) if may_claim else float("inf")
        renew = self.sleeper.renew_at if self.sleeper.asleep and not beating else float("inf")
        times = (beat, claim, renew, self.control.next_at(), self.reader.next_at())
        return min(times) if self._link.up else float("inf")
