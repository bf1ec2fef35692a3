"""The JSON Schema of definitions accepts what the engine registers, and refuses what it refuses.

The engine judges first: the definitions of the examples, of the documents and of the tests, and
small ones that are changed at every place. Where the two differ, what the engine says must be on
the list of what a schema cannot say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import psycopg
import pytest
from jsonschema import Draft202012Validator
from psycopg.types.json import Jsonb

from support.definitions import PIPELINE, WORKFLOW
from support.machine import workflows
from support.pgtap import framed
from support.servers import ROOT
from support.tools import tool

Json = Any
Connection = psycopg.Connection[Any]

SCHEMA: Json = json.loads((ROOT / "sql/definition.schema.json").read_text("utf-8"))
DEFS: Json = SCHEMA["$defs"]

# Problems that depend on other parts of the definition, on the database, or on PostgreSQL.
NOT_IN_A_SCHEMA = {
    "a cycle": r"cycle: .*|runs are nested more than 8 deep",
    "an id or a name that is there twice": r'".*" (is already the id of|is given twice).*',
    "a name that does not exist": r"there is no (queue|limit|pipeline|workflow|node )?.*",
    "a limit that a run inside needs, too": r'limit ".*" is inside itself: .*',
    "an option compared with a text": r"the answer to step \".*\" is a whole option, never a text",
    "a reference to what is not upstream": r'(node|step) ".*" is not upstream: add .*',
    "a node that cannot be taken back": (
        r'".*" (is a pipeline|is a compensation node( itself|: nothing may depend on it)|'
        r'has "run_if")|only compensation nodes may depend on it'
    ),
    "a reference to itself": r'refers to itself|".*" belongs to the same step',
    "a name that cannot be read here": r'".*" cannot be read here|"files" comes after .*',
    "an input that the pipeline does not declare": (
        r"the (pipeline|workflow) declares no (input .*|such input)|"
        r"is missing: the (pipeline|workflow) requires it"
    ),
    "an output that is not there": (
        r'step ".*" (does not export|has only|has no nodes).*|the step does not give the input .*'
    ),
    "an older format": r'"_(implicit|siblings)" is not a reference',
    "a default that is no answer": r"is not one of the options|must be .* plus a multiple of .*",
    "a value that cannot be resolved": r"unresolvable: .*|invalid: .*|gives a value of type .*",
    "a regular expression of PostgreSQL": (
        r'is not a regular expression|".*" key ".*" needs a regular expression'
    ),
    "a text of PostgreSQL": r"must be a duration(, or an expression .*| of at most a year)",
    "one number that is larger than another": (
        r'is larger than .*|is more than the number of elements in "map"'
    ),
    "a name among others": r"is not among the properties",
    "the size": r"has more than 64 KiB|.* has \d+ bytes, at most .*|.* is nested too deeply.*|"
    r"is nested more than 50 levels deep|\d+ dependencies between nodes of steps.*",
}


class Verdict(NamedTuple):
    """Answer of the engine to a definition: no problem, or `path: problem` lines."""

    kind: str
    definition: Json
    problems: list[str]


# A value that does not fit the schema it is checked against.
MISFIT = [one["x-misfit"] for one in DEFS["schema"]["properties"].values() if "x-misfit" in one]
# Files of sql/tests whose definitions have a thousand nodes.
LARGE = ("checks_a_chain_of_a_thousand_nodes", "compiles_wide_and_deep_graphs")

Judge = Callable[[Iterable[tuple[str, Json]]], list["Verdict"]]

# The engine -----------------------------------------------------------------------------------

# Registers a definition and takes it back.
JUDGE = """
create function qwf_test.judge(p_kind text, p_definition jsonb) returns text[]
language plpgsql
as $$
declare
  v_detail text;
begin
  if p_kind = 'pipeline' then
    perform qwf.register_pipeline(p_definition);
  else
    perform qwf.register_workflow(p_definition);
  end if;
  raise exception using errcode = 'UNDO0';
exception
  when sqlstate 'UNDO0' then
    return '{}';
  when sqlstate 'QW003' or sqlstate 'QW005' then
    get stacked diagnostics v_detail = pg_exception_detail;
    return string_to_array(v_detail, e'\\n');
end $$;
"""
# Tells the client what a pgTAP file registers, and what the engine says of it.
RECORD = """
alter function qwf.register_{0}(jsonb) set schema qwf_test;
create function qwf.register_{0}(definition jsonb) returns int
language plpgsql
as $$
declare
  v_version int;
  v_problems text;
begin
  v_version := qwf_test.register_{0}(definition);
  raise info using message = '{0}', detail = definition;
  return v_version;
exception
  when sqlstate 'QW003' or sqlstate 'QW005' then
    get stacked diagnostics v_problems = pg_exception_detail;
    raise info using message = '{0}', detail = coalesce(definition, 'null'), hint = v_problems;
    raise;
end $$;
"""


@pytest.fixture
def judge(db: Connection) -> Judge:
    """The verdicts on definitions, each given with its kind; nothing is registered."""
    db.execute(JUDGE)
    db.execute("select qwf.create_limit('api', max_running => 2)")
    given = {"name": "given", "nodes": [{"id": "n"}]}
    db.execute("select qwf.register_pipeline(%s)", [Jsonb(given)])

    def judged(given: Iterable[tuple[str, Json]]) -> list[Verdict]:
        found = [*given]
        query = (
            "select qwf_test.judge(k, d)"
            " from unnest(%s::text[], %s::jsonb[]) with ordinality g (k, d, n) order by n"
        )
        kinds = [kind for kind, _ in found]
        rows = db.execute(query, [kinds, [Jsonb(definition) for _, definition in found]])
        return [Verdict(*one, problems) for one, (problems,) in zip(found, rows, strict=True)]

    return judged


def recorded(db: Connection) -> list[Verdict]:
    """Every definition that a pgTAP file registers, with what it was told."""
    found: dict[str, Verdict] = {}

    def note(said: psycopg.errors.Diagnostic) -> None:
        if said.severity_nonlocalized == "INFO" and said.message_detail:
            one = Verdict(
                said.message_primary or "",
                json.loads(said.message_detail),
                (said.message_hint or "").splitlines(),
            )
            found[repr(one)] = one

    db.add_notice_handler(note)
    for kind in ("pipeline", "workflow"):
        db.execute(RECORD.format(kind))
    for file in sorted((ROOT / "sql/tests").glob("definitions/register/*.sql")):
        if not file.stem.endswith(LARGE):
            db.execute(framed(file.read_text("utf-8")))
    return [*found.values()]


# Definitions that are changed at every place ---------------------------------------------------

FIELDS = {"eq:a": 1, "matches:b": "x", "c:eq": {"$from": "up.x"}, "d:matches": "y"}
EXPRESSIONS: list[Json] = [
    {"$from": "up.x", "$default": [1, {"$value": {"$from": 5}}], "$filter": FIELDS, "$eq": []},
    {"$from": ["up", "x", 0, -1], "$ne": {"y": {"$coalesce": [{"$from": "up.x"}], "$default": 2}}},
]
SHAPE: Json = {
    "type": "object",
    "required": ["a"],
    "additionalProperties": False,
    "properties": {
        "a": {"type": ["string", "null"], "minLength": 1, "maxLength": 9, "pattern": "."},
        "b": {"type": "array", "items": {"enum": [1]}, "examples": [[1]]},
        "c": {"minimum": 0, "maximum": 1, "default": 1, "title": "t", "description": "d"},
    },
}
PIPELINES: list[Json] = [
    {"name": "a.b-c_1", "nodes": [], "$schema": "x", "display_name": "d", "mode": "m"},
    {"name": "p", "nodes": [{"id": "up"}], "requires_gpu": True},
    {"name": "p", "nodes": [], "inputs": SHAPE},
    {"name": "p", "nodes": [{"id": "up"}], "outputs": {"a": {"$from": "up"}, "files": [{"b": 1}]}},
]
NODES: list[Json] = [
    {"node": "task", "display_name": "d", "kind": "k", "outputs": [1], "gpu": False},
    {"command": ["x", 3, {"$from": "up.y"}], "inputs": {"command_": 1}},
    {"depends_on": ["up"], "inputs": {"a": EXPRESSIONS[0], "b": [{"c": 1}]}},
    {"depends_on": ["up"], "inputs": {"a": EXPRESSIONS[1]}},
    {"depends_on": ["up"], "inputs": [{"name": "a", "from": "up.x"}]},
    {"depends_on": ["up"], "skip_if": {"$from": "up.x", "$ne": 1}},
    {"skip_if": True, "outputs": {}},
    {"map": [1, {"a": 2}], "max_parallel": 2, "min_success": 1},
    {"map": {"$from": "pipeline.x"}, "min_success": "90%", "max_parallel": 1000000},
    {"map": [1], "min_success": 1, "stop_when_reached": True},
    {"repeat": {"until": {"$from": "item.x"}, "max": 3, "every": "5 s"}, "inputs": {"x": 1}},
    {"repeat": {"until": False, "max": 3}},
    {"delay": "5 min", "depends_on": ["up"]},
    {"delay": {"$from": "up.x"}, "depends_on": ["up"]},
    {"map": [1], "min_success": "0%", "stop_when_reached": False},
    {"on_failure": "ask", "run_if": "all_done", "limit_by": "api"},
    {"compensates": ["up"], "inputs": {"x": {"$from": "up.x"}, "why": {"$from": "run.error"}}},
    {"retry": {"max_attempts": 3, "max_losses": 2, "backoff": [1, 2.5]}, "at_most_once": True},
    {"retry": {"backoff": {"base": 1, "factor": 2, "max": 60}}},
    {"timeout": "10 min", "stall_timeout": 90.5, "requires": {"zone": "a"}},
    {"gpu": True, "light": True, "model": "m", "vram_mb": 10},
    {"queue": "gpu", "model": None, "vram_mb": 0, "light": False},
    {"command": ["x"], "inputs": [{"name": "command", "from": "x"}]},
    {"light": True, "gpu": False},
    {"model": None},
    {"model": "m", "gpu": False},
    {"vram_mb": 1, "gpu": False},
]
WORKFLOWS: list[Json] = [
    {"name": "w", "steps": [], "deadline": "2 h", "$schema": "x", "display_name": "d"},
    {"name": "w", "steps": [], "deadline": 0.5, "requires_gpu": True, "mode": "m"},
    {"name": "w", "steps": [{"id": "a", "kind": "input", "widget": "json"}]},
]
STEPS: list[Json] = [
    {"node": "t", "inputs": {"x": {"$from": "up.value"}}, "depends_on": ["up"], "skip_if": False},
    {"command": ["c", {"$from": "item"}], "map": [1], "max_parallel": 1, "timeout": 5},
    {"kind": "node", "gpu": True, "model": "m", "retry": {"max_attempts": 2}},
    {"kind": "pipeline", "pipeline": "given", "inputs": {"x": {"$from": "up.value"}}},
    {"kind": "pipeline", "pipeline": "given", "inputs": [{"name": "x", "from": "up.value"}]},
    {"kind": "pipeline", "pipeline": "given", "skip_if": False, "display_name": "d"},
    {"kind": "pipeline", "pipeline": "given", "delay": 5},
    {"kind": "input", "widget": "json", "delay": {"$from": "x"}},
    {"kind": "pipeline", "pipeline": "given", "depends_on": ["up"], "skip_if": {"$from": "x"}},
    {"kind": "input", "widget": "confirm", "prompt": "Well?", "target": "t", "source": [1]},
    {"kind": "input", "widget": "json", "schema": {"type": "object"}, "expires": 9, "default": {}},
    {"kind": "input", "widget": "json", "prompt": {"$from": "x"}, "show": {"$from": "x.files"}},
    {"kind": "input", "widget": "json", "show": ["a.png", {"rel_path": "b.png", "host": "h"}]},
    {"kind": "input", "widget": "turnout", "options": {"$from": "x"}, "multiple": True},
    {"kind": "input", "widget": "choose_one", "source": {"$from": "x"}, "multiple": False},
    {
        "kind": "input",
        "widget": "choose_one",
        "options": [
            1,
            {"id": 1, "label": "l", "help": {"$from": "x"}, "picture": "a.png", "score": 1},
            {"value": 2, "label": {"$from": "x"}, "help": "h", "picture": {"rel_path": "a"}},
        ],
    },
    {
        "kind": "input",
        "widget": "text",
        "min_length": 1,
        "max_length": 5,
        "pattern": ".",
        "multiline": True,
    },
    {
        "kind": "input",
        "widget": "number",
        "min": 0,
        "max": 5.5,
        "step": 0.5,
        "integer": False,
        "unit": "m",
    },
    {"kind": "input", "widget": "file", "multiple": True, "accept": ["a"], "library": {"a": 1}},
    {
        "kind": "input",
        "widget": "own",
        "own": {"a": {"$from": "x"}},
        "options": [{"label": 5}],
        "multiple": True,
        "accept": ".png",
        "library": 5,
        "pattern": 5,
        "min_length": "x",
    },
]
VALUES: list[Json] = [
    *(None, True, 0, "", [], [None], {}, {"x": 1}, {"$from": "y"}, {"x": [{"$form": "y"}]}),
]
OF_TYPE: dict[type, list[Json]] = {
    int: [-1, 2.5, 10**9],
    float: [-1, 10**9],
    str: ["x", "a b", "files", "x" * 5000],
    list: [["x"], [{"x": 1}]],
    dict: [{"$from": "y."}, {"$value": 1, "x": 1}],
}
KEYS = ["kind", "$value", "inputs", "map", "library", "x"]
BATCH = 30
FIRST: dict[str, tuple[Json, str]] = {
    "pipeline": ({"id": "up"}, "nodes"),
    "workflow": ({"id": "up", "kind": "input", "widget": "json"}, "steps"),
}


def changes(value: Json) -> Iterator[Json]:
    """The value after each change: one of its parts dropped or replaced, or a key added."""
    for new in [*VALUES, *OF_TYPE.get(type(value), [])]:
        if new != value:
            yield new
    if isinstance(value, dict):
        for key, member in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: new} for new in changes(member))
        yield from ({**value, key: 1} for key in KEYS if key not in value)
    elif isinstance(value, list):
        for at, member in enumerate(value):
            yield from ([*value[:at], new, *value[at + 1 :]] for new in changes(member))


def changed(items: Iterable[Json]) -> Iterator[Json]:
    """Each item as it is and after each change; what several have in common is changed once."""
    seen: set[str] = set()
    for item in items:
        yield item
        common = {key: member for key, member in item.items() if repr((key, member)) in seen}
        own = {key: member for key, member in item.items() if key not in common}
        yield from ({**common, **new} for new in changes(own) if isinstance(new, dict))
        seen |= {repr(pair) for pair in item.items()}


def batches(kind: str, items: list[Json]) -> Iterator[Json]:
    """Definitions of many nodes or many steps each: what is wrong with one hides nothing."""
    first, key = FIRST[kind]
    found = [*{repr(item): item for item in changed(items)}.values()]
    for start in range(0, len(found), BATCH):
        named = ({"id": f"n{at}", **one} for at, one in enumerate(found[start : start + BATCH]))
        yield {"name": "d", key: [first, *named]}


# The two compared -------------------------------------------------------------------------------


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFS})


def parts(verdict: Verdict) -> Iterator[tuple[str, Json, list[str]]]:
    """The definition without its nodes or steps, and each of these, with its own problems."""
    kind, definition, problems = verdict
    key = FIRST[kind][1] if kind in FIRST else ""
    items = definition.get(key) if isinstance(definition, dict) else None
    if not isinstance(items, list):
        yield kind, definition, problems
        return
    of_item: dict[int, list[str]] = {}
    rest = []
    for line in problems:
        found = re.match(rf"{key}\[(\d+)\]", line)
        (of_item.setdefault(int(found[1]), []) if found else rest).append(line)
    yield kind, {**definition, key: []}, rest
    for place, item in enumerate(items):
        runs = key == "nodes" and isinstance(item, dict) and "workflow" in item
        kind = "workflow_node" if runs else "node" if key == "nodes" else "any_step"
        yield kind, item, of_item.get(place, [])


def differences(verdicts: Iterable[Verdict]) -> list[str]:
    """Where the schema accepts what the engine refuses, or the other way round."""
    unsaid = re.compile("|".join(NOT_IN_A_SCHEMA.values()))
    fit = re.compile(r"(steps\[\d+\]\.inputs|.*\.default)\b.*")
    misfit = re.compile("|".join(map(pattern, MISFIT)))
    found = []
    for verdict in verdicts:
        for name, part, problems in parts(verdict):
            said = [line.partition(": ") for line in problems]
            sayable = [
                f"{path}: {problem}"
                for path, _, problem in said
                if not unsaid.fullmatch(problem)
                and not (fit.fullmatch(path) and misfit.fullmatch(problem))
            ]
            error = next(validator(name).iter_errors(part), None)
            if error and not problems:
                found.append(f"registered, {error.json_path} {error.message}: {json.dumps(part)}")
            elif sayable and not error:
                found.append(f"refused, {sayable}: {json.dumps(part)}")
    return found


def pattern(template: str) -> str:
    """The regular expression of a message in which … stands for data."""
    return ".*".join(re.escape(part) for part in template.split("…"))


# The errors that the schema lists ---------------------------------------------------------------

OF_ANY_KEY = ["unknown key", "is missing", "must be an object", "must be of type …, not …"]
OF_ANY_REFERENCE = {"unresolvable: …", "invalid: …"}
PARTS = ("allOf", "anyOf", "oneOf", "then", "else", "if")


def spread(schema: Json) -> Iterator[Json]:
    """A schema, and all that apply to the same value."""
    if not isinstance(schema, dict):
        return
    yield schema
    if "$ref" in schema:
        yield from spread(DEFS[schema["$ref"].rpartition("/")[2]])
    for key in PARTS:
        for one in schema[key] if isinstance(schema.get(key), list) else [schema.get(key)]:
            yield from spread(one)


def below(schema: Json, word: str, place: str) -> Iterator[Json]:
    """The schemas of a member, or of an element, of what the schema describes."""
    if place:
        yield from (schema[key] for key in ("items",) if key in schema)
    elif word in schema.get("properties", {}):
        yield schema["properties"][word]
    else:
        yield from (p for k, p in schema.get("patternProperties", {}).items() if re.search(k, word))
        if isinstance(schema.get("additionalProperties"), dict):
            yield schema["additionalProperties"]


def errors(schemas: Iterable[Json]) -> set[str]:
    """The sentences of these schemas."""
    found = {error for one in schemas for error in one.get("x-errors", [])}
    return found | {one["x-says"].replace("%s", "…") for one in schemas if "x-says" in one}


OF_ANY_REFERENCE |= errors([DEFS["expression"], *DEFS["expression"]["properties"].values()])
HOLDERS = [*(DEFS[name] for name in ("value", "inputs", "data", "expression"))]
HOLDERS += [DEFS["pipeline"]["properties"]["outputs"]]


def listed(kind: str, path: str) -> set[str]:
    """The errors that the schema lists for a path: those of every key on the way."""
    of_pipeline = re.fullmatch(r"steps\[\d+\]\.pipeline\.(.+)", path)
    if of_pipeline:  # a problem of the pipeline that the step runs
        return listed("pipeline", of_pipeline[1])
    here = [*spread(DEFS[kind])]
    found = errors(here)
    for word, place in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        here = [high for one in here for low in below(one, word, place) for high in spread(low)]
        found |= errors(here)
        if not here or any(one in HOLDERS for one in here):
            found |= OF_ANY_REFERENCE
        if word in ("default", "inputs"):
            found.update(MISFIT)
    return found


def unlisted(verdicts: Iterable[Verdict]) -> set[str]:
    """Words of the engine that the schema does not list for their key."""
    found = set()
    for kind, _, problems in verdicts:
        for line in problems:
            path, _, problem = line.partition(": ")
            errors = [*OF_ANY_KEY, *listed(kind, path)]
            if not any(re.fullmatch(pattern(error), problem) for error in errors):
                found.add(f"{kind} {line}")
    return found


# The tests ---------------------------------------------------------------------------------------


def check(verdicts: list[Verdict]) -> None:
    wrong = [bool(problems) for one in verdicts for _, _, problems in parts(one)]
    assert 0 < sum(wrong) < len(wrong)
    assert differences(verdicts) == []
    assert unlisted(verdicts) == set()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("kind", "whole"), [("pipeline", PIPELINES), ("workflow", WORKFLOWS)])
def test_it_agrees_about_definitions_as_a_whole(kind: str, whole: list[Json], judge: Judge) -> None:
    check(judge((kind, new) for one in whole for new in [one, *changes(one)]))


@pytest.mark.parametrize(("kind", "items"), [("pipeline", NODES), ("workflow", STEPS)])
def test_it_agrees_about_nodes_and_steps(kind: str, items: list[Json], judge: Judge) -> None:
    check(judge((kind, definition) for definition in batches(kind, items)))


def test_it_agrees_about_what_the_tests_of_registering_register(db: Connection) -> None:
    check(recorded(db))


def test_it_accepts_what_the_tests_and_the_examples_register() -> None:
    files = [*(ROOT / "examples").glob("*/definitions/*.json")]
    known = [json.loads(file.read_text("utf-8")) for file in files]
    for name in workflows.WORKFLOWS:
        pipelines, workflow = workflows.definitions(name)
        known += [*pipelines, workflow]
    known += [PIPELINE, WORKFLOW]
    whole = Draft202012Validator(SCHEMA)
    assert len(files) > 5
    assert [str(error) for one in known for error in whole.iter_errors(one)] == []


def every(schema: Json, key: str) -> Iterator[Json]:
    """Each value of a key, anywhere in a schema."""
    members = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, dict) and key in schema:
        yield schema[key]
    for member in members if isinstance(schema, (dict, list)) else ():
        yield from every(member, key)


def test_the_engine_can_say_every_error_that_the_schema_lists() -> None:
    rooms = ("definitions", "graphs", "values", "shared")
    files = [file for room in rooms for file in (ROOT / "sql/functions" / room).glob("*.sql")]
    text = "\n".join(file.read_text("utf-8") for file in files)
    text = re.sub(r"(?m)(^| )-- .*$", "", text)
    text = re.sub(r"'\s*\n\s*(\|\| )?'", "", text)  # a text on two lines
    texts = [found.replace("''", "'") for found in re.findall("'((?:[^']|'')*)'", text)]
    said = {re.sub("%[sI]", "…", one).rstrip("…") for one in texts}
    listed = {error for found in every(SCHEMA, "x-errors") for error in found} | {*MISFIT}
    said |= {one.replace("%s", "…").rstrip("…") for one in every(SCHEMA, "x-says")}
    assert len(listed) > 50
    assert sorted(error for error in listed if error.rstrip("…") not in said) == []


def read_by_the_engine(schema: Json) -> Iterator[tuple[str, Json]]:
    """Each keyword of a schema, with its value; beside x-check the engine reads none."""
    if not isinstance(schema, dict) or "x-check" in schema:
        return
    for word, value in schema.items():
        yield word, value
        if word in ("$defs", "properties", "patternProperties"):
            below = [*value.values()]
        else:
            below = value if isinstance(value, list) else [value]
        for one in below if word not in ("const", "dependentRequired") else ():
            yield from read_by_the_engine(one)


def test_the_engine_knows_each_keyword_of_the_schema(db: Connection) -> None:
    (schema,) = db.execute("select _qwf.definition_schema()").fetchone() or ()
    found = [*read_by_the_engine(schema)]
    text = (ROOT / "sql/functions/definitions/misfits.sql").read_text("utf-8")
    unknown = {word for word, _ in found if not re.search(rf"\b{word.strip('$')}\b", text)}
    assert sorted(unknown) == []
    assert {value for word, value in found if word == "minItems"} == {1}


def test_the_page_and_the_engine_have_what_follows_from_it() -> None:
    tables = tool("definition_tables")
    text = (ROOT / "docs/definitions.md").read_text("utf-8")
    assert tables.document(text, DEFS) == text, "run: make docs"
    function = tables.FUNCTION.read_text("utf-8")
    assert tables.embedded(function, DEFS) == function, "run: make docs"
    shown = {name for _, name, _ in tables.TABLE.findall(text)} - {"widgets"}
    others = {name for name in DEFS if re.match("widget_|not_on_", name)}
    others |= {name for name in DEFS if "properties" not in DEFS[name]}
    assert shown == {*DEFS} - others - {"limits", "workflow_node"}
