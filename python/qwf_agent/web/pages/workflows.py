"""The workflows and pipelines that are registered, with what became of the newest runs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

A_PAGE = 200
WORKFLOWS = """
select w.name, w.version, left(w.definition ->> 'display_name', 200) as title, w.registered_at,
  case when jsonb_typeof(w.definition -> 'steps') = 'array'
    then jsonb_array_length(w.definition -> 'steps') else 0 end as steps,
  w.pipeline_names[1 : 6] as pipelines, cardinality(w.pipeline_names) as uses
from qwf.workflows w
where w.current and w.name > %(after)s
order by w.name limit 201
"""
PIPELINES = """
select p.name, p.version, left(p.definition ->> 'display_name', 200) as title, p.registered_at,
  case when jsonb_typeof(p.definition -> 'nodes') = 'array'
    then jsonb_array_length(p.definition -> 'nodes') else 0 end as nodes,
  array(select w.name from qwf.workflows w
    where w.current and p.name = any (w.pipeline_names) order by w.name limit 6) as users
from qwf.pipelines p
where p.current and p.name > %(after)s
order by p.name limit 201
"""
RUNS = """
select r.workflow, count(*) as runs, max(r.id) as last,
  count(*) filter (where r.status = 'failed') as failed,
  count(*) filter (where r.status in ('queued', 'running', 'awaiting_input')) as open
from (select r.id, r.workflow, r.status from qwf.runs r order by r.id desc limit 1000) r
group by r.workflow
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The current version of each, by name."""
    after = {key: request.query_params.get(key, "").replace("\0", "") for key in ("after", "past")}
    workflows = await look.rows(WORKFLOWS, after=after["after"])
    pipelines = await look.rows(PIPELINES, after=after["past"])
    return {
        "after": after,
        "workflows": workflows[:A_PAGE],
        "more_workflows": len(workflows) > A_PAGE,
        "pipelines": pipelines[:A_PAGE],
        "more_pipelines": len(pipelines) > A_PAGE,
        "runs": {row["workflow"]: row for row in await look.rows(RUNS)},
    }


PAGES = (Page("/workflows", "workflows.html", read, topics=("runs",), every_s=10),)
