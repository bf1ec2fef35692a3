"""How often a worker claims while there is no work. The test has its own clock, and the link
answers every call at once; only `stay_asleep` and `worker_orders` get a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from qwf_agent.agent.calls import Notification, SentCall
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.db import Query
from qwf_agent.agent.link import Links
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.settings import Settings
from qwf_agent.agent.shares import Room, Share
from qwf_agent.agent.sleeper import Registration
from qwf_agent.agent.ticker import Ticker
from qwf_agent.agent.worker import Worker

JOB: dict[str, Any] = {
    **dict.fromkeys(
        (
            "run_id",
            "node_id",
            "project",
            "out_dir",
            "labels",
            "light",
            "rated",
            "alone",
            "queued_s",
            "at_most_once",
        )
    ),
    "attempt": 1,
    "stall_timeout": None,
    "checkpoint": None,
    **dict.fromkeys(("required_model", "inputs", "created_at", "timeout")),
    "job_id": 7,
    "token": "t",
    "task": "noop",
    "queue": "cpu",
}
ONE = Share(Room(1, 0), light_only=False)
NOON = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)
DROPPED_S = 15.0  # the database drops a sleeping worker after this time without a call


def answer(call: SentCall, row: dict[str, Any]) -> None:
    call.columns, call.records = list(row), [tuple(row.values())]


class EmptyLink:
    """A link to a database with no work."""

    def __init__(self) -> None:
        self.up = True
        self.connects = 1
        self.now = 1000.0
        self.answers = True
        self.calls: list[SentCall] = []
        self.sent: list[tuple[float, str]] = []
        self.orders: dict[str, Any] = {"state": "on", "until": None}
        self.awaited = {"registered": True, "ordered": False, "sleepers": 1, "tick_in_s": None}

    def send(self, query: Query) -> SentCall:
        self.sent.append((self.now, query.text))
        call = SentCall(query)
        call.done = self.answers
        self.calls.append(call)
        if "qwf.stay_asleep(" in query.text:
            answer(call, self.awaited)
        elif "qwf.worker_orders(" in query.text:
            answer(call, self.orders)
        return call

    def times(self, function: str) -> list[float]:
        return [at for at, text in self.sent if f"qwf.{function}(" in text]


def idle_for(
    seconds: float,
    link: EmptyLink,
    worker: Worker,
    notified: bool,
    holds: Sequence[Claim] = (),
) -> None:
    until = link.now + seconds
    while link.now < until:
        if worker.beat_due(link.now):
            worker.beat(holds, "{}", link.now)
        worker.verdicts(link.now)
        for _ in "asks", "takes the answer":
            worker.control.step(link.now)
        worker.claim_if_due(ONE if worker.control.on else None, link.now, False)
        assert worker.claimed(link.now) == []
        if worker.sleeper.take_echo_request() and notified:
            worker.notified(Notification("mine", "echo"))
        link.now = max(link.now + 0.001, worker.next_at())


@pytest.fixture
def link() -> EmptyLink:
    return EmptyLink()


@pytest.fixture
def worker(link: EmptyLink) -> Worker:
    times = {"poll": 1.0, "tick": 1.0, "heartbeat": 10.0, "lease": 30.0}
    values: dict[str, Any] = dict.fromkeys(Settings.__dataclass_fields__, 60.0) | times
    values |= {"pack_patience": None, "instance": "3f2a9c01"}
    links = Links(*[cast("Any", link)] * 3)
    options = AgentOptions(dsn="", queues=("cpu",), host="box", out_root=Path())
    registration = Registration("w", "mine", "box", "cpu")
    worker = Worker(
        registration, Settings(**values), links, cast("Any", None), options, "{}", link.now
    )
    worker.reader = cast(
        "Any", SimpleNamespace(next_at=lambda: float("inf"), notified=lambda _: None)
    )
    assert [worker.control.step(link.now) for _ in ("asks", "takes the answer")] == [False, True]
    assert worker.control.on
    link.sent.clear()
    return worker


def gaps(times: list[float]) -> list[float]:
    return [round(after - before, 6) for before, after in pairwise(times)]


def test_with_notifications_polls_become_rarer(link: EmptyLink, worker: Worker) -> None:
    idle_for(400, link, worker, notified=True)
    waits = gaps(link.times("claim"))
    assert max(waits[4:8]) < 1.5
    assert 6 < min(waits[-5:]) < max(waits[-5:]) < 20


def test_without_notifications_it_polls_every_second(link: EmptyLink, worker: Worker) -> None:
    idle_for(200, link, worker, notified=False)
    assert max(gaps(link.times("claim"))) < 1.5


def test_a_job_left_to_a_better_worker_is_looked_at_again(link: EmptyLink, worker: Worker) -> None:
    """The better one may have died asleep."""
    worker.sleeper.settings = replace(worker.settings, pack_patience=0.25)
    idle_for(400, link, worker, notified=True)
    link.sent.clear()
    worker.notified(Notification("mine", "cpu"))
    idle_for(1, link, worker, notified=True)
    assert gaps(link.times("claim"))[0] < 0.3


@pytest.mark.parametrize("notified", [True, False])
@pytest.mark.parametrize("sleepers", [1, 1000])
def test_one_call_renews_heartbeat_and_sleep(
    link: EmptyLink, worker: Worker, notified: bool, sleepers: int
) -> None:
    link.awaited["sleepers"] = sleepers
    idle_for(10, link, worker, notified)
    link.sent.clear()
    idle_for(200, link, worker, notified)
    said = gaps(link.times("stay_asleep"))
    assert max(said) < worker.settings.heartbeat + 0.01
    assert min(said[1:]) > (7 if sleepers > 100 else 2.9)
    assert not [text for _, text in link.sent if "stay_asleep" not in text and "claim" not in text]


@pytest.mark.parametrize("notified", [True, False])
def test_it_stays_marked_as_asleep_while_it_holds_jobs(
    link: EmptyLink, worker: Worker, notified: bool
) -> None:
    held = cast("Claim", SimpleNamespace(worker=worker, token="t"))
    idle_for(200, link, worker, notified, [held])
    said, beats = link.times("sleep"), link.times("heartbeat")
    assert link.times("stay_asleep") == []
    assert max(gaps(said)) < DROPPED_S
    assert max(gaps(beats)) < worker.settings.heartbeat + 0.01
    assert len(beats) < len(said) + 2, "both at once"


def test_a_sleeper_asks_for_orders_only_if_there_are_some(link: EmptyLink, worker: Worker) -> None:
    idle_for(10, link, worker, notified=True)
    link.sent.clear()
    idle_for(60, link, worker, notified=True)
    assert link.times("worker_orders") == link.times("take_model_requests") == []
    link.awaited["ordered"] = True
    idle_for(10, link, worker, notified=True)
    assert len(link.times("worker_orders")) == len(link.times("take_model_requests")) > 0
    link.awaited["registered"] = False
    idle_for(10, link, worker, notified=True)
    assert worker.control.unregistered


@pytest.mark.parametrize(
    ("notified", "until", "longest_s"), [(True, None, 10), (True, NOON, 1), (False, None, 1)]
)
def test_a_worker_that_is_off_asks_often_if_it_may_not_be_notified_of_the_end(
    link: EmptyLink, worker: Worker, notified: bool, until: datetime | None, longest_s: float
) -> None:
    order = {"state": "off", "policy": "drain", "login": "me", "acting_for": None, "reason": None}
    for end in (None, until):
        link.orders = {**order, "until": end}
        link.sent.clear()
        worker.control.notified(Notification("worker_control", "box:cpu"))
        idle_for(15, link, worker, notified)
        assert not worker.control.on
    idle_for(100, link, worker, notified)
    assert link.times("stay_asleep") == []
    assert max(gaps(link.times("heartbeat"))) <= worker.settings.heartbeat
    asked = gaps(link.times("worker_orders"))
    assert longest_s * 0.9 < max(asked) <= longest_s + 0.01


def test_it_passes_on_when_a_tick_is_due(link: EmptyLink, worker: Worker) -> None:
    idle_for(20, link, worker, notified=True)
    idle, _ = worker.sleeper.take_tick_in_s(), link.sent.clear()
    assert worker.sleeper.take_tick_in_s() is None
    idle_for(20, link, worker, notified=True)
    assert idle is not None
    assert idle > max(gaps(link.times("stay_asleep"))), "by then it has the next answer"
    for due_s in (0.0, 0.5):
        link.awaited["tick_in_s"] = due_s
        idle_for(11, link, worker, notified=True)
        assert worker.sleeper.take_tick_in_s() == due_s


@pytest.mark.parametrize(
    ("others_tick", "wanted_s", "max_age"),
    [(True, None, "2.5 s"), (True, 7.0, None), (True, 0.0, "2.5 s"), (False, 7.0, "0.7 s")],
)
def test_the_heartbeat_of_a_sleeper_replaces_a_check_of_ticks(
    link: EmptyLink, others_tick: bool, wanted_s: float | None, max_age: str | None
) -> None:
    wanted = iter([None, None, wanted_s])
    sleeper = SimpleNamespace(take_tick_in_s=lambda: next(wanted))
    worker = cast("Worker", SimpleNamespace(settings=SimpleNamespace(tick=1.0), sleeper=sleeper))
    ticker = Ticker(cast("Any", link), until_empty=False)
    ticker.step([worker], link.now)
    answer(link.calls.pop(), {"tick": json.dumps({"ran": not others_tick})})
    ticker.step([worker], link.now)
    link.now += 6 * worker.settings.tick
    ticker.step([worker], link.now)
    assert [call.query.params for call in link.calls] == ([(max_age,)] if max_age else [])
    assert ticker.next_at() > link.now


def test_it_tests_notifications_again_on_a_new_connection(link: EmptyLink, worker: Worker) -> None:
    idle_for(100, link, worker, notified=True)
    link.connects += 1
    first = len(link.times("claim"))
    begun = link.now
    idle_for(20, link, worker, notified=False)
    assert max(gaps([begun, *link.times("claim")[first:]])) < 1.5


def test_work_makes_it_poll_often_again(link: EmptyLink, worker: Worker) -> None:
    idle_for(100, link, worker, notified=True)
    worker.claim_if_due(None, link.now, False)
    assert link.times("wake") == [link.now]
    begun = link.now
    idle_for(3, link, worker, notified=True)
    looks = [at for at in link.times("claim") if at >= begun]
    assert looks[0] == begun
    assert max(gaps(looks)) < 1.5


def test_a_wake_up_during_an_empty_claim_makes_it_claim_again(
    link: EmptyLink, worker: Worker
) -> None:
    idle_for(100, link, worker, notified=True)
    worker.claim_soon()
    link.answers = False
    worker.claim_if_due(ONE, link.now, False)
    worker.notified(Notification("mine", "cpu"))
    for call in link.calls:
        call.done = True
    link.answers = True
    before = len(link.times("claim"))
    idle_for(0.002, link, worker, notified=True)
    assert len(link.times("claim")) > before


def test_it_has_its_jobs_before_it_reports_that_it_is_awake(
    link: EmptyLink, worker: Worker
) -> None:
    idle_for(100, link, worker, notified=True)
    worker.claim_soon()
    worker.claim_if_due(Share(Room(2, 0), False), link.now, False)
    answer(link.calls[-1], JOB)
    assert [claim.job_id for claim in worker.claimed(link.now)] == [7]
    assert link.times("wake") == []
    worker.claim_if_due(ONE, link.now, False)
    assert link.times("wake") == [link.now]
