"""One run: its nodes, when they ran, what they returned, and what people did."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request

from qwf_agent.look.draw import words
from qwf_agent.look.query import as_id
from qwf_agent.web.drawings import graph, graph_nodes
from qwf_agent.web.pages import tell, tracked
from qwf_agent.web.pages.run_tabs import NODES_A_PAGE, OF_ENDED, SHOWN, STATES, TABS
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.reads.stored_graphs import Document
from qwf_agent.web.site import render
from qwf_agent.web.site.page import OVER_S, Data, NotFoundError, Page

if TYPE_CHECKING:
    from typing_extensions import LiteralString

ENDED = ("completed", "failed", "cancelled", "skipped")
ABOUT_A_DAY_S = 86_400

RUN = """
select r.id, r.workflow, r.version, r.graph_id, r.graph_at, r.status, r.project, r.key, r.once,
  r.priority, r.labels, r.out_dir, r.login, r.acting_for, r.schedule,
  r.ending, r.takes_back_first, r.error, r.run_at, r.deadline_at, r.deadline_in,
  r.parent_run, r.parent_node, r.created_at, r.started_at, r.retried_at, r.finished_at, r.seconds,
  qwf.now() as now
from qwf.run_details r
where r.id = %(run)s::bigint
"""
KNOWN = """
select (select r.id from qwf.run_details r order by r.id limit 1) as first,
  (select r.id from qwf.run_details r order by r.id desc limit 1) as last
"""
VERSIONS = """
select d.kind, d.name, d.version, d.current_version as current
from qwf.run_definitions d
where d.run_id = %(run)s::bigint
order by d.kind desc, d.name
"""
# What changes of each node while the run lives; the rest is in its stored graph.
NODES = """
select n.idx, n.job_id, n.status,
  case when n.status = 'blocked' and n.elements is not null then 'running' else n.status end
    as state,
  n.attempt, n.progress, n.message, n.error, n.host, n.waits_since, n.elements as counts,
  n.child_run,
  extract(epoch from coalesce(n.finished_at, case when n.status = 'running' then qwf.now() end)
    - n.started_at)::float8 as seconds
from qwf.run_nodes n
where n.run_id = %(run)s::bigint
order by n.idx
"""
FAILURES = """
select j.id as job_id, j.node_id, j.task, j.attempt, j.finished_at, j.host, a.reason,
  left(j.last_error, 20000) as error, right(a.log_tail, 4000) as log
from qwf.job_details j
left join lateral (
  select t.reason, t.log_tail from qwf.attempt_overview t
  where t.job_id = j.id order by t.attempt desc limit 1
) a on true
where j.run_id = %(run)s::bigint and j.status = 'failed'
order by j.finished_at, j.id
limit 3
"""
# Clean-up that has completed: what it has undone is not done again by a retry.
CLEANED_UP = """
select j.node_id
from qwf.job_details j
where j.run_id = %(run)s::bigint and j.parent_id is null and j.run_if = 'all_done'
  and j.status = 'completed'
order by j.node_idx
limit 10
"""
# What compensation nodes have taken back: a retry runs it again.
TAKEN_BACK = """
select c.takes_back, min(c.node_id) as by
from qwf.compensations c
where c.run_id = %(run)s::bigint and c.taken_back
group by c.takes_back
order by c.takes_back
limit 50
"""
QUESTIONS = """
select q.job_id, q.node_id, q.asks, q.prompt, q.since, q.expires_at
from qwf.pending_inputs q
where q.run_id = %(run)s::bigint
order by q.since
limit 50
"""
SIGNALS = """
select a.signal, a.job_id, a.node_id, a.since, a.expires_at, a.refused
from qwf.awaited_signals a
where a.run_id = %(run)s::bigint
order by a.job_id
limit 50
"""
EARLIER = """
select t.try, t.status, t.seconds, t.finished_at, r.at as retried_at, r.login, r.acting_for,
  r.detail ? 'old_context' as is_changed
from qwf.run_tries t
left join lateral (  -- offset: else the planner may walk over the events of all runs
  select e.* from (
    select v.* from qwf.event_overview v
    where v.run_id = %(run)s::bigint and v.job_id is null and v.kind = 'retried' offset 0) e
  where e.at >= t.finished_at order by e.id limit 1) r on true
where t.run_id = %(run)s::bigint and r.at is not null
order by t.try desc
limit 5
"""
PENDING = """
select o.*, j.node_id
from qwf.outbox_overview o left join qwf.job_details j on j.id = o.job_id
where o.run_id = %(run)s::bigint
order by o.id
limit 100
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The run, and what the chosen tab shows of it."""
    run = await find(request, look)
    given = request.query_params
    tab = given.get("show", "compare" if "against" in given else TABS[0])
    nodes, has_tracked = await asyncio.gather(nodes_of(look, run), tracked.has_any(look, run))
    counts = Counter(node["state"] for node in nodes)
    bodies = [node for node in nodes if not (node["counts"] or {}).get("failed")]
    failed = sum(node["state"] == "failed" for node in bodies)
    failed += sum((node["counts"] or {}).get("failed", 0) for node in nodes)
    is_over = run["status"] in ENDED
    hidden = set() if has_tracked else {"tracked"}
    hidden |= set() if is_over and nodes else set(OF_ENDED)
    tabs = [name for name in TABS if name not in hidden]
    chosen = tab if tab in tabs else tabs[0]
    about, part = await asyncio.gather(
        _about(look, run, nodes, failed > 0), SHOWN[chosen](request, look, run, nodes)
    )
    return {
        "every_s": OVER_S if is_over else None,
        "run": run,
        "tab": chosen,
        "tabs": tabs,
        "node_names": [node["node_id"] for node in nodes[:NODES_A_PAGE]],
        "counts": [(state, counts[state]) for state in STATES if counts[state]],
        "done": counts["completed"] + counts["skipped"],
        "total": len(nodes),
        "is_over": is_over,
        "open_nodes": sum(counts[state] for state in STATES if state not in ENDED),
        "first_job": nodes[0]["job_id"] if nodes else None,
        "can_retry": bool(counts["failed"] or counts["cancelled"]),
        "failed": failed,
        "failed_maps": [
            (node["node_id"], node["counts"]["failed"])
            for node in nodes
            if (node["counts"] or {}).get("failed")
        ],
        **about,
        **part,
    }


async def _about(look: Look, run: Mapping[str, Any], nodes: Rows, failed: bool) -> dict[str, Any]:
    """The variables of the head of the page, besides the nodes."""

    async def rows(query: LiteralString, wanted: bool = True) -> Rows:
        return await look.rows(query, run=run["id"]) if wanted else []

    is_over = run["status"] in ENDED
    failures, cleaned, *found = await asyncio.gather(
        rows(FAILURES, failed),
        rows(CLEANED_UP, is_over),
        rows(TAKEN_BACK, any(node["takes_back"] for node in nodes)),
        rows(VERSIONS),
        rows(QUESTIONS),
        rows(SIGNALS),
        rows(PENDING),
        rows(EARLIER, run["retried_at"] is not None),
    )
    names = ("taken_back", "versions", "questions", "signals", "pending", "earlier")
    return {
        "failures": _different(failures),
        "cleaned_up": [row["node_id"] for row in cleaned],
        "receivers": [] if is_over else await tell.receivers(look),
        **dict(zip(names, found, strict=True)),
    }


async def read_structure(request: Request, look: Look) -> dict[str, Any]:
    """Data from which the graph of the run is laid out."""
    return (await _drawing(request, look)).structure


async def read_states(request: Request, look: Look) -> dict[str, Any]:
    """The present look of each box of the graph."""
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
    document, rows = await asyncio.gather(
        look.graph(run["graph_id"], run["graph_at"]), look.rows(NODES, run=run["id"])
    )
    fixed = look.database.graphs.made_of(document, _all_fixed)
    if fixed and not rows:
        raise NotFoundError(f"Run {run['id']} has just been deleted.")
    # a retry may move the run to another graph between two statements
    return [{**fixed[row["idx"]], **row} for row in rows if row["idx"] in fixed]


def _all_fixed(document: Document) -> dict[int, dict[str, Any]]:
    needs = graph_nodes.needs_of(document)
    return {node["idx"]: _fixed(node, needs[node["idx"]]) for node in document["nodes"]}


def _fixed(node: Mapping[str, Any], needs: list[str]) -> dict[str, Any]:
    """The fields of a node that never change: from workflow_graph()."""
    return {
        "node_id": node["id"],
        "step": node["step"],
        "pipeline": node.get("pipeline"),
        "task": node["task"],
        "queue": node.get("queue"),
        "is_map": node.get("map"),
        "asks": "asks" in node,
        "takes_back": tuple(node.get("compensates", ())),
        "min_success": node.get("min_success"),
        "stops": node.get("stop_when_reached"),
        "repeats": "repeat" in node,
        "max_parallel": node.get("max_parallel"),
        "needs": needs,
    }


async def _drawing(request: Request, look: Look) -> graph.Drawing:
    nodes = await nodes_of(look, await find(request, look))
    return graph.draw(
        [_drawn(node, request) for node in nodes], request.query_params.getlist("open")
    )


def _different(failures: Rows) -> Rows:
    """The first failure of each task and error."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in failures:
        found.setdefault((row["task"], words.gist(row["error"] or "")), row)
    return list(found.values())


def _drawn(node: Mapping[str, Any], request: Request) -> graph_nodes.Node:
    """A node as it is drawn. A map leads to its elements, a node to its job."""
    run, name = request.path_params["run"], node["node_id"]
    path = f"/runs/{run}/nodes/{quote(name)}" if node["is_map"] else f"/jobs/{node['job_id']}"
    return graph_nodes.Node(
        id=name,
        step=node["step"],
        task=node["task"],
        needs=tuple(node["needs"]),
        kind="map" if node["is_map"] else "input" if node["asks"] else "node",
        min_success=node["min_success"],
        takes_back=node["takes_back"],
        repeats=node["repeats"],
        status=node["status"],
        progress=node["progress"],
        message=node["message"],
        elements=node["counts"] or {},
        href=render.url(request, path),
    )


PAGES = (Page("/runs/{run}", "run.html", read, every_s=2),)
DATA = (
    Data("/runs/{run}/structure", read_structure, fresh_s=ABOUT_A_DAY_S),
    Data("/runs/{run}/states", read_states),
)
