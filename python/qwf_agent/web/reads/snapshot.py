"""The one reader for all tabs: it reads the fleet while somebody looks, and says what changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import PoolTimeout

from qwf_agent.look.fleet import QUEUES, RUNNING
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Database
from qwf_agent.web.reads.listen import CONTROL, EVENTS, METRICS, Listener, sample

if TYPE_CHECKING:
    from typing_extensions import LiteralString

log = logging.getLogger("qwf_agent.web")

RUNS = "select * from qwf.find_runs(max_rows => 30)"
# A login can register thousands. Those that run jobs come first, and the dead last.
WORKERS = """
select * from (
  select * from qwf.worker_overview
  where state <> 'stopped'
  order by state = 'dead', running > 0 desc, host, queue limit 200) w
order by host, queue, started_at
"""
WORKERS_OF_HOST = """
select * from qwf.worker_overview
where state <> 'stopped' and host = %(host)s
order by state = 'dead', running > 0 desc, queue, started_at limit 200
"""
# All workers, counted.
CROWD = "select boxes, workers, dead from qwf.overview"
BOXES = """
select * from qwf.box_overview
where live
order by running > 0 desc, host limit 1000
"""
SERVERS = """
select * from qwf.server_overview
order by state not in ('broken', 'failed', 'gone'), host, queue limit 1000
"""
# What the menu, the title and the icon of every page say. 1,001 means more than 1,000.
BADGES = """
select o.failed, o.questions as asked, (
  select count(*) from (
    select from qwf.alert_details a where a.closed_at is null limit 101) a) as alerts
from qwf.overview o
"""
# Topic: the statement whose answer, when it differs from the last one, is news for tabs.
TOPICS: dict[str, LiteralString] = {
    "queues": QUEUES,
    "fleet": WORKERS,
    "hosts": "select host, sampled_at from qwf.box_overview where live limit 1000",
    "servers": SERVERS,
    "running": RUNNING,
    "failed": "select f.id, f.finished_at from qwf.failed_jobs f limit 100",
    "questions": "select q.job_id from qwf.find_inputs() q",
    "runs": RUNS,
}
# Columns that change by themselves or all the time, which is no news. Pages that show them ask
# again.
PASSING = frozenset({
    "age", "deadline_in", "head_wait", "last_seen", "oldest_wait", "seconds", "since_s",
    "tokens", "prompt_tokens", "tokens_per_s",
})  # fmt: skip
INTERVAL_S = 1.0
CANCEL_AGAIN_S = 0.5
HURRIED_S = 0.25  # the shortest pause, when somebody has changed something
MOST_SAMPLES = 1000  # of hosts that a stream has not passed on: names are anybody's
SHARE, MOST_REST_S = 30, 20.0  # the pause is so many times as long as the reading took, at most


@dataclass
class News:
    """The news that a stream has not passed on yet: topics, and the last sample of each host."""

    topics: set[str] = field(default_factory=set)
    samples: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.topics or self.samples)


class Snapshot:
    """Reads the topics once for everybody, and listens once for everybody.

    Invariants: it reads and listens only while a stream is open; its pause is at least INTERVAL_S,
    or HURRIED_S after a change that it heard of, and SHARE times what it took to read, up to
    MOST_REST_S. A stream that does not keep up misses no topic: those that change while it is busy
    are joined.
    """

    def __init__(self, database: Database, listen_dsn: str | None = None) -> None:
        self._database = database
        self._waiting: dict[int, News] = {}
        self._news = asyncio.Condition()
        self._next = 0
        self._reader: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._ended = False
        self.listener = Listener(listen_dsn or database.dsn, database, self._hear)
        self.error: str | None = None

    async def changes(self) -> AsyncGenerator[News, None]:
        """Yield what is new; nothing for as long as nothing is. Ends with end_streams()."""
        number, self._next = self._next, self._next + 1
        self._waiting[number] = News()
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._watch())
        try:
            while True:
                async with self._news:
                    await self._news.wait_for(lambda: self._ended or self._waiting[number])
                    if self._ended:
                        return
                    news, self._waiting[number] = self._waiting[number], News()
                yield news
        finally:
            self._waiting.pop(number, None)

    async def end_streams(self) -> None:
        """End all streams, and each new one: the server stops, and waits for them."""
        self._ended = True
        async with self._news:
            self._news.notify_all()

    async def close(self) -> None:
        """Stop reading and listening, also if streams are still open."""
        self._waiting.clear()
        if self._reader is not None:
            await end(self._reader)

    def hurry(self) -> None:
        """Read now: somebody has just changed something."""
        self._hurry.set()

    async def tell(self, topics: Iterable[str]) -> None:
        """Say to all streams that these topics have changed."""
        async with self._news:
            for news in self._waiting.values():
                news.topics |= set(topics)
            self._news.notify_all()

    async def _hear(self, channel: str, payload: str) -> None:
        """Pass a sample on; read soon after any other notification."""
        if channel in (CONTROL, EVENTS):
            self.hurry()
        elif channel == METRICS and (heard := sample(payload)) is not None:
            host, text = heard
            async with self._news:
                for news in self._waiting.values():
                    if host in news.samples or len(news.samples) < MOST_SAMPLES:
                        news.samples[host] = text
                self._news.notify_all()

    async def _watch(self) -> None:
        """Read and listen until no stream is left."""
        listening = asyncio.create_task(self.listener.run())
        try:
            await self._read()
        finally:
            await end(listening)

    async def _read(self) -> None:
        known: dict[str, int] = {}
        while self._waiting:
            began = time.monotonic()
            changed = await self._changed(known)
            if changed:
                await self.tell(changed)
            rest_s = min(SHARE * (time.monotonic() - began), MOST_REST_S)
            self._hurry.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), max(INTERVAL_S, rest_s))
            await asyncio.sleep(began + max(HURRIED_S, rest_s) - time.monotonic())

    async def _changed(self, known: dict[str, int]) -> set[str]:
        """The topics whose answers differ from those known, which are brought up to date."""
        changed = set()
        for topic in TOPICS:
            try:
                rows, _ = await self._database.rows(TOPICS[topic], {}, fresh_s=0.0)
            except psycopg.errors.QueryCanceled:  # one slow topic hides no other
                log.warning("what changed in %s is not known: it takes more than 2 s", topic)
                continue
            except (psycopg.Error, PoolTimeout) as error:
                self.error = type(error).__name__
                if "lost" not in known:
                    changed.add("lost")
                    known["lost"] = 1
                return changed
            if known.get(topic) != (now := _print_of(rows)):
                changed, known[topic] = changed | {topic}, now
        self.error = None
        known.pop("lost", None)
        return changed


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task until it has ended, also if the caller is cancelled meanwhile. Once is not
    enough: before Python 3.12, wait_for() may swallow a cancellation, and psycopg waits for
    notifications with it."""
    cancelled = None
    while not task.done():
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=CANCEL_AGAIN_S)
        except asyncio.CancelledError as error:
            cancelled = error
    await asyncio.gather(task, return_exceptions=True)
    if cancelled is not None:
        raise cancelled


def _print_of(rows: Rows) -> int:
    """A number that stays while nothing but the time has changed."""
    return hash(repr([_lasting(row) for row in rows]))


def _lasting(row: dict[str, Any]) -> list[Any]:
    return [value for name, value in row.items() if name not in PASSING]
