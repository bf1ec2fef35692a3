"""A value that does not fit a JSON Schema is told with its place."""

from __future__ import annotations

from typing import Any

import pytest

from qwf_agent.llm.schema import problems

NO_NULL = "$.a must be of type null, not number"
AT_LEAST = [{"minimum": 2}, {"minimum": 3}]
TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }
    },
    "$ref": "#/$defs/node",
}
ONE_OF = {"oneOf": [{"type": "integer"}, {"minimum": 5}]}


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        (1, {}, []),
        (1, True, []),
        (1, False, ["$ must not be there"]),
        (1, {"type": "string"}, ["$ must be of type string, not number"]),
        (None, {"type": ["string", "number"]}, ["$ must be of type string or number, not null"]),
        (True, {"type": "integer"}, ["$ must be of type integer, not boolean"]),
        (True, {"type": "number"}, ["$ must be of type number, not boolean"]),
        (2.0, {"type": "integer"}, []),
        (2.5, {"type": "integer"}, ["$ must be of type integer, not number"]),
        ("é", {"enum": ["e"]}, ['$ must be one of ["e"]']),
        (True, {"enum": [1]}, ["$ must be one of [1]"]),
        (2, {"const": 1}, ["$ must be 1"]),
        ({"a": 1}, {"required": ["a", "b"]}, ["$.b is missing"]),
        ({"a": 1}, {"properties": {"a": {"type": "null"}}}, [NO_NULL]),
        ({"a": 1}, {"additionalProperties": False}, ["$.a is not a property of the schema"]),
        ({"a": 1}, {"additionalProperties": {"type": "null"}}, [NO_NULL]),
        ([1, "a"], {"items": {"type": "number"}}, ["$[1] must be of type number, not string"]),
        ([1], {"minItems": 2}, ["$ must have at least 2 elements"]),
        ([1, 2], {"maxItems": 1}, ["$ must have at most 1 elements"]),
        ("ab", {"minLength": 3}, ["$ must have at least 3 characters"]),
        ("ab", {"maxLength": 1}, ["$ must have at most 1 characters"]),
        ("ab", {"pattern": "^b"}, ["$ must match ^b"]),
        ("ab", {"pattern": "(?<x>a)"}, []),
        (1, {"minimum": 2}, ["$ must be at least 2"]),
        (3, {"maximum": 2}, ["$ must be at most 2"]),
        (2, {"exclusiveMinimum": 2}, ["$ must be more than 2"]),
        (2, {"exclusiveMaximum": 2}, ["$ must be less than 2"]),
        (1, {"allOf": AT_LEAST}, ["$ must be at least 2", "$ must be at least 3"]),
        (1, {"anyOf": [{"minimum": 2}, {"type": "string"}]}, ["$ fits 0 of the schemas in anyOf"]),
        (3, {"anyOf": AT_LEAST}, []),
        (7, ONE_OF, ["$ fits 2 of the schemas in oneOf"]),
        (3, ONE_OF, []),
        ({"name": "a", "parts": [{"name": "b"}]}, TREE, []),
        ({"name": "a", "parts": [{"parts": []}]}, TREE, ["$.parts[0].name is missing"]),
        (1, {"$ref": "#/nowhere"}, []),
        ("x", {"type": "string", "format": "email"}, []),
    ],
)  # fmt: skip
def test_what_does_not_fit(value: Any, schema: Any, found: list[str]) -> None:
    assert list(problems(value, schema)) == found
