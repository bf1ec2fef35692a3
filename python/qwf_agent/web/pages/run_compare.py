"""The tab of a run that shows it beside another run: what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from qwf_agent.look.query import as_id
from qwf_agent.web.drawings.differences import differences
from qwf_agent.web.pages import run_timeline
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look

MOST_NODES = 300  # rows of the table; what differs most comes first
NOTICED = 0.2  # share of a time from which it counts as different

OTHERS = """
select f.id, f.status
from qwf.find_runs(jsonb_build_object('workflow', %(workflow)s::text), look_back => 2000,
  max_rows => 12) f
where f.id is not null and f.id <> %(run)s::bigint
order by f.id desc
limit 10
"""
BESIDE = """
select r.id, r.workflow, r.version, r.status, r.seconds, r.created_at, r.context, r.labels,
  r.priority, r.login, r.acting_for, r.schedule
from qwf.run_details r
where r.id = any(array[%(run)s, %(other)s]::bigint[])
"""
TIMES = """
select t.node_id, t.failed, n.status,
  case when t.is_map then extract(epoch from t.ended_at - t.started_at)::float8 else t.ran end
    as took
from qwf.run_timeline t
join qwf.run_nodes n on n.run_id = t.run_id and n.idx = t.idx
where t.run_id = %(run)s::bigint
"""
DEFINITIONS = """
select d.kind, d.name, d.version from qwf.run_definitions d where d.run_id = %(run)s::bigint
"""


async def show(request: Request, look: Look, run: dict[str, Any], nodes: Rows) -> dict[str, Any]:
    """Two runs: their nodes, times, inputs and versions. Without another one, runs to choose."""
    given = request.query_params.get("against", "").strip()
    others = await look.rows(OTHERS, workflow=run["workflow"], run=run["id"])
    other = as_id(given) if given else next((row["id"] for row in others), None)
    found = await look.rows(BESIDE, run=run["id"], other=other) if other else []
    sides = {row["id"]: row for row in found}
    shown: dict[str, Any] = {"others": others, "other": None, "given": given}
    if other is None or other not in sides or other == run["id"]:
        return shown
    read = run_timeline.reader(look, nodes)
    times = [await read("the times of nodes", TIMES, run=one) for one in (run["id"], other)]
    rows = beside(*times)
    here, there = sides[run["id"]], sides[other]
    versions = [
        {(row["kind"], row["name"]): row["version"]
         for row in await look.rows(DEFINITIONS, run=one)}
        for one in (run["id"], other)
    ]  # fmt: skip
    return shown | {
        "other": there,
        "mine": here,
        "compared": rows[:MOST_NODES],
        "left_out": max(0, len(rows) - MOST_NODES),
        "differing": sum(row["differs"] for row in rows),
        "context_lines": await differences(there["context"], here["context"])
        if there["context"] != here["context"] else None,
        "definitions": [
            (*key, versions[0].get(key), versions[1].get(key))
            for key in sorted({**versions[0], **versions[1]})
            if versions[0].get(key) != versions[1].get(key)
        ],
    }  # fmt: skip


def beside(one: Sequence[Mapping[str, Any]], two: Sequence[Mapping[str, Any]]) -> Rows:
    """The nodes of two runs: those that ended differently first, then by how much longer or shorter
    they took."""
    left, right = ({row["node_id"]: row for row in rows} for rows in (one, two))
    found = [_pair(name, left.get(name), right.get(name)) for name in {**right, **left}]
    return sorted(found, key=lambda row: (not row["differs"], not row["state"], -row["by"]))


def _pair(
    name: str, one: Mapping[str, Any] | None, two: Mapping[str, Any] | None
) -> dict[str, Any]:
    known = one is not None and two is not None
    state = not known or one["status"] != two["status"] or one["failed"] != two["failed"]  # type: ignore[index]
    times = [row["took"] for row in (one, two) if row is not None and row["took"] is not None]
    change = times[0] - times[1] if len(times) == 2 else None
    by = abs(change) if change is not None else 0.0
    longer = change is not None and by > max(0.1, NOTICED * max(times))
    return {
        "node_id": name, "one": one, "two": two, "state": state, "change": change, "by": by,
        "differs": state or longer, "longer": longer,
    }  # fmt: skip
