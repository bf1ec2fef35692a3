"""The list of jobs, and what is done to all jobs that a filter finds."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.look.query import JOBS, QueryError, as_filter, as_id
from qwf_agent.web.pages import query_box, waiting
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.actions import Verb
from qwf_agent.web.site.page import IncompleteError, NotFoundError, Page

ROWS = 50
MOST_AT_ONCE = 20_000  # jobs of one click: as many calls as it takes
A_CALL = 1000  # what find_jobs, cancel_jobs, retry_jobs and change_jobs take
COUNT_S = 5.0  # for which a page counts

FIND = """
select * from qwf.find_jobs(%(filter)s::jsonb, %(before)s::bigint, max_rows => %(rows)s)
"""
QUEUES = "select n.name from qwf.known_names n where n.kind = 'queue' order by n.name limit 200"

TABS = (
    ("", "All"),
    ("running", "Running"),
    ("queued", "Queued"),
    ("scheduled", "Scheduled"),
    ("blocked", "Blocked"),
    ("awaiting_input", "Asked"),
    ("failed", "Failed"),
    ("completed", "Completed"),
    ("cancelled", "Cancelled"),
    ("skipped", "Skipped"),
)

BULK = {
    "retry": Verb("retry_jobs", ("failed", "cancelled"), past="retried"),
    "cancel": Verb(
        "cancel_jobs",
        ("blocked", "scheduled", "queued", "running", "awaiting_input"),
        past="cancelled",
    ),
    "change": Verb("change_jobs", ("queued", "scheduled"), past="changed"),
}


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The newest jobs that the filter of the address finds."""
    given: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    problem = to = None
    try:
        given = JOBS.chosen(request.query_params)
        before = _before(request.query_params.get("before"))
        rows, to = await found(look, as_filter(given, query_box.now()), before, ROWS)
    except QueryError as error:
        problem = str(error)
    waits = [row["id"] for row in rows if row["status"] in waiting.WAITING]
    why, box, names = await asyncio.gather(
        waiting.reasons(look, waits),
        query_box.read(look, JOBS, given, request.query_params),
        queues(look),
    )
    return {
        "rows": rows,
        "why": why,
        "problem": problem,
        "given": given,
        "status": given.get("status", ""),
        "box": box,
        "before": request.query_params.get("before", ""),
        "older": to if len(rows) == ROWS else None,
        "searched_to": to if len(rows) < ROWS else None,
        "queues": names,
        "bulk": [verb for verb in BULK if given and _states(given, verb)],
        "tabs": TABS,
    }


async def read_all(request: Request, look: Look) -> dict[str, Any]:
    """Which jobs an action on the whole filter would change: counted before it is done."""
    verb = request.path_params["verb"]
    if verb not in BULK:
        raise NotFoundError(f"There is no way to {verb} all jobs: there is {', '.join(BULK)}.")
    given: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    problem = to = None
    try:
        given = JOBS.chosen(request.query_params)
        if not given:
            raise IncompleteError(
                f"No job is selected. Tick the jobs to {verb} in the list first; to {verb} all "
                "jobs that match, set a filter there."
            )
        states = _states(given, verb)
        filter_ = as_filter(given, query_box.now()) | {"status": states}
        if states:
            rows, to = await found_all(look, filter_, MOST_AT_ONCE)
    except QueryError as error:
        problem = str(error)
    return {
        **to_change(verb, rows, to),
        "problem": problem,
        "given": given,
        "queues": await queues(look) if verb == "change" else [],
    }


def to_change(verb: str, rows: list[dict[str, Any]], to: int | None) -> dict[str, Any]:
    """The words of a page before it changes these jobs."""
    return {
        "verb": verb,
        "action": BULK[verb].function,
        "past": BULK[verb].past,
        "rows": rows,
        "running": sum(row["status"] == "running" for row in rows),
        "runs": len({row["run_id"] for row in rows if row["run_id"]}),
        "searched_to": to,
        "full": to is not None and len(rows) >= A_CALL,
    }


async def found_all(
    look: Look, asked: Mapping[str, Any], most: int, seconds: float = COUNT_S
) -> tuple[list[dict[str, Any]], int | None]:
    """The newest `most` jobs, or those found within some seconds; and the id to search on from, if
    any may be left. Raises QueryError."""
    rows: list[dict[str, Any]] = []
    before, until = None, time.monotonic() + seconds
    while True:
        some, before = await found(look, asked, before, min(A_CALL, most - len(rows)))
        rows += some
        out_of_time = len(rows) >= most or time.monotonic() >= until
        if before is None or len(some) < A_CALL or out_of_time:
            return rows, before


async def queues(look: Look) -> list[str]:
    """The names of the queues, to choose from."""
    return [row["name"] for row in await look.rows(QUEUES)]


async def found(
    look: Look, asked: Mapping[str, Any], before: int | None, rows: int
) -> tuple[list[dict[str, Any]], int | None]:
    """The jobs, and the id to search on from, if any are left. Raises QueryError."""
    try:
        answer = await look.rows(FIND, filter=json.dumps(asked), before=before, rows=rows)
    except psycopg.Error as error:
        raise query_box.refused(error, "job") from None
    return [row for row in answer if row["id"]], answer[0]["searched_to"] if answer else None


def _states(given: Mapping[str, str], verb: str) -> list[str]:
    states = BULK[verb].states
    asked = given["status"].split(",") if "status" in given else states
    return [state for state in states if state in asked]


def _before(text: str | None) -> int | None:
    """Where the list goes on. Raises QueryError."""
    if not text:
        return None
    before = as_id(text)
    if before is None:
        raise QueryError("The before of this address is no id.")
    return before


PAGES = (
    Page("/jobs", "jobs.html", read, every_s=5),
    Page("/jobs/all/{verb}", "jobs_all.html", read_all),
)
