"""The one reader for all tabs: it reads the fleet while somebody looks, and says what changed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import psycopg

from qwf_agent.cli.top.fleet import FAILED, HOSTS, QUESTIONS, RUNNING, WORKERS
from qwf_agent.web.database import Database

if TYPE_CHECKING:
    from typing_extensions import LiteralString

QUEUES = "select * from qwf.queue_glance order by queue"
RUNS = """
select o.*, r.workflow_version, r.deadline
from qwf.run_overview o join qwf.runs r on r.id = o.run_id
order by o.run_id desc limit 30
"""
# Topic: the statement whose answer, when it differs from the last one, is news for tabs.
TOPICS: dict[str, LiteralString] = {
    "queues": QUEUES,
    "fleet": WORKERS,
    "hosts": HOSTS,
    "running": RUNNING,
    "failed": FAILED,
    "questions": QUESTIONS,
    "runs": RUNS,
}
INTERVAL_S = 1.0
SHARE = 10  # the pause is at least this many times as long as the reading took


class Snapshot:
    """Reads the topics once for everybody.

    Invariants: it reads only while a stream is open; its pause is at least INTERVAL_S, and SHARE
    times what it took to read. A stream that does not keep up misses no topic: those that change
    while it is busy are joined.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[int, set[str]] = {}
        self._news = asyncio.Condition()
        self._next = 0
        self._reader: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self.error: str | None = None

    async def changes(self) -> AsyncGenerator[set[str], None]:
        """Yield the topics that have changed; nothing for as long as none has."""
        number, self._next = self._next, self._next + 1
        self._waiting[number] = set()
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())
        try:
            while True:
                async with self._news:
                    await self._news.wait_for(lambda: self._waiting[number])
                    changed, self._waiting[number] = self._waiting[number], set()
                yield changed
        finally:
            del self._waiting[number]

    def hurry(self) -> None:
        """Read now: somebody has just changed something."""
        self._hurry.set()

    async def _read(self) -> None:
        known: dict[str, int] = {}
        while self._waiting:
            began = time.monotonic()
            changed = set()
            for topic in TOPICS:
                try:
                    rows, _ = await self._database.rows(TOPICS[topic], {}, fresh_s=0.0)
                except psycopg.Error as error:
                    self.error = type(error).__name__
                    changed |= {"lost"} if known.pop("lost", 0) == 0 else set()
                    known["lost"] = 1
                    break
                if known.get(topic) != (now := hash(repr(rows))):
                    changed, known[topic] = changed | {topic}, now
            else:
                self.error = None
                known.pop("lost", None)
            if changed:
                await self._tell(changed)
            pause_s = max(INTERVAL_S, SHARE * (time.monotonic() - began))
            self._hurry.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), pause_s)

    async def _tell(self, changed: set[str]) -> None:
        async with self._news:
            for missed in self._waiting.values():
                missed |= changed
            self._news.notify_all()
