"""When a worker looks for work, and what it tells the database while there is none."""

from __future__ import annotations

from typing import NamedTuple

from qwf_agent import db
from qwf_agent.agent.control import Control
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.link import Call, Links
from qwf_agent.agent.settings import Settings

RECHECK_S = (0.005, 0.025, 0.1)  # after falling asleep: a wake-up may have crossed with it
SAY_AGAIN_S = 10.0  # with its jitter: the database forgets a sleeper after fifteen seconds
RAREST_POLL_S = 15.0
POLL_SHARE = 1 / 3  # of the time in which nothing has come
SELDOM = 4  # ticks: how often an agent that does not tick checks whether others do
CROWD = 10  # in a fleet of more sleepers than this, all together check in every tick
STALE_AGE = 2.5  # ticks: after this long without a tick, the agent that ticked has stopped
ECHO_AGAIN_S = 30.0


class Registration(NamedTuple):
    """A worker as the database knows it, and the channel that wakes it."""

    id: str
    channel: str
    host: str
    queue: str


class Sleeper:
    """Sets the time of its worker's next look for work, and says so to the database when the worker
    falls asleep, stays asleep and wakes.

    Invariant: the database counts the worker as asleep only after a claim found nothing, and until
    a claim finds something or the agent has no room. At most one call of `stay_asleep` is under
    way. A sleeper that does not hear notifications looks at every poll.
    """

    def __init__(
        self, worker: Registration, settings: Settings, control: Control, links: Links
    ) -> None:
        self.settings = settings
        self.asleep = False
        self.found = False  # whether the last claim found anything
        self.look_at = 0.0
        self.say_at = 0.0  # when to tell the database again that it is asleep
        self._worker = worker
        self._control = control
        self._link = links.soft
        self._listener = links.listener
        self._staying: Call | None = None
        self._sleepers = 0  # in the fleet
        self._tick_in_s: float | None = None
        self._asleep_since = 0.0
        self._rechecks: list[float] = []
        self._heard_in = 0  # the last connection that an echo came through
        self._echo_at = 0.0
        self._wants_echo = False

    @property
    def hears(self) -> bool:
        """Whether notifications are known to arrive through the present connection."""
        return self._listener.up and self._heard_in == self._listener.connects

    @property
    def is_staying(self) -> bool:
        """Whether a call of `stay_asleep` is under way."""
        return self._staying is not None

    def look_soon(self) -> None:
        """There may be work. A claim under way may have looked before it came: look again."""
        self.look_at = 0.0

    def look_at_poll(self, now: float) -> None:
        """Look within one poll if no wake-up can be relied on."""
        if not self.hears:
            self.look_at = min(self.look_at, now + self.settings.poll)

    def listen(self, now: float) -> None:
        """Find out whether notifications arrive, if that is not known."""
        self._control.hears = self.hears
        if self._listener.up and not self.hears and now >= self._echo_at:
            self._wants_echo, self._echo_at = True, now + ECHO_AGAIN_S

    def take_echo_request(self) -> bool:
        """Whether to ask for an echo, once. Ask on another connection than the one that listens: a
        pool may deliver a session's own notifications."""
        wanted, self._wants_echo = self._wants_echo, False
        return wanted

    def hear_echo(self) -> None:
        """The echo has arrived."""
        self._heard_in = self._listener.connects

    def plan(self, found: bool, now: float) -> None:
        """Set the next look after a claim: at once if it found work, if a wake-up came meanwhile,
        or if the worker has just fallen asleep; otherwise later and later."""
        self.found = found
        if found:
            self.look_at = now
        elif not self.asleep:
            self._rechecks = list(RECHECK_S)
            self._asleep_since = now
            self.sleep(now)
            self.look_at = now
        else:
            wait = self._rechecks.pop(0) if self._rechecks else spread(self._poll_s(now))
            self.look_at = min(self.look_at, now + wait)

    def sleep(self, now: float) -> None:
        """Tell the database that the worker is asleep."""
        self.asleep, self.say_at = True, now + self._stay_s
        self._link.send(db.sleep(self._worker.id, self._worker.queue))

    def stay(self, stats: str, now: float) -> None:
        """Tell the database that the worker, which holds no job, is still asleep."""
        self.say_at = now + self._stay_s
        max_age = STALE_AGE * self.settings.tick
        self._staying = self._link.send(
            db.stay_asleep(self._worker.id, self._worker.queue, stats, max_age)
        )

    def look_along(self, now: float) -> None:
        """Look now instead of a moment later, as a call has just gone out: a server process that
        is already awake takes a fraction of the time for the claim."""
        if self.asleep and self.hears and self.look_at < self.say_at:
            self.look_at = now

    def wake(self) -> None:
        """Tell the database that the worker is awake, so that wake-ups go to others."""
        if self.asleep:
            self.asleep, self.look_at = False, 0.0
            self._link.send(db.wake(self._worker.id))

    def take_answer(self, now: float) -> bool:
        """Take in the answer to `stay_asleep`; False if the call has failed."""
        call = self._staying
        if call is None or not call.done:
            return True
        self._staying = None
        if call.failure or not call.rows:
            return False
        answer = call.rows[0]
        self._control.heard(answer["registered"], bool(answer["ordered"]), now)
        self._sleepers = answer["sleepers"]
        due_s, again_s = answer["tick_in_s"], 2 * (self.say_at - now)
        self._tick_in_s = again_s if due_s is None else min(again_s, float(due_s))
        return True

    def take_tick_in_s(self) -> float | None:
        """In how many seconds a tick is wanted, once for each answer of the database; at most until
        the next answer is overdue."""
        seconds, self._tick_in_s = self._tick_in_s, None
        return seconds

    @property
    def _stay_s(self) -> float:
        """Seconds until the next `stay_asleep`. The more sleepers share the check that somebody
        ticks, the longer."""
        ticks = max(SELDOM, self._sleepers / CROWD)
        return min(self.settings.beat_s, spread(min(SAY_AGAIN_S, ticks * self.settings.tick)))

    def _poll_s(self, now: float) -> float:
        """Seconds until the next look: the setting, and longer the longer nothing has come, because
        wake-ups bring the work and ticks wake those they missed."""
        quiet_s = now - self._asleep_since if self.hears else 0.0
        return max(self.settings.poll, min(RAREST_POLL_S, quiet_s * POLL_SHARE))
