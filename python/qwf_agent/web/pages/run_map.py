"""A node of a run that runs once for each element of a list: all its elements, and the slowest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from qwf_agent.look.query import as_id
from qwf_agent.web.drawings import histogram
from qwf_agent.web.drawings.map_cells import cells_document
from qwf_agent.web.pages.run import ENDED, find, nodes_of
from qwf_agent.web.pages.run_tabs import STATES
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import OVER_S, Data, NotFoundError, Page

ELEMENTS_A_PAGE = 100
MANY = 5000  # elements of a map, from which their times may be a minute old
LAST_ELEMENT = 2**31 - 1
ELEMENTS = """
select e.job_id, e.element, e.status, e.attempt, e.host, e.error, e.seconds, e.child_run
from qwf.element_overview e
where e.map_id = %(map)s and e.element >= %(first)s
  and (%(status)s::text is null or e.status::text = %(status)s)
order by e.element
limit %(most)s
"""
TIMES = """
select t.elements, t.low, t.typical, t.high, t.seconds, t.slowest, t.slowest_seconds, t.bins
from qwf.map_times t
where t.map_id = %(map)s
"""
SLOWEST = """
select e.job_id, e.element, e.status, e.attempt, e.host, e.error, e.child_run,
  s.seconds
from unnest(%(jobs)s::bigint[], %(seconds)s::float8[]) with ordinality s (job_id, seconds, nth)
join qwf.element_overview e on e.job_id = s.job_id
order by s.nth
"""
CELLS = """
select coalesce(array_agg(e.element order by e.element), '{}') as elements,
  coalesce(array_agg(e.status::text order by e.element), '{}') as states
from qwf.element_overview e
where e.map_id = %(map)s
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The elements of a map: a page of them, and the slowest."""
    run = await find(request, look)
    node = await _node(request, look, run)
    counts: dict[str, int] = node["counts"] or {}
    status = request.query_params.get("status")
    first = min(as_id(request.query_params.get("from", "")) or 0, LAST_ELEMENT)
    shown: dict[str, Any] = {
        "every_s": OVER_S if run["status"] in ENDED else None,
        "run": run,
        "node": node,
        "counts": [(state, counts[state]) for state in STATES if counts.get(state)],
        "done": counts.get("completed", 0),
        "of": sum(counts.values()),
        "status": status if status in STATES else None,
        "first": first,
        "elements": [],
        "slowest": [],
        "times": None,
        "next": None,
    }
    if node["is_map"]:
        job = node["job_id"]
        rows = await look.rows(
            ELEMENTS, map=job, first=first, status=shown["status"], most=ELEMENTS_A_PAGE + 1
        )
        shown["elements"] = rows[:ELEMENTS_A_PAGE]
        shown["next"] = rows[ELEMENTS_A_PAGE]["element"] if len(rows) > ELEMENTS_A_PAGE else None
        shown |= await _times(look, job, shown["of"])
    return shown


async def _times(look: Look, job: int, elements: int) -> dict[str, Any]:
    """How the times of the elements are spread, and the slowest elements."""
    read = look.part if elements <= MANY else look.seldom
    found = await read("how long the elements ran", TIMES, map=job)
    if not found or not found[0]["elements"]:
        return {}
    times = found[0]
    given = {"jobs": times["slowest"], "seconds": times["slowest_seconds"]}
    return {
        "times": times | {"bars": histogram.bars(times["bins"], times["low"], times["high"])},
        "slowest": await look.rows(SLOWEST, **given),
    }


async def read_cells(request: Request, look: Look) -> dict[str, Any]:
    """The states of all elements, a letter each."""
    node = await _node(request, look, await find(request, look))
    found = await look.row(CELLS, map=node["job_id"]) or {"elements": [], "states": []}
    elements = zip(found["elements"], found["states"], strict=True)
    return cells_document(elements, sum((node["counts"] or {}).values()))


async def _node(request: Request, look: Look, run: Mapping[str, Any]) -> dict[str, Any]:
    """The node of the address. Raises NotFoundError."""
    name = request.path_params["node"]
    for node in await nodes_of(look, run):
        if node["node_id"] == name:
            return node
    raise NotFoundError(f"Run {run['id']} has no node {name[:200]}.")


PAGES = (Page("/runs/{run}/nodes/{node:path}", "run_map.html", read, every_s=2),)
DATA = (Data("/runs/{run}/cells/{node:path}", read_cells),)
