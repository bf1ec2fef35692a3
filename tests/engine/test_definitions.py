"""Whatever is registered: it is refused with QW003, or it can be compiled and resolved."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from support.definitions import PIPELINE, WORKFLOW
from support.servers import ROOT
from support.thorough import THOROUGH

EXAMPLES = 500 if THOROUGH else 60
Connection = psycopg.Connection[Any]

scalars = st.sampled_from([None, True, 0, -1, 1.5, "", "a", "first/fetch", "pipeline.x", "a.b"])
odd = st.sampled_from(
    [
        {"$from": "first.boxes"},
        {"$from": 5},
        {"$from": ["a", {"b": 1}]},
        {"$from": "pipeline"},
        {"$from": "first.files"},
        {"$from": "item.x"},
        {"$from": "fetch", "$filter": 1},
        {"$value": {"$from": 1}},
        {"$coalesce": []},
        {"$eq": 1},
        {"type": "string"},
        ["first/find", "ask/x"],
        [None],
        [[]],
    ]
)
values = scalars | odd | st.builds(list) | st.builds(dict)
keys = (
    st.sampled_from(
        ["id", "inputs", "depends_on", "nodes", "widget", "kind", "command", "files", "required"]
    )
    | st.sampled_from(
        ["default", "items", "pattern", "skip_if", "steps", "$from", "$value", "$check"]
    )
    | st.sampled_from(
        ["map", "max_parallel", "min_success", "run_if", "on_failure", "limit_by", "expires"]
    )
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value, with every key or index of it."""
    members = dict(enumerate(value)) if isinstance(value, list) else value
    for key, member in members.items() if isinstance(members, dict) else ():
        yield value, key
        yield from places(member)


@st.composite
def damaged(draw: st.DrawFn, definition: Any) -> Any:
    """The definition after one to three changes somewhere in it."""
    result = copy.deepcopy(definition)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(result))
        if not found:
            break
        container, key = draw(st.sampled_from(found))
        change = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        value = copy.deepcopy(draw(values))
        if change == "remove":
            del container[key]
        elif change == "add" and isinstance(container, dict):
            container[draw(keys)] = value
        elif change == "add":
            container.append(copy.deepcopy(container[key]))
        else:
            container[key] = value
    return result


def register(db: Connection, kind: str, definition: Any) -> psycopg.Error | None:
    """Registers the definition; the error that refused it, if one did."""
    try:
        with db.transaction():
            db.execute(f"select qwf.register_{kind}(%s)", [Jsonb(definition)])
    except psycopg.Error as error:
        return error
    return None


def is_explained(refusal: psycopg.Error | None) -> bool:
    return refusal is None or bool(
        refusal.sqlstate == "QW003" and refusal.diag.message_detail and refusal.diag.message_hint
    )


def resolve_all(db: Connection) -> None:
    """Resolves every node of every graph against nothing: each has a value or an error."""
    db.execute("select p from qwf.graphs g cross join lateral _qwf.context_problems(g.id, '{}') p")
    faults = db.execute(
        """
        select r.error
        from qwf.graph_nodes n
        cross join lateral (
          values (case when n.has_refs then n.inputs end), (n.skip_if), (n.input_spec), (n.map)
        ) v (value)
        cross join lateral _qwf.resolve(v.value, '{"$context": {}, "$item": {}, "$index": 0}') r
        where r.error is not null
        """
    ).fetchall()
    assert [e for (e,) in faults if not e.startswith(("unresolvable", "invalid"))] == []


@pytest.fixture
def registered(db: Connection) -> Connection:
    """A session on a database where both are registered as they should be."""
    assert register(db, "pipeline", PIPELINE) is None
    assert register(db, "workflow", WORKFLOW) is None
    return db


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(pipeline=damaged(PIPELINE), workflow=damaged(WORKFLOW), both=st.booleans())
def test_a_definition_is_refused_or_usable(
    registered: Connection, pipeline: Any, workflow: Any, both: bool
) -> None:
    with registered.transaction(force_rollback=True):
        if both:
            assert is_explained(register(registered, "pipeline", pipeline))
        assert is_explained(register(registered, "workflow", workflow))
        resolve_all(registered)


def preview(db: Connection, workflow: Any, pipelines: Any) -> Any:
    query = "select qwf.workflow_graph(%s, %s)"
    return db.execute(query, [Jsonb(workflow), Jsonb(pipelines)]).fetchall()[0][0]


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(pipeline=damaged(PIPELINE), workflow=damaged(WORKFLOW))
def test_a_preview_finds_what_registering_would_refuse(
    registered: Connection, pipeline: Any, workflow: Any
) -> None:
    """It raises for nothing, and has no problem exactly when both can be registered."""
    seen = preview(registered, workflow, {"detect": pipeline})
    for edge in seen["edges"]:
        assert 0 <= edge[0] < edge[1] < len(seen["nodes"])
    assert all(p["path"] and p["message"] for p in seen["problems"])
    with registered.transaction(force_rollback=True):
        refused = [
            error
            for kind, definition in (("pipeline", pipeline), ("workflow", workflow))
            if (error := register(registered, kind, definition))
        ]
        stored = registered.execute(
            "select n.node_id from qwf.graph_nodes n where n.graph_id = (select max(id) from "
            "qwf.graphs) order by n.idx"
        ).fetchall()
    renamed = not isinstance(pipeline, dict) or pipeline.get("name") != "detect"
    assert bool(seen["problems"]) == (bool(refused) or renamed), (seen["problems"], refused)
    if not seen["problems"]:
        assert [n["id"] for n in seen["nodes"]] == [node_id for (node_id,) in stored]


def test_registering_tells_of_unknown_widgets_and_their_keys(db: Connection) -> None:
    told: list[str] = []
    db.add_notice_handler(
        lambda n: told.append(f"{n.message_primary}; {n.message_detail}; {n.message_hint}")
    )
    steps = [
        {"id": "pick", "kind": "input", "widget": "chose_one", "options": ["x"], "promt": "Which?"},
        {"id": "paint", "kind": "input", "widget": "paint_mask"},
        {"id": "say", "kind": "input", "widget": "text", "prompt": "What?"},
    ]
    assert register(db, "workflow", {"name": "w", "steps": steps}) is None
    checked = 'its answers are checked by its "options" and its "schema" only'
    assert told == [
        "step pick has the unknown widget chose_one; only the front end reads its keys promt; "
        f"did you mean choose_one? if not: {checked}",
        f"step paint has the unknown widget paint_mask; it has no keys of its own; {checked}",
    ]


def test_registering_tells_of_a_skip_if_that_reads_what_may_be_skipped(db: Connection) -> None:
    told: list[str] = []
    db.add_notice_handler(
        lambda n: told.append(f"{n.message_primary}; {n.message_detail}; {n.message_hint}")
    )
    nodes = [
        {"id": "a", "skip_if": {"$from": "pipeline.x"}},
        {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.done"}},
        {"id": "c", "depends_on": ["a"], "skip_if": {"$from": "a.done", "$default": False}},
        {"id": "d", "depends_on": ["a"], "skip_if": {"$coalesce": [{"$from": "a.done"}, False]}},
        {"id": "e", "depends_on": ["a", "d"], "inputs": {"y": {"$from": "a.done"}}},
    ]
    assert register(db, "pipeline", {"name": "p", "nodes": nodes}) is None
    one = {"$from": "t1.path", "$eq": "2"}
    steps = [
        {"id": "t1", "kind": "input", "widget": "choose_one", "target": "path", "options": ["1"]},
        {"id": "t2", "kind": "input", "widget": "choose_one", "target": "path", "options": ["1"],
         "depends_on": ["t1"], "skip_if": one},
        {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"x": True},
         "depends_on": ["t1", "t2"], "skip_if": {"$from": "t2.path", "$eq": "2"}},
    ]  # fmt: skip
    assert register(db, "workflow", {"name": "w", "steps": steps}) is None
    hint = 'give the reference a "$default": the value if that was skipped'
    assert told == [
        "skip_if of b reads a, which may be skipped itself; "
        f'then "a.done" leads nowhere, and b fails; {hint}',
        "skip_if of s reads t2, which may be skipped itself; "
        f'then "t2.path" leads nowhere, and s fails; {hint}',
    ]


def test_a_named_version_says_that_its_pipelines_have_changed(db: Connection) -> None:
    told: list[str] = []
    pipeline = {"name": "p", "nodes": [{"id": "a", "node": "a"}]}
    steps = [{"id": "s", "kind": "pipeline", "pipeline": "p"}]
    assert register(db, "pipeline", pipeline) is None
    assert register(db, "workflow", {"name": "w", "steps": steps}) is None
    db.add_notice_handler(lambda n: told.append(f"{n.message_primary}; {n.message_detail}"))
    db.execute("select qwf.enqueue_run('w@1')")
    assert told == []
    pipeline["nodes"] = [{"id": "b", "node": "b"}]
    assert register(db, "pipeline", pipeline) is None
    db.execute("select qwf.enqueue_run('w')")
    assert told == []
    db.execute("select qwf.enqueue_run('w@1')")
    assert told == [
        "w@1 runs with the current pipelines; it was also compiled with other versions of p"
    ]


def tables(text: str) -> Iterator[list[list[str]]]:
    """The rows of each table in a Markdown text, without its head; a row is a list of cells."""
    for table in re.findall(r"(?m)^\|[-|]+\|\n((?:^\|.*\n)+)", text):
        yield [[cell.strip() for cell in row[1:-1].split("|")] for row in table.splitlines()]


def test_the_page_lists_every_argument_of_a_schedule(db: Connection) -> None:
    names = db.execute(
        "select proargnames from pg_proc where oid = 'qwf.create_schedule'::regproc"
    ).fetchall()[0][0]
    text = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
    [arguments, *_] = tables(text)
    assert set(re.findall(r"`(\w+)`", " ".join(row[0] for row in arguments))) == set(names)
