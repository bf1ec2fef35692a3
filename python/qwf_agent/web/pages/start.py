"""Starts a run of a workflow, with a form for what it reads of its context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request

from qwf_agent.web.forms import exact_json, filled
from qwf_agent.web.forms.filled import Field, Problem
from qwf_agent.web.forms.wording import FALLBACK
from qwf_agent.web.pages.workflow import chosen, compiled
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import Call, ElsewhereError, Page

OPTIONS = ("priority", "run_at", "key", "project", "out_dir", "labels")


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The form as it is at first."""
    found = await _subject(request, look)
    return {
        **found,
        "root": _form(request, found["inputs"]),
        "entered": dict.fromkeys(OPTIONS, ""),
        "why": "",
    }


async def take(request: Request, look: Look, form: FormData, call: Call) -> dict[str, Any]:
    """Start the run, and go to it; or show the form again with what is wrong."""
    found = await _subject(request, look)
    root, given = _form(request, found["inputs"]), filled.entries(form.multi_items())
    entered = {name: given.get(name, [""])[-1] for name in OPTIONS}
    changed = filled.edited(root, given)
    if changed is not None:
        return {**found, "root": changed, "entered": entered, "why": ""}
    read_ = filled.parse(root, given)
    if not read_.problems and not isinstance(read_.value, dict):
        wrong = [Problem(root.path, "must be a JSON object")]
        read_ = filled.Filled(read_.value, tuple(wrong), filled.with_problems(read_.field, wrong))
    try:
        options = _options(request, entered)
    except ValueError as error:
        return {**found, "root": read_.field, "entered": entered, "why": str(error)}
    if read_.problems:
        return {**found, "root": read_.field, "entered": entered, "why": ""}
    workflow = found["workflow"]
    name = workflow["name"] if workflow["current"] else f"{workflow['name']}@{workflow['version']}"
    context = {"workflow": name, "context": exact_json.write(read_.value)}
    outcome = await call("enqueue_run", {**context, **options})
    if outcome.done:
        raise ElsewhereError(f"/runs/{outcome.value}")
    root, why = read_.field, outcome.said
    detail = outcome.detail or ""
    if detail and all(line.startswith(root.path) for line in detail.split("\n")):
        root, why = filled.refused(root, detail), ""
    return {**found, "root": root, "entered": entered, "why": why, "call": {**context, **options}}


async def _subject(request: Request, look: Look) -> dict[str, Any]:
    """The workflow, what it reads, and an example of a context."""
    name, version = request.path_params["name"], request.query_params.get("version")
    workflow = await chosen(look, name, version)
    document = await compiled(look, workflow["name"], workflow["version"])
    inputs = document["inputs"]
    return {
        "workflow": workflow,
        "inputs": inputs,
        "problems": document["problems"],
        "as_json": request.query_params.get("form") == "json",
        "zone": render.zone_named(request.cookies.get("qwf_zone")),
        "call": {"workflow": name, "context": exact_json.write(example(inputs))},
    }


def _form(request: Request, inputs: Sequence[Mapping[str, Any]]) -> Field:
    if request.query_params.get("form") == "json" or not inputs:
        return filled.from_schema({}, example(inputs), label="Context")
    return filled.from_schema(schema_of(inputs), label="Context")


def schema_of(inputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A schema of a context that has what a workflow reads, from `inputs` of workflow_graph().

    It has a member for each path. What is read whole and in parts, or by the place in a list, has
    one member for the whole.
    """
    root: dict[str, Any] = {"type": "object"}
    for entry in sorted(inputs, key=lambda one: (not one["required"], len(one["path"]))):
        _place(root, entry["path"], entry)
    return root


def _place(schema: dict[str, Any], path: Sequence[str], entry: Mapping[str, Any]) -> None:
    """Add what is read at a path below a schema."""
    key, rest = path[0], path[1:]
    members = schema.setdefault("properties", {})
    if entry["required"] and key not in schema.setdefault("required", []):
        schema["required"].append(key)
    here = members.get(key)
    if rest and not rest[0].isdecimal() and (here is None or "properties" in here):
        _place(members.setdefault(key, {"type": "object"}), rest, entry)
    elif here is None or "properties" in here:
        members[key] = _leaf(entry) if not rest else {}


def _leaf(entry: Mapping[str, Any]) -> dict[str, Any]:
    schema = dict(entry.get("schema") or {})
    if entry["required"]:
        return schema
    of_pipeline = schema.pop("default", None)
    fallback = entry.get("default", of_pipeline)
    return {**schema, FALLBACK: fallback}


def example(inputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A context with all that a run needs, to be filled in."""
    context: dict[str, Any] = {}
    for entry in inputs:
        if not entry["required"]:
            continue
        *around, last = entry["path"]
        inside = context
        for key in around:
            below = inside.setdefault(key, {})
            inside = below if isinstance(below, dict) else {}
        blank = {"string": "", "number": 0, "integer": 0, "boolean": False, "array": []}
        kind = (entry.get("schema") or {}).get("type")
        inside.setdefault(last, blank.get(kind) if isinstance(kind, str) else None)
    return context


def _options(request: Request, entered: Mapping[str, str]) -> dict[str, str]:
    """The other arguments of the call. Raises ValueError."""
    given = {name: text for name, text in entered.items() if text.strip()}
    if "run_at" in given:
        zone = render.zone_named(request.cookies.get("qwf_zone"))
        given["run_at"] = _moment(given["run_at"], zone)
    if "labels" in given:
        labels = dict(line.partition("=")[::2] for line in given["labels"].splitlines() if line)
        given["labels"] = exact_json.write({key.strip(): labels[key].strip() for key in labels})
    return given


def _moment(text: str, zone: Any) -> str:
    """A time of the browser as the database reads it. Raises ValueError."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:50]} is no time: write 2026-01-31T18:00") from None
    return (when if when.tzinfo else when.replace(tzinfo=zone)).isoformat()


PAGES = (Page("/workflows/{name:path}/start", "start.html", read, take=take),)
