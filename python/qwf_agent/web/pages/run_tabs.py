"""The tabs of the page of a run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.look import masking
from qwf_agent.look.query import as_id
from qwf_agent.web.drawings.differences import differences
from qwf_agent.web.forms import exact_json
from qwf_agent.web.pages import run_compare, run_timeline, tracked
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import actions, files

STATES = ("running", "awaiting_input", "failed", "queued", "scheduled", "blocked", "cancelled",
          "completed", "skipped")  # fmt: skip
FIRST = ("failed", "awaiting_input", "running")
VERDICTS = ("reused", "unchanged", "runs first", "runs again", "new", "skipped", "removed")
NODES_A_PAGE = 200
MOST_TIMED = 5000  # elements of a map; those of a larger one are timed on its own page

MAP_TIMES = """
select t.map_id, t.typical, t.seconds
from qwf.map_times t
where t.map_id = any(%(maps)s::bigint[]) and t.elements > 0
"""
OUTPUTS = """
select j.id as job_id, j.node_id, split_part(j.node_id, '/', 1) as step,
  pg_column_size(j.output) as size,
  case when pg_column_size(j.output) <= 4000 then
    case when length(j.output::text) <= 20000 then j.output end end as output
from qwf.job_details j
where j.run_id = %(run)s::bigint and j.node_idx is not null and j.output is not null
order by j.node_idx
limit 200
"""
FILES = """
select * from qwf.file_overview f
where f.run_id = %(run)s::bigint
order by f.node_id, f.job_id, f.file_no
limit 501
"""
# offset: else the planner may read the answers of all runs.
ANSWERS = """
select a.job_id, a.node_id, a.answered_at, a.login, a.acting_for, a.by_default,
  left(a.prompt, 1000) as prompt,
  case when length(a.value::text) <= 20000 then a.value end as value,
  length(a.value::text) as size
from qwf.job_details j
cross join lateral (select * from qwf.answer_overview t where t.job_id = j.id offset 0) a
where j.run_id = %(run)s::bigint and (j.queue is null or j.failure_means = 'ask')
order by a.id desc
limit 100
"""
# offset: else the planner may walk back over the events of all runs to have them in order.
EVENTS = """
select e.id, e.at, e.job_id, e.node_id, e.kind, e.login, e.acting_for, e.detail
from (select * from qwf.event_overview r where r.run_id = %(run)s::bigint offset 0) e
order by e.id desc
limit 100
"""
TRIES = """
select t.try, t.status, t.version, t.started_at, t.finished_at, t.seconds, t.node_id, t.error
from qwf.run_tries t
where t.run_id = %(run)s::bigint
order by t.try desc
limit 100
"""
CONTEXT = """
select r.context::text as stored, r.context as parsed
from qwf.run_details r
where r.id = %(run)s::bigint
"""
CHANGED = """
select d.kind, d.name, d.version, d.current_version as current, d.definition,
  d.current_definition as newest
from qwf.run_definitions d
where d.run_id = %(run)s::bigint and d.version <> d.current_version
order by d.kind desc, d.name
limit 20
"""
PLAN = """
select p.node_id, p.verdict, p.because
from qwf.retry_plan(
  %(run)s::bigint, %(node)s::text, %(latest)s::boolean, %(context)s::text::jsonb,
  %(completed)s::text) p
"""
MAYBE = "; it may have run"  # what a plan says of a node that runs at most once
NOT_TAKEN_BACK = " has not taken it back"  # what it says of a completed node that runs again
MOST_PLANNED = 500  # rows of a plan; those that are not reused come first


async def _show_nodes(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    """Nodes by step. Of many, those of one state or step, a page of them."""
    state, step = request.query_params.get("state"), request.query_params.get("step")
    is_long = len(nodes) > NODES_A_PAGE
    if is_long and state is None and not step:  # nobody looks for the first 200 of 1,000
        there = {node["state"] for node in nodes}
        state = next((name for name in FIRST if name in there), None)
    first = as_id(request.query_params.get("from", "")) or 0
    chosen = [
        node
        for node in nodes
        if (state not in STATES or node["state"] == state) and (not step or node["step"] == step)
    ]
    maps = [
        node["job_id"]
        for node in chosen[first : first + NODES_A_PAGE]
        if node["is_map"] and 0 < sum((node["counts"] or {}).values()) <= MOST_TIMED
    ]
    times = await look.part("how long maps ran", MAP_TIMES, maps=maps) if maps else []
    steps: dict[str, list[dict[str, Any]]] = {}
    for node in chosen[first : first + NODES_A_PAGE]:
        steps.setdefault(node["step"], []).append(node)
    every: dict[str, Counter[str]] = {}
    for node in nodes:
        every.setdefault(node["step"], Counter())[node["state"]] += 1
    return {
        "steps": steps,
        "map_times": {row["map_id"]: row for row in times},
        "of_step": every,
        "is_long": is_long,
        "state": state if state in STATES else "all",
        "step": step,
        "first": first,
        "last": min(first + NODES_A_PAGE, len(chosen)),
        "chosen": len(chosen),
        "a_page": NODES_A_PAGE,
    }


async def _show_outputs(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    steps: dict[str, Rows] = {}
    for row in await look.rows(OUTPUTS, run=run["id"]):
        steps.setdefault(row["step"], []).append(row)
    return {"outputs": steps}


async def _show_tracked(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    return await tracked.of_run(look, run)


async def _show_files(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    listed = await look.rows(FILES, run=run["id"])
    return {"files": listed, "pictures": files.pictures(request.app.state.files, listed)}


async def _show_history(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    return {
        "answers": await look.rows(ANSWERS, run=run["id"]),
        "events": await look.rows(EVENTS, run=run["id"]),
        "tries": await look.rows(TRIES, run=run["id"]),
    }


async def _show_definition(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    context = await look.row(CONTEXT, run=run["id"])
    changed = await look.rows(CHANGED, run=run["id"])
    return {
        "context": context,
        "again": exact_json.editable(context["stored"] if context else None),
        "changed": [
            {**row, "lines": await differences(row["definition"], row["newest"])} for row in changed
        ],
    }


async def _show_retry(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    """The plan of a retry, with the choices of the address."""
    asked = request.query_params
    given = {
        "node": asked.get("node") or None,
        "latest": "latest" in asked,
        "context": asked.get("context", "").strip() or None,
        "completed": asked.get("completed") or None,
    }
    problem, plan = None, []
    try:
        changes = asked.get("context", "").strip() or None
        if changes and masking.may_have_mask(changes):  # its secrets stay, as when it is sent
            stored = (await look.row(CONTEXT, run=run["id"]) or {}).get("stored") or "null"
            whole = masking.unmasked(exact_json.read(changes), exact_json.read(stored))
            changes = exact_json.write(whole)
        plan = await look.rows(PLAN, run=run["id"], **{**given, "context": changes})
    except ValueError as error:
        problem = str(error)
    except psycopg.Error as error:
        if not (error.sqlstate or "").startswith("QW") and not isinstance(error, psycopg.DataError):
            raise
        problem, _ = actions.refused(error)
    plan = sorted(plan, key=lambda row: row["verdict"] == "reused") if len(plan) > 20 else plan
    counts = Counter(row["verdict"] for row in plan)
    return {
        "given": given,
        "problem": problem,
        "plan": plan[:MOST_PLANNED],
        "planned": [(word, counts[word]) for word in VERDICTS if counts[word]],
        "runs": counts["runs again"] + counts["new"],
        "maybe": [row["node_id"] for row in plan if MAYBE in (row["because"] or "")][:MOST_PLANNED],
        "standing": [
            row["node_id"] for row in plan if (row["because"] or "").endswith(NOT_TAKEN_BACK)
        ][:MOST_PLANNED],
        "left_out": max(len(plan) - MOST_PLANNED, 0),
    }


SHOWN = {
    "nodes": _show_nodes,
    "timeline": run_timeline.show,
    "outputs": _show_outputs,
    "tracked": _show_tracked,
    "files": _show_files,
    "history": _show_history,
    "definition": _show_definition,
    "compare": run_compare.show,
    "retry": _show_retry,
}
TABS = tuple(SHOWN)
OF_ENDED = ("retry",)  # tabs of runs that are over
