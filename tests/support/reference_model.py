"""The reference language as docs/references.md describes it, written without reading the SQL.

`resolve(value, scope)` takes and gives plain JSON values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Json = Any
OPERATORS = {
    "$from": {"$default", "$filter", "$eq", "$ne"},
    "$value": set(),
    "$coalesce": {"$default"},
}
INT32 = range(-(2**31), 2**31)


class ReferenceFault(Exception):
    """A value cannot be resolved; `kind` is the first word of the message."""

    kind = ""


class Unresolvable(ReferenceFault):
    kind = "unresolvable"


class Malformed(ReferenceFault):
    kind = "malformed"


class Invalid(ReferenceFault):
    kind = "invalid"


def resolve(value: Json, scope: Json) -> Json:
    """Resolve `value` in `scope`; raises the first fault in order."""
    if isinstance(value, list):
        return [resolve(element, scope) for element in value]
    if not isinstance(value, Mapping):
        return value
    if any(key.startswith("$") for key in value):
        return evaluate(value, scope)
    return {key: resolve(value[key], scope) for key in ordered(value)}


def ordered(keys: Mapping[str, Json]) -> list[str]:
    return sorted(keys, key=lambda key: (len(key.encode()), key.encode()))


def evaluate(expression: Mapping[str, Json], scope: Json) -> Json:
    operator = next((key for key in OPERATORS if key in expression), None)
    if operator is None or set(expression) - {operator} - OPERATORS[operator]:
        raise Malformed
    if operator == "$value":
        return expression["$value"]
    if operator == "$coalesce":
        return coalesce(expression, scope)
    check_from(expression)
    try:
        found = fetch(expression["$from"], scope)
    except Unresolvable:
        if "$default" not in expression:
            raise
        found = resolve(expression["$default"], scope)
    if "$filter" in expression:
        found = keep(found, resolve(expression["$filter"], scope))
    if "$eq" in expression:
        return equal(found, resolve(expression["$eq"], scope))
    if "$ne" in expression:
        return not equal(found, resolve(expression["$ne"], scope))
    return found


def coalesce(expression: Mapping[str, Json], scope: Json) -> Json:
    if not isinstance(expression["$coalesce"], list):
        raise Malformed
    for candidate in expression["$coalesce"]:
        try:
            found = resolve(candidate, scope)
        except Unresolvable:
            continue
        if found is not None:
            return found
    if "$default" in expression:
        return resolve(expression["$default"], scope)
    raise Unresolvable


def check_from(expression: Mapping[str, Json]) -> None:
    """Raises Malformed unless the parts of a `$from` have the shape they need."""
    path = expression["$from"]
    if isinstance(path, str):
        if "" in path.split("."):
            raise Malformed
    elif not isinstance(path, list) or not path:
        raise Malformed
    else:
        for place, segment in enumerate(path):
            names = (
                isinstance(segment, list) and segment and all(isinstance(s, str) for s in segment)
            )
            compiled = place == 0 and (isinstance(segment, Mapping) or names)
            if not (compiled or isinstance(segment, str) or type(segment) is int):
                raise Malformed
    if {"$eq", "$ne"} <= set(expression):
        raise Malformed
    if "$filter" in expression:
        conditions = expression["$filter"]
        if not isinstance(conditions, Mapping) or any(condition(k) is None for k in conditions):
            raise Malformed


def is_names(segment: Json) -> bool:
    return isinstance(segment, list) and segment != [] and all(isinstance(s, str) for s in segment)


def fetch(path: Json, scope: Json) -> Json:
    if isinstance(path, str):
        return from_name(path.split("."), scope)
    first, rest = path[0], [str(segment) for segment in path[1:]]
    if isinstance(first, Mapping):
        return walk(resolve(first, scope), rest)
    if isinstance(first, list):
        let_go = [name for name in first if name in scope and scope[name] is None]
        for name in first:
            try:
                if name not in let_go:
                    return walk(scope, [name, *rest])
            except Unresolvable:
                continue
        if let_go:
            return None
        raise Unresolvable
    return from_name([str(first), *rest], scope)


def from_name(segments: list[str], scope: Json) -> Json:
    """The value at a path. A name that is null (a node whose failure was tolerated) gives null."""
    if segments[0] in scope and scope[segments[0]] is None:
        return None
    return walk(scope, segments)


def walk(value: Json, segments: list[str]) -> Json:
    for segment in segments:
        if isinstance(value, Mapping) and segment in value:
            value = value[segment]
        elif isinstance(value, list) and (index := position(segment, len(value))) is not None:
            value = value[index]
        else:
            raise Unresolvable
    return value


def position(segment: str, length: int) -> int | None:
    """The index from 0 of a segment in a list of that length; None if there is none."""
    if not re.fullmatch(r"[ \t\n\v\f\r]*[+-]?[0-9]+", segment) or int(segment) not in INT32:
        return None
    index = int(segment)
    if index < 0:
        index += length
    return index if 0 <= index < length else None


def condition(key: str) -> tuple[str, str] | None:
    """Operator and field of a filter key."""
    for operator in ("eq", "matches"):
        if key.startswith(operator + ":") and len(key) > len(operator) + 1:
            return operator, key[len(operator) + 1 :]
    for operator in ("eq", "matches"):
        if key.endswith(":" + operator) and len(key) > len(operator) + 1:
            return operator, key[: -len(operator) - 1]
    return None


def keep(found: Json, conditions: Mapping[str, Json]) -> Json:
    if not isinstance(found, list):
        raise Invalid
    for key in ordered(conditions):
        named = condition(key)
        assert named is not None
        operator, field = named
        if operator == "matches" and not is_pattern(conditions[key]):
            raise Invalid
        found = [e for e in found if satisfies(e, operator, field.split("."), conditions[key])]
    return found


def is_pattern(operand: Json) -> bool:
    """True for a text that compiles; tests use only patterns that mean the same in Postgres."""
    if not isinstance(operand, str):
        return False
    try:
        re.compile(operand)
    except re.error:
        return False
    return True


def satisfies(element: Json, operator: str, field: list[str], operand: Json) -> bool:
    try:
        found = walk(element, field)
    except Unresolvable:
        found = None
    if operator == "eq":
        return equal(found, operand)
    return found is not None and re.search(operand, text_of(found)) is not None


def text_of(value: Json) -> str:
    """A text unchanged, any other value as PostgreSQL writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        members = (
            f"{json.dumps(k, ensure_ascii=False)}: {quoted(value[k])}" for k in ordered(value)
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(quoted, value)) + "]"
    return json.dumps(value)


def quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else text_of(value)


def equal(left: Json, right: Json) -> bool:
    """Equality of JSON values; in Python, True == 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)
