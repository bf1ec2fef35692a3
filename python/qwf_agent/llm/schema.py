"""The parts of a value that do not fit a JSON Schema. It checks the keywords that servers turn into
a grammar, and leaves others, such as `format`, to the server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
    "null": (type(None),), "number": (int, float),
}  # fmt: skip
Problems = Iterator[str]


def problems(value: Any, schema: Any, root: Any = None, path: str = "$") -> Problems:
    """Each thing that is wrong with the value, in words."""
    root = schema if root is None else root
    if schema is False:
        yield f"{path} must not be there"
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from problems(value, _target(schema["$ref"], root), root, path)
    if not _has_type(value, schema.get("type")):
        yield f"{path} must be of type {_words(schema['type'])}, not {_type_of(value)}"
        return
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{path} must be one of {json.dumps(schema['enum'], ensure_ascii=False)}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{path} must be {json.dumps(schema['const'], ensure_ascii=False)}"
    yield from _problems_of_branches(value, schema, root, path)
    if isinstance(value, dict):
        yield from _problems_of_object(value, schema, root, path)
    elif isinstance(value, list):
        yield from _problems_of_list(value, schema, root, path)
    elif isinstance(value, str):
        yield from _problems_of_text(value, schema, path)
    elif _has_type(value, "number"):
        yield from _problems_of_number(value, schema, path)


def _problems_of_branches(value: Any, schema: dict[str, Any], root: Any, path: str) -> Problems:
    for part in schema.get("allOf", ()):
        yield from problems(value, part, root, path)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            fits = [next(problems(value, part, root, path), None) for part in schema[keyword]]
            count = fits.count(None)
            if count == 0 or (keyword == "oneOf" and count > 1):
                yield f"{path} fits {count} of the schemas in {keyword}"


def _problems_of_object(
    value: dict[str, Any], schema: dict[str, Any], root: Any, path: str
) -> Problems:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name} is missing"
    for name, member in value.items():
        if name in known:
            yield from problems(member, known[name], root, f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{path}.{name} is not a property of the schema"
        else:
            yield from problems(member, schema.get("additionalProperties"), root, f"{path}.{name}")


def _problems_of_list(value: list[Any], schema: dict[str, Any], root: Any, path: str) -> Problems:
    yield from _problems_of_size(len(value), schema, "Items", "elements", path)
    for position, element in enumerate(value):
        yield from problems(element, schema.get("items"), root, f"{path}[{position}]")


def _problems_of_text(value: str, schema: dict[str, Any], path: str) -> Problems:
    yield from _problems_of_size(len(value), schema, "Length", "characters", path)
    try:
        fits = re.search(schema.get("pattern", ""), value) is not None
    except re.error:  # Python reads patterns a little differently
        fits = True
    if not fits:
        yield f"{path} must match {schema['pattern']}"


def _problems_of_number(value: float, schema: dict[str, Any], path: str) -> Problems:
    if value < schema.get("minimum", value):
        yield f"{path} must be at least {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{path} must be at most {schema['maximum']}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{path} must be more than {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"{path} must be less than {schema['exclusiveMaximum']}"


def _problems_of_size(
    size: int, schema: dict[str, Any], suffix: str, what: str, path: str
) -> Problems:
    if size < schema.get(f"min{suffix}", size):
        yield f"{path} must have at least {schema[f'min{suffix}']} {what}"
    if size > schema.get(f"max{suffix}", size):
        yield f"{path} must have at most {schema[f'max{suffix}']} {what}"


def _target(reference: str, root: Any) -> Any:
    """The schema that a `$ref` to a part of the same schema means."""
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _has_type(value: Any, wanted: Any) -> bool:
    if wanted is None:
        return True
    if isinstance(wanted, list):
        return any(_has_type(value, one) for one in wanted)
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    if wanted == "integer":
        return isinstance(value, (int, float)) and value == int(value)
    return isinstance(value, TYPES.get(wanted, (object,)))


def _type_of(value: Any) -> str:
    return next(name for name in TYPES if _has_type(value, name))


def _words(wanted: Any) -> str:
    return " or ".join(wanted) if isinstance(wanted, list) else str(wanted)


def _same(value: Any, other: Any) -> bool:
    """Return True if both are the same JSON value: true is not 1."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)
