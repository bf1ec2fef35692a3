"""Functions and calls become the JSON of a definition; what none can say is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent import FROM_AGENT, App
from qwf_agent.app.workflows import (
    Definition,
    Reference,
    item,
    node,
    pipeline,
    question,
    ref,
    run,
    step,
    this_run,
    workflow,
)
from support.definitions import PIPELINE, WORKFLOW
from support.machine import workflows

Json = Any
app = App()


@app.task("find")
def find_photos(folder: Path, most: int = 12, out: Path = FROM_AGENT) -> None: ...


def nodes_of(build: Callable[[], object]) -> list[Json]:
    def a_pipeline(folder: Reference) -> None:
        build()

    found: list[Json] = pipeline()(a_pipeline).compile()["nodes"]
    return found


def steps_of(build: Callable[[], object]) -> list[Json]:
    def a_workflow(folder: Reference) -> None:
        build()

    found: list[Json] = workflow()(a_workflow).compile()["steps"]
    return found


# What JSON can say, Python can -------------------------------------------------------------------


def written(definition: Json) -> Definition:
    """The definition, made by calls: every key is the keyword argument of that name."""
    given = copy.deepcopy(definition)
    name, outputs = given.pop("name"), given.pop("outputs", None)
    parts = given.pop("nodes", None)
    steps = given.pop("steps", None)

    def a_pipeline() -> Json:
        for one in parts:
            if "workflow" in one:
                run(one.pop("id"), one.pop("workflow"), **one)
            else:
                node(one.pop("id"), one.pop("node", None), **one)
        return outputs

    def a_workflow() -> Json:
        for one in steps:
            part_id, kind = one.pop("id"), one.pop("kind", "node")
            if kind == "node":
                node(part_id, one.pop("node", None), **one)
            elif kind == "workflow":
                run(part_id, one.pop("workflow"), **one)
            elif kind == "input":
                question(part_id, one.pop("widget"), **one)
            else:
                step(part_id, one.pop("pipeline"), **one)
        return outputs

    if steps is None:
        return pipeline(name, **given)(a_pipeline)
    return workflow(name, **given)(a_workflow)


NODE_STEPS = {
    "name": "nodes",
    "steps": [
        {"id": "list", "command": ["ls", {"$from": "folder"}]},
        {
            "id": "each",
            "node": "one",
            "depends_on": ["list"],
            "map": {"$from": "list.xs"},
            "inputs": {"x": {"$from": "item"}},
        },
        {"id": "tail", "kind": "node", "depends_on": ["each"], "run_if": "all_done"},
    ],
}
RUNS = {
    "name": "runs",
    "inputs": {"type": "object", "properties": {"folder": {"type": "string"}}},
    "outputs": {"captions": {"$from": "each"}},
    "steps": [
        {
            "id": "each",
            "kind": "workflow",
            "workflow": "one",
            "map": {"$from": "photos"},
            "max_parallel": 4,
            "min_success": "90%",
            "inputs": {"photo": {"$from": "item"}},
        },
    ],
}
KNOWN = [PIPELINE, WORKFLOW, NODE_STEPS, RUNS]
for _name in workflows.WORKFLOWS:
    _pipelines, _workflow = workflows.definitions(_name)
    KNOWN += [*_pipelines, _workflow]


@pytest.mark.parametrize("definition", KNOWN, ids=lambda one: one["name"])
def test_calls_make_every_definition_of_the_tests(definition: Json) -> None:
    assert written(definition).compile() == definition


# Dependencies ------------------------------------------------------------------------------------


def test_a_part_depends_on_what_it_reads_in_order() -> None:
    def build() -> None:
        a, b, c = node("a"), node("b"), node("c")
        node("d", inputs={"x": [b.x, {"y": ref(item, default=c.y)}], "z": b}, skip_if=a.skip)
        node("e", command=["run", c.path], map=ref("a.list"))
        node("f", inputs=[{"name": "x", "from": "b.x"}])
        node("g", inputs={"x": {"$value": {"$from": "a"}}, "y": "a.x", "z": ref("other.a")})
        node("h", map=[{"from": "a"}], inputs={"own": ref("h.x")})
        node("i", inputs={"x": ref(["b", "a.dot", 0])})

    found = {one["id"]: one.get("depends_on") for one in nodes_of(build)}
    assert found == {
        "a": None, "b": None, "c": None, "d": ["b", "c", "a"], "e": ["c", "a"], "f": ["b"],
        "g": None, "h": None, "i": ["b"],
    }  # fmt: skip


def test_a_step_depends_on_the_steps_and_the_nodes_of_steps_that_it_reads() -> None:
    def build() -> None:
        first = step("first", "p")
        ask = question("ask", "choose_one", source=first.list, prompt=ref("first/find.text"))
        step("last", "p", inputs={"x": ask.value}, skip_if=ref(ask.value, eq="none"))

    found = {one["id"]: one.get("depends_on") for one in steps_of(build)}
    assert found == {"first": None, "ask": ["first", "first/find"], "last": ["ask"]}


def test_in_a_pipeline_a_node_of_a_step_is_no_sibling() -> None:
    def build() -> None:
        node("first")
        node("second", inputs={"x": ref("first/find.boxes")})

    assert "depends_on" not in nodes_of(build)[1]


def test_given_dependencies_replace_those_that_are_read() -> None:
    def build() -> None:
        a, b = node("a"), node("b")
        node("c", inputs={"x": a.x, "y": b.y}, depends_on=[b])
        node("d", inputs={"x": a.x}, depends_on=[])
        node("e", depends_on=["a", b])

    assert [one.get("depends_on") for one in nodes_of(build)[2:]] == [["b"], [], ["a", "b"]]


# Tasks, durations, widgets -----------------------------------------------------------------------


def test_a_task_of_an_app_gives_its_name() -> None:
    [made] = nodes_of(lambda: node("photos", find_photos, inputs={"folder": ref("folder")}))
    assert made == {"id": "photos", "node": "find", "inputs": {"folder": {"$from": "folder"}}}


def test_a_timedelta_becomes_seconds() -> None:
    hour = timedelta(hours=1)
    [made] = nodes_of(lambda: node("a", timeout=hour, stall_timeout=timedelta(seconds=1.5)))
    assert (made["timeout"], made["stall_timeout"]) == (3600, 1.5)
    [made] = steps_of(lambda: question("q", "text", expires=hour, default="x"))
    assert made["expires"] == 3600
    assert workflow("w", deadline=hour)(lambda: None).compile()["deadline"] == 3600


def test_a_widget_of_a_front_end_has_keys_of_its_own() -> None:
    def build() -> None:
        first = step("first", "p")
        question("q", "paint_mask", prompt="Where?", own_keys={"over": first.photo, "size": 3})

    assert steps_of(build)[1] == {
        "id": "q", "kind": "input", "widget": "paint_mask", "depends_on": ["first"],
        "prompt": "Where?", "over": {"$from": "first.photo"}, "size": 3,
    }  # fmt: skip


def test_loops_and_helpers_add_parts() -> None:
    def chain(names: str) -> Reference:
        last = ref("pipeline.folder")
        for name in names:
            last = node(name, "work", inputs={"x": last})
        return last

    made = nodes_of(lambda: chain("abc"))
    assert [(one["id"], one.get("depends_on")) for one in made] == [
        ("a", None), ("b", ["a"]), ("c", ["b"]),
    ]  # fmt: skip


def test_a_definition_can_be_compiled_in_another_and_again() -> None:
    inner = pipeline("inner")(lambda: None)

    @workflow()
    def outer() -> None:
        step("a", inner)
        assert inner.compile() == {"name": "inner", "nodes": []}
        step("b", inner)

    assert outer.compile() == outer.compile()
    assert [one["id"] for one in outer.compile()["steps"]] == ["a", "b"]


# Refusals ----------------------------------------------------------------------------------------


async def later() -> None: ...


def yielding() -> Any:
    yield


REFUSED_IN_A_PIPELINE: list[tuple[Callable[[], object], str]] = [
    (lambda: node("a", qeue="gpu"), "node 'a' does not take 'qeue'; did you mean 'queue'"),
    (lambda: node("a", zzz=1), "does not take 'zzz'; use one of at_most_once, command"),
    (lambda: node("a", 5), "the task of node 'a' has to be a name or a task of an App, not 5"),
    (lambda: node("a", later), "has to be a name or a task of an App"),
    (lambda: node(5), "the id of a node has to be a text, not 5"),
    (lambda: node("a", find_photos), r"node 'a': find_photos\(\) needs the argument 'folder'"),
    (lambda: node("a", find_photos, inputs={"foldr": "x"}), "'foldr'; did you mean 'folder'"),
    (lambda: node("a", inputs=item), "inputs of node 'a' are given by name"),
    (lambda: node("a", timeout=item.time), "timeout of node 'a' takes no reference: <item.time>"),
    (lambda: node("a", requires={"zone": item}), "requires of node 'a' takes no reference"),
    (lambda: node("a", outputs=[item]), "outputs of node 'a' takes no reference"),
    (lambda: node("a", vram_mb=timedelta(1)), "it contains a value of type timedelta"),
    (lambda: node("a", depends_on="b"), "has to be a list of nodes, not 'b'"),
    (lambda: node("a", depends_on=[node("b").x]), "takes nodes and their ids, not <b.x>"),
    (lambda: node("a", depends_on=[5]), "takes nodes and their ids, not 5"),
    (lambda: step("a", "p"), r"step\(\) belongs in a workflow, and pipeline 'a_pipeline' is none"),
    (lambda: question("a", "text"), r"question\(\) belongs in a workflow"),
]
REFUSED_IN_A_WORKFLOW: list[tuple[Callable[[], object], str]] = [
    (lambda: step("a", "p", map=[1]), "step 'a' does not take 'map'; use one of delay, depends_on"),
    (lambda: step("a", 5), "step 'a' runs a pipeline, or the name of one, not 5"),
    (lambda: step("a", workflow("w")(lambda: None)), "runs a pipeline"),
    (
        lambda: run("a", pipeline("p")(lambda: None)),
        "runs a workflow, or the name",
    ),
    (lambda: run("a", "w", queue="cpu"), "step 'a' does not take 'queue'"),
    (lambda: step("a", "p", inputs=ref("b")), "inputs of step 'a' are given by name"),
    (lambda: step("a", "p", depends_on=[ref("x", eq=1)]), "takes steps and their ids"),
    (lambda: question("a", "text", options=[1]), "step 'a' does not take 'options'"),
    (lambda: question("a", "confirm", promt="?"), "did you mean 'prompt'"),
    (lambda: question("a", "chose_one"), "'chose_one' is no widget of qwf .*'choose_one'"),
    (lambda: question("a", "text", own_keys={}), "'text' is a widget of qwf, which has no own"),
    (lambda: question("a", "own", own_keys={"prompt": 1}), r"write prompt=\.\.\."),
    (lambda: question("a", "own", own_keys={}, promt=1), "did you mean 'prompt'"),
    (lambda: question("a", "text", default=ref("b")), "default of step 'a' takes no reference"),
    (lambda: question("a", "text", schema={"default": item}), "schema of step 'a' takes no"),
    (lambda: node("a", mpa=[1]), "step 'a' does not take 'mpa'; did you mean 'map'"),
]
REFUSED_ALONE: list[tuple[Callable[[], object], str]] = [
    (lambda: node("a"), r"node\(\) was called outside of a pipeline or a workflow"),
    (lambda: step("a", "p"), r"step\(\) was called outside of a workflow"),
    (lambda: pipeline(later), r"write @pipeline\(\) with its parentheses"),
    (lambda: pipeline(5), "the name of a pipeline has to be a text, not 5"),
    (lambda: pipeline(dsplay_name="x"), r"@pipeline\(\) does not take 'dsplay_name'; did you"),
    (lambda: workflow(deadlin=5), r"@workflow\(\) does not take 'deadlin'; did you mean"),
    (lambda: pipeline()(later), "takes a function without async and yield"),
    (lambda: pipeline()(yielding), "takes a function without async and yield"),
    (lambda: workflow()(print), "takes a function without async and yield"),
    (lambda: workflow("w")(lambda *a: None), r"the parameter '\*a' of <lambda>\(\)"),
    (lambda: workflow("w")(lambda **a: None), r"the parameter '\*\*a'"),
    (lambda: workflow("w")(lambda a=1: None), "a default is written ref"),
    (lambda: workflow("w")(lambda: 5).compile(), "returns its outputs by name, as a dict, not 5"),
    (lambda: pipeline("p")(lambda: 5).compile(), "returns its outputs by name, as a dict, not 5"),
    (lambda: pipeline("p")(lambda a: a).compile(), "not <pipeline.a>"),
    (lambda: pipeline("p")(lambda a: {"x": {1}}).compile(), "the outputs of pipeline 'p' is not"),
    (lambda: pipeline("p", inputs={"default": item})(lambda: None).compile(), "takes no reference"),
]


@pytest.mark.parametrize(("build", "refusal"), REFUSED_IN_A_PIPELINE)
def test_what_no_node_can_have_is_refused(build: Callable[[], object], refusal: str) -> None:
    with pytest.raises(TypeError, match=refusal):
        nodes_of(build)


@pytest.mark.parametrize(("build", "refusal"), REFUSED_IN_A_WORKFLOW)
def test_what_no_step_can_have_is_refused(build: Callable[[], object], refusal: str) -> None:
    with pytest.raises(TypeError, match=refusal):
        steps_of(build)


@pytest.mark.parametrize(("build", "refusal"), REFUSED_ALONE)
def test_what_no_definition_can_be_is_refused(build: Callable[[], object], refusal: str) -> None:
    with pytest.raises(TypeError, match=refusal):
        build()


@pytest.mark.parametrize(
    ("build", "refusal"),
    [
        (lambda: pipeline("../x")(lambda: None), "'../x' is no name for a pipeline"),
        (lambda: workflow()(lambda: None), "'<lambda>' is no name for a workflow"),
        (lambda: pipeline("")(lambda: None), "'' is no name"),
        (lambda: nodes_of(lambda: (node("a"), node("a"))), "two nodes are called 'a'"),
        (lambda: steps_of(lambda: step("folder", "p")), "a step and a parameter are called"),
        (lambda: pipeline("p")(lambda: {"x": "\0"}).compile(), "the outputs of .* are not JSON"),
    ],
)
def test_bad_names_are_refused(build: Callable[[], object], refusal: str) -> None:
    with pytest.raises(ValueError, match=refusal):
        build()


def test_depending_on_a_parameter_is_refused() -> None:
    def a_workflow(folder: Reference) -> None:
        step("a", "p", depends_on=[folder])

    with pytest.raises(TypeError, match="takes steps and their ids, not <folder>"):
        workflow()(a_workflow).compile()


def test_a_compensation_node_depends_on_nothing_that_it_reads() -> None:
    """Its targets are named by their references or ids, in pipelines and in workflows."""

    def build() -> None:
        hold = node("hold")
        charge = node("charge", inputs={"of": hold.id})
        node("refund", compensates=[charge], inputs={"payment": charge.id, "of": hold.id})
        node("free", compensates=["hold"])

    _, _, refund, free = nodes_of(build)
    assert refund == {
        "id": "refund", "compensates": ["charge"],
        "inputs": {"payment": {"$from": "charge.id"}, "of": {"$from": "hold.id"}},
    }  # fmt: skip
    assert free == {"id": "free", "compensates": ["hold"]}
    assert workflow("w")(build).compile()["steps"][2]["compensates"] == ["charge"]


def test_a_clean_up_node_reads_the_run_itself() -> None:
    """this_run is no node to wait for, and no key of the context has its name."""
    read = {"why": this_run.error, "first": ref(this_run.failed[0], default=None)}

    def build() -> None:
        load = node("load")
        node("tell", inputs=read, depends_on=[load], run_if="all_done")

    _, tell = nodes_of(build)
    assert tell["depends_on"] == ["load"]
    assert tell["inputs"]["why"] == {"$from": "run.error"}
    assert tell["inputs"]["first"] == {"$from": "run.failed.0", "$default": None}

    def of_run(run: Reference) -> None:
        step("a", "p", inputs={"x": run})

    with pytest.raises(TypeError, match="would be the run itself"):
        workflow()(of_run)


def test_a_failed_build_leaves_nothing_behind() -> None:
    with pytest.raises(ZeroDivisionError):
        nodes_of(lambda: 1 / 0)
    with pytest.raises(TypeError, match="outside of a pipeline"):
        node("a")


# Postgres ----------------------------------------------------------------------------------------


def test_a_run_of_compiled_definitions_waits_for_what_it_reads(
    db: psycopg.Connection[Any],
) -> None:
    @pipeline("album")
    def album(photos: Reference) -> Json:
        thumbnails = node("thumbnail", map=photos, inputs={"photo": item}, max_parallel=2)
        sheet = node("sheet", inputs={"thumbnails": thumbnails})
        return {"sheet": sheet}

    @workflow("show")
    def show(photos: Reference) -> None:
        made = step("made", album, inputs={"photos": photos})
        good = question("good", "confirm", show=made.sheet.path, target="yes")
        step("again", album, inputs={"photos": photos}, skip_if=ref(good.yes, eq=True))

    db.execute("select qwf.register_pipeline(%s)", [Jsonb(album.compile())])
    db.execute("select qwf.register_workflow(%s)", [Jsonb(show.compile())])
    db.execute("""select qwf.enqueue_run('show', '{"photos": ["a", "b"]}')""")
    rows = db.execute("select node_id, status::text from qwf.jobs order by node_id").fetchall()
    assert dict(rows) == {
        "again/sheet": "blocked", "again/thumbnail": "blocked", "good": "blocked",
        "made/sheet": "blocked", "made/thumbnail": "blocked", "made/thumbnail[0]": "queued",
        "made/thumbnail[1]": "queued",
    }  # fmt: skip


def test_a_node_of_a_pipeline_runs_a_workflow(db: psycopg.Connection[Any]) -> None:
    """`run()` in a pipeline is a node with `workflow`."""

    @workflow("caption", inputs={"type": "object", "required": ["photo"]})
    def caption(photo: Reference) -> Json:
        return {"text": node("write", inputs={"photo": photo}).text}

    @pipeline("album")
    def album(photos: Reference) -> Json:
        return {"texts": run("each", caption, map=photos, inputs={"photo": item})}

    @workflow("show")
    def show(photos: Reference) -> None:
        step("made", album, inputs={"photos": photos})

    assert album.compile()["nodes"] == [
        {
            "id": "each", "workflow": "caption", "map": {"$from": "pipeline.photos"},
            "inputs": {"photo": {"$from": "item"}},
        }
    ]  # fmt: skip
    for one in (caption, album, show):
        db.execute(f"select qwf.register_{one.kind}(%s)", [Jsonb(one.compile())])
    db.execute("""select qwf.enqueue_run('show', '{"photos": ["a", "b"]}')""")
    rows = db.execute("select context ->> 'photo' from qwf.runs where depth = 1 order by id")
    assert rows.fetchall() == [("a",), ("b",)]
