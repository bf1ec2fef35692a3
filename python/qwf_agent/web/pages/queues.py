"""The queues, and one queue."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.look.fleet import QUEUES
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data, NotFoundError, Page

LIMITS = """
select name, max_running, starts, per, created_at, started, held, keyed, running,
  held_until, held_by, held_keys
from qwf.limit_overview limit 200
"""
KEYS = "select * from qwf.busiest_keys(%(name)s)"
QUEUE = "select * from qwf.queue_overview where queue = %(queue)s"
WORKERS = """
select * from qwf.worker_overview where queue = %(queue)s and state <> 'stopped'
order by host, started_at limit 200
"""
SLEEPERS = """
select worker, host, since from qwf.sleeping_workers
where queue = %(queue)s order by since limit 100
"""
LINE = """
select f.*, extract(epoch from qwf.now() - f.queued_at) as waited
from qwf.first_in_line(%(queue)s) f
"""
STATS = """
select hour, task, outcome, count, wait_p50, wait_p90, wait_p99, run_p50, run_p90, run_p99
from qwf.job_stats
where queue = %(queue)s and hour > qwf.now() - interval '24 h'
order by hour desc, count desc
limit 100
"""
MINUTES = """
select extract(epoch from m.minute)::bigint as at, m.queued, m.running, m.head_wait_seconds,
  m.completed, m.failed
from qwf.queue_history m
where m.queue = %(queue)s and m.minute > qwf.now() - interval '24 h'
order by m.minute
"""
CHARTS = (  # title, unit, lines with their names
    ("Jobs", "", {"queued": "queued", "running": "running"}),
    ("First waits", "s", {"head_wait_seconds": "first waits"}),
    ("Ended in a minute", "", {"completed": "completed", "failed": "failed"}),
)
COUNT = """
select c.queued, c.estimated, c.scheduled, qwf.now() - c.oldest_since as oldest_wait
from qwf.count_jobs(1000000) c
where c.queue = %(queue)s
"""


async def read_all(request: Request, look: Look) -> dict[str, Any]:
    """All queues and limits."""
    name = request.query_params.get("keys")  # reads all jobs of this limit, so only if asked for
    return {
        "queues": await look.rows(QUEUES),
        "limits": await look.rows(LIMITS),
        "keys_of": name,
        "busiest": await look.rows(KEYS, name=name) if name else [],
    }


async def read_one(request: Request, look: Look) -> dict[str, Any]:
    """One queue."""
    name = request.path_params["queue"]
    found = await look.row(QUEUE, queue=name)
    if found is None:
        raise NotFoundError(f"there is no queue {name}: a queue begins with its first job")
    line = await look.rows(LINE, queue=name)
    return {
        "queue": found,
        "workers": await look.rows(WORKERS, queue=name),
        "sleepers": await look.rows(SLEEPERS, queue=name),
        "head": [job for job in line if job["limit_by"] is None],
        "limited": [job for job in line if job["limit_by"] is not None],
        "charts": CHARTS,
        "stats": await look.rows(STATS, queue=name),
        "exact": await look.row(COUNT, queue=name) if "count" in request.query_params else None,
    }


async def history(request: Request, look: Look) -> dict[str, Any]:
    """The last 24 hours of a queue, a point a minute: the lines of its charts, for charts.js."""
    rows = await look.rows(MINUTES, queue=request.path_params["queue"])
    lines = {line: [row[line] for row in rows] for _, _, of in CHARTS for line in of}
    return {"at": [row["at"] for row in rows], "lines": lines}


PAGES = (
    Page("/queues", "queues.html", read_all, topics=("queues", "fleet")),
    Page("/queues/{queue}", "queue.html", read_one, topics=("queues", "fleet"), every_s=5),
)
DATA = (Data("/history/queues/{queue}", history, fresh_s=30),)
