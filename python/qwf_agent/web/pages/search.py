"""Search: a number jumps to its job or run; a text is looked for in keys, labels and errors."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import Request

from qwf_agent.web.database import Look
from qwf_agent.web.page import ElsewhereError, Page
from qwf_agent.web.pages.jobs import MOST_JOB, FilterError, label

LONGEST = 500  # letters that are looked for
ROWS = 5
# The newest of each that are looked through, so that a search takes no longer on a large database.
NEAR = 20_000

NUMBER = """
select (select j.id from qwf.jobs j where j.id = %(number)s) as job,
  (select r.id from qwf.runs r where r.id = %(number)s) as run
"""
NAMES = """
select 'queue' as kind, q.name from qwf.queues q where q.name = %(text)s
union all
select 'host', %(text)s where exists (select from qwf.workers w where w.host = %(text)s)
union all
select 'workflow', %(text)s where exists (select from qwf.workflows w where w.name = %(text)s)
union all
select 'schedule', s.name from qwf.schedules s where s.name = %(text)s
"""
JOBS = """
select * from qwf.find_jobs(%(filter)s::jsonb, look_back => 20000, max_rows => 5)
"""
RUNS = """
select * from qwf.find_runs(%(filter)s::jsonb, look_back => 20000, max_rows => 5)
"""
PATHS = {
    "queue": "/queues/", "host": "/fleet/", "workflow": "/workflows/", "schedule": "/schedules#",
}  # fmt: skip


async def read(request: Request, look: Look) -> dict[str, Any]:
    """What a search finds. Raises ElsewhereError if only one thing can be meant."""
    text = request.query_params.get("q", "").replace("\0", "").strip()[:LONGEST]
    if not text:
        return {"text": "", "number": None, "names": [], "parts": []}
    number = await _number(look, text)
    if number and not (number["job"] and number["run"]):
        if number["job"]:
            raise ElsewhereError(f"/jobs/{number['job']}")
        if number["run"]:
            raise ElsewhereError(f"/runs/{number['run']}")
    asked = filters(text)
    answers = await asyncio.gather(
        look.rows(NAMES, text=text),
        *(
            look.rows(JOBS if what == "jobs" else RUNS, filter=json.dumps(filter_))
            for what, _, filter_, _ in asked
        ),
    )
    names, rows = answers[0], answers[1:]
    parts = [
        {
            "what": what,
            "title": title,
            "query": query,
            "rows": [row for row in found if row["id"]],
            "searched_to": found[0]["searched_to"] if found else None,
        }
        for (what, title, _, query), found in zip(asked, rows, strict=True)
    ]
    return {
        "text": text,
        "number": number,
        "names": [row | {"path": PATHS[row["kind"]]} for row in names],
        "parts": [part for part in parts if part["rows"]],
        "near": NEAR,
    }


def filters(text: str) -> list[tuple[str, str, dict[str, Any], dict[str, str]]]:
    """(jobs or runs, title, filter, query of the list that shows all) of what a text may mean."""
    asked: list[tuple[str, str, dict[str, Any], dict[str, str]]] = [
        ("jobs", "Jobs with this key", {"key": text}, {"key": text}),
        ("runs", "Runs with this key", {"key": text}, {"key": text}),
        ("jobs", "Jobs of this task", {"task": text}, {"task": text}),
        ("jobs", "Failed jobs with this in their error", {"status": "failed", "error": text},
         {"status": "failed", "error": text}),
        ("runs", "Failed runs with this in their error", {"status": "failed", "error": text},
         {"status": "failed", "error": text}),
    ]  # fmt: skip
    try:
        labels = label(text)
    except FilterError:
        return asked
    found = {"labels": labels}
    return [
        ("jobs", "Jobs with this label", found, {"label": text}),
        ("runs", "Runs with this label", found, {"label": text}),
        *asked,
    ]


async def _number(look: Look, text: str) -> dict[str, Any] | None:
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= MOST_JOB):
        return None
    return await look.row(NUMBER, number=int(digits))


PAGES = (Page("/search", "search.html", read),)
