"""A node of a run that runs once for each element of a list: all its elements, and the slowest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from qwf_agent.web.drawings import graph
from qwf_agent.web.pages.run import find, nodes_of
from qwf_agent.web.pages.run_tabs import STATES
from qwf_agent.web.pages.runs import as_id
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data, NotFoundError, Page

ELEMENTS_A_PAGE = 100
LAST_ELEMENT = 2**31 - 1
MAP = """
select j.id as job_id, j.elements, g.min_success, g.max_parallel
from qwf.jobs j
join qwf.graph_nodes g on g.graph_id = j.graph_id and g.idx = j.node_idx
where j.id = %(job)s
"""
ELEMENT = """
select c.id as job_id, c.element, c.status, c.attempt, w.host, left(c.last_error, 2000) as error,
  case when c.status = 'completed' and c.attempt = 1  -- its only attempt; most are such
    then extract(epoch from c.finished_at - c.claimed_at)
    else nullif(coalesce((
        select sum(extract(epoch from t.finished_at - t.started_at)) from qwf.job_attempts t
        where t.job_id = c.id), 0)
      + case when c.status = 'running' then extract(epoch from qwf.now() - c.claimed_at)
        else 0 end, 0)
  end::float8 as seconds
from qwf.jobs c left join qwf.workers w on w.id = c.claimed_by
where c.parent_id = %(map)s
"""
ELEMENTS = (
    ELEMENT
    + """  and c.element >= %(first)s and (%(status)s::text is null or c.status::text = %(status)s)
order by c.element
limit %(most)s
"""
)
SLOWEST = (
    ELEMENT
    + """
order by seconds desc nulls last, c.element
limit 10
"""
)
CELLS = """
select coalesce(array_agg(c.element order by c.element), '{}') as elements,
  coalesce(array_agg(c.status::text order by c.element), '{}') as states
from qwf.jobs c
where c.parent_id = %(map)s
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The elements of a map: a page of them, and the slowest."""
    run = await find(request, look)
    node = await _node(request, look, run)
    counts: dict[str, int] = node["counts"] or {}
    status = request.query_params.get("status")
    first = min(as_id(request.query_params.get("from", "")) or 0, LAST_ELEMENT)
    shown: dict[str, Any] = {
        "run": run,
        "node": node,
        "counts": [(state, counts[state]) for state in STATES if counts.get(state)],
        "done": counts.get("completed", 0),
        "status": status if status in STATES else None,
        "first": first,
        "elements": [],
        "slowest": [],
        "next": None,
    }
    if node["is_map"]:
        job = node["job_id"]
        rows = await look.rows(
            ELEMENTS, map=job, first=first, status=shown["status"], most=ELEMENTS_A_PAGE + 1
        )
        shown["elements"] = rows[:ELEMENTS_A_PAGE]
        shown["next"] = rows[ELEMENTS_A_PAGE]["element"] if len(rows) > ELEMENTS_A_PAGE else None
        slowest = await look.rows(SLOWEST, map=job)
        shown["slowest"] = [row for row in slowest if row["seconds"] is not None]
        shown["map"] = await look.row(MAP, job=job)
    return shown


async def read_cells(request: Request, look: Look) -> dict[str, Any]:
    """The states of all elements, a letter each."""
    node = await _node(request, look, await find(request, look))
    found = await look.row(CELLS, map=node["job_id"])
    map_ = await look.row(MAP, job=node["job_id"])
    if found is None or map_ is None:  # the run has been pruned since the statement before
        raise NotFoundError("This run has just been deleted.")
    elements = zip(found["elements"], found["states"], strict=True)
    return graph.cells_document(elements, map_["elements"] or 0)


async def _node(request: Request, look: Look, run: Mapping[str, Any]) -> dict[str, Any]:
    """The node of the address. Raises NotFoundError."""
    name = request.path_params["node"]
    for node in await nodes_of(look, run):
        if node["node_id"] == name:
            return node
    raise NotFoundError(f"Run {run['id']} has no node {name[:200]}.")


PAGES = (Page("/runs/{run}/nodes/{node:path}", "run_map.html", read, every_s=2),)
DATA = (Data("/runs/{run}/cells/{node:path}", read_cells),)
