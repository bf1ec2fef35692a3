"""The statements of a source, and the object of the schema that each one makes or describes.

A source has many objects. Whatever compares sources, or asks which object a line belongs to, reads
them here: the files of the plan only say in which order they are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"
    r"|\b(?P<atomic>begin atomic)\b|\b(?P<end>end)\b|\b(?P<case>case)\b"
    r"|(?P<stop>;)(?:[ \t]*--[^\n]*)?",
    re.DOTALL,
)
_MADE = re.compile(
    r"create (?:or replace )?(?:unlogged )?"
    r"(schema|table|view|type|sequence|function|procedure) (\w+(?:\.\w+)?)"
)
_TRIGGER = re.compile(
    r"(?:create (?:or replace )?(?:constraint )?|comment on )trigger (\w+)\b.*?\son (\w+\.\w+)",
    re.DOTALL,
)
_NAME = r"(_?qwf\.\w+)"
_DESCRIBED = [
    (re.compile(pattern.replace("NAME", _NAME), re.DOTALL), kind)
    for pattern, kind in (
        (r"comment on (?:function|procedure) NAME", "function"),
        (r"call _qwf\.allow\('NAME'", "function"),
        (r"comment on schema (\w+)", "schema"),
        (r"comment on type NAME", "type"),
        (r"comment on sequence NAME", "sequence"),
        (r"alter sequence NAME", "sequence"),
        (r"create (?:unique )?index \w+ on NAME", "table"),
        (r"alter table (?:only )?NAME", "table"),
        (r"insert into NAME", "table"),
        (r"create statistics [\w.]+ .*?from NAME", "table"),
        (r"comment on (?:table|view) NAME", "relation"),
        (r"comment on column NAME\.\w+", "relation"),
        (r"(?:grant|revoke) .*? on (?:table )?NAME", "relation"),
    )
]
_FRAME = re.compile(r"(?:begin|commit|rollback|set local check_function_bodies = \w+);")


class SqlStatement(NamedTuple):
    """One statement, with the comment lines in front of it."""

    text: str
    kind: str  # of its object: function, view, table, type, …; empty if it is about none
    name: str
    makes: bool  # it creates the object

    @property
    def object(self) -> str:
        """The kind and name of its object: "function qwf.claim". Empty if it is about none."""
        return f"{self.kind} {self.name}".strip()


def statements(text: str) -> Iterator[SqlStatement]:
    """The statements of a source or script in order, without those of a transaction."""
    kinds: dict[str, str] = {}
    for one in map(_statement, split(text)):
        if _FRAME.fullmatch(bare(one.text)):
            continue
        if one.makes:
            kinds[one.name] = one.kind
        # a comment on, or a right to, whatever has this name
        yield one._replace(kind=kinds.get(one.name, "table")) if one.kind == "relation" else one


def objects(text: str) -> dict[str, str]:
    """Each object ("function qwf.claim") with all statements about it. A statement about none
    belongs to the object before it, or to "" if there is none."""
    found: dict[str, list[str]] = {}
    last = ""
    for one in statements(text):
        last = one.object or last
        found.setdefault(last, []).append(one.text)
    return {name: "\n".join(texts) for name, texts in found.items()}


def split(text: str) -> Iterator[str]:
    """The statements of a text, each with the comment and blank lines in front of it."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        if token["atomic"]:
            depth = 1
        elif depth and token["case"]:
            depth += 1
        elif depth and token["end"]:
            depth -= 1
        elif token["stop"] and not depth:
            yield text[start : token.end()].strip("\n")
            start = token.end()
    if bare(text[start:]):
        yield text[start:].strip("\n")


def bare(text: str) -> str:
    """A statement without the comment and blank lines in front of it."""
    lines = text.split("\n")
    while lines and (not lines[0].strip() or lines[0].lstrip().startswith("--")):
        lines.pop(0)
    return "\n".join(lines)


def _statement(text: str) -> SqlStatement:
    code = bare(text)
    if found := _TRIGGER.match(code):
        return SqlStatement(text, "trigger", f"{found[2]}.{found[1]}", code.startswith("create"))
    if found := _MADE.match(code):
        kind = "function" if found[1] == "procedure" else found[1]
        return SqlStatement(text, kind, found[2], True)
    for pattern, kind in _DESCRIBED:
        if found := pattern.match(code):
            return SqlStatement(text, kind, found[1], False)
    return SqlStatement(text, "", "", False)
