"""A reference is a path that grows; everything that would read its value is refused."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.app.workflows import (
    Pipeline,
    Reference,
    coalesce,
    index,
    item,
    node,
    pipeline,
    ref,
    step,
    this_run,
    value,
    workflow,
)
from support.servers import ROOT

Json = Any


def inputs_of(build: Callable[[Reference], Json]) -> Json:
    """Input `x` of a node of a pipeline with the input `folder`."""

    def a_pipeline(folder: Reference) -> None:
        node("first")
        node("second", inputs={"x": build(folder)})

    return pipeline()(a_pipeline).compile()["nodes"][1]["inputs"]["x"]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda folder: folder, {"$from": "pipeline.folder"}),
        (lambda folder: folder.photos[0].name, {"$from": "pipeline.folder.photos.0.name"}),
        (lambda folder: folder["class"][-1], {"$from": "pipeline.folder.class.-1"}),
        (lambda folder: folder["a.b"][0], {"$from": ["pipeline", "folder", "a.b", 0]}),
        (lambda folder: folder[""], {"$from": ["pipeline", "folder", ""]}),
        (lambda folder: folder.items, {"$from": "pipeline.folder.items"}),
        (lambda _: item.box, {"$from": "item.box"}),
        (lambda _: index, {"$from": "index"}),
        (lambda _: ref("photo.path"), {"$from": "photo.path"}),
        (lambda _: ref("photo")["path"], {"$from": "photo.path"}),
        (lambda _: ref(["photo", "a.b", 0]), {"$from": ["photo", "a.b", 0]}),
        (lambda _: ref("detect/find.boxes"), {"$from": "detect/find.boxes"}),
        (lambda folder: ref(folder, default=None), {"$from": "pipeline.folder", "$default": None}),
        (lambda _: ref("a.b", eq="none"), {"$from": "a.b", "$eq": "none"}),
        (lambda _: ref(item, ne=index), {"$from": "item", "$ne": {"$from": "index"}}),
        (
            lambda folder: ref("boxes", filter={"eq:id": folder.id, "matches:label": "^f"}),
            {"$from": "boxes",
             "$filter": {"eq:id": {"$from": "pipeline.folder.id"}, "matches:label": "^f"}},
        ),
        (lambda folder: coalesce(item.a, folder, 3),
         {"$coalesce": [{"$from": "item.a"}, {"$from": "pipeline.folder"}, 3]}),
        (lambda _: coalesce(item.a, default=[item.b]),
         {"$coalesce": [{"$from": "item.a"}], "$default": [{"$from": "item.b"}]}),
        (lambda _: value({"$from": 5}), {"$value": {"$from": 5}}),
        (lambda folder: {"a": [folder, (1, None)]},
         {"a": [{"$from": "pipeline.folder"}, [1, None]]}),
        (lambda _: {"$from": "first.x"}, {"$from": "first.x"}),
        (lambda _: Path("/data") / "a.jpg", "/data/a.jpg"),
        (lambda folder: copy.deepcopy(item), {"$from": "item"}),
    ],
)  # fmt: skip
def test_it_becomes_the_expression(build: Callable[[Reference], Json], expected: Json) -> None:
    assert inputs_of(build) == expected


def test_the_table_of_the_page_is_right() -> None:
    page = (ROOT / "docs/workflows-in-python.md").read_text("utf-8")
    chapter = page.partition("\n## References\n")[2].partition("\nEvery attribute ")[0]
    table = [re.findall(r"`([^`]+)`", row) for row in re.findall(r"(?m)^\| `.*", chapter)]
    known = {
        "find": ref("find"), "choose": ref("choose"), "item": item, "index": index, "ref": ref,
        "coalesce": coalesce, "value": value, "this_run": this_run,
    }  # fmt: skip
    pairs = [
        pair
        for cells in table
        for pair in zip(cells[: len(cells) // 2], cells[len(cells) // 2 :], strict=True)
        if "\u2026" not in pair[1] and pair[1].startswith("{")
    ]
    assert len(pairs) > 7
    for python, expected in pairs:
        assert inputs_of(lambda _, given=python: eval(given, known)) == json.loads(expected)


def test_postgres_finds_what_python_finds_on_the_same_path(db: psycopg.Connection[Any]) -> None:
    """The path of a reference leads to what the same attributes and items of the value are."""
    scope = {"item": {"a.b": [{"": 1, "0": 2, "x y": {"-1": 3}}, [4, 5]], "c": {"d/e": None}}}
    paths: list[tuple[str | int, ...]] = [
        ("a.b",), ("a.b", 0, ""), ("a.b", 0, "0"), ("a.b", 0, "x y", "-1"), ("a.b", 1, -1),
        ("a.b", -1, 0), ("c",), ("c", "d/e"),
    ]  # fmt: skip
    for path in paths:
        reference, found = item, scope["item"]
        for name in path:
            reference, found = reference[name], found[name]
        expression = inputs_of(lambda _, given=reference: given)
        query = "select qwf.resolve(%s::jsonb, %s::jsonb)"
        rows = db.execute(query, [json.dumps(expression), json.dumps(scope)]).fetchall()
        assert rows == [(found,)], path


USES: list[tuple[Callable[[Any], object], str]] = [
    (lambda x: bool(x), "neither true nor false here: give it to skip_if, or write"),
    (lambda x: 1 if x else 2, "neither true nor false"),
    (lambda x: not x, "neither true nor false"),
    (lambda x: x and 1, "neither true nor false"),
    (lambda x: x == 3, r"cannot be compared here: write ref\(..., eq=...\)"),
    (lambda x: x != 3, "cannot be compared"),
    (lambda x: [x] == [3], "cannot be compared"),
    (lambda x: x == x, "cannot be compared"),
    (lambda x: x in ["a"], "cannot be compared"),
    (lambda x: x < 3, "cannot be compared here: let a task compare it"),
    (lambda x: max(x, 3), "cannot be compared"),
    (lambda x: list(x), r"has no elements here: give it to map, or write \[0\]"),
    (lambda x: [*x], "has no elements"),
    (lambda x: [one.a for one in x], "has no elements"),
    (lambda x: len(x), "has no elements"),
    (lambda x: "a" in x, "has no elements"),
    (lambda x: f"{x}", "cannot be put into a text: let the task"),
    (lambda x: f"{x:>10}", "cannot be put into a text"),
    (lambda x: str(x), "cannot be put into a text"),
    (lambda x: "%s" % x, "cannot be put into a text"),  # noqa: UP031
    (lambda x: "{}".format(x), "cannot be put into a text"),  # noqa: UP032
    (lambda x: " ".join([x]), "expected str instance"),
    (lambda x: "a" + x, "cannot be calculated with"),
    (lambda x: x + 1, "cannot be calculated with here: let a task"),
    (lambda x: 2 * x, "cannot be calculated with"),
    (lambda x: x / 2, "cannot be calculated with"),
    (lambda x: x & True, "cannot be calculated with"),
    (lambda x: -x, "bad operand type"),
    (lambda x: int(x), "argument must be"),
    (lambda x: range(x), "cannot be interpreted as an integer"),
    (lambda x: {x: 1}, "cannot be a key of a dict"),
    (lambda x: {x}, "cannot be a key of a dict, or in a set"),
    (lambda x: json.dumps(x), "not JSON serializable"),
]


@pytest.mark.parametrize("make", [lambda: item.box, lambda: ref(item, eq=1), coalesce])
@pytest.mark.parametrize(("use", "refusal"), USES)
def test_what_would_read_its_value_now_is_refused(
    use: Callable[[Any], object], refusal: str, make: Callable[[], Any]
) -> None:
    with pytest.raises(TypeError, match=refusal):
        use(make())


@pytest.mark.parametrize(
    ("use", "refusal"),
    [
        (lambda: item.photos(), "has no methods"),
        (lambda: item[1.5], "takes a name or a position in brackets, not 1.5"),
        (lambda: item[True], "not True"),
        (lambda: item[0:2], "takes a name or a position"),
        (lambda: ref(5), "a path is a text or a list of names and positions, not 5"),
        (lambda: ref([]), r"not \[\]"),
        (lambda: ref([True]), r"not \[True\]"),
        (lambda: ref("a..b"), "has an empty name before, between or after its dots"),
        (lambda: ref(""), "has an empty name"),
        (lambda: ref("a", defalt=1), r"ref\(\) does not take 'defalt'; did you mean 'default'"),
        (lambda: coalesce(1, defualt=1), r"coalesce\(\) does not take 'defualt'; did you mean"),
        (lambda: inputs_of(lambda _: {1: 2}), "inputs of node 'second' has the key 1"),
        (lambda: inputs_of(lambda _: {"a", "b"}), "it contains a value of type set"),
        (lambda: inputs_of(lambda _: range(3)), "it contains a value of type range"),
        (lambda: inputs_of(lambda _: value(item)), "takes no reference: <item>"),
    ],
)
def test_what_makes_no_path_and_no_value_is_refused(
    use: Callable[[], object], refusal: str
) -> None:
    with pytest.raises(TypeError, match=refusal):
        use()


@pytest.mark.parametrize("data", ["a\0b", float("nan"), "\ud800"])
def test_a_value_that_postgres_cannot_store_is_refused(data: Json) -> None:
    with pytest.raises(ValueError, match="the keys of node 'second' are not JSON"):
        inputs_of(lambda _: data)


def test_private_names_are_no_paths_unless_they_are_written_in_brackets() -> None:
    with pytest.raises(AttributeError, match=r"'_id' begins with _: write \['_id'\]"):
        _ = item._id
    assert not hasattr(item, "__wrapped__")
    assert inputs_of(lambda _: item["_id"]) == {"$from": "item._id"}


def test_a_reference_belongs_to_its_definition() -> None:
    kept: list[Reference] = []

    def make(name: str) -> Pipeline:
        @pipeline(name)
        def a_pipeline(folder: Reference) -> None:
            kept.append(folder)
            node("read", inputs={"x": kept[0]})

        return a_pipeline

    make("one").compile()
    refusal = "inputs of node 'read': <pipeline.folder> belongs to pipeline 'one', not to this"
    with pytest.raises(TypeError, match=refusal):
        make("two").compile()

    @workflow()
    def a_workflow(folder: Reference) -> None:
        step("read", "one", inputs={"x": {"deep": [kept[0]]}})

    with pytest.raises(TypeError, match="belongs to pipeline 'one'"):
        a_workflow.compile()
