"""When a worker claims, and what it tells the database while there is no work."""

from __future__ import annotations

import logging
from typing import NamedTuple

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.control import Control
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.link import Links
from qwf_agent.agent.settings import Settings

log = logging.getLogger("qwf_agent")

RECHECK_S = (0.005, 0.025, 0.1)  # claims after falling asleep: work may have come just before
RENEW_S = 10.0  # plus jitter: the database drops a sleeping worker after 15 seconds
REPORT_S = 0.01  # longest wait for a report that a claim can go with
MAX_POLL_S = 15.0
POLL_SHARE = 1 / 3  # of the time without work: the longer that is, the rarer the polls
CHECK_TICKS = 4  # ticks between two checks of an agent whether another one still ticks
CHECKS_PER_TICK = 10  # by a whole large fleet: more sleepers check more rarely
STALE_AGE = 2.5  # ticks: after this long without a tick, the agent that ticked has stopped
ECHO_AGAIN_S = 30.0


class Registration(NamedTuple):
    """A worker as the database knows it, and the channel that wakes it."""

    id: str
    channel: str
    host: str
    queue: str


class Sleeper:
    """Sets the time of its worker's next claim, and tells the database when the worker falls
    asleep, stays asleep and wakes.

    Invariant: the database counts the worker as asleep only after a claim found nothing, and until
    the agent has no room or, if the queue is not packed, until a claim finds something. At most one
    call of `stay_asleep` is under way. A worker that notifications do not reach claims at every
    poll.
    """

    def __init__(
        self, worker: Registration, settings: Settings, control: Control, links: Links
    ) -> None:
        self.settings = settings
        self.asleep = False
        self.found = False  # whether the last claim found anything
        self.claim_at = 0.0
        self.renew_at = 0.0  # when to tell the database again that the worker is asleep
        self._worker = worker
        self._control = control
        self._link = links.soft
        self._listener = links.listener
        self._renewing: SentCall | None = None
        self._sleepers = 0  # number of sleeping workers in the fleet
        self._tick_in_s: float | None = None
        self._asleep_since = 0.0
        self._rechecks: list[float] = []
        self._echo_connection = 0  # number of the last connection that an echo came through
        self._echo_at = 0.0
        self._wants_echo = False

    @property
    def notifications_arrive(self) -> bool:
        """True if an echo has come through the current connection."""
        return self._listener.up and self._echo_connection == self._listener.connects

    @property
    def is_renewing(self) -> bool:
        """True if a call of `stay_asleep` is under way."""
        return self._renewing is not None

    def claim_soon(self) -> None:
        """Claim again at once, because there may be work that a claim under way did not see. If a
        job is left to a better worker, look again when it has waited long enough for that one."""
        self.claim_at = 0.0
        if self.settings.pack_patience is not None and not self._rechecks:
            self._rechecks = [self.settings.pack_patience]

    def claim_within_poll(self, now: float) -> None:
        """Claim within one poll if notifications may not arrive."""
        if not self.notifications_arrive:
            self.claim_at = min(self.claim_at, now + self.settings.poll)

    def test_notifications(self, now: float) -> None:
        """Want an echo if it is not known whether notifications arrive."""
        self._control.notifications_arrive = self.notifications_arrive
        if self._listener.up and not self.notifications_arrive and now >= self._echo_at:
            self._wants_echo, self._echo_at = True, now + ECHO_AGAIN_S

    def take_echo_request(self) -> bool:
        """Return True if an echo is due; once for each request. Use another connection
        than the listener for it: a pooler may deliver a session's own notifications."""
        wanted, self._wants_echo = self._wants_echo, False
        return wanted

    def take_echo(self) -> None:
        """Note that the echo has arrived."""
        self._echo_connection = self._listener.connects

    def plan(self, found: bool, now: float) -> None:
        """Set the time of the next claim after a claim: at once if it found work, if a wake-up came
        meanwhile, or if the worker has just fallen asleep; otherwise later each time."""
        self.found = found
        if found:
            self._asleep_since = now
            self.claim_at = min(self.claim_at, now)  # earlier if a wake-up came meanwhile
        elif not self.asleep:
            patience = self.settings.pack_patience
            self._rechecks = [*RECHECK_S, *([] if patience is None else [patience])]
            self._asleep_since = now
            self.sleep(now)
            self.claim_at = now
        else:
            wait = self._rechecks.pop(0) if self._rechecks else spread(self._poll_s(now))
            self.claim_at = min(self.claim_at, now + wait)

    def wait_for_report(self, now: float) -> None:
        """Put off the next claim, which can go with a report that is expected soon."""
        if self.found and self.claim_at == now:
            self.claim_at = now + REPORT_S

    def sleep(self, now: float) -> None:
        """Tell the database that the worker is asleep."""
        self.asleep, self.renew_at = True, now + self._renew_s
        self._link.send(db.sleep(self._worker.id, self._worker.queue))

    def renew(self, stats: str, now: float) -> None:
        """Tell the database that the worker, which holds no job, is still asleep."""
        self.renew_at = now + self._renew_s
        max_age = STALE_AGE * self.settings.tick
        self._renewing = self._link.send(
            db.stay_asleep(self._worker.id, self._worker.queue, stats, max_age)
        )

    def claim_early(self, now: float) -> None:
        """Claim now if a claim is due soon, because a call has just gone out: a server process that
        is already awake executes the claim much faster."""
        if self.asleep and self.notifications_arrive and self.claim_at < self.renew_at:
            self.claim_at = now

    def wake(self) -> None:
        """Tell the database that the worker is awake, so that wake-ups go to others."""
        if self.asleep:
            self.asleep = False
            self.claim_at = self.claim_at if self.found else 0.0
            self._link.send(db.wake(self._worker.id))

    def take_answer(self, now: float) -> bool:
        """Take in the answer to `stay_asleep`; False if the call has failed."""
        call = self._renewing
        if call is None or not call.done:
            return True
        self._renewing = None
        if call.failure or not call.rows:
            if call.failure and not call.failure.lost:
                log.warning("a heartbeat of %s failed: %s", self._worker.queue, call.failure)
            return False
        answer = call.rows[0]
        self._control.take_sleep_answer(answer["registered"], bool(answer["ordered"]), now)
        self._sleepers = answer["sleepers"]
        due_s, overdue_s = answer["tick_in_s"], 2 * (self.renew_at - now)
        self._tick_in_s = overdue_s if due_s is None else min(overdue_s, float(due_s))
        return True

    def take_tick_in_s(self) -> float | None:
        """Seconds until the agent should tick, at the latest when the next answer is overdue; once
        for each answer of the database."""
        seconds, self._tick_in_s = self._tick_in_s, None
        return seconds

    @property
    def _renew_s(self) -> float:
        """Seconds until the next `stay_asleep`. It also checks that somebody ticks, so it can be
        longer the more sleepers share that check."""
        ticks = max(CHECK_TICKS, self._sleepers / CHECKS_PER_TICK)
        return min(self.settings.beat_s, spread(min(RENEW_S, ticks * self.settings.tick)))

    def _poll_s(self, now: float) -> float:
        """Seconds until the next claim: the setting, and longer the longer there was no work,
        because wake-ups announce work and ticks repeat missed wake-ups."""
        quiet_s = now - self._asleep_since if self.notifications_arrive else 0.0
        return max(self.settings.poll, min(MAX_POLL_S, quiet_s * POLL_SHARE))
