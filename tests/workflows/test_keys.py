"""The keyword arguments are the keys of the JSON Schema: each can be written, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, get_args

import pytest

from qwf_agent.app.workflows import (
    coalesce,
    item,
    keys,
    node,
    pipeline,
    question,
    ref,
    run,
    step,
    value,
    workflow,
)
from qwf_agent.app.workflows.references import ReferenceKeys
from support.servers import ROOT

Json = Any
DEFS: Json = json.loads((ROOT / "sql/definition.schema.json").read_text("utf-8"))["$defs"]
# The same keys in several of its schemas: those of every question are not repeated by a widget.
QUESTION = {*keys.QuestionKeys.__annotations__}


def added(kind: str, give: Callable[..., Any], *names: str) -> Callable[[str, Json], Json]:
    """Makes a node or step with one more key."""

    def make(key: str, content: Json) -> Json:
        def build() -> None:
            give("id", *names, **{key: content})

        if kind == "pipeline":
            return pipeline("p")(build).compile()["nodes"][0]
        return workflow("w")(build).compile()["steps"][0]

    return make


def nothing() -> None: ...


MAKERS: dict[str, Callable[[str, Json], Json]] = {
    "node": added("pipeline", node, "task"),
    "pipeline_step": added("workflow", step, "p"),
    "workflow_step": added("workflow", run, "w"),
    "input_step": added("workflow", question, "confirm"),
    "widget_choose_one": added("workflow", question, "choose_one"),
    "widget_text": added("workflow", question, "text"),
    "widget_number": added("workflow", question, "number"),
    "widget_file": added("workflow", question, "file"),
    "pipeline": lambda key, one: pipeline("p", **{key: one})(nothing).compile(),
    "workflow": lambda key, one: workflow("w", **{key: one})(nothing).compile(),
}
TYPES = {
    "node": keys.NodeKeys, "pipeline_step": keys.StepKeys, "workflow_step": keys.RunKeys,
    "input_step": keys.QuestionKeys,
    "widget_choose_one": keys.ChoiceKeys, "widget_text": keys.TextKeys,
    "widget_number": keys.NumberKeys, "widget_file": keys.FileKeys, "pipeline": keys.PipelineKeys,
    "workflow": keys.WorkflowKeys, "retry": keys.Retry, "backoff": keys.Backoff,
    "expect": keys.Expect, "repeat": keys.Repeat,
    "schema": keys.Schema, "input": keys.InputFrom, "expression": ReferenceKeys,
}  # fmt: skip
# What stands in the call itself, or is returned.
BY_POSITION = {
    "node": {"id", "node"}, "pipeline_step": {"id", "kind", "pipeline"},
    "workflow_step": {"id", "kind", "workflow"},
    "input_step": {"id", "kind", "widget"}, "pipeline": {"name", "nodes", "outputs"},
    "workflow": {"name", "steps", "outputs"}, "expression": {"from", "value", "coalesce"},
}  # fmt: skip
IDS = {"depends_on", "compensates"}
# Objects that are data in Python, too; and parts of others in this table.
DATA = {
    "option",
    "workflow_node",
    "file",
    "inputs_schema",
    "not_on_a_run",
    "not_on_a_step",
    "on_gpu",
    "widget_of_a_front_end",
    "step",
    "limit",
    "limits",
}


def properties(name: str) -> dict[str, Json]:
    """The keys of a kind of object, as Python writes them."""
    found = dict(DEFS[name]["properties"])
    if name in ("pipeline_step", "workflow_step", "input_step"):
        found |= DEFS["step"]["properties"]
    return {key.removeprefix("$"): one for key, one in found.items()}


def test_every_object_of_the_schema_is_written_here() -> None:
    objects = {name for name, one in DEFS.items() if "properties" in one}
    assert objects == {*TYPES} | (DATA & objects)


@pytest.mark.parametrize("name", TYPES)
def test_the_types_have_the_keys_of_the_schema(name: str) -> None:
    own = {*TYPES[name].__annotations__} - (QUESTION if name.startswith("widget_") else set())
    assert own | BY_POSITION.get(name, set()) == {*properties(name)}
    assert own.isdisjoint(BY_POSITION.get(name, set()))


@pytest.mark.parametrize("name", MAKERS)
def test_every_key_comes_into_the_definition(name: str) -> None:
    for key in {*properties(name)} - BY_POSITION.get(name, set()):
        content = ["x"] if key in IDS else {"given": [key]}
        written = "$schema" if key == "schema" and name in ("pipeline", "workflow") else key
        assert MAKERS[name](key, content)[written] == content, key


def test_every_key_of_an_expression_comes_into_it() -> None:
    def resolved(expression: object) -> Json:
        def build() -> None:
            node("n", inputs={"x": expression})

        return pipeline("p")(build).compile()["nodes"][0]["inputs"]["x"]

    written = [resolved(ref("a", **{key: 1})) for key in ReferenceKeys.__annotations__]
    written += [resolved(value(1)), resolved(coalesce(1, default=2))]
    assert {key for one in written for key in one} == {*DEFS["expression"]["properties"]}


def names_below(schema: Json, seen: set[str]) -> set[str]:
    """The names of all schemas that a schema refers to, itself or by way of others."""
    if isinstance(schema, dict):
        name = schema.get("$ref", "").rpartition("/")[2]
        if name and name not in seen:
            seen.add(name)
            names_below(DEFS[name], seen)
    for member in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(member, (dict, list)):
            names_below(member, seen)
    return seen


@pytest.mark.parametrize("name", MAKERS)
def test_the_keys_that_take_references_are_those_of_the_schema(name: str) -> None:
    taken = set()
    for key in {*properties(name)} - BY_POSITION.get(name, set()) - IDS:
        try:
            MAKERS[name](key, {"x": item} if key == "inputs" else item)
            taken.add(key)
        except TypeError as error:
            if "takes no reference" not in str(error):
                raise
    expected = {
        key for key, one in properties(name).items() if "expression" in names_below(one, set())
    }
    assert taken == expected - BY_POSITION.get(name, set())


def test_the_widgets_are_those_of_the_schema() -> None:
    examples = DEFS["input_step"]["properties"]["widget"]["examples"]
    assert {*keys.WIDGETS} == {*examples}


def test_the_durations_are_those_of_the_schema() -> None:
    found = {
        key
        for name in MAKERS
        for key, one in properties(name).items()
        if one.get("$ref", "").endswith("/duration")
    }
    assert found == keys.DURATIONS


def choices(schema: Json) -> set[str]:
    return {*schema.get("enum", [])} | {schema[key] for key in ("const",) if key in schema}


@pytest.mark.parametrize("name", TYPES)
def test_the_words_that_a_type_allows_are_those_of_the_schema(name: str) -> None:
    for key, hint in TYPES[name].__annotations__.items():
        one = properties(name).get(key)
        words = {*re.findall(r"['\"](\w+)['\"]", getattr(hint, "__forward_arg__", ""))}
        assert words == (choices(one) if one else set()), key


def test_the_types_of_a_schema_are_those_of_the_schema() -> None:
    [one, _] = DEFS["schema"]["properties"]["type"]["anyOf"]
    assert {*get_args(keys.TypeName)} == {*one["enum"]}
