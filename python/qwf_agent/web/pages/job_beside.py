"""A job beside another job: what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from qwf_agent.look import values
from qwf_agent.look.draw import words
from qwf_agent.look.query import MOST_ID, as_id
from qwf_agent.web.drawings.differences import differences
from qwf_agent.web.pages import job
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import NotFoundError, Page

OTHERS = """
select f.id, f.status
from qwf.find_jobs(jsonb_build_object('task', %(task)s::text), look_back => 2000, max_rows => 11) f
where f.id is not null and f.id <> %(job)s::bigint
order by f.id desc
limit 10
"""
ATTEMPT = """
select a.cpu_seconds, a.max_rss_bytes, a.gpu_peak_bytes
from qwf.attempt_overview a where a.job_id = %(job)s order by a.attempt desc limit 1
"""
TOO_LONG = object()
JSON = {"inputs": "Inputs", "output": "Output"}


async def read(request: Request, look: Look) -> dict[str, Any]:
    """Two jobs: how they went, and their inputs and outputs. Without another one, jobs of the same
    task to choose."""
    number, given = request.path_params["job"], request.query_params.get("against", "").strip()
    here = await look.row(job.JOB, job=number) if number <= MOST_ID else None
    if here is None:
        raise NotFoundError(await job.missing(look, number))
    others = await look.rows(OTHERS, task=here["task"], job=number)
    other = as_id(given) if given else next((row["id"] for row in others), None)
    there = await look.row(job.JOB, job=other) if other not in (None, number) else None
    found = {"job": here, "others": others, "other": there, "given": given}
    if there is None:
        return found
    sides = [await _side(look, one) for one in (here, there)]
    facts = [(name, *(side["facts"][name] for side in sides)) for name in sides[0]["facts"]]
    texts: list[tuple[str, bool, Any]] = []
    for name, title in JSON.items():
        new, old = (side["values"].get(name) for side in sides)
        if TOO_LONG in (new, old):
            texts.append((title, False, None))
        else:
            texts.append((title, new == old, await differences(old, new) if new != old else []))
    return found | {"facts": facts, "texts": texts}


async def _side(look: Look, row: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of one of the two in words, and its values."""
    ran = await look.row(ATTEMPT, job=row["id"]) or {}
    stored = await look.rows(job.VALUES, job=row["id"])
    lengths = {
        "Waited": (row["queued_at"], row["started_at"]),
        "Took": (row["started_at"], row["finished_at"]),
    }
    spans = {name: end - start if start and end else None for name, (start, end) in lengths.items()}
    return {
        "facts": {
            "Task": row["task"],
            "Queue": row["queue"],
            "Box": row["host"],
            "Tries": row["attempt"],
            **{
                name: words.duration(max(0.0, span.total_seconds())) if span is not None else None
                for name, span in spans.items()
            },
            "CPU time": words.duration(ran["cpu_seconds"]) if ran.get("cpu_seconds") else None,
            "Memory": words.size(ran["max_rss_bytes"]) if ran.get("max_rss_bytes") else None,
            "Memory of the card": words.size(ran["gpu_peak_bytes"])
            if ran.get("gpu_peak_bytes")
            else None,
            "Priority": row["priority"],
            "Model": row["required_model"],
            "Limit": row["limit_by"],
            "Error": words.gist(row["error"]) if row["error"] else None,
        },
        "values": {
            one["name"]: values.read_json(one["text"])
            if len(one["text"] or "") <= job.MOST_TEXT and one["text"]
            else TOO_LONG
            for one in stored
        },
    }


PAGES = (Page("/jobs/{job:int}/beside", "job_beside.html", read),)
