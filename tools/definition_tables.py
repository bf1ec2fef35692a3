"""Writes what follows from sql/definition.schema.json: the tables of docs/definitions.md, and the
function that gives the schema to the engine, which checks definitions with it.

A table stands between `<!-- table: NAME -->`, where NAME is one of the $defs, and `<!-- end -->`.
In the schema, x-type and x-default are a type and a default in words, x-errors are what the engine
says about a key besides x-says, and x-misfit is what it says about a value that breaks a keyword.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "sql" / "definition.schema.json"
FUNCTION = ROOT / "sql" / "functions" / "definitions" / "schema.sql"
EMBEDDED = re.compile(r"(return jsonb \$json\$\n).*?(\$json\$;\n)", re.DOTALL)
# What the engine does not read.
WORDS_ONLY = {"description", "default", "examples", "x-default", "x-errors", "x-misfit", "x-type"}
OF_NAMES = {"properties", "dependentRequired"}  # the keys of these are no keywords
COLUMNS = 100
TARGET = ROOT / "docs" / "definitions.md"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
WORDS = {
    "string": "text", "array": "list", "object": "object", "boolean": "true or false",
    "integer": "whole number", "number": "number", "null": "null",
}  # fmt: skip
LINKS = {"schema": "[schema](#schema)"}
HEAD = ("key", "type", "default", "meaning", "errors")

Schema = dict[str, Any]


def document(text: str, defs: Schema) -> str:
    """The text with its tables written again."""
    return TABLE.sub(lambda found: f"{found[1]}\n{table(defs, found[2])}\n\n{found[3]}", text)


def table(defs: Schema, name: str) -> str:
    """One table; `widgets` is that of all widgets."""
    head, found = HEAD, [*rows(defs, name)]
    if name == "widgets":
        head = ("widget", *HEAD)
        found = [
            [defs[kind]["description"].partition(":")[0], *row]
            for kind in defs
            if kind.startswith("widget_") and kind != "widget_of_a_front_end"
            for row in rows(defs, kind)
        ]
    lines = [[*head], ["---"] * len(head), *found]
    written = [f"| {' | '.join(cells)} |" for cells in lines]
    named = [one.get("$ref") for kind in defs.values() for one in members(kind)]
    own = [] if f"#/$defs/{name}" in named else defs.get(name, {}).get("x-errors", [])
    if own:
        written += ["", f"Errors of the whole object: {quoted(own)}."]
    return "\n".join(written)


def embedded(function: str, defs: Schema) -> str:
    """The text of the function with the $defs that the engine reads, in lines of 100 columns."""
    read = {name: bare(one) for name, one in defs.items() if name not in ("limits", "limit")}
    text = json.dumps({"$defs": read}, ensure_ascii=False)
    lines = [""]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"[]},:]*\s*|[^"\s]+\s*', text):
        if len(lines[-1] + word.rstrip()) > COLUMNS:
            lines.append("")
        lines[-1] += word
    body = "\n".join(line.rstrip() for line in lines)
    return EMBEDDED.sub(lambda found: f"{found[1]}{body}{found[2]}", function)


def bare(schema: Any) -> Any:
    """A schema without what is only for readers."""
    if not isinstance(schema, dict):
        return [bare(one) for one in schema] if isinstance(schema, list) else schema
    return {
        key: {name: bare(one) for name, one in value.items()} if key in OF_NAMES else bare(value)
        for key, value in schema.items()
        if key not in WORDS_ONLY
    }


def members(kind: Schema) -> list[Schema]:
    return [*kind.get("properties", {}).values()]


def rows(defs: Schema, name: str) -> Iterator[list[str]]:
    """A row for each key, in the order of the schema."""
    required = defs.get(name, {}).get("required", [])
    for key, schema in defs.get(name, {}).get("properties", {}).items():
        default = "required" if key in required else default_of(schema, defs)
        errors = [*said(schema, defs), *together(defs[name], defs, key)]
        errors += [*target(schema, defs).get("x-errors", []), *schema.get("x-errors", [])]
        if "x-misfit" in schema:
            errors.append(schema["x-misfit"])
        meaning = schema.get("description", "")
        yield [f"`{key}`", in_words(schema, defs), default, meaning, quoted(errors)]


def said(schema: Schema, defs: Schema) -> Iterator[str]:
    """The sentences about a value, but those of an object whose keys have rows of their own."""
    if "x-says" in schema:
        yield schema["x-says"].replace("%s", "…")
    elif "properties" in schema:
        rules = [one for one in schema.get("allOf", []) if "x-says" in one and "x-at" not in one]
        yield from (rule["x-says"] for rule in rules)
    elif "x-check" not in schema:
        parts = [schema.get(key) for key in ("then", "else", "items")]
        for one in filter(None, [target(schema, defs), *schema.get("allOf", []), *parts]):
            yield from said(one, defs)


def together(schema: Schema, defs: Schema, key: str) -> Iterator[str]:
    """The sentences about a key that depend on other keys of the object."""
    if "x-says" in schema and schema.get("x-at", "").partition(".")[0] == key:
        yield schema["x-says"]
    for one in filter(None, [target(schema, defs), *schema.get("allOf", [])]):
        yield from together(one, defs, key)


def default_of(schema: Schema, defs: Schema) -> str:
    found = {**target(schema, defs), **schema}
    if "x-default" in found:
        return str(found["x-default"])
    return f"`{json.dumps(found['default'])}`" if "default" in found else "none"


def in_words(schema: Schema, defs: Schema) -> str:
    """The type of a key."""
    found = {**target(schema, defs), **schema}
    if "x-type" in found:
        return LINKS.get(found["x-type"], found["x-type"])
    names = found.get("type", [])
    words = [WORDS[name] for name in ([names] if isinstance(names, str) else names)]
    if {"$ref": "#/$defs/expression"} in found.get("anyOf", []):
        words[-1] = "expression"
    return " or ".join(words) or "any"


def target(schema: Schema, defs: Schema) -> Schema:
    """The schema that a $ref names; an empty one if there is none."""
    found: Schema = defs.get(schema.get("$ref", "").rpartition("/")[2], {})
    return found


def quoted(errors: list[str]) -> str:
    return ", ".join(f"`{error}`" for error in dict.fromkeys(errors))


def main() -> None:
    defs = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for file, written in ((TARGET, document), (FUNCTION, lambda text, _: embedded(text, defs))):
        file.write_text(written(file.read_text(encoding="utf-8"), defs), encoding="utf-8")


if __name__ == "__main__":
    main()
