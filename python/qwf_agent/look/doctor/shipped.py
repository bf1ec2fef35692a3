"""The objects that the shipped scripts create, read from their text, without a second database.

The scripts keep a house style (one column on a line) that tests enforce, so a few patterns can read
them.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from qwf_agent import migrate
from qwf_agent.migrate import objects

_BODY = re.compile(r"\bas \$\$(?P<body>.*)\$\$;", re.DOTALL)
_TABLE = re.compile(
    r"^create (?:unlogged )?table (?P<name>_?qwf\.\w+) \(\n(?P<body>.*?)^\)",
    re.MULTILINE | re.DOTALL,
)
_TYPE = re.compile(
    r"^create type (?P<name>_?qwf\.\w+) as (?P<enum>enum )?\((?P<body>.*?)\);",
    re.MULTILINE | re.DOTALL,
)
_COLUMN = re.compile(
    r"^  (?!(?:constraint|primary key|unique|check|foreign key|exclude)\b)(?P<name>[a-z_]\w*) "
    r'(?P<type>"?[a-z_][\w. ]*?"?(?:\[\])?)'
    r"(?=,|\n|$| not null| default| check| primary key| generated| references| unique)",
    re.MULTILINE,
)
_ADDED = re.compile(
    r"^alter table (_?qwf\.\w+)\s+add column (\w+) ([a-z][\w. ]*?(?:\[\])?)[,; ]", re.M
)
_VIEW = re.compile(r"^create (?:or replace )?view (qwf\.\w+)", re.MULTILINE)
_VIEW_COLUMN = re.compile(r"^comment on column (qwf\.\w+)\.(\w+) is", re.MULTILINE)
_INDEX = re.compile(r"^create (?:unique )?index (\w+) on qwf\.", re.MULTILINE)
_TRIGGER = re.compile(r"^create (?:constraint )?trigger (\w+) ", re.MULTILINE)
_SEQUENCE = re.compile(r"^create sequence qwf\.(\w+)", re.MULTILINE)
_GRANT = re.compile(r"^call _qwf\.allow\((.*?)\);$", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True)
class Function:
    """A function: its body (None if it is not a quoted text), its rights and its volatility."""

    body: str | None
    definer: bool
    volatility: str  # i, s or v, as in pg_proc


@dataclass
class Shipped:
    """The objects of the plan's scripts by qualified name; indexes and triggers by bare name."""

    functions: dict[str, Function] = field(default_factory=dict)
    tables: dict[str, dict[str, str]] = field(default_factory=dict)  # column -> type
    views: dict[str, list[str]] = field(default_factory=dict)
    types: dict[str, list[str]] = field(default_factory=dict)  # labels, or fields
    indexes: set[str] = field(default_factory=set)
    triggers: set[str] = field(default_factory=set)
    sequences: set[str] = field(default_factory=set)
    grants: dict[str, set[str]] = field(default_factory=dict)  # name -> roles


@functools.cache
def read() -> Shipped:
    """Read the sources of this installation in their order; later ones win. A process
    reads them once."""
    shipped = Shipped()
    for change in migrate.read_plan().sources.changes:
        _take(shipped, change.deploy.read())
    return shipped


def _take(shipped: Shipped, text: str) -> None:
    for made in objects.statements(text):
        if not made.makes or made.kind != "function":
            continue
        body = _BODY.search(made.text)
        head = objects.bare(made.text[: body.start()] if body else made.text)
        shipped.functions[made.name] = Function(
            body["body"] if body else None,
            bool(re.search(r"\bsecurity definer\b", head)),
            "i"
            if re.search(r"\bimmutable\b", head)
            else "s"
            if re.search(r"\bstable\b", head)
            else "v",
        )
    for found in _TABLE.finditer(text):
        shipped.tables[found["name"]] = {
            c["name"]: c["type"] for c in _COLUMN.finditer(found["body"])
        }
    for table, column, kind in _ADDED.findall(text):
        shipped.tables[table][column] = kind
    for name in _VIEW.findall(text):
        shipped.views[name] = [c for view, c in _VIEW_COLUMN.findall(text) if view == name]
    for found in _TYPE.finditer(text):
        inside = found["body"]
        shipped.types[found["name"]] = (
            _TEXT.findall(inside)
            if found["enum"]
            else [part.split()[0].strip('"') for part in inside.split(",") if part.strip()]
        )
    shipped.indexes |= set(_INDEX.findall(text))
    shipped.triggers |= set(_TRIGGER.findall(text))
    shipped.sequences |= set(_SEQUENCE.findall(text))
    for arguments in _GRANT.findall(text):
        name, *roles = _TEXT.findall(arguments)
        shipped.grants.setdefault(name, set()).update({*roles, "qwf_admin"})
