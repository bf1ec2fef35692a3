"""A registration on one queue: it looks for work, sleeps where there is none, and renews the
leases of what it holds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from qwf_agent import db
from qwf_agent.agent.circuit_breaker import Circuit
from qwf_agent.agent.claim import Claim, from_call
from qwf_agent.agent.control import Control
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.link import Call, Link, Notification
from qwf_agent.agent.pool import NO_ROOM, Room
from qwf_agent.agent.settings import Settings, SettingsReader

log = logging.getLogger("qwf_agent")

RECHECK_S = (0.005, 0.025, 0.1)  # after falling asleep: a wake-up may have crossed with it
SAY_AGAIN_S = 10.0  # with its jitter: the database forgets a sleeper after fifteen seconds
RAREST_POLL_S = 15.0
POLL_SHARE = 1 / 3  # of the time in which nothing has come
SELDOM = 4  # ticks: how often an agent that does not tick sees whether others do
CROWD = 10  # sleepers of a fleet that together see it in every tick
STALE_AGE = 2.5  # ticks: then whoever ticked does no more
ECHO_AGAIN_S = 30.0
TROUBLE_S = 1.0  # pause after a call that failed


class Worker:
    """One queue's claims, sleep and heartbeats, over the link for calls that commit softly.

    Invariant: at most one claim and one heartbeat are under way; the heartbeat of a sleeper without
    jobs is that it stays asleep. It is asleep, as far as the database knows, only after a claim
    found nothing, and until one finds something or the agent has no room. While it hears no
    notifications, it looks at every poll.
    """

    def __init__(
        self,
        worker_id: str,
        channel: str,
        queue: str,
        settings: Settings,
        link: Link,
        ears: Link,
        lease: float | None,
        lanes: bool,
        control: Control,
        reader: SettingsReader,
        info: str,
    ) -> None:
        self.id = worker_id
        self.channel = channel
        self.queue = queue
        self.settings = settings
        self.lanes = lanes  # its jobs need a card to themselves unless they are light
        self.control = control
        self.reader = reader
        self.circuit = Circuit(worker_id, control, link)
        self.asked = NO_ROOM  # jobs asked for by the claim under way
        self.found_all = False  # that its last claim asked for: there may be more
        self._info: str | None = info  # what it has announced
        self._announcing: Call | None = None
        self._link = link
        self._ears = ears  # what LISTENs
        self._lease = lease
        self._claiming: Call | None = None
        self._beating: Call | None = None
        self._staying: Call | None = None
        self._sleepers = 0  # of the fleet
        self._tick_in_s: float | None = None
        self._asleep = False
        self._found = False  # anything, by its last claim
        self._log_wanted = False
        self._light_only = False
        self._say_at = self._asleep_at = 0.0
        self._heard_in = 0  # the last connection through which an echo came
        self._echo_at = 0.0
        self._wants_echo = False
        self._rechecks: list[float] = []
        self._look_at = 0.0
        self._beat_at = 0.0

    def take_settings(self, now: float) -> bool:
        """Whether its settings have changed; from now on it goes by them."""
        settings = self.reader.step(now)
        if settings is None or settings == self.settings:
            return False
        self.settings, self.control.every_s = settings, settings.heartbeat
        self.beat_soon()
        self.look_soon()
        return True

    def announce(self, info: str, durable: Link) -> None:
        """Let the database know what this agent can do, where that has changed."""
        call = self._announcing
        if call is not None and call.done:
            self._announcing = None
            self.look_soon()
            if call.failure is not None and call.failure.lost:
                self._info = None  # it may not have heard
        if self._announcing is None and info != self._info and durable.up:
            self._info, self._announcing = info, durable.send(db.announce(self.id, info))

    def look(self, room: Room, asked: Room, now: float, alone: bool) -> None:
        """Claim as much of the agent's `room` as nobody has `asked` for, if it is time to. Without
        room, or once there was work, let wake-ups go to others. A canary flies `alone`: with no
        other job of the queue."""
        self._listen(now)
        may_claim = room.total > 0 and self.control.on
        if self._found or not may_claim:
            self._wake()
        if not may_claim:
            return
        if self._claiming is None and not self._hears:
            self._look_at = min(self._look_at, now + self.settings.poll)
        left = Room(room.total - asked.total, room.heavy - asked.heavy)
        light_only = self.lanes and left.heavy <= 0
        if self._light_only and not light_only:
            self._look_at = 0.0  # a card is free again: what was left to others may wait
        self._light_only = light_only
        share = min(1000, left.total, left.heavy if self.lanes and not light_only else 1000)
        if self.circuit.canary:
            share = min(share, 1 if alone else 0)
        if share > 0 and self._claiming is None and now >= self._look_at and self._link.up:
            self.asked = Room(share, share if self.lanes and not light_only else 0)
            self._look_at = float("inf")
            self._claiming = self._link.send(
                db.claim(self.queue, self.id, share, self._lease, light_only)
            )

    def claimed(self, now: float) -> list[Claim]:
        """What a claim has brought, once."""
        call = self._claiming
        if call is None or not call.done:
            return []
        self.found_all = 0 < self.asked.total <= len(call.records)
        self._claiming, self.asked = None, NO_ROOM
        if call.failure:
            self._look_at = now + spread(TROUBLE_S)
            if not call.failure.lost:
                log.warning("claiming from %s failed: %s", self.queue, call.failure)
            return []
        self._plan(bool(call.records), now)
        return from_call(call, self.settings, self.lanes)

    def told(self, notification: Notification) -> None:
        """A notification: the name of a queue that has work, that a job was cancelled, that a log
        is followed, that something is wanted of this worker, or that settings have changed."""
        self.control.told(notification)
        self.reader.told(notification)
        if notification.channel == self.channel and notification.payload == self.queue:
            self.look_soon()
        elif notification.channel == self.channel and notification.payload == "cancel":
            self.beat_soon()
        elif notification.channel == self.channel and notification.payload == "log":
            self._log_wanted = True
        elif notification.channel == self.channel and notification.payload == "echo":
            self._heard_in = self._ears.connects

    def take_echo_request(self) -> bool:
        """Whether it is still to be found out if notifications come: to be asked for on another
        connection, as a pool may let one hear itself."""
        wanted, self._wants_echo = self._wants_echo, False
        return wanted

    def take_log_request(self) -> bool:
        """Whether somebody has begun to follow a log since last asked."""
        wanted, self._log_wanted = self._log_wanted, False
        return wanted

    def look_soon(self) -> None:
        """There may be work. A claim under way may have looked before it came: look again."""
        self._look_at = 0.0

    def beat_due(self, now: float) -> bool:
        """Whether it is time to renew the leases, or to say again that it sleeps."""
        at = min(self._beat_at, self._say_at) if self._asleep else self._beat_at
        return self._beating is None and self._staying is None and now >= at and self._link.up

    def beat_soon(self) -> None:
        """Something has changed that the database should know at once."""
        self._beat_at = 0.0

    def beat(self, claims: Iterable[Claim], stats: str, now: float) -> None:
        """Renew the leases of those that came from this queue, and say how things stand. What is
        due soon is done along with it: a server process that has just been woken takes a fraction
        of the time for it."""
        tokens = [claim.token for claim in claims if claim.queue == self.queue]
        if self._asleep and not tokens:
            max_age = STALE_AGE * self.settings.tick
            self._say_at = self._beat_at = now + self._stay_s
            self._staying = self._link.send(db.stay_asleep(self.id, self.queue, stats, max_age))
        else:
            self._beat_at = now + self._beat_s
            self._beating = self._link.send(db.heartbeat(self.id, tokens, self._lease, stats))
            if self._asleep:
                self._sleep(now)
                self.control.hurry(self._say_at)
        if self._asleep and self._hears and self._look_at < self._say_at:
            self._look_at = now

    def verdicts(self, now: float) -> dict[str, str]:
        """Verdict by token from a heartbeat that has come back, once."""
        self._take_awaited(now)
        call = self._beating
        if call is None or not call.done:
            return {}
        self._beating = None
        if call.failure:
            self._beat_at = now + min(TROUBLE_S, self._beat_s)
            return {}
        return {row["token"]: row["verdict"] for row in call.rows}

    def take_tick_in_s(self) -> float | None:
        """In how many seconds a tick is wanted, once after the database has said so; not later than
        it should have said it again."""
        seconds, self._tick_in_s = self._tick_in_s, None
        return seconds

    def rejoin(self, durable: Link, host: str, info: str) -> Iterator[None]:
        """Register anew, under a new id; to be gone through step by step."""
        self._info, self._announcing = info, None
        registering = durable.send(db.register_worker(host, self.queue, info))
        while not registering.done:
            yield
        naming = durable.send(db.wake_channel(registering.value() or ""))
        while not naming.done:
            yield
        if registering.failure is None and naming.failure is None:
            self.id, self.channel = registering.value(), naming.value()
            self._ears.listen(self.channel)
            every_s, policy = self.settings.heartbeat, self.control.policy
            self.control = Control(self.id, host, self.queue, every_s, self._link)
            self.control.policy = policy  # until it is told otherwise
            self.circuit = Circuit(self.id, self.control, self._link)
            self._asleep, self._staying = False, None
            self._heard_in, self._echo_at = 0, 0.0

    def next_at(self, room: int) -> float:
        """When there is something to do, if nothing happens before."""
        beating = self._beating is not None or self._staying is not None
        beat = float("inf") if beating else self._beat_at
        looks = self._claiming is None and room > 0 and self.control.on and not self.circuit.canary
        look = self._look_at if looks else float("inf")
        say = self._say_at if self._asleep and not beating else float("inf")
        times = (beat, look, say, self.control.next_at(), self.reader.next_at())
        return min(times) if self._link.up else float("inf")

    @property
    def _hears(self) -> bool:
        """Whether notifications are known to come through the connection there is."""
        return self._ears.up and self._heard_in == self._ears.connects

    @property
    def _beat_s(self) -> float:
        return min(self.settings.heartbeat, (self._lease or self.settings.lease) / 3)

    @property
    def _stay_s(self) -> float:
        """How long to sleep without a word: the more share in seeing that somebody ticks, the
        longer."""
        ticks = max(SELDOM, self._sleepers / CROWD)
        return min(self._beat_s, spread(min(SAY_AGAIN_S, ticks * self.settings.tick)))

    def _take_awaited(self, now: float) -> None:
        """What the database has answered to a sleeper."""
        call = self._staying
        if call is None or not call.done:
            return
        self._staying = None
        if call.failure or not call.rows:
            self._beat_at = now + min(TROUBLE_S, self._beat_s)
            return
        awaited = call.rows[0]
        self.control.heard(awaited["registered"], bool(awaited["ordered"]), now)
        self._sleepers = awaited["sleepers"]
        due_s, again_s = awaited["tick_in_s"], 2 * (self._say_at - now)
        self._tick_in_s = again_s if due_s is None else min(again_s, float(due_s))

    def _listen(self, now: float) -> None:
        """Find out whether it hears, where that is not known."""
        self.control.hears = self._hears
        if self._ears.up and not self._hears and now >= self._echo_at:
            self._wants_echo, self._echo_at = True, now + ECHO_AGAIN_S

    def _plan(self, found: bool, now: float) -> None:
        """When to look again: at once while there is work, when it was told to while it looked, and
        once more after falling asleep; then ever later."""
        self._found = found
        if found:
            self._look_at = now
        elif not self._asleep:
            self._rechecks = list(RECHECK_S)
            self._asleep_at = now
            self._sleep(now)
            self._look_at = now
        else:
            wait = self._rechecks.pop(0) if self._rechecks else spread(self._poll_s(now))
            self._look_at = min(self._look_at, now + wait)

    def _poll_s(self, now: float) -> float:
        """How long to sleep: the setting; the longer nothing has come, the longer, as wake-ups
        bring the work, and ticks wake those whom they missed."""
        quiet_s = now - self._asleep_at if self._hears else 0.0
        return max(self.settings.poll, min(RAREST_POLL_S, quiet_s * POLL_SHARE))

    def _sleep(self, now: float) -> None:
        self._asleep, self._say_at = True, now + self._stay_s
        self._link.send(db.sleep(self.id, self.queue))

    def _wake(self) -> None:
        if self._asleep:
            self._asleep, self._look_at = False, 0.0
            self._link.send(db.wake(self.id))
