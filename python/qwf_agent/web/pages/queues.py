"""The queues, and one queue."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data, NotFoundError, Page

LIMITS = """
select l.name, l.max_running, l.starts, l.per, l.created_at, coalesce(s.held, '[]') as held,
  (select count(*) from qwf.limit_starts t
    where t.limit_name = l.name and t.used_at > qwf.now() - l.per and t.place <= l.starts
  ) as started
from qwf.limits l
left join lateral (
  select jsonb_agg(jsonb_build_object('slot', s.slot, 'job', j.id, 'task', j.task,
    'seconds', extract(epoch from qwf.now() - j.claimed_at)) order by s.slot) as held
  from (select * from qwf.limit_slots s where s.limit_name = l.name and s.job_id is not null
    order by s.slot limit 50) s
  join qwf.jobs j on j.id = s.job_id
) s on true
order by l.name
limit 200
"""
SETTINGS = "select * from qwf.queues where name = %(queue)s"
WORKERS = """
select * from qwf.worker_overview where queue = %(queue)s and state <> 'stopped'
order by host, started_at limit 200
"""
SLEEPERS = """
select s.worker, w.host, s.since from qwf.sleepers s left join qwf.workers w on w.id = s.worker
where s.queue = %(queue)s order by s.since limit 100
"""
HEAD = """
select j.id, j.task, j.run_id, j.node_id, j.priority, j.run_next, j.queued_at,
  extract(epoch from qwf.now() - j.queued_at) as waited
from qwf.jobs j
where j.queue = %(queue)s and j.status = 'queued' and j.limit_by is null
order by j.run_next desc, j.priority, j.position
limit 20
"""
HEAD_LIMITED = """
select j.id, j.task, j.run_id, j.node_id, j.priority, j.run_next, j.limit_by, j.queued_at,
  extract(epoch from qwf.now() - j.queued_at) as waited
from qwf.jobs j
where j.queue = %(queue)s and j.status = 'queued' and j.limit_by is not null
order by j.limit_by, j.run_next desc, j.priority, j.position
limit 20
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
  m.completed, m.error + m.fatal + m.tempfail + m.lost as failed
from qwf.queue_minutes m
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
    return {"queues": await look.rows(snapshot.QUEUES), "limits": await look.rows(LIMITS)}


async def read_one(request: Request, look: Look) -> dict[str, Any]:
    """One queue."""
    name = request.path_params["queue"]
    glance = next((q for q in await look.rows(snapshot.QUEUES) if q["queue"] == name), None)
    settings = await look.row(SETTINGS, queue=name)
    if glance is None or settings is None:
        raise NotFoundError(f"there is no queue {name}: a queue begins with its first job")
    return {
        "queue": glance,
        "settings": settings,
        "workers": await look.rows(WORKERS, queue=name),
        "sleepers": await look.rows(SLEEPERS, queue=name),
        "head": await look.rows(HEAD, queue=name),
        "limited": await look.rows(HEAD_LIMITED, queue=name),
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
