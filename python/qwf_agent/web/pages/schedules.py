"""The schedules: when they are due, and what came of it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

SCHEDULES = """
select s.*, extract(epoch from s.next_in) as next_s,
  array(select t.due_at from qwf.due_times(s.name) t) as times
from qwf.schedule_overview s
where (%(project)s::text is null or s.project = %(project)s::text)
  and not (s.backfill_of is not null and not s.enabled and s.resume_at is null)
order by s.next_at, s.name
limit 200
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """All schedules, or those of a project, without backfills that have ended."""
    project = request.query_params.get("project")
    project = project and project.replace("\0", "")  # which Postgres takes in no text
    return {"schedules": await look.rows(SCHEDULES, project=project)}


PAGES = (Page("/schedules", "schedules.html", read, every_s=10),)
