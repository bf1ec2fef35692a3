"""Checks that a page shows and never waits for: they run beside it, and seldom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolTimeout

from qwf_agent.web.database import Database, Rows

if TYPE_CHECKING:
    from typing_extensions import LiteralString

INVARIANTS = "select * from qwf.check_invariants() limit 20"
# Of the jobs at the head of each queue, those that no worker could take. A job that nobody can
# take comes to the head in time, because the others are taken.
UNASSIGNABLE = """
select head.id, head.run_id, head.node_id, head.task, head.queue, head.required_model,
  head.vram_mb, head.requires, qwf.now() - head.queued_at as waited
from qwf.queues q
cross join lateral (
  select j.* from (
    (select f.id, f.run_id, f.node_id, f.task, f.queue, f.required_model, f.vram_mb, f.requires,
      f.project, f.queued_at
    from qwf.jobs f
    where f.queue = q.name and f.status = 'queued' and f.limit_by is null
    order by f.run_next desc, f.priority, f.position limit 100)
    union all
    (select l.id, l.run_id, l.node_id, l.task, l.queue, l.required_model, l.vram_mb, l.requires,
      l.project, l.queued_at
    from qwf.jobs l
    where l.queue = q.name and l.status = 'queued' and l.limit_by is not null
    order by l.limit_by, l.run_next desc, l.priority, l.position limit 100)
  ) j
) head
cross join qwf.settings s
where exists (  -- a queue without any worker is unserved, and said to be so elsewhere
  select from qwf.workers a
  where a.queue = head.queue and a.stopped_at is null and a.last_seen > qwf.now() - s.worker_stale
    and not exists (select from qwf.switched_off o where o.host = a.host and o.queue = a.queue)
) and not exists (
  select from qwf.workers w
  where w.queue = head.queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    and (w.project is null or head.project = w.project)
    and (w.tasks is null or head.task = any (w.tasks))
    and (head.required_model is null or w.models is null or head.required_model = any (w.models))
    and (head.vram_mb is null or w.vram_mb is null or head.vram_mb <= w.vram_mb)
    and w.labels @> head.requires
    and not exists (select from qwf.switched_off o where o.host = w.host and o.queue = w.queue))
order by head.queued_at
limit 20
"""
FIRST_S = 0.2  # how long the first page waits for the first answer
SHARE = 100  # the pause is at least this many times as long as the check took
AFTER_FAILURE_S = 600.0  # a check that was too slow is not tried again for this long


class Check:
    """A statement that runs beside the pages, for all who look.

    Invariants: it runs only when a page asks, once at a time, and after it rests for `every_s` and
    SHARE times what it took. A page gets the last answer.
    """

    def __init__(
        self,
        database: Database,
        statement: LiteralString,
        every_s: float,
        tell: Callable[[Iterable[str]], Awaitable[None]],
    ) -> None:
        self.statement = statement
        self.rows: Rows | None = None  # the last answer; None: there is none
        self.why = ""  # why there is none
        self._database, self._every_s, self._tell = database, every_s, tell
        self._due_at = 0.0
        self._running: asyncio.Task[None] | None = None

    async def look(self) -> Check:
        """Start the check if it is due. Only the first page of all waits for it, and not long."""
        if self._running is None and time.monotonic() >= self._due_at:
            self._running = asyncio.create_task(self._run())
        if self._running is not None and self.rows is None and not self.why:
            await asyncio.wait({self._running}, timeout=FIRST_S)
        return self

    async def _run(self) -> None:
        before = (self.rows, self.why)
        began = time.monotonic()
        try:
            self.rows, _ = await self._database.rows(self.statement, {}, fresh_s=0.0)
            self.why = ""
            rest_s = max(self._every_s, SHARE * (time.monotonic() - began))
        except psycopg.errors.QueryCanceled:
            self.rows, self.why, rest_s = None, "it takes more than 2 s", AFTER_FAILURE_S
        except (psycopg.Error, PoolTimeout) as error:
            self.rows, self.why, rest_s = None, type(error).__name__, self._every_s
        finally:
            self._running = None
        self._due_at = time.monotonic() + rest_s
        if before != (self.rows, self.why):
            await self._tell(["health"])


class Health:
    """The checks of the first page."""

    def __init__(
        self, database: Database, tell: Callable[[Iterable[str]], Awaitable[None]]
    ) -> None:
        self.invariants = Check(database, INVARIANTS, 60.0, tell)
        self.unassignable = Check(database, UNASSIGNABLE, 5.0, tell)
