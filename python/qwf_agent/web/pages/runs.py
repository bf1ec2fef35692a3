"""The list of runs, and what is done to many of them at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.look.query import RUNS, QueryError, as_filter, as_id
from qwf_agent.web.pages import query_box
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.actions import Verb
from qwf_agent.web.site.page import IncompleteError, NotFoundError, Page

MOST_AT_ONCE = 500  # runs of one change: each may have many nodes, and a call has 10 seconds
RUNS_A_PAGE = 50
LOOK_BACK = 100_000  # what find_runs looks back by itself
STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
OPEN, OVER = STATES[:3], STATES[3:]
FIND = """
select * from qwf.find_runs(
  filter => %(filter)s, before_id => %(before)s::bigint, max_rows => %(most)s)
"""
LISTED = """
select r.id, r.workflow, r.version, r.status, r.project
from qwf.run_details r
where r.id = any (%(runs)s::bigint[])
order by r.id desc
"""
WORKFLOWS = """
select d.name from qwf.definition_overview d
where d.kind = 'workflow' and d.current order by d.name limit 1
"""


@dataclass(frozen=True)
class Found:
    """Runs that pass a filter, the id to search on from, and what is wrong with the filter."""

    runs: Rows
    searched_to: int | None = None
    problem: str | None = None


VERBS = {
    "cancel": Verb(
        "cancel_runs",
        OPEN,
        does="Nodes that wait are cancelled at once, and bodies that run are told to stop. "
        "Clean-up nodes still run.",
    ),
    "retry": Verb(
        "retry_runs",
        ("failed", "cancelled"),
        does="Failed and cancelled nodes run again, and all nodes after them. "
        "What completed stays.",
    ),
}


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The newest runs that pass the filter of the address."""
    before = request.query_params.get("before", "")
    given, found = await _chosen(request, look, as_id(before), RUNS_A_PAGE)
    return {
        "given": given,
        "box": await query_box.read(look, RUNS, given, request.query_params),
        "runs": found.runs,
        "searched_to": found.searched_to,
        "problem": found.problem,
        "a_page": RUNS_A_PAGE,
        "before": before,
        "states": STATES,
        "workflows": [row["name"] for row in await look.rows(WORKFLOWS)],
        "look_back": LOOK_BACK,
    }


async def read_change(request: Request, look: Look) -> dict[str, Any]:
    """The runs that cancelling or retrying would change: the runs that were picked, or all of a
    filter."""
    name = request.query_params.get("verb", "")
    verb = VERBS.get(name)
    if verb is None:
        raise NotFoundError("Say what is to be done: cancel or retry.")
    try:
        given, problem = RUNS.chosen(request.query_params), None
    except QueryError as error:
        given, problem = {}, str(error)
    ticked = request.query_params.getlist("run")
    picked = [run for text in ticked if (run := as_id(text))]
    of_selected = bool(ticked) or request.query_params.get("of") == "selected"
    if not picked and (of_selected or not (given or problem)):
        raise IncompleteError(
            f"No run is selected. Tick the runs to {name} in the list first; to {name} all runs "
            "that match, set a filter there."
        )
    if picked:
        listed = await look.rows(LISTED, runs=sorted(set(picked))[:MOST_AT_ONCE])
        found = Found([run for run in listed if run["status"] in verb.states])
        left_out = len(set(picked)) - len(found.runs)
    else:
        chosen = given["status"].split(",") if "status" in given else verb.states
        states = ",".join(state for state in verb.states if state in chosen)
        found, left_out = Found([], problem=problem), 0
        if states and not problem:
            found = await _find(look, given | {"status": states}, None, MOST_AT_ONCE)
    return {
        "name": name,
        "verb": verb,
        "given": given,
        "picked": bool(picked),
        "runs": found.runs,
        "left_out": left_out,
        "more": found.searched_to is not None,
        "problem": found.problem,
        "most": MOST_AT_ONCE,
    }


async def _chosen(
    request: Request, look: Look, before: int | None, most: int
) -> tuple[dict[str, str], Found]:
    try:
        given = RUNS.chosen(request.query_params)
    except QueryError as error:
        return {}, Found([], problem=str(error))
    return given, await _find(look, given, before, most)


async def _find(look: Look, given: Mapping[str, str], before: int | None, most: int) -> Found:
    try:
        written = json.dumps(as_filter(given, query_box.now()), sort_keys=True)
        rows = await look.rows(FIND, filter=written, before=before, most=most)
    except QueryError as error:
        return Found([], problem=str(error))
    except psycopg.DatabaseError as error:
        return Found([], problem=str(query_box.refused(error, "run")))
    runs = [row for row in rows if row["id"] is not None]
    return Found(runs, rows[-1]["searched_to"] if rows else None)


PAGES = (
    Page("/runs", "runs.html", read, topics=("runs",), every_s=5),
    Page("/runs/change", "runs_change.html", read_change),
)
