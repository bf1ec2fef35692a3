"""The questions that wait for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from qwf_agent.web.database import Look
from qwf_agent.web.page import Page

if TYPE_CHECKING:
    from typing_extensions import LiteralString

MOST = 100
# The first MOST by the chosen order. `more` is one row above it.
_COLUMNS = """
select p.job_id, p.run_id, p.workflow, p.node_id, p.task, p.project, p.asks, p.widget,
  left(p.prompt, 1000) as prompt, p.age, p.expires_at, p.since,
  p.expires_at - qwf.now() as left, left(p.spec ->> 'error', 2000) as error,
  p.spec ? 'default' as has_default, left(p.spec ->> 'default', 200) as default,
  case when p.asks = 'failure' then p.spec -> 'options' end as choices,
  jsonb_array_length(p.show) as files
from qwf.pending_inputs p
where (%(project)s::text is null or p.project = %(project)s)
"""
OLDEST = _COLUMNS + "order by p.since, p.job_id limit %(most)s"
ENDING = _COLUMNS + "order by p.expires_at nulls last, p.since, p.job_id limit %(most)s"
ORDERS: dict[str, LiteralString] = {"oldest": OLDEST, "ending": ENDING}
PROJECTS = """
select p.project from qwf.pending_inputs p
where p.project <> '' group by p.project order by p.project limit 50
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The first questions of a project, or of all."""
    project = request.query_params.get("project") or None
    order = request.query_params.get("order", "oldest")
    order = order if order in ORDERS else "oldest"
    project = project and project.replace("\0", "")  # which Postgres takes in no text
    found = await look.rows(ORDERS[order], project=project, most=MOST + 1)
    projects = [row["project"] for row in await look.rows(PROJECTS)]
    return {
        "questions": found[:MOST],
        "more": len(found) > MOST,
        "project": project,
        "projects": projects,
        "order": order,
    }


PAGES = (Page("/inputs", "inputs.html", read, topics=("questions",), every_s=30),)
