"""The list of runs, and what is done to many of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.actions import Verb
from qwf_agent.web.site.page import IncompleteError, NotFoundError, Page

MOST_ID = 2**63 - 1
MOST_AT_ONCE = 500  # runs of one change: each may have many nodes, and a call has 10 seconds
RUNS_A_PAGE = 50
LOOK_BACK = 100_000  # what find_runs looks back by itself
STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
OPEN, OVER = STATES[:3], STATES[3:]
TEXTS = ("workflow", "project", "key", "error")
FIELDS = ("status", *TEXTS, "label", "since")
AGO = re.compile(r"(\d{1,6}) ?(min|m|h|d|w)")
UNITS = {"min": "minutes", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FIND = """
select * from qwf.find_runs(
  filter => %(filter)s, before_id => %(before)s::bigint, max_rows => %(most)s)
"""
LISTED = """
select r.id, r.workflow, r.version, r.status, r.project
from qwf.run_details r
where r.id = any (%(runs)s::bigint[])
order by r.id desc
"""
WORKFLOWS = """
select d.name from qwf.definition_overview d
where d.kind = 'workflow' and d.current order by d.name limit 200
"""


@dataclass(frozen=True)
class Found:
    """Runs that pass a filter, the id to search on from, and what is wrong with the filter."""

    runs: Rows
    searched_to: int | None = None
    problem: str | None = None


VERBS = {
    "cancel": Verb(
        "cancel_runs",
        OPEN,
        does="Nodes that wait are cancelled at once, and bodies that run are told to stop. "
        "Clean-up nodes still run.",
    ),
    "retry": Verb(
        "retry_runs",
        ("failed", "cancelled"),
        does="Failed and cancelled nodes run again, and all nodes after them. "
        "What completed stays.",
    ),
}


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The newest runs that pass the filter of the address."""
    asked = wanted(request)
    found = await _find(look, asked, as_id(asked.get("before", "")), RUNS_A_PAGE)
    return {
        "asked": asked,
        "runs": found.runs,
        "searched_to": found.searched_to,
        "problem": found.problem,
        "a_page": RUNS_A_PAGE,
        "kept": {name: value for name, value in asked.items() if name not in ("status", "before")},
        "states": STATES,
        "workflows": [row["name"] for row in await look.rows(WORKFLOWS)],
        "look_back": LOOK_BACK,
    }


async def read_change(request: Request, look: Look) -> dict[str, Any]:
    """The runs that cancelling or retrying would change: the runs that were picked, or all of a
    filter."""
    name = request.query_params.get("verb", "")
    verb = VERBS.get(name)
    if verb is None:
        raise NotFoundError("Say what is to be done: cancel or retry.")
    asked = wanted(request)
    ticked = request.query_params.getlist("run")
    picked = [run for text in ticked if (run := as_id(text))]
    of_selected = bool(ticked) or request.query_params.get("of") == "selected"
    if not picked and (of_selected or not filtered(asked)):
        raise IncompleteError(
            f"No run is selected. Tick the runs to {name} in the list first; to {name} all runs "
            "that match, set a filter there."
        )
    if picked:
        listed = await look.rows(LISTED, runs=sorted(set(picked))[:MOST_AT_ONCE])
        found = Found([run for run in listed if run["status"] in verb.states])
        left_out = len(set(picked)) - len(found.runs)
    else:
        states = [state for state in verb.states if asked.get("status", state) == state]
        asked_for = {**asked, "status": states}
        found = await _find(look, asked_for, None, MOST_AT_ONCE) if states else Found([])
        left_out = 0
    return {
        "name": name,
        "verb": verb,
        "asked": {name: value for name, value in asked.items() if name != "before"},
        "picked": bool(picked),
        "runs": found.runs,
        "left_out": left_out,
        "more": found.searched_to is not None,
        "problem": found.problem,
        "most": MOST_AT_ONCE,
    }


def wanted(request: Request) -> dict[str, str]:
    """The fields of the filter that the address has, and where the list goes on."""
    given = {name: request.query_params.get(name, "").strip() for name in (*FIELDS, "before")}
    return {name: value for name, value in given.items() if value}


def filtered(asked: Mapping[str, str]) -> bool:
    """Return True if any field of the filter is set."""
    return any(field != "before" for field in asked)


def as_filter(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The filter of find_runs for these fields. Raises ValueError with a sentence."""
    found: dict[str, Any] = {name: asked[name] for name in TEXTS if name in asked}
    if "status" in asked:
        found["status"] = asked["status"]
    if "label" in asked:
        found["labels"] = _label(asked["label"])
    if "since" in asked:
        found["since"] = since_when(asked["since"], datetime.now(timezone.utc))
    return found


def as_id(text: str) -> int | None:
    """The id that a text stands for; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if is_number and 0 < int(text) <= MOST_ID else None


async def _find(look: Look, asked: Mapping[str, Any], before: int | None, most: int) -> Found:
    try:
        written = json.dumps(as_filter(asked), sort_keys=True)
        rows = await look.rows(FIND, filter=written, before=before, most=most)
    except ValueError as error:
        return Found([], problem=str(error))
    except psycopg.DatabaseError as error:
        if not is_about_values(error):
            raise
        said = (error.diag.message_primary, error.diag.message_detail)
        return Found([], problem=": ".join(text for text in said if text) or str(error))
    runs = [row for row in rows if row["id"] is not None]
    return Found(runs, rows[-1]["searched_to"] if rows else None)


def is_about_values(error: psycopg.Error) -> bool:
    """Return True if a statement was refused for the values that a person gave."""
    return isinstance(error, psycopg.DataError) or (error.sqlstate or "").startswith("QW")


def _label(text: str) -> dict[str, Any]:
    """Labels from `name=value`, or from a JSON object. Raises ValueError."""
    if text.startswith("{"):
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, dict):
            return read
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise ValueError("write a label as name=value")
    return {name.strip(): value.strip()}


def since_when(text: str, now: datetime) -> str:
    """A time for Postgres: a length of time ago, or what was written. Whole minutes, so that all
    who look in a minute ask the same."""
    ago = AGO.fullmatch(text)
    if ago is None:
        return text
    try:
        when = now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
    except OverflowError:
        raise ValueError("that is too long ago") from None
    return when.replace(second=0, microsecond=0).isoformat()


PAGES = (
    Page("/runs", "runs.html", read, topics=("runs",), every_s=5),
    Page("/runs/change", "runs_change.html", read_change),
)
