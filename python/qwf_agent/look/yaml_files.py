"""Reads YAML as JSON, and refuses what JSON does not have or what may mean something else."""

from __future__ import annotations

import re
from typing import Any

import yaml

TAG = "tag:yaml.org,2002:"
KINDS = {"nodes": "pipeline", "steps": "workflow"}  # of a definition, by a key of its own
JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?")
MAX_VALUES = 100_000  # that aliases may expand to
LONG_TEXT = 100  # characters that count as one more value


def load(text: str) -> Any:
    """The value of the one document in a text.

    Raises ValueError or yaml.YAMLError with the line of what is wrong: a key that stands twice in
    one object, aliases that expand to too much, or a value that JSON does not have, such as a date.
    """
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        sizes: dict[int, int] = {}
        expanded = _check(root, "", sizes)
        if expanded > MAX_VALUES and expanded > len(text):
            raise ValueError(f"its aliases expand to {expanded} values, at most {MAX_VALUES}")
        return loader.construct_document(root)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    finally:
        loader.dispose()


def _check(node: yaml.Node, path: str, sizes: dict[int, int]) -> int:
    """The number of values in a node, with its aliases expanded; each node is looked at once."""
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise _refusal(node, path, "it contains itself")
        return sizes[id(node)]
    sizes[id(node)] = 0  # until it is known
    size = 1
    if problem := _problem(node):
        raise _refusal(node, path, problem)
    if isinstance(node, yaml.MappingNode):
        found: set[str] = set()
        for key, value in node.value:
            if key.tag not in (TAG + "str", TAG + "merge"):
                raise _refusal(key, path, "a key must be a text: quote it")
            inside = f"{path}.{key.value}".lstrip(".")
            if key.value in found:
                raise _refusal(key, inside, "the key stands twice in one object")
            found.add(key.value)
            size += len(key.value) // LONG_TEXT + _check(value, inside, sizes)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_check(item, f"{path}[{n}]", sizes) for n, item in enumerate(node.value))
    else:
        size += len(node.value) // LONG_TEXT
    sizes[id(node)] = size
    return size


def _problem(node: yaml.Node) -> str | None:
    """Why a node is refused: JSON does not have it, or it may not mean what it looks like."""
    kind = node.tag.removeprefix(TAG)
    if kind in ("str", "null", "map", "seq"):
        return None
    if not isinstance(node, yaml.ScalarNode):
        return f"JSON has no {kind}: write a list or an object"
    if kind in ("int", "float"):
        if JSON_NUMBER.fullmatch(node.value) and abs(float(node.value)) != float("inf"):
            return None
        return f"{node.value} is not a number of JSON: write it in digits, or quote it"
    if kind == "bool":
        if node.value.lower() in ("true", "false"):
            return None
        return f"{node.value} would be read as true or false: write that, or quote it"
    return f"{node.value} would be read as a {kind}, which JSON does not have: quote it"


def _refusal(node: yaml.Node, path: str, problem: str) -> ValueError:
    where = f"line {node.start_mark.line + 1}"
    return ValueError(f"{where}, {path}: {problem}" if path else f"{where}: {problem}")
