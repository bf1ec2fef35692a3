"""What each tab of the page of a run shows."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import Any

from starlette.requests import Request

from qwf_agent.web.drawings import timeline
from qwf_agent.web.drawings.differences import differences
from qwf_agent.web.pages.runs import as_id
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import files, render

STATES = ("running", "awaiting_input", "failed", "queued", "scheduled", "blocked", "cancelled",
          "completed", "skipped")  # fmt: skip
FIRST = ("failed", "awaiting_input", "running")
NODES_A_PAGE = 200
MOST_SPANS = 5000

ATTEMPTS = """
select t.job_id, t.name, t.at, t.attempt, t.what, t.by, t.waited, t.took, t.detail
from qwf.job_timeline t
where t.run_id = %(run)s::bigint and t.attempt is not null
limit %(most)s
"""
WAITS = """
select j.id as job_id, j.node_id, j.queued_at, j.finished_at
from qwf.jobs j
where j.run_id = %(run)s::bigint and j.node_idx is not null and j.queue is null
  and j.queued_at is not null
limit 1000
"""
USED = """
select count(*) as attempts, coalesce(sum(a.cpu_seconds), 0)::float8 as cpu_seconds,
  coalesce(sum(extract(epoch from a.finished_at - a.started_at))
    filter (where a.gpu_peak_bytes > 0), 0)::float8 as gpu_seconds,
  coalesce(sum(extract(epoch from a.finished_at - a.started_at))
    filter (where a.outcome <> 'completed'), 0)::float8 as lost_seconds,
  max(a.max_rss_bytes) as rss_bytes, max(a.gpu_peak_bytes) as gpu_bytes
from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id
where j.run_id = %(run)s::bigint
"""
OUTPUTS = """
select j.id as job_id, j.node_id, g.step_id as step, pg_column_size(j.output) as size,
  case when pg_column_size(j.output) <= 4000 then
    case when length(j.output::text) <= 20000 then j.output end end as output
from qwf.jobs j
join qwf.graph_nodes g on g.graph_id = j.graph_id and g.idx = j.node_idx
where j.run_id = %(run)s::bigint and j.node_idx is not null and j.output is not null
order by j.node_idx
limit 200
"""
FILES = """
with listed as materialized (
  select * from qwf.run_files f where f.run_id = %(run)s::bigint
  order by f.node_id, f.job_id, f.file_no limit 501)
select f.*, r.out_dir, w.out_root
from listed f
left join qwf.runs r on r.id = f.run_id
left join lateral (
  select w.out_root from qwf.workers w
  where w.host = f.host and w.out_root is not null order by w.last_seen desc limit 1
) w on true
where f.run_id = %(run)s::bigint
order by f.node_id, f.job_id, f.file_no
"""
ANSWERS = """
select a.job_id, a.node_id, a.answered_at, a.answered_by, left(j.input_spec ->> 'prompt', 1000)
  as prompt, case when length(a.value::text) <= 20000 then a.value end as value,
  length(a.value::text) as size
from qwf.jobs j join qwf.input_answers a on a.job_id = j.id
where j.run_id = %(run)s::bigint and (j.queue is null or j.on_failure = 'ask')
order by a.id desc
limit 100
"""
EVENTS = """
(select e.id, e.at, e.job_id, null as node_id, e.type, e.actor, e.detail
from qwf.job_events e
where e.run_id = %(run)s::bigint and e.job_id is null
order by e.id desc
limit 100)
union all
(select e.id, e.at, e.job_id, j.node_id, e.type, e.actor, e.detail
from qwf.jobs j join qwf.job_events e on e.job_id = j.id
where j.run_id = %(run)s::bigint
order by e.id desc
limit 100)
order by 1 desc
"""
CONTEXT = """
select jsonb_pretty(r.context) as context, r.context as parsed
from qwf.runs r
where r.id = %(run)s::bigint
"""
CHANGED = """
select 'workflow' as kind, v.name, v.version, c.version as current, v.definition,
  c.definition as newest
from qwf.graphs g
join qwf.workflows v on v.id = g.workflow_id
join qwf.workflows c on c.name = v.name and c.current and c.id <> v.id
where g.id = %(graph)s::bigint
union all
select 'pipeline', v.name, v.version, c.version, v.definition, c.definition
from qwf.graphs g
join qwf.pipelines v on v.id = any (g.pipeline_ids)
join qwf.pipelines c on c.name = v.name and c.current and c.id <> v.id
where g.id = %(graph)s::bigint
order by kind desc, name
limit 20
"""


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
    steps: dict[str, list[dict[str, Any]]] = {}
    for node in chosen[first : first + NODES_A_PAGE]:
        steps.setdefault(node["step"], []).append(node)
    every: dict[str, Counter[str]] = {}
    for node in nodes:
        every.setdefault(node["step"], Counter())[node["state"]] += 1
    return {
        "steps": steps,
        "of_step": every,
        "is_long": is_long,
        "state": state if state in STATES else "all",
        "step": step,
        "first": first,
        "last": min(first + NODES_A_PAGE, len(chosen)),
        "chosen": len(chosen),
        "a_page": NODES_A_PAGE,
    }


async def _show_timeline(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    def link(job: int) -> str:
        return render.url(request, f"/jobs/{job}")

    rows = await look.rows(ATTEMPTS, run=run["id"], most=MOST_SPANS)
    kinds = sorted(set(timeline.KINDS.values()))
    kind = request.query_params.get("kind")
    last_only = request.query_params.get("attempts") == "last"
    waits = [
        timeline.Span(
            row["node_id"], "asked", row["queued_at"], row["finished_at"], href=link(row["job_id"])
        )
        for row in await look.rows(WAITS, run=run["id"])
    ]
    drawn = timeline.draw(
        [*timeline.spans_of(rows, link), *waits],
        run["now"] if isinstance(run["now"], datetime) else datetime.now(timezone.utc),
        needs={node["node_id"]: node["needs"] for node in nodes},
        kinds=[kind] if kind in kinds else None,
        last_only=last_only,
        zone=render.zone_named(request.cookies.get("qwf_zone")),
    )
    return {
        "drawn": drawn,
        "kinds": kinds,
        "kind": kind if kind in kinds else None,
        "last_only": last_only,
        "cut": len(rows) >= MOST_SPANS,
        "used": await look.row(USED, run=run["id"]),
    }


async def _show_outputs(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    steps: dict[str, Rows] = {}
    for row in await look.rows(OUTPUTS, run=run["id"]):
        steps.setdefault(row["step"], []).append(row)
    return {"outputs": steps}


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
        "events": (await look.rows(EVENTS, run=run["id"]))[:100],
    }


async def _show_definition(
    request: Request, look: Look, run: dict[str, Any], nodes: Rows
) -> dict[str, Any]:
    context = await look.row(CONTEXT, run=run["id"])
    changed = await look.rows(CHANGED, graph=run["graph_id"])
    return {
        "context": context,
        "changed": [
            {**row, "lines": await differences(row["definition"], row["newest"])} for row in changed
        ],
    }


SHOWN = {
    "nodes": _show_nodes,
    "timeline": _show_timeline,
    "outputs": _show_outputs,
    "files": _show_files,
    "history": _show_history,
    "definition": _show_definition,
}
TABS = tuple(SHOWN)
