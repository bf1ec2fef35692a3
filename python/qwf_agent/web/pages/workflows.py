"""The workflows and pipelines that are registered, with what became of the newest runs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.web.drawings import last_runs
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

A_PAGE = 50
WORKFLOWS = """
select d.name, d.version, d.title, d.registered_at, d.parts as steps,
  d.pipelines[1 : 6] as pipelines, cardinality(d.pipelines) as uses,
  u.p50, u.p90, coalesce(u.runs, 0) as runs, u.last, u.last_status, u.last_at, u.last_success
from qwf.definition_overview d
left join qwf.usual u on u.kind = 'run' and u.name = d.name
where d.kind = 'workflow' and d.current and d.name > %(after)s
order by d.name limit 51
"""
PIPELINES = """
select d.name, d.version, d.title, d.registered_at, d.parts as nodes, array(
    select w.name from qwf.definition_overview w
    where w.kind = 'workflow' and w.current and d.name = any (w.pipelines)
    order by w.name limit 6) as users
from qwf.definition_overview d
where d.kind = 'pipeline' and d.current and d.name > %(after)s
order by d.name limit 51
"""
RUNS = """
select r.workflow, count(*) as runs, max(r.id) as last,
  count(*) filter (where r.status = 'failed') as failed,
  count(*) filter (where r.status in ('queued', 'running', 'awaiting_input')) as open
from (select r.id, r.workflow, r.status from qwf.run_details r order by r.id desc limit 1000) r
group by r.workflow
"""


DUE = """
select s.what, min(s.next_at) as next_at from qwf.schedule_overview s
where s.enabled and s.what like 'workflow %%' group by s.what
"""
STRIP = 20


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The current version of each, by name."""
    after = {key: request.query_params.get(key, "").replace("\0", "") for key in ("after", "past")}
    workflows = await look.rows(WORKFLOWS, after=after["after"])
    pipelines = await look.rows(PIPELINES, after=after["past"])
    for row in workflows:
        row["bars"] = last_runs.bars(row["last"] or [], STRIP, row)
    return {
        "after": after,
        "due": {
            row["what"].split(" ")[1].split("@")[0]: row["next_at"] for row in await look.rows(DUE)
        },
        "workflows": workflows[:A_PAGE],
        "more_workflows": len(workflows) > A_PAGE,
        "pipelines": pipelines[:A_PAGE],
        "more_pipelines": len(pipelines) > A_PAGE,
        "runs": {row["workflow"]: row for row in await look.rows(RUNS)},
    }


PAGES = (Page("/workflows", "workflows.html", read, topics=("runs",), every_s=10),)
