"""How often a worker looks for work while nothing comes. The clock is the test's own, and the link
answers every call at once, with nothing."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest

from qwf_agent.db import Query
from qwf_agent.link import Call, Notification
from qwf_agent.settings import Settings
from qwf_agent.slots import NO_ROOM, Room
from qwf_agent.worker import Worker

FORGOTTEN_S = 5.0  # by the database, where a sleeper is not heard of for so long


class EmptyLink:
    """A link to a database with no work."""

    def __init__(self) -> None:
        self.up = True
        self.connects = 1
        self.now = 1000.0
        self.answers = True
        self.calls: list[Call] = []
        self.sent: list[tuple[float, str]] = []

    def send(self, query: Query) -> Call:
        self.sent.append((self.now, query.text))
        call = Call(query)
        call.done = self.answers
        self.calls.append(call)
        return call

    def times(self, function: str) -> list[float]:
        return [at for at, text in self.sent if f"qwf.{function}(" in text]


def idle_for(seconds: float, link: EmptyLink, worker: Worker, hears: bool) -> None:
    until = link.now + seconds
    while link.now < until:
        if worker.beat_due(link.now):
            worker.beat([], "{}", link.now)
        worker.verdicts(link.now)
        worker.look(Room(1, 1), NO_ROOM, link.now, True)
        assert worker.claimed(link.now) == []
        if worker.take_echo_request() and hears:
            worker.told(Notification("mine", "echo"))
        link.now = max(link.now + 0.001, worker.next_at(1))


@pytest.fixture
def link() -> EmptyLink:
    return EmptyLink()


@pytest.fixture
def worker(link: EmptyLink) -> Worker:
    values: dict[str, Any] = dict.fromkeys(Settings.__dataclass_fields__, 60.0) | {"poll": 1.0}
    quiet = SimpleNamespace(
        on=True, next_at=lambda: float("inf"), told=lambda _: None, hurry=lambda _: None
    )
    return Worker(
        "w", "mine", "cpu", Settings(**values), cast("Any", link), cast("Any", link), None, False,
        cast("Any", quiet), cast("Any", quiet), "{}",
    )  # fmt: skip


def test_a_worker_that_hears_its_wake_ups_looks_ever_more_rarely(
    link: EmptyLink, worker: Worker
) -> None:
    idle_for(400, link, worker, hears=True)
    gaps = [after - before for before, after in pairwise(link.times("claim"))]
    assert max(gaps[4:10]) < 1.5
    assert 6 < min(gaps[-5:]) < max(gaps[-5:]) < 20


def test_one_that_may_not_hear_them_looks_every_second(link: EmptyLink, worker: Worker) -> None:
    idle_for(200, link, worker, hears=False)
    assert max(after - before for before, after in pairwise(link.times("claim"))) < 1.5


@pytest.mark.parametrize("hears", [True, False])
def test_it_is_never_forgotten_as_a_sleeper(link: EmptyLink, worker: Worker, hears: bool) -> None:
    idle_for(200, link, worker, hears)
    said = link.times("sleep")
    assert max(after - before for before, after in pairwise(said)) < FORGOTTEN_S
    assert len(said) < 80


def test_over_a_new_connection_it_finds_out_anew(link: EmptyLink, worker: Worker) -> None:
    idle_for(100, link, worker, hears=True)
    link.connects += 1
    first = len(link.times("claim"))
    idle_for(20, link, worker, hears=False)
    again = link.times("claim")[first + 1 :]
    assert max(after - before for before, after in pairwise(again)) < 1.5


def test_work_makes_it_look_often_again(link: EmptyLink, worker: Worker) -> None:
    idle_for(100, link, worker, hears=True)
    worker.look(NO_ROOM, NO_ROOM, link.now, True)
    assert link.times("wake") == [link.now]
    begun = link.now
    idle_for(5, link, worker, hears=True)
    looks = [at for at in link.times("claim") if at >= begun]
    assert looks[0] == begun
    assert max(after - before for before, after in pairwise(looks)) < 1.5


def test_a_wake_up_during_a_look_that_finds_nothing_makes_it_look_again(
    link: EmptyLink, worker: Worker
) -> None:
    idle_for(100, link, worker, hears=True)
    worker.look_soon()
    link.answers = False
    worker.look(Room(1, 1), NO_ROOM, link.now, True)
    worker.told(Notification("mine", "cpu"))
    for call in link.calls:
        call.done = True
    link.answers = True
    before = len(link.times("claim"))
    idle_for(0.002, link, worker, hears=True)
    assert len(link.times("claim")) > before


def test_it_beats_when_it_is_up_anyway(link: EmptyLink, worker: Worker) -> None:
    idle_for(200, link, worker, hears=True)
    said, beats = link.times("sleep"), link.times("heartbeat")
    assert len(beats) >= 200 / 20
    assert all(min(abs(at - beat) for at in said) < 0.01 for beat in beats[1:])
