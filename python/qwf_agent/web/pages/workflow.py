"""One workflow: its versions, the graph that a run of it would have, and its last runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from starlette.datastructures import QueryParams
from starlette.requests import Request

from qwf_agent.look.draw.words import brief
from qwf_agent.web.drawings import graph, graph_nodes, last_runs
from qwf_agent.web.drawings.differences import differences
from qwf_agent.web.pages import tell
from qwf_agent.web.reads.database import Look
from qwf_agent.web.reads.stored_graphs import Document
from qwf_agent.web.site import actions
from qwf_agent.web.site.page import Data, NotFoundError, Page

MOST_ROWS = 200  # of the table of nodes
NODE_ROWS = 20  # of the nodes over time, on one page
MOST_NODES = 300  # that are compared, by name
MOST_JSON = 32_000  # characters of the definition
MOST_INPUTS = 200
BARE_STEP = dict.fromkeys(("title", "pipeline", "version"))  # what drawings leave out if it is null
BARE_NODE = dict.fromkeys(("title", "queue"))
LAST_VERSION = 2**31 - 1
VERSION = """
select d.name, d.version, d.current, d.registered_at, d.definition, d.title, (
  select c.version from qwf.definition_overview c
  where c.kind = 'workflow' and c.name = d.name and c.current) as newest
from qwf.definition_overview d
where d.kind = 'workflow' and d.name = %(name)s
  and case when %(version)s::int is null then d.current else d.version = %(version)s::int end
"""
VERSIONS = """
select d.version, d.current, d.registered_at from qwf.definition_overview d
where d.kind = 'workflow' and d.name = %(name)s order by d.version desc limit 50
"""
# The graph that a run of a version has if it begins now: with the pipelines that are current.
GRAPH_ID = """
select g.id, g.created_at
from qwf.graph_overview g
where g.workflow = %(name)s and g.version = %(version)s and g.current
order by g.id
limit 1
"""
COMPILED = """
select qwf.workflow_graph(d.definition) as graph from qwf.definition_overview d
where d.kind = 'workflow' and d.name = %(name)s and d.version = %(version)s
"""
RUNS = """
select f.* from qwf.find_runs(jsonb_build_object('workflow', %(name)s::text),
  look_back => 20000, max_rows => 8) f
"""


USUAL = """
select u.p50, u.p90, u.runs, u.last, u.last_success, u.late_after from qwf.usual u
where u.kind = 'run' and u.name = %(name)s
"""
NODES = """
select u.node, u.p50, u.p90, u.runs, u.last from qwf.usual u
where u.kind = 'node' and u.name = %(name)s order by u.node limit 301
"""
SORTS = {"node": "node", "usual": "p50", "p90": "p90", "failed": "failed"}


async def read_nodes(look: Look, name: str, query: QueryParams) -> dict[str, Any]:
    """The usual times of nodes and their last 30 runs: a page of them, `by` a column, the largest
    first, from the one on that `from` says."""
    found_rows = await look.rows(NODES, name=name)
    rows = found_rows[:MOST_NODES]
    for row in rows:
        found = last_runs.share(row["last"], "failed", 30)
        row["failed"] = found and found[0]
    by = SORTS.get(query.get("by", ""), "node")
    if by != "node":
        rows.sort(key=lambda row: -(row[by] or 0))
    asked = query.get("from", "")
    first = int(asked[:6]) if asked.isascii() and asked.isdecimal() else 0
    first = first if first < len(rows) else 0
    shown = rows[first : first + NODE_ROWS]
    for row in shown:
        row["bars"] = last_runs.bars(row["last"], 30, row, say_usual=False)
    return {
        "node_times": shown,
        "sort": query.get("by"),
        "first_node": first,
        "all_nodes": len(rows),
        "more_nodes": len(found_rows) > MOST_NODES,
        "later_nodes": first + NODE_ROWS if len(rows) > first + NODE_ROWS else None,
        "earlier_nodes": max(0, first - NODE_ROWS) if first else None,
    }


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The version that the address names, else the current one."""
    query = request.query_params
    workflow = await chosen(look, request.path_params["name"], query.get("version"))
    name = workflow["name"]
    document = await compiled(look, name, workflow["version"])
    runs = await look.rows(RUNS, name=name)
    other = await chosen(look, name, query["against"]) if query.get("against") else None
    usual = await look.row(USUAL, name=name)
    return {
        "workflow": workflow,
        "most_json": MOST_JSON,
        "usual": usual,
        "receivers": await tell.of_workflow(look, name),
        "completed": last_runs.share(usual["last"], "completed") if usual else None,
        "bars": last_runs.bars(usual["last"], 60, usual) if usual else [],
        **await read_nodes(look, name, query),
        "versions": await look.rows(VERSIONS, name=name),
        "runs": [run for run in runs if run["id"] is not None],
        "searched_to": next((run["searched_to"] for run in runs), None),
        "document": document,
        "steps": steps_of(document),
        "inputs": inputs_of(document),
        "other": other,
        "lines": await differences(other["definition"], workflow["definition"]) if other else [],
    }


async def read_graph(request: Request, look: Look) -> dict[str, Any]:
    """Data from which the graph of a version is laid out."""
    name, version = request.path_params["name"], request.query_params.get("version")
    workflow = await chosen(look, name, version)
    document = await compiled(look, workflow["name"], workflow["version"])
    return drawn(document, request.query_params.getlist("open"))


async def chosen(look: Look, name: str, version: str | None) -> dict[str, Any]:
    """A version of a workflow; the current one for None. Raises NotFoundError."""
    if version is not None and not (version.isascii() and version.isdecimal()):
        raise NotFoundError(f"{version[:100]} is no version: versions are 1, 2, 3 …")
    number = None if version is None else min(int(version[:20]), LAST_VERSION)
    row = await look.row(VERSION, name=name, version=number) if "\0" not in name else None
    if row is None:
        of_it = "" if number is None else f" {number} of"
        raise NotFoundError(
            f"there is no{' version' + of_it if of_it else ' workflow'} {name[:200]}:"
            " none was ever registered"
        )
    return row


async def compiled(look: Look, name: str, version: int) -> Document:
    """The compiled graph of a version, with the pipelines that are current.

    It is compiled only if that graph is not stored. What workflow_graph() refuses has one problem.
    """
    found = await look.row(GRAPH_ID, name=name, version=version)
    if found is not None:
        return await look.graph(found["id"], found["created_at"])
    try:
        document: Document = await look.value(COMPILED, name=name, version=version)
    except psycopg.Error as error:
        if not (error.sqlstate or "").startswith("QW"):
            raise
        problems = [{"path": "definition", "message": actions.refused(error)[0]}]
        return {"steps": [], "nodes": [], "edges": [], "inputs": [], "problems": problems}
    return document


def drawn(document: Document, opened: Iterable[str]) -> dict[str, Any]:
    """The structure of the graph of a document."""
    nodes = graph_nodes.nodes_of(document, str)
    return graph.draw(nodes, list(opened), graph_nodes.titles_of(document)).structure


def steps_of(document: Document) -> list[dict[str, Any]]:
    """The steps of such a document, each with its nodes and what these wait for; 200 nodes."""
    needs = graph_nodes.needs_of(document)
    inside: dict[str, list[dict[str, Any]]] = {}
    for node in document["nodes"][:MOST_ROWS]:
        asks = node.get("asks") or {}
        question = brief(asks.get("prompt") or asks.get("widget")) if asks else None
        found = {**BARE_NODE, **node, "question": question, "tags": _tags(node)}
        found["needs"] = needs[node["idx"]]
        inside.setdefault(node["step"], []).append(found)
    return [
        {**BARE_STEP, **step, "nodes": inside.get(step["id"], [])} for step in document["steps"]
    ]


def inputs_of(document: Document) -> list[dict[str, Any]]:
    """The inputs that a run reads of its context: path, type, whether it is needed, and a text
    about it."""
    found = []
    for entry in document["inputs"][:MOST_INPUTS]:
        schema = entry.get("schema")
        schema = schema if isinstance(schema, Mapping) else {}
        types, about = schema.get("type", "any"), schema.get("description")
        if isinstance(schema.get("enum"), list):
            types = f"one of {brief(schema['enum'][:10])}"
        found.append(
            {
                "path": ".".join(entry["path"]),
                "type": " or ".join(map(str, types)) if isinstance(types, list) else str(types),
                "required": entry["required"],
                "about": about if isinstance(about, str) else "",
                "fallback": brief(entry["default"]) if "default" in entry else None,
            }
        )
    return found


def _tags(node: Mapping[str, Any]) -> list[str]:
    """The special settings of a node, in few words."""
    labels = node.get("requires") or {}
    said = {
        "map": "" if "repeat" in node
        else f"for each, at most {node['max_parallel']}" if "max_parallel" in node
        else "for each",
        "repeat": _turns(node.get("repeat") or {}),
        "delay": _delay(node.get("delay") or []),
        "min_success": f"needs {node.get('min_success')}",
        "stop_when_reached": "then stops the others",
        "model": f"model {node.get('model')}",
        "vram_mb": f"{node.get('vram_mb')} MiB of a GPU",
        "limit_by": f"limit {node.get('limit_by')}",
        "requires": ", ".join(f"{key}={value}" for key, value in labels.items()),
        "light": "light",
        "at_most_once": "at most once",
        "may_skip": "may be skipped",
        "run_if": "runs even if others failed",
        "compensates": f"takes back {', '.join(node.get('compensates') or [])}",
        "on_failure": {"continue": "may fail", "ask": "asks if it fails"}.get(
            str(node.get("on_failure")), ""),
    }  # fmt: skip
    return [text for key, text in said.items() if node.get(key) and text]


def _turns(repeat: Mapping[str, Any]) -> str:
    """The rule of a repeat, in few words."""
    every = f", every {repeat['every_s']:g} s" if repeat.get("every_s") else ""
    return f"turn after turn, at most {repeat.get('max')}{every}"


def _delay(delays: Sequence[Any]) -> str:
    """The delays of a node: a written one in the words of the definition."""
    plain = [f"{one} s" if isinstance(one, (int, float)) else one for one in delays]
    if all(isinstance(one, str) for one in plain):
        return f"waits {' and '.join(plain)}"
    return "waits as long as an expression says"


PAGES = (Page("/workflows/{name:path}", "workflow.html", read, topics=("runs",), every_s=10),)
DATA = (Data("/workflow-graph/{name:path}", read_graph, fresh_s=5),)
