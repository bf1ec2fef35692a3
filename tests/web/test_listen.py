"""One reader hears and reads for all streams, and tells those who wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from qwf_agent.web.reads import snapshot as snapshots
from qwf_agent.web.reads.database import Database
from qwf_agent.web.reads.listen import MOST_CARDS, sample
from qwf_agent.web.reads.snapshot import News, Snapshot
from qwf_agent.web.site.health import Check

Db = psycopg.Connection[Any]
Watch = Callable[[Snapshot], Coroutine[Any, Any, None]]
DEADLINE_S = 60.0


def watching(dsn: str, body: Watch, listen_dsn: str | None = None) -> None:
    """Run `body` with a snapshot."""

    async def run() -> None:
        database = Database(dsn)
        snapshot = Snapshot(database, listen_dsn)
        try:
            await asyncio.wait_for(body(snapshot), DEADLINE_S)
        finally:
            await snapshot.close()
            await database.close()

    asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it is so; the deadline is that of the test."""
    while not condition():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def stream(snapshot: Snapshot) -> Any:
    """A stream whose news are joined in what this gives."""
    heard = News()
    changes = snapshot.changes()

    async def follow() -> None:
        async for news in changes:
            heard.topics |= news.topics
            heard.samples |= news.samples

    following = asyncio.create_task(follow())
    try:
        yield heard
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await changes.aclose()


def test_a_sample_reaches_streams_without_a_query(dsn: str, db: Db) -> None:
    async def body(snapshot: Snapshot) -> None:
        async with stream(snapshot) as heard:
            await until(lambda: snapshot.listener.works)
            db.execute("select qwf.report_metrics('box-a', '{\"cpu_percent\": 12.5}')")
            await until(lambda: "box-a" in heard.samples)
        assert json.loads(heard.samples["box-a"])["cpu_percent"] == 12.5

    watching(dsn, body)


def test_a_switch_is_news_before_the_next_reading_is_due(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "INTERVAL_S", 3600.0)

    async def body(snapshot: Snapshot) -> None:
        db.execute("select qwf.register_worker('box-a', 'default')")
        async with stream(snapshot) as heard:
            await until(lambda: snapshot.listener.works and "fleet" in heard.topics)
            heard.topics.clear()
            db.execute("select qwf.worker_control('box-a', 'default', 'off')")
            await until(lambda: "fleet" in heard.topics)

    watching(dsn, body)


def test_that_time_passes_is_no_news(dsn: str, db: Db) -> None:
    async def body(snapshot: Snapshot) -> None:
        db.execute("select qwf.register_worker('box-a', 'default')")
        db.execute("select qwf.enqueue('t') from generate_series(1, 2)")
        db.execute("select qwf.claim('default', 'w')")
        known: dict[str, int] = {}
        assert await snapshot._changed(known) == set(snapshots.TOPICS)
        assert await snapshot._changed(known) == set()
        db.execute("select qwf.enqueue('t')")
        assert await snapshot._changed(known) == {"queues"}

    watching(dsn, body)


def test_it_listens_again_after_its_session_was_ended(dsn: str, db: Db) -> None:
    async def body(snapshot: Snapshot) -> None:
        async with stream(snapshot) as heard:
            await until(lambda: snapshot.listener.works)
            db.execute("select pg_terminate_backend(pid) from pg_stat_activity"
                       " where application_name = 'qwf web' and query like 'listen%%'"
                       " and datname = current_database()")  # fmt: skip
            await until(lambda: not snapshot.listener.works)
            assert snapshot.listener.why
            await until(lambda: snapshot.listener.works)
            db.execute("select qwf.report_metrics('box-a', '{}')")
            await until(lambda: "box-a" in heard.samples)

    watching(dsn, body)


def test_an_address_that_hears_nothing_is_told_and_the_page_still_reads(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qwf_agent.web.reads.listen.ECHO_S", (0.2, 0.2))
    elsewhere = make_conninfo(dsn, dbname="postgres")  # as deaf as a session behind a pooler

    async def body(snapshot: Snapshot) -> None:
        async with stream(snapshot) as heard:
            await until(lambda: "pooler" in snapshot.listener.why)
            assert not snapshot.listener.works
            db.execute("select qwf.enqueue('t')")
            heard.topics.clear()
            await until(lambda: "queues" in heard.topics)

    watching(dsn, body, elsewhere)


def test_it_neither_reads_nor_listens_once_nobody_looks(dsn: str, db: Db) -> None:
    async def body(snapshot: Snapshot) -> None:
        async with stream(snapshot):
            await until(lambda: snapshot.listener.works)
        snapshot.hurry()
        await until(lambda: snapshot._reader is not None and snapshot._reader.done())
        assert not snapshot.listener.works

    watching(dsn, body)
    left = "select count(*) from pg_stat_activity where datname = current_database() and query like"
    row = db.execute(left + " 'listen%%' and application_name = 'qwf web'").fetchone()
    assert row == (0,)


@pytest.mark.parametrize(
    "payload",
    ["", "box-a:gpu", "[]", "null", '{"cpu_percent": 1}', '{"host": 1}', "[" * 3000, '{"host": '],
)
def test_what_is_no_sample_is_dropped(payload: str) -> None:
    assert sample(payload) is None


def test_of_a_sample_only_numbers_are_passed_on_in_one_line() -> None:
    cards = [{"use_pct": 1, "x": "<b>"}, "no card", {"use_pct": float("inf")}] + [{}] * 100
    given = {"host": "a\nevent: changed\ndata: x", "cpu_percent": "<script>", "ram_percent": True,
             "swap_used_mb": 10**400, "ram_used_mb": 7, "gpus": cards, "evil": "\n\n"}  # fmt: skip
    found = sample(json.dumps(given))
    assert found is not None
    host, text = found
    assert "\n" not in text
    passed = json.loads(text)
    assert (host, passed["host"]) == (given["host"], given["host"])
    assert [passed[name] for name in ("cpu_percent", "ram_percent", "swap_used_mb")] == [None] * 3
    assert passed["ram_used_mb"] == 7
    assert "evil" not in passed
    assert passed["gpus"][0] == {"use_pct": 1, "vram_used_mb": None, "vram_total_mb": None}
    assert passed["gpus"][1]["use_pct"] is None
    assert len(passed["gpus"]) <= MOST_CARDS


def checked(dsn: str, body: Callable[[Database], Awaitable[None]]) -> None:
    """Run `body` with a database."""

    async def run() -> None:
        database = Database(dsn)
        try:
            await asyncio.wait_for(body(database), DEADLINE_S)
        finally:
            await database.close()

    asyncio.run(run())


async def nobody(topics: Any) -> None:
    """Tell nobody."""


def test_a_check_that_is_too_slow_is_told_and_rests(dsn: str) -> None:
    async def body(database: Database) -> None:
        check = Check(database, "select pg_sleep(10)", 0.0, nobody)
        await check.look()
        assert (check.rows, check.why) == (None, "")
        await until(lambda: bool(check.why))
        assert "2 s" in check.why
        await check.look()
        assert check._running is None

    checked(dsn, body)


def test_a_check_runs_once_for_all_and_tells_what_is_new(dsn: str, db: Db) -> None:
    told: list[str] = []

    async def tell(topics: Any) -> None:
        told.extend(topics)

    async def body(database: Database) -> None:
        check = Check(database, "select count(*) as jobs from qwf.jobs", 3600.0, tell)
        first, second = await asyncio.gather(check.look(), check.look())
        await until(lambda: check.rows is not None)
        assert first is second
        assert check.rows == [{"jobs": 0}]
        assert told == ["health"]
        db.execute("select qwf.enqueue('t')")
        await check.look()
        assert check._running is None
        assert check.rows == [{"jobs": 0}]

    checked(dsn, body)


@pytest.mark.parametrize("cancelled", [False, True], ids=["waited for", "given up"])
def test_a_task_that_swallows_a_cancellation_is_ended_all_the_same(cancelled: bool) -> None:
    swallowed = []

    async def stubborn() -> None:
        for _ in range(2):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                swallowed.append(True)
        await asyncio.sleep(3600)

    async def run() -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        ending = asyncio.create_task(snapshots.end(task))
        await asyncio.sleep(0)
        if cancelled:
            ending.cancel()
        await asyncio.wait({ending}, timeout=DEADLINE_S)
        assert ending.cancelled() == cancelled
        assert task.cancelled()

    asyncio.run(run())
    assert len(swallowed) == 2
