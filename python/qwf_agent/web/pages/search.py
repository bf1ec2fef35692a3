"""Search: a number jumps to its job or run; a text is sought in keys, labels and errors."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request

from qwf_agent.look.query import JOBS as JOB_LANGUAGE
from qwf_agent.look.query import RUNS as RUN_LANGUAGE
from qwf_agent.look.query import QueryError, as_id, label
from qwf_agent.web.pages.job import telling
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import ElsewhereError, Page

if TYPE_CHECKING:
    from typing_extensions import LiteralString

LONGEST = 500  # letters that are sought
# The newest jobs and runs that are looked through: a large database takes no longer to search.
NEAR = 20_000

NUMBER = """
select (select j.id from qwf.job_details j where j.id = %(number)s) as job,
  (select r.id from qwf.run_overview r where r.id = %(number)s) as run
"""
NAMES = """
select n.kind, n.name from qwf.known_names n
where n.kind = any (%(kinds)s) and n.name = %(text)s
order by array_position(%(kinds)s, n.kind)
"""
JOBS = """
select * from qwf.find_jobs(%(filter)s::jsonb, look_back => 20000, max_rows => 5)
"""
RUNS = """
select * from qwf.find_runs(%(filter)s::jsonb, look_back => 20000, max_rows => 5)
"""
# Errors are long: of the newest failures only, and cut only where they are shown.
ERRORS = """
select f.id, f.run_id, f.node_id, f.task, f.status, f.created_at,
  left(f.last_error, 200) as error, right(f.last_error, 1000) as error_end, f.id as searched_to
from (
  select j.id, j.run_id, j.node_id, j.task, j.status, j.created_at, j.last_error
  from qwf.job_details j
  where j.status = 'failed'
  order by j.finished_at desc limit 2000
) f
where strpos(case when octet_length(f.last_error) > 10000 then left(f.last_error, 10000)
  else f.last_error end, %(text)s) > 0
limit 5
"""
PATHS = {
    "queue": "/queues/", "host": "/fleet/", "workflow": "/workflows/", "schedule": "/schedules/",
    "limit": "/queues#",
}  # fmt: skip


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The results of a search. Raises ElsewhereError if only one thing can be meant."""
    text = request.query_params.get("q", "").replace("\0", "").strip()[:LONGEST]
    if not text:
        return {"text": "", "number": None, "names": [], "parts": []}
    _elsewhere(text)
    number = await _number(look, text)
    if number and not (number["job"] and number["run"]):
        if number["job"]:
            raise ElsewhereError(f"/jobs/{number['job']}")
        if number["run"]:
            raise ElsewhereError(f"/runs/{number['run']}")
    asked = meanings(text)
    answers = await asyncio.gather(
        look.rows(NAMES, text=text, kinds=list(PATHS)),
        *(look.rows(meaning.statement, **meaning.params) for meaning in asked),
    )
    names, rows = answers[0], answers[1:]
    seen: set[tuple[str, int]] = set()
    parts = [
        {
            "what": meaning.what,
            "title": meaning.title,
            "query": meaning.query,
            "rows": [_told(row) for row in found if _is_new(seen, meaning.what, row["id"])],
            "searched_to": found[0]["searched_to"] if found else None,
        }
        for meaning, found in zip(asked, rows, strict=True)
    ]
    return {
        "text": text,
        "number": number,
        "names": [row | {"path": PATHS[row["kind"]]} for row in names],
        "parts": [part for part in parts if part["rows"]],
        "near": NEAR,
    }


@dataclass(frozen=True)
class Meaning:
    """One meaning of a text: where it is sought, and the list that shows all it finds."""

    what: str  # jobs or runs
    title: str
    statement: LiteralString
    params: dict[str, str]
    query: dict[str, str]


def meanings(text: str) -> list[Meaning]:
    """The possible meanings of a text."""
    try:
        labels = {"labels": label(text)}
        meant = [
            _filter("jobs", "Jobs with this label", labels, {"label": text}),
            _filter("runs", "Runs with this label", labels, {"label": text}),
        ]
    except QueryError:
        meant = []
    failed, anywhere = {"status": "failed", "error": text}, {"text": text}
    return [
        *meant,
        _filter("jobs", "Jobs of this task", {"task": text}, {"task": text}),
        Meaning("jobs", "Failed jobs with this in their error", ERRORS, {"text": text}, failed),
        _filter("jobs", "Jobs with this in their key or arguments", anywhere, anywhere),
        _filter("runs", "Runs with this in their key, context or error", anywhere, anywhere),
    ]


def _filter(what: str, title: str, asked: dict[str, Any], query: dict[str, str]) -> Meaning:
    statement = JOBS if what == "jobs" else RUNS
    return Meaning(what, title, statement, {"filter": json.dumps(asked)}, query)


def _is_new(seen: set[tuple[str, int]], what: str, number: int | None) -> bool:
    """False if an earlier part has it, or if the row only says how far was searched."""
    known = number is None or (what, number) in seen
    if number is not None:
        seen.add((what, number))
    return not known


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"error": telling(row)} if "error_end" in row else row


def _elsewhere(text: str) -> None:
    """Go to the job or run that a text names, or to the list that a query asks for.

    Raises ElsewhereError.
    """
    what, _, name = text.partition(" ")
    if what.lower() in ("job", "run") and as_id(name.strip().removeprefix("#")):
        raise ElsewhereError(f"/{what.lower()}s/{name.strip().removeprefix('#')}")
    for path, language in (("/jobs", JOB_LANGUAGE), ("/runs", RUN_LANGUAGE)):
        try:
            asked = language.read(text)
        except QueryError:
            continue
        if asked.keys() - {"text"}:
            raise ElsewhereError(f"{path}?{urlencode({'q': text})}")


async def _number(look: Look, text: str) -> dict[str, Any] | None:
    number = as_id(text.removeprefix("#"))
    return None if number is None else await look.row(NUMBER, number=number)


PAGES = (Page("/search", "search.html", read),)
