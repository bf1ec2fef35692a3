"""Keeps the order of the properties of schemas: the database sorts the keys of an object, so their
order goes along as a list, `properties_order`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_order(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The definition with the order of its properties: of its inputs, and of the schemas of its
    questions. A list that is there stays."""
    found = dict(definition)
    if isinstance(found.get("inputs"), dict):
        found["inputs"] = _ordered(found["inputs"])
    for key in ("steps", "nodes"):
        if isinstance(found.get(key), list):
            found[key] = [
                {**one, "schema": _ordered(one["schema"])}
                if isinstance(one, dict) and isinstance(one.get("schema"), dict)
                else one
                for one in found[key]
            ]
    return found


def _ordered(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(schema)
    properties = found.get("properties")
    if isinstance(properties, dict):
        found["properties"] = {
            name: _ordered(one) if isinstance(one, dict) else one
            for name, one in properties.items()
        }
        names = list(properties)
        as_stored = sorted(names, key=lambda name: (len(name.encode()), name.encode()))
        if names != as_stored and all(isinstance(name, str) for name in names):
            found.setdefault("properties_order", names)
    if isinstance(found.get("items"), dict):
        found["items"] = _ordered(found["items"])
    return found
