"""A dry run of definitions that a person pasted: their graph, every problem and what would change.

Nothing is stored until the person registers a definition, which is one call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
from starlette.datastructures import FormData
from starlette.requests import Request

from qwf_agent.look import masking, values
from qwf_agent.web.drawings.differences import Line, differences
from qwf_agent.web.forms import exact_json, pasted
from qwf_agent.web.forms.pasted import Pasted
from qwf_agent.web.pages.workflow import LAST_VERSION, drawn, inputs_of, steps_of
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import actions
from qwf_agent.web.site.page import Call, Data, NotFoundError, Page

MOST_GRAPHS = 30
PATH = "/workflows/-/preview"  # no workflow is called "-"
PREVIEW = "select qwf.workflow_graph(%(workflow)s::jsonb, %(pipelines)s::jsonb) as graph"
STORED = """
select c.version as current, c.definition, (
  select s.version from qwf.definition_overview s
  where s.kind = %(kind)s and s.name = %(name)s and s.definition = %(definition)s::jsonb) as same
from (select) one
left join qwf.definition_overview c on c.kind = %(kind)s and c.name = %(name)s and c.current
"""
# The workflows that would no longer fit. Those that have problems already are among them.
BROKEN = """
select w.name, p.graph #>> '{problems,0,path}' as path,
  p.graph #>> '{problems,0,message}' as message
from (
  select d.name, d.definition from qwf.definition_overview d
  where d.kind = 'workflow' and d.current and d.pipelines && %(names)s::text[]
    and d.name <> all (%(pasted)s::text[])
  order by d.name limit 20) w
cross join lateral (select qwf.workflow_graph(w.definition, %(pipelines)s::jsonb) as graph) p
where p.graph -> 'problems' <> '[]'
"""
DEFINITION = """
select d.definition::text from qwf.definition_overview d
where d.kind = %(kind)s and d.name = %(name)s
  and case when %(version)s::int is null then d.current else d.version = %(version)s::int end
"""


@dataclass
class Previewed:
    """A definition with all that is said about it."""

    pasted: Pasted
    problems: list[dict[str, Any]] = field(default_factory=list)
    current: int | None = None
    same: int | None = None  # the version that has this content
    lines: list[Line] | None = field(default_factory=list)
    document: dict[str, Any] | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)
    graph: str = ""
    waits_for: list[str] = field(default_factory=list)  # pipelines to be registered before it

    @property
    def change(self) -> str:
        """The effect of registering it: new, unchanged, restored or changed."""
        if self.same is not None:
            return "unchanged" if self.same == self.current else "restored"
        return "new" if self.current is None else "changed"


class Graphs:
    """The graphs of the last previews, which scripts fetch. Invariant: at most MOST_GRAPHS."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def keep(self, document: Mapping[str, Any]) -> str:
        """Keep a document of workflow_graph(); returns the key to find it again."""
        key = hashlib.sha256(json.dumps(document, default=str).encode()).hexdigest()
        self._kept[key] = document
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_GRAPHS:
            self._kept.popitem(last=False)
        return key

    def find(self, key: str) -> Mapping[str, Any]:
        """The document. Raises NotFoundError if it is no longer kept."""
        if key not in self._kept:
            raise NotFoundError("this preview is too old to be drawn: preview it again")
        return self._kept[key]


_GRAPHS = Graphs()


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The empty form, or one with a definition that is registered, its secrets hidden."""
    opened, text = _opened(request), ""
    if opened is not None:
        stored = await look.value(DEFINITION, **opened)
        if stored is None:
            raise NotFoundError(f"there is no {opened['kind']} {opened['name'][:200]}")
        text = exact_json.editable(stored) or stored
    return _shown(request, text)


def _opened(request: Request) -> dict[str, Any] | None:
    """The version that the address names: the form begins with it."""
    for kind in ("pipeline", "workflow"):
        if name := request.query_params.get(kind, "").replace("\0", ""):
            version = request.query_params.get("version", "")
            digits = version.isascii() and version.isdecimal()
            number = min(int(version[:20]), LAST_VERSION) if digits else None
            return {"kind": kind, "name": name, "version": number}
    return None


async def take(request: Request, look: Look, form: FormData, call: Call) -> dict[str, Any]:
    """Preview what was sent, and register one of the definitions if that button was pressed."""
    text = str(form.get("text", "")).replace("\r\n", "\n")
    wanted = form.get("register")
    if not isinstance(wanted, str):
        return await _preview(request, look, text)
    look.fresh_s = 0.0  # what is compared must be what is stored now
    found = await _preview(request, look, text)
    if form.get("seen") != found["seen"]:
        return {**found, "why": "Not registered: the text, or a version in the database, is not"
                " the one that you looked at. Look at it again."}  # fmt: skip
    one = next((one for one in found["previews"] if _key(one.pasted) == wanted), None)
    if one is None or one.problems or one.waits_for or found["problems"]:
        return {**found, "why": "Not registered: look at what is said about it below."}
    outcome = await call(f"register_{one.pasted.kind}", {"definition": one.pasted.written})
    return {**await _preview(request, look, text), "why": None if outcome.done else outcome.said}


async def read_graph(request: Request, look: Look) -> dict[str, Any]:
    """Data from which the graph of a preview is laid out."""
    return drawn(_GRAPHS.find(request.path_params["key"]), request.query_params.getlist("open"))


async def _preview(request: Request, look: Look, text: str) -> dict[str, Any]:
    """All that can be said about the text, read-only."""
    definitions, problems = await asyncio.to_thread(pasted.read, text)
    for at, given in enumerate(definitions):
        try:
            definitions[at] = await _with_secrets(request, look, given)
        except masking.MaskLeftError as error:
            problems.append(f"{given.kind} {given.name}: {error}")
    previews = [Previewed(one) for one in definitions]
    pipelines = {
        one.name: one.content for one in definitions if one.kind == "pipeline" and one.name
    }
    found = _shown(request, text, previews, problems, asked=True)
    try:
        for one in previews:
            await _compare(look, one)
        await _check(look, previews, exact_json.write(pipelines))
        if pipelines and not any(one.problems for one in previews):
            names = [one.name for one in definitions if one.kind == "workflow" and one.name]
            found["broken"] = await look.rows(BROKEN, names=list(pipelines), pasted=names,
                                              pipelines=exact_json.write(pipelines))  # fmt: skip
    except psycopg.errors.QueryCanceled:
        problems.append("the database needs more than 2 s for it: preview less at once")
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        problems.append(actions.refused(error)[0])
    for one in previews:
        await asyncio.to_thread(_explain, one)
    return {**found, "problems": problems, "seen": _digest(text, previews)}


async def _with_secrets(request: Request, look: Look, one: Pasted) -> Pasted:
    """The definition with the secrets of the version that was opened, else of the current one, in
    the place of their masks. Raises MaskLeftError."""
    if not masking.may_have_mask(one.written):
        return one
    given, opened = {"kind": one.kind, "name": one.name, "version": None}, _opened(request)
    if opened is not None and (opened["kind"], opened["name"]) == (one.kind, one.name):
        given = opened
    stored = await look.value(DEFINITION, **given)
    content = masking.unmasked(one.content, exact_json.read(stored or "null"))
    return replace(one, content=content, written=exact_json.write(content))


async def _compare(look: Look, one: Previewed) -> None:
    """The stored definition of that name, and the differences."""
    if one.pasted.name is None:
        return
    stored = await look.row(
        STORED, kind=one.pasted.kind, name=one.pasted.name, definition=one.pasted.written
    )
    if stored is not None:
        one.current, one.same = stored["current"], stored["same"]
        if one.current is not None and one.same != one.current:
            content = values.read_json(one.pasted.written)  # as that of the database was read
            one.lines = await differences(stored["definition"], content)


async def _check(look: Look, previews: Sequence[Previewed], pipelines: str) -> None:
    """The graph and the problems of each. A pipeline alone is drawn as a workflow of one step."""
    of_pipelines: list[dict[str, Any]] = []
    for one in previews:
        written = one.pasted.written
        if one.pasted.kind == "pipeline":
            step = {"id": "pipeline", "kind": "pipeline", "pipeline": one.pasted.name}
            written = exact_json.write({"name": "preview", "steps": [step]})
        document = await look.value(PREVIEW, workflow=written, pipelines=pipelines)
        inside = [problem for problem in document["problems"] if "pipeline" in problem]
        of_pipelines = of_pipelines or inside
        one.document, one.steps = document, steps_of(document)
        one.inputs = inputs_of(document)
        one.graph = _GRAPHS.keep(document) if document["nodes"] else ""
        if one.pasted.kind == "workflow":
            one.problems = [found for found in document["problems"] if "pipeline" not in found]
            used = {step.get("pipeline") for step in document["steps"]}
            one.waits_for = [
                str(other.pasted.name)
                for other in previews
                if other.pasted.kind == "pipeline"
                and other.pasted.name in used
                and other.change != "unchanged"
            ]
    for one in previews:
        if one.pasted.kind == "pipeline":
            one.problems = [p for p in of_pipelines if p["pipeline"] == one.pasted.name]
            if one.pasted.name is None:
                one.problems = [{"path": "name", "message": "must be a text"}]


def _explain(one: Previewed) -> None:
    """The line of each problem."""
    if not one.problems:
        return
    known = pasted.lines(one.pasted)
    source = one.pasted.source[0].split("\n")
    for problem in one.problems:
        line = problem["line"] = pasted.line_of(one.pasted, problem["path"], known)
        problem["there"] = source[line - 1].strip()[:200] if line else ""
    one.problems.sort(key=lambda problem: problem["line"] or 0)


def _shown(
    request: Request, text: str, previews: Iterable[Previewed] = (), problems: Iterable[str] = (),
    asked: bool = False,
) -> dict[str, Any]:  # fmt: skip
    opened = _opened(request)
    of = {opened["kind"]: opened["name"], "version": opened["version"]} if opened else {}
    return {"text": text, "previews": list(previews), "problems": list(problems), "broken": [],
            "asked": asked, "seen": "", "why": None, "path": PATH, "opened": of,
            "key": _key}  # fmt: skip


def _key(one: Pasted) -> str:
    return f"{one.kind} {one.name}"


def _digest(text: str, previews: Iterable[Previewed]) -> str:
    """Stands for what a person has looked at: the text, and the versions it was compared with."""
    versions = [[_key(one.pasted), one.current] for one in previews]
    return hashlib.sha256(json.dumps([text, versions]).encode()).hexdigest()


PAGES = (Page(PATH, "preview.html", read, take=take),)
DATA = (Data("/preview-graph/{key}", read_graph, fresh_s=3600),)
