"""The list of jobs, and what is done to all jobs that a filter finds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from starlette.datastructures import QueryParams
from starlette.requests import Request

from qwf_agent.web.pages import waiting
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.actions import Verb
from qwf_agent.web.site.page import NotFoundError, Page

ROWS = 50
MOST_AT_ONCE = 20_000  # jobs of one click: as many calls as it takes
A_CALL = 1000  # what find_jobs, cancel_jobs, retry_jobs and change_jobs take
COUNT_S = 5.0  # for which a page counts
MOST_JOB = 2**63 - 1
LONGEST = 1000  # letters of one filter

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
SINCE = {"1h": ("1 hour", 3600), "24h": ("24 hours", 86400), "7d": ("7 days", 7 * 86400)}
TEXTS = ("queue", "task", "project", "host", "worker", "node", "key", "error", "signature")
NAMES = ("status", *TEXTS, "run_id", "label", "args", "since")


BULK = {
    "retry": Verb("retry_jobs", ("failed", "cancelled"), past="retried"),
    "cancel": Verb(
        "cancel_jobs",
        ("blocked", "scheduled", "queued", "running", "awaiting_input"),
        past="cancelled",
    ),
    "change": Verb("change_jobs", ("queued", "scheduled"), past="changed"),
}


class FilterError(Exception):
    """A filter in an address that means nothing. The text tells the person why."""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The newest jobs that the filter of the address finds."""
    given = chosen(request.query_params)
    rows: list[dict[str, Any]] = []
    problem = to = None
    try:
        before = _number(request.query_params.get("before"), "before")
        rows, to = await found(look, wanted(given), before, ROWS)
    except FilterError as error:
        problem = str(error)
    waits = [row["id"] for row in rows if row["status"] in waiting.WAITING]
    return {
        "rows": rows,
        "why": await waiting.reasons(look, waits),
        "problem": problem,
        "given": given,
        "shown": {name: given.get(name, "") for name in NAMES},
        "rest": {name: value for name, value in given.items() if name != "status"},
        "before": request.query_params.get("before", ""),
        "older": to if len(rows) == ROWS else None,
        "searched_to": to if len(rows) < ROWS else None,
        "queues": await queues(look),
        "bulk": [verb for verb in BULK if _states(given, verb)] if rows else [],
        "tabs": TABS,
        "since": SINCE,
    }


async def read_all(request: Request, look: Look) -> dict[str, Any]:
    """Which jobs an action on the whole filter would change: counted before it is done."""
    verb = request.path_params["verb"]
    if verb not in BULK:
        raise NotFoundError(f"There is no way to {verb} all jobs: there is {', '.join(BULK)}.")
    given = chosen(request.query_params)
    rows: list[dict[str, Any]] = []
    problem = to = None
    try:
        states = _states(given, verb)
        filter_ = wanted(given) | {"status": states}
        if states:
            rows, to = await _found_all(look, filter_)
    except FilterError as error:
        problem = str(error)
    return {
        "verb": verb,
        "action": BULK[verb].function,
        "past": BULK[verb].past,
        "rows": rows,
        "running": sum(row["status"] == "running" for row in rows),
        "runs": len({row["run_id"] for row in rows if row["run_id"]}),
        "searched_to": to,
        "full": to is not None and len(rows) >= A_CALL,
        "problem": problem,
        "given": given,
        "queues": await queues(look) if verb == "change" else [],
    }


async def _found_all(
    look: Look, asked: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], int | None]:
    """The newest MOST_AT_ONCE jobs, or those found within COUNT_S; and the id to search on from, if
    any may be left. Raises FilterError."""
    rows: list[dict[str, Any]] = []
    before, until = None, time.monotonic() + COUNT_S
    while True:
        some, before = await found(look, asked, before, min(A_CALL, MOST_AT_ONCE - len(rows)))
        rows += some
        out_of_time = len(rows) >= MOST_AT_ONCE or time.monotonic() >= until
        if before is None or len(some) < A_CALL or out_of_time:
            return rows, before


async def queues(look: Look) -> list[str]:
    """The names of the queues, to choose from."""
    return [row["name"] for row in await look.rows(QUEUES)]


def chosen(query: QueryParams) -> dict[str, str]:
    """The filters of an address, without those that are empty."""
    return {name: query[name][:LONGEST] for name in NAMES if query.get(name, "").strip()}


def wanted(given: Mapping[str, str], now: datetime | None = None) -> dict[str, Any]:
    """The filter of find_jobs that the filters of an address stand for. Raises FilterError."""
    asked: dict[str, Any] = {name: given[name] for name in TEXTS if name in given}
    if "status" in given:
        asked["status"] = given["status"].split(",")
    if "run_id" in given:
        asked["run_id"] = _number(given["run_id"], "run")
    if "label" in given:
        asked["labels"] = label(given["label"])
    if "args" in given:
        asked["args"] = _json(given["args"])
    if "since" in given:
        asked["since"] = _since(given["since"], now or datetime.now(timezone.utc))
    return asked


async def found(
    look: Look, asked: Mapping[str, Any], before: int | None, rows: int
) -> tuple[list[dict[str, Any]], int | None]:
    """The jobs, and the id to search on from, if any are left. Raises FilterError."""
    try:
        answer = await look.rows(FIND, filter=json.dumps(asked), before=before, rows=rows)
    except psycopg.Error as error:
        if error.sqlstate != "QW005" and not isinstance(error, psycopg.DataError):
            raise
        if isinstance(error, psycopg.errors.UntranslatableCharacter):
            raise FilterError("No job has a NUL character: Postgres cannot store one.") from None
        detail = error.diag.message_detail or error.diag.message_primary or "it cannot be read"
        hint = f". {error.diag.message_hint}" if error.diag.message_hint else ""
        raise FilterError(f"This filter is invalid: {detail}{hint}") from None
    return [row for row in answer if row["id"]], answer[0]["searched_to"] if answer else None


def label(text: str) -> dict[str, Any]:
    """The label that `name=value` stands for; a value that is JSON keeps its type."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FilterError("A label is written as name=value.")
    try:
        return {name.strip(): _json(value)}
    except FilterError:
        return {name.strip(): value.strip()}


def _states(given: Mapping[str, str], verb: str) -> list[str]:
    states = BULK[verb].states
    asked = given["status"].split(",") if "status" in given else states
    return [state for state in states if state in asked]


def _since(text: str, now: datetime) -> str:
    if text not in SINCE:
        return text  # a time, which the database reads
    # of whole minutes, so that one answer serves everybody who looks in this minute
    return (now.replace(second=0, microsecond=0) - timedelta(seconds=SINCE[text][1])).isoformat()


def _number(text: str | None, name: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST_JOB):
        raise FilterError(f"The {name} of this address is no id.")
    return int(text)


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise FilterError('Args are written as JSON, for example {"photo": 7}.') from None
    return value


PAGES = (
    Page("/jobs", "jobs.html", read, every_s=5),
    Page("/jobs/all/{verb}", "jobs_all.html", read_all),
)
