"""The number of jobs that each worker may claim: a table of cases, without an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from qwf_agent.agent.batch_size import BatchSize
from qwf_agent.agent.shares import (
    AHEAD_AT_MOST_S,
    AHEAD_S,
    MOST_HELD,
    MOST_JOBS,
    NO_ROOM,
    ClaimsAhead,
    Room,
    Share,
    room_of,
    share_of,
)
from qwf_agent.agent.worker import Worker

NOW = 10.0


def size(batch: int, mean: float = 0.1) -> BatchSize:
    """Each slot should get `batch` jobs from a claim; bodies take `mean` seconds."""
    found = BatchSize(500)
    found._batch, found._mean = batch, mean
    return found


@dataclass
class OneSlot:
    """A slot whose child has `has` jobs, which take `work_s` seconds."""

    has: int = 0
    work_s: float = 0.0
    heavy: bool = False
    ready: bool = True
    long: bool = False  # it runs a long body
    ends: bool = False  # its body ends in a moment

    @property
    def claims(self) -> range:
        return range(self.has)

    def room(self, batch: int, _now: float) -> int:
        return 0 if self.long or not self.ready else max(0, batch - self.has)

    def startable(self, at_once: int, _now: float) -> int:
        return (at_once if not self.has else int(self.ends)) if self.ready else 0

    def has_free_place(self) -> bool:
        return self.ready and not self.has


@dataclass
class OneWorker:
    lanes: bool = False
    asked: Room = NO_ROOM
    may_claim: bool = True
    is_on_trial: bool = False
    knows_more: bool = False


@dataclass
class Job:
    heavy: bool = False
    rated: bool = False


@dataclass
class Case:
    """Slots, jobs in the backlog, and the room there is if the queues may be empty, and if they
    have more."""

    slots: list[OneSlot]
    if_empty: Room
    if_more: Room
    batch_size: BatchSize = field(default_factory=lambda: size(1))
    backlog: list[Job] = field(default_factory=list)
    held: int = 0
    gathering: int = 0


IDLE, BUSY = OneSlot(), OneSlot(has=1, work_s=0.1)
CARD, BUSY_CARD = OneSlot(heavy=True), OneSlot(has=1, work_s=0.1, heavy=True)
HEAVY, LIGHT = Job(heavy=True), Job()

CASES = {
    "no slot": Case([], NO_ROOM, NO_ROOM),
    "one that is idle": Case([IDLE], Room(1, 0), Room(1, 0)),
    "one that is not ready yet": Case([OneSlot(ready=False)], NO_ROOM, NO_ROOM),
    "one that is busy": Case([BUSY], NO_ROOM, NO_ROOM),
    "one of two is busy": Case([IDLE, BUSY], Room(1, 0), Room(1, 0)),
    "a job waits for the idle one": Case([IDLE], NO_ROOM, NO_ROOM, backlog=[LIGHT]),
    "short bodies: one batch, not what a slot holds": Case(
        [IDLE], Room(10, 0), Room(10, 0), batch_size=size(10)
    ),
    "short bodies, two slots": Case([IDLE, IDLE], Room(20, 0), Room(20, 0), batch_size=size(10)),
    "half of the work is done: more only if there is more": Case(
        [OneSlot(has=10, work_s=0.05)], NO_ROOM, Room(10, 0), batch_size=size(10)
    ),
    "very short bodies: a whole batch more while several run": Case(
        [OneSlot(has=200, work_s=0.02)], NO_ROOM, Room(10, 0), batch_size=size(10, 0.000_01)
    ),
    "very short bodies: no part of a batch": Case(
        [OneSlot(has=201, work_s=0.02)], NO_ROOM, NO_ROOM, batch_size=size(10, 0.000_01)
    ),
    "two slots: a whole batch for each": Case(
        [OneSlot(has=11, work_s=0.05), OneSlot(has=10, work_s=0.05)],
        NO_ROOM,
        NO_ROOM,
        batch_size=size(10),
    ),
    "less than half of it is done": Case(
        [OneSlot(has=11, work_s=0.06)], NO_ROOM, NO_ROOM, batch_size=size(10)
    ),
    "almost no work is left": Case(
        [OneSlot(has=2, work_s=AHEAD_S)], Room(10, 0), Room(10, 0), batch_size=size(10)
    ),
    "as many wait as have almost none": Case(
        [IDLE, BUSY], NO_ROOM, Room(10, 0), batch_size=size(5), backlog=[LIGHT]
    ),
    "nothing behind a long body": Case(
        [OneSlot(has=1, work_s=0.0, long=True)], NO_ROOM, NO_ROOM, batch_size=size(10)
    ),
    "a card": Case([CARD, IDLE], Room(2, 1), Room(2, 1)),
    "a busy card": Case([BUSY_CARD, IDLE], Room(1, 0), Room(1, 0)),
    "only a card": Case([CARD], Room(1, 1), Room(1, 1)),
    "a heavy job waits for the card": Case([CARD, IDLE], Room(1, 0), Room(1, 0), backlog=[HEAVY]),
    "a light job waits: the card stays free": Case(
        [CARD, IDLE], Room(1, 1), Room(1, 1), backlog=[LIGHT]
    ),
    "a job that waits for a model server": Case(
        [IDLE], Room(1, 0), Room(1, 0), backlog=[LIGHT], held=1
    ),
    "too many wait for model servers": Case(
        [IDLE], NO_ROOM, NO_ROOM, backlog=[LIGHT] * (MOST_HELD + 1), held=MOST_HELD + 1
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_room_of_slots(name: str) -> None:
    case = CASES[name]

    def room(more: bool) -> Room:
        return room_of(case, NOW, more)

    assert room(more=False)[:2] == case.if_empty[:2]
    assert room(more=True)[:2] == case.if_more[:2]


RATED = Job(rated=True)


@pytest.mark.parametrize(
    ("slots", "backlog", "startable", "heavy"),
    [
        ([IDLE, IDLE, BUSY], [], 2, 0),
        ([OneSlot(ready=False), IDLE], [], 1, 0),  # a child that is importing begins nothing
        ([OneSlot(has=3, work_s=0.0, ends=True)], [], 1, 0),
        ([IDLE, IDLE], [LIGHT, RATED], 1, 0),  # that one waits for an idle child, too
        ([IDLE], [RATED, RATED], 0, 0),
        ([CARD, IDLE], [], 2, 1),
        ([BUSY_CARD, IDLE], [], 1, 0),
        ([CARD, IDLE], [Job(heavy=True, rated=True)], 1, 0),
    ],
)
def test_how_many_jobs_could_begin_now(
    slots: list[OneSlot], backlog: list[Job], startable: int, heavy: int
) -> None:
    case = Case(slots, NO_ROOM, NO_ROOM, size(10), backlog)
    assert room_of(case, NOW, True)[2:] == (startable, heavy)


@pytest.mark.parametrize(
    ("worker", "room", "asked", "startable"),
    [
        (OneWorker(), Room(5, 0, 3), NO_ROOM, 3),
        (OneWorker(), Room(2, 0, 3), NO_ROOM, 2),  # no more than it claims
        (OneWorker(), Room(5, 0, 3), Room(1, 0, 2), 1),  # no child is promised twice
        (OneWorker(), Room(5, 0, 1), Room(1, 0, 2), 0),
        (OneWorker(lanes=True), Room(5, 2, 3, 1), NO_ROOM, 1),  # the jobs may need a card
        (OneWorker(lanes=True), Room(5, 2, 3, 1), Room(2, 2, 1), 2),  # only light ones
    ],
)
def test_the_share_of_what_could_begin_now(
    worker: OneWorker, room: Room, asked: Room, startable: int
) -> None:
    share = share_of(worker, room, [worker, OneWorker(asked=asked)], True)
    assert share is not None
    assert share.room.startable == startable


@pytest.mark.parametrize(
    ("worker", "room", "asked", "share"),
    [
        # The whole room, if nobody else asks; then what is left of it.
        (OneWorker(), Room(5, 0), NO_ROOM, Share(Room(5, 0), False)),
        (OneWorker(), Room(5, 2), Room(3, 2), Share(Room(2, 0), False)),
        (OneWorker(), Room(5, 0), Room(5, 0), Share(NO_ROOM, False)),
        (OneWorker(), Room(5, 0), Room(9, 0), Share(NO_ROOM, False)),
        (OneWorker(), Room(5000, 0), NO_ROOM, Share(Room(MOST_JOBS, 0), False)),
        # A queue of jobs for cards: as many as cards are free, else only light ones.
        (OneWorker(lanes=True), Room(5, 2), NO_ROOM, Share(Room(2, 2), False)),
        (OneWorker(lanes=True), Room(1, 2), NO_ROOM, Share(Room(1, 1), False)),
        (OneWorker(lanes=True), Room(5, 2), Room(2, 2), Share(Room(3, 0), True)),
        (OneWorker(lanes=True), Room(5, 0), NO_ROOM, Share(Room(5, 0), True)),
        (OneWorker(lanes=True), Room(5, 2), Room(5, 0), Share(NO_ROOM, False)),
        # Nothing at all: no room, or it must not claim.
        (OneWorker(), NO_ROOM, NO_ROOM, None),
        (OneWorker(may_claim=False), Room(5, 5), NO_ROOM, None),
    ],
)
def test_the_share_of_a_worker(
    worker: OneWorker, room: Room, asked: Room, share: Share | None
) -> None:
    workers = [worker, OneWorker(asked=asked)]
    for alone in (True, False):
        assert share_of(worker, room, workers, alone) == share


def test_a_worker_that_only_claims_ahead_pauses_until_a_child_is_idle() -> None:
    ahead, limit = ClaimsAhead(NOW), NOW + AHEAD_AT_MOST_S
    assert not ahead.is_over(True, NOW)
    assert not ahead.should_pause(NOW)
    assert not ahead.is_over(True, limit)
    assert ahead.should_pause(limit)
    assert ahead.is_over(False, limit)  # claim now: there may be jobs of a rate
    assert not ahead.should_pause(limit)
    assert not ahead.is_over(False, limit)


def test_such_a_pause_ends_though_no_child_becomes_idle() -> None:
    ahead = ClaimsAhead(NOW)
    end = NOW + 2 * AHEAD_AT_MOST_S
    for now in (NOW, end - 0.1, end, end + 0.1):
        ahead.is_over(True, now)
        assert ahead.should_pause(now) == (now == end - 0.1)


def test_a_worker_on_trial_has_one_job_at_a_time() -> None:
    trial = OneWorker(is_on_trial=True)
    assert share_of(trial, Room(5, 0), [trial], alone=True) == Share(Room(1, 0), False)
    assert share_of(trial, Room(5, 0), [trial], alone=False) == Share(NO_ROOM, False)


def test_its_own_claim_under_way_takes_no_room_of_it() -> None:
    worker = OneWorker(asked=Room(3, 0))
    assert share_of(worker, Room(3, 0), [worker], True) == Share(Room(3, 0), False)


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("found_all", [True, False])
def test_only_a_worker_that_claims_says_that_many_jobs_wait(
    up: bool, on: bool, found_all: bool
) -> None:
    control, links = SimpleNamespace(on=on), SimpleNamespace(soft=SimpleNamespace(up=up))
    worker = cast("Any", SimpleNamespace(found_all=found_all, control=control, links=links))
    assert cast("Any", Worker.knows_more).fget(worker) == (up and on and found_all)


@pytest.mark.parametrize("holds_back", ["is_lost", "reader", "reporter", "off"])
def test_a_worker_may_claim_unless_something_holds_it_back(holds_back: str) -> None:
    def worker(why: str) -> Any:
        return SimpleNamespace(
            control=SimpleNamespace(on=why != "off"),
            is_lost=why == "is_lost",
            reader=SimpleNamespace(is_behind=why == "reader"),
            reporter=SimpleNamespace(is_behind=lambda: why == "reporter"),
        )

    may_claim = cast("Any", Worker.may_claim).fget
    assert may_claim(worker("nothing"))
    assert not may_claim(worker(holds_back))
