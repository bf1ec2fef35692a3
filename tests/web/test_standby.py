"""The page with a standby to read from: what it answers, and when the primary answers instead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from qwf_agent.look import standby
from qwf_agent.web.reads import servers
from support import visitors
from support.harness import until
from support.standby import Pair
from support.standby import pair as a_pair
from support.visitors import Visitor


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with a_pair() as made:
        yield made


@contextlib.contextmanager
def paused(pair: Pair) -> Iterator[None]:
    """Meanwhile the standby replays nothing."""
    pair.settle()
    pair.copy.execute("select pg_wal_replay_pause()")
    state = "select pg_get_wal_replay_pause_state()"
    until(lambda: pair.copy.execute(state).fetchone() == ("paused",), "the pause")
    try:
        yield
    finally:
        pair.copy.execute("select pg_wal_replay_resume()")
        pair.settle()


@contextlib.contextmanager
def administrator(pair: Pair) -> Iterator[Visitor]:
    visitors.login(pair.db, pair.primary, "admin")
    pair.settle()
    read = visitors.login(pair.db, pair.standby, "admin")
    with visitors.visitor(pair.db, pair.primary, "admin", read_dsn=read) as visitor:
        yield visitor


@pytest.fixture
def admin(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    monkeypatch.setattr(servers, "WAIT_S", 60.0)  # a slow machine connects slowly
    with administrator(pair) as visitor:
        yield visitor


def test_the_page_reads_from_the_standby_and_never_from_before_an_action(
    pair: Pair, admin: Visitor
) -> None:
    with paused(pair):
        pair.db.execute("select qwf.create_queue('other')")
        assert "/queues/other" not in admin.text("/queues")
        assert admin.do("create_queue", name="made_here").status_code == 200
        assert "/queues/made_here" in (page := admin.text("/queues")), "the primary answers"
        assert "/queues/other" in page
    assert "/queues/made_here" in admin.text("/queues")
    until_standby_answers(pair, admin)


def until_standby_answers(pair: Pair, visitor: Visitor) -> None:
    """Wait until the page does not show what the standby lacks."""

    def is_hidden() -> bool:
        with paused(pair):
            name = f"later_{os.urandom(4).hex()}"
            pair.db.execute("select qwf.create_queue(%s)", [name])
            return name not in visitor.text("/queues")

    until(is_hidden, "an answer of the standby")


def test_what_a_standby_does_not_have_comes_from_the_primary(pair: Pair, admin: Visitor) -> None:
    pair.db.execute("select qwf.register_worker('box-a', 'cpu', '{}')")
    sample = '{"cpu_percent": 37, "ram_percent": 50, "ram_used_mb": 8192, "ram_total_mb": 16384}'
    pair.db.execute("select qwf.report_metrics('box-a', %s)", [sample])
    pair.settle()
    until(lambda: "37 %" in admin.text("/fleet"), "the load")
    assert admin.get("/readyz").status_code == 200
    until_standby_answers(pair, admin)


def test_the_page_says_how_old_it_is(
    pair: Pair, admin: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "OLD_S", 0.0)
    monkeypatch.setattr(servers, "LOOK_S", 0.0)
    until(lambda: 'id="too-old"' not in admin.text("/queues"), "the standby to be up to date")
    with paused(pair):
        pair.db.execute("select qwf.create_queue('behind')")
        until(lambda: "has more to replay: its newest" in admin.text("/queues"), "the banner")
    until(lambda: 'id="too-old"' not in admin.text("/queues"), "its end")


def test_without_the_standby_the_primary_answers(pair: Pair) -> None:
    """The last test of this module: nothing starts the standby again."""
    with administrator(pair) as admin:
        assert "cpu" in admin.text("/queues")
        pair.stop()
        pair.db.execute("select qwf.create_queue('alone')")
        until(lambda: "alone" in admin.text("/queues"), "the primary")
        assert "the standby does not answer: the primary is read" in admin.text("/queues")
