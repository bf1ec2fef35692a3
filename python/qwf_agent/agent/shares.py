"""Decides how many jobs each worker may claim now: the room of the slots, and the share of each
worker. It reads the state of slots and workers, and sends nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Sized
from typing import NamedTuple, Protocol

from qwf_agent.agent.batch_size import BatchSize

MOST_JOBS = 1000  # of one claim: qwf.claim() returns no more
MOST_HELD = 4  # jobs for each slot that wait for model servers without using up room
AHEAD_S = 0.01  # seconds of work that a child has left when the next claim is due
AHEAD_AT_MOST_S = 1.0  # of claims without a child that could begin a job


class Room(NamedTuple):
    """A number of jobs: in total, and those of them that need a card. As many of them could begin
    now, and as many of those that need a card."""

    total: int
    heavy: int
    startable: int = 0
    startable_heavy: int = 0

    def at_most(self, jobs: int) -> Room:
        """This many of them, or fewer."""
        return Room(*(min(number, jobs) for number in self))


NO_ROOM = Room(0, 0)


class Share(NamedTuple):
    """The jobs that a worker may claim now. There may be none for the moment, because others have
    asked for the room."""

    room: Room
    light_only: bool  # only jobs that need no card


class ClaimsAhead:
    """Notices that a worker only claims ahead: no child could begin a job when its claims go out.
    Children that always have their next job would never begin one of a rate. So after a while the
    worker claims nothing until a child could, at most as long again.
    """

    def __init__(self, now: float) -> None:
        self._are_ahead = False
        self._since = now

    def is_over(self, are_busy: bool, now: float) -> bool:
        """Note whether all children are busy; returns whether one could begin a job again."""
        was, self._are_ahead = self._are_ahead, are_busy
        if not are_busy or now >= self._since + 2 * AHEAD_AT_MOST_S:
            self._since = now
        return was and not are_busy

    def should_pause(self, now: float) -> bool:
        """Return True if it is time to let a child become idle."""
        return self._are_ahead and now >= self._since + AHEAD_AT_MOST_S


class Taker(Protocol):
    """A slot, as far as the decision asks it."""

    heavy: bool
    ready: bool
    work_s: float

    @property
    def claims(self) -> Sized:
        """The jobs that its child has."""

    def room(self, batch: int, now: float) -> int:
        """How many more jobs it should get, up to `batch`."""

    def startable(self, at_once: int, now: float) -> int:
        """How many jobs that are handed to it first of all begin now, `at_once` if it is idle."""

    def has_free_place(self) -> bool:
        """True if a job could run now, beside others or alone."""


class Waiting(Protocol):
    """A job that has no slot yet; `rated`: its limit has a rate."""

    heavy: bool
    rated: bool


class Takers(Protocol):
    """All slots, and the jobs that are claimed but in no slot yet. Of these, `held` wait for a
    model server, and `gathering` for more jobs of their batch."""

    held: int
    gathering: int
    batch_size: BatchSize

    @property
    def slots(self) -> Sequence[Taker]:
        """In any order."""

    @property
    def backlog(self) -> Collection[Waiting]:
        """The jobs without a slot."""


class ClaimingWorker(Protocol):
    """A worker, as far as the decision asks it. With `lanes`, jobs of its queue need a card unless
    they are light; its claim under way has asked for `asked`."""

    lanes: bool
    asked: Room

    @property
    def may_claim(self) -> bool:
        """True if operators and the state of its database let it claim."""

    @property
    def is_on_trial(self) -> bool:
        """True if it runs one job at a time."""

    @property
    def knows_more(self) -> bool:
        """True if its queue probably has more jobs than its last claim has asked for."""


def room_of(pool: Takers, now: float, more: bool) -> Room:
    """How many jobs to claim now. Unless the queues have `more` than the last claim asked for,
    claim no job that would wait here while another agent may be idle. Jobs that are held for a
    model server leave room for others."""
    slots, size = pool.slots, pool.batch_size
    waiting = len(pool.backlog) - min(pool.held, MOST_HELD * len(slots))
    more = more or pool.gathering > 0
    total = _room_of(slots, waiting, size, now, more)
    heavy = [slot for slot in slots if slot.heavy]
    startable = _startable(slots, pool.backlog, size, now) if total else 0
    if not heavy:
        return Room(total, 0, startable)
    heavy_jobs = [job for job in pool.backlog if job.heavy]
    heavy_total = _room_of(heavy, len(heavy_jobs), size, now, more)
    return Room(total, heavy_total, startable, _startable(heavy, heavy_jobs, size, now))


def _room_of(slots: Sequence[Taker], waiting: int, size: BatchSize, now: float, more: bool) -> int:
    """Room of these slots. While all their children have work, claim only a whole batch for each;
    if the queues may be empty, claim only for children that have almost none left."""
    if not more and waiting >= sum(slot.ready and slot.work_s <= AHEAD_S for slot in slots):
        return 0
    room = sum(slot.room(size.hold, now) for slot in slots) - waiting
    free = any(slot.has_free_place() for slot in slots)
    enough = free or room >= size.batch * len(slots)
    return max(0, min(room, size.batch * len(slots))) if enough else 0


def _startable(
    slots: Sequence[Taker], waiting: Iterable[Waiting], size: BatchSize, now: float
) -> int:
    """How many jobs these slots could begin now, besides those that wait for that already."""
    could = sum(slot.startable(size.at_once, now) for slot in slots)
    return max(0, could - sum(1 for job in waiting if job.rated))


def share_of(
    worker: ClaimingWorker, room: Room, workers: Iterable[ClaimingWorker], alone: bool
) -> Share | None:
    """The part of the room of the slots that a worker may claim: other workers have not asked for
    it. None if it may claim nothing, whatever the others do. One on trial gets a job only if it is
    `alone`: the agent holds no other job of it."""
    if room.total <= 0 or not worker.may_claim:
        return None
    asked = asked_by_others(worker, workers)
    total, heavy = room.total - asked.total, room.heavy - asked.heavy
    light_only = worker.lanes and heavy <= 0
    heavy_too = worker.lanes and not light_only
    jobs = max(0, min(MOST_JOBS, total, heavy if heavy_too else MOST_JOBS))
    if worker.is_on_trial:
        jobs = min(jobs, 1 if alone else 0)
    startable = room.startable_heavy if heavy_too else room.startable
    startable = max(0, min(jobs, startable - asked.startable))
    return Share(Room(jobs, jobs if heavy_too else 0, startable), light_only)


def are_busy(worker: ClaimingWorker, room: Room, share: Share | None) -> bool:
    """Return True if no child could begin a job of this worker, whatever others have asked for. If
    their claims counted, two idle workers would each claim again whenever the other had."""
    heavy_too = worker.lanes and share is not None and not share.light_only
    return (room.startable_heavy if heavy_too else room.startable) == 0


def asked_by_others(worker: ClaimingWorker, workers: Iterable[ClaimingWorker]) -> Room:
    """How much room the claims under way of other workers ask for."""
    others = [other.asked for other in workers if other.asked.total and other is not worker]
    return Room(
        sum(asked.total for asked in others),
        sum(asked.heavy for asked in others),
        sum(asked.startable for asked in others),
    )
