"""One run: its nodes, when they ran, what they returned, and what people did."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

import psycopg
from starlette.requests import Request

from qwf_agent.cli.draw import words
from qwf_agent.web import files, graph, render, timeline
from qwf_agent.web.database import Look, Rows
from qwf_agent.web.page import Data, NotFoundError, Page
from qwf_agent.web.pages.runs import as_id

TABS = ("nodes", "timeline", "outputs", "files", "history", "definition")
STATES = ("running", "awaiting_input", "failed", "queued", "scheduled", "blocked", "cancelled",
          "completed", "skipped")  # fmt: skip
FIRST = ("failed", "awaiting_input", "running")
ENDED = ("completed", "failed", "cancelled", "skipped")
NODES_A_PAGE = 200
MOST_SPANS = 5000
LONGEST_DIFF = 3000  # lines of a definition
ABOUT_A_DAY_S = 86_400

RUN = """
select r.id, r.workflow, r.workflow_version as version, r.graph_id, r.status, r.project, r.key,
  r.once, r.priority, r.labels, r.out_dir, r.node_count, r.ending, r.error, r.run_at,
  r.deadline_at, r.created_at, r.started_at, r.finished_at, qwf.now() as now,
  extract(epoch from coalesce(r.finished_at, qwf.now()) - r.started_at)::float8 as seconds,
  case when r.finished_at is null and isfinite(r.deadline_at)
    then r.deadline_at - qwf.now() end as deadline_in
from qwf.runs r
where r.id = %(run)s::bigint
"""
KNOWN = "select min(r.id) as first, max(r.id) as last from qwf.runs r"
NODES = """
select n.job_id, n.id as node_id, n.title, n.step, n.pipeline, n.task, n.queue, n.status,
  case when n.status = 'blocked' and n.elements is not null then 'running' else n.status end
    as state,
  n.attempt, n.progress, n.message, n.error, w.host, n.waits_since, n.map as is_map,
  n.elements as counts,
  extract(epoch from coalesce(n.finished_at, case when n.status = 'running' then qwf.now() end)
    - n.started_at)::float8 as seconds
from jsonb_to_recordset(qwf.run_graph(%(run)s::bigint) -> 'nodes') n (
  idx int, id text, title text, step text, pipeline text, task text, queue text, job_id bigint,
  status text, attempt int, progress float8, message text, error text, worker text,
  started_at timestamptz, finished_at timestamptz, waits_since timestamptz, map boolean,
  elements jsonb)
left join qwf.workers w on w.id = n.worker
order by n.idx
"""
GRAPH = "select qwf.run_graph(%(run)s::bigint) as graph"
NEEDS = """
select t.node_id, array_agg(f.node_id order by f.idx) as needs
from qwf.graph_edges e
join qwf.graph_nodes f on f.graph_id = e.graph_id and f.idx = e.from_idx
join qwf.graph_nodes t on t.graph_id = e.graph_id and t.idx = e.to_idx
where e.graph_id = %(graph)s::bigint
group by t.node_id
"""
VERSIONS = """
select 'workflow' as kind, v.name, v.version, c.version as current
from qwf.graphs g
join qwf.workflows v on v.id = g.workflow_id
left join qwf.workflows c on c.name = v.name and c.current
where g.id = %(graph)s::bigint
union all
select 'pipeline', v.name, v.version, c.version
from qwf.graphs g
join qwf.pipelines v on v.id = any (g.pipeline_ids)
left join qwf.pipelines c on c.name = v.name and c.current
where g.id = %(graph)s::bigint
order by kind desc, name
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
FAILURES = """
select j.id as job_id, j.node_id, j.task, j.attempt, j.finished_at, w.host, a.reason,
  left(j.last_error, 20000) as error, right(a.log_tail, 4000) as log
from qwf.jobs j
left join qwf.workers w on w.id = j.claimed_by
left join lateral (
  select t.reason, t.log_tail from qwf.job_attempts t
  where t.job_id = j.id order by t.attempt desc limit 1
) a on true
where j.run_id = %(run)s::bigint and j.status = 'failed'
order by j.finished_at, j.id
limit 3
"""
QUESTIONS = """
select q.job_id, q.node_id, q.asks, q.prompt, q.since, q.expires_at
from qwf.pending_inputs q
where q.run_id = %(run)s::bigint
order by q.since
limit 50
"""
PENDING = """
select o.id, j.node_id, o.job_id, o.kind, o.tries, o.next_try_at, left(o.error, 1000) as error,
  o.poisoned_at, o.created_at
from qwf.outbox o left join qwf.jobs j on j.id = o.job_id
where o.run_id = %(run)s::bigint
order by o.id
limit 100
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
WAITS = """
select j.id as job_id, j.node_id, j.queued_at, j.finished_at
from qwf.jobs j
where j.run_id = %(run)s::bigint and j.node_idx is not null and j.queue is null
  and j.queued_at is not null
limit 1000
"""
ATTEMPTS = """
select t.job_id, t.name, t.at, t.attempt, t.what, t.by, t.waited, t.took, t.detail
from qwf.job_timeline t
where t.run_id = %(run)s::bigint and t.attempt is not null
limit %(most)s
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
CONTEXT = """
select jsonb_pretty(r.context) as context, r.context as parsed
from qwf.runs r
where r.id = %(run)s::bigint
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The run, and what the chosen tab shows of it."""
    run = await find(request, look)
    tab = request.query_params.get("show", TABS[0])
    nodes = await nodes_of(look, run)
    counts = Counter(node["state"] for node in nodes)
    bodies = [node for node in nodes if not (node["counts"] or {}).get("failed")]
    failed = sum(node["state"] == "failed" for node in bodies)
    failed += sum((node["counts"] or {}).get("failed", 0) for node in nodes)
    chosen = tab if tab in TABS else TABS[0]
    shown = {
        "run": run,
        "tab": chosen,
        "tabs": TABS,
        "node_names": [node["node_id"] for node in nodes[:NODES_A_PAGE]],
        "counts": [(state, counts[state]) for state in STATES if counts[state]],
        "done": counts["completed"] + counts["skipped"],
        "total": len(nodes),
        "is_over": run["status"] in ENDED,
        "open_nodes": sum(counts[state] for state in STATES if state not in ENDED),
        "can_retry": bool(counts["failed"] or counts["cancelled"]),
        "versions": await look.rows(VERSIONS, graph=run["graph_id"]),
        "failed": failed,
        "failures": _different(await look.rows(FAILURES, run=run["id"])) if failed else [],
        "questions": await look.rows(QUESTIONS, run=run["id"]),
        "pending": await look.rows(PENDING, run=run["id"]),
    }
    return shown | await _TAB[chosen](request, look, run, nodes)


async def read_structure(request: Request, look: Look) -> dict[str, Any]:
    """What the graph of the run is laid out from."""
    return (await _drawing(request, look)).structure


async def read_states(request: Request, look: Look) -> dict[str, Any]:
    """What each box of the graph looks like now."""
    return (await _drawing(request, look)).states


# What is read ----------------------------------------------------------------------------------


async def find(request: Request, look: Look) -> dict[str, Any]:
    """The run of the address. Raises NotFoundError."""
    text = request.path_params["run"]
    number = as_id(text)
    run = await look.row(RUN, run=number) if number else None
    if run is not None:
        return run
    known = await look.row(KNOWN) or {"first": None, "last": None}
    if number and known["first"] is not None and number < known["first"]:
        raise NotFoundError(
            f"Run {number} is gone: ended runs are deleted after their retention. "
            f"The oldest that is left is run {known['first']}."
        )
    if number and known["last"] is not None and number < known["last"]:
        raise NotFoundError(f"Run {number} was deleted, or never began.")
    newest = f" The newest is run {known['last']}." if known["last"] is not None else ""
    raise NotFoundError(f"There is no run {text[:40]}.{newest}")


async def nodes_of(look: Look, run: Mapping[str, Any]) -> Rows:
    """The nodes in the order of the graph. Raises NotFoundError if it has just been pruned."""
    try:
        return await look.rows(NODES, run=run["id"])
    except psycopg.DatabaseError as error:
        raise _gone(error, run) from error


async def _drawing(request: Request, look: Look) -> graph.Drawing:
    run = await find(request, look)
    try:
        document = await look.value(GRAPH, run=run["id"])
    except psycopg.DatabaseError as error:
        raise _gone(error, run) from error
    needs: dict[int, list[str]] = {}
    names = {node["idx"]: node["id"] for node in document["nodes"]}
    for before, after in document["edges"]:
        needs.setdefault(after, []).append(names[before])
    nodes = [_drawn(node, needs.get(node["idx"], []), request) for node in document["nodes"]]
    return graph.draw(nodes, request.query_params.getlist("open"))


async def _needs(look: Look, run: Mapping[str, Any]) -> dict[str, list[str]]:
    """The nodes that each node depends on."""
    rows = await look.rows(NEEDS, graph=run["graph_id"])
    return {row["node_id"]: row["needs"] for row in rows}


def _gone(error: psycopg.Error, run: Mapping[str, Any]) -> Exception:
    """That there is no such run any more, if the error says so; else the error."""
    is_gone = error.sqlstate == "QW001"
    return NotFoundError(f"Run {run['id']} has just been deleted.") if is_gone else error


def _different(failures: Rows) -> Rows:
    """The first failure of each task and error."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in failures:
        found.setdefault((row["task"], words.gist(row["error"] or "")), row)
    return list(found.values())


def _drawn(node: Mapping[str, Any], needs: Sequence[str], request: Request) -> graph.Node:
    """A node of run_graph() as it is drawn. A map leads to its elements, a node to its job."""
    is_map = node.get("map", False)
    run = request.path_params["run"]
    path = f"/runs/{run}/nodes/{quote(node['id'])}" if is_map else f"/jobs/{node['job_id']}"
    return graph.Node(
        id=node["id"],
        step=node["step"],
        task=node["task"],
        needs=tuple(needs),
        kind="map" if is_map else "input" if "asks" in node else "node",
        min_success=node.get("min_success"),
        status=node["status"],
        progress=node.get("progress"),
        message=node.get("message"),
        elements=node.get("elements", {}),
        href=render.url(request, path),
    )


# What each tab shows ---------------------------------------------------------------------------


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
        needs=await _needs(look, run),
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
            {**row, "lines": _difference(row["definition"], row["newest"])} for row in changed
        ],
    }


def _difference(before: Any, after: Any) -> list[tuple[str, str]] | None:
    """The lines in which two definitions differ, each with its mark; None if they are too long."""
    old, new = (render.as_json(value).splitlines() for value in (before, after))
    if max(len(old), len(new)) > LONGEST_DIFF:
        return None
    lines = difflib.unified_diff(old, new, lineterm="", n=2)
    return [(line[:1], line) for line in list(lines)[2:]]


_TAB = {
    "nodes": _show_nodes,
    "timeline": _show_timeline,
    "outputs": _show_outputs,
    "files": _show_files,
    "history": _show_history,
    "definition": _show_definition,
}
PAGES = (Page("/runs/{run}", "run.html", read, every_s=2),)
DATA = (
    Data("/runs/{run}/structure", read_structure, fresh_s=ABOUT_A_DAY_S),
    Data("/runs/{run}/states", read_states),
)
