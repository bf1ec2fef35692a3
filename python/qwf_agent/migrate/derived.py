"""The deploy, revert and verify scripts that follow from a source.

A source of the engine creates each object with a statement of its own, which begins at the start of
a line. Its deploy script is the source in one transaction. Its revert script drops these objects,
the last one first; its verify script names each of them, and each column that it comments on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_CREATED = re.compile(
    r"^create (?:or replace )?(?:unlogged )?"
    r"(?P<kind>schema|table|view|type|sequence|function|procedure|trigger) (?P<name>[\w.]+)"
    r"(?P<rest>[^;]*)",
    re.M,
)
_COLUMN = re.compile(r"^comment on column ([\w.]+)\.(\w+) is", re.M)
_ADDED = re.compile(r"^alter table (?P<table>[\w.]+) add column (?P<column>\w+)", re.M)
_TABLE_OF_TRIGGER = re.compile(r"\son ([\w.]+)")
_CASTS = {
    "schema": "regnamespace", "type": "regtype", "sequence": "regclass", "table": "regclass",
    "view": "regclass", "function": "regproc", "procedure": "regproc",
}  # fmt: skip


class Created(NamedTuple):
    """An object that a deploy script creates. `table`: where a trigger is."""

    kind: str
    name: str
    table: str | None


def created(deploy: str) -> Iterator[Created]:
    """The objects of a deploy script, in its order."""
    for found in _CREATED.finditer(deploy):
        table = None
        if found["kind"] == "trigger":
            on = _TABLE_OF_TRIGGER.search(found["rest"])
            table = on[1] if on else None
        yield Created(found["kind"], found["name"], table)


# A body may name what a later source makes: all are parsed at the end of a deploy.
_BEGIN = "begin;\n\nset local check_function_bodies = off;\n\n"


def deploy(title: str, source: str) -> str:
    """The source in a transaction; unchanged if it begins one itself."""
    if not source or re.search(r"^begin;$", source, re.MULTILINE):
        return source
    return f"-- Deploy {title}\n\n{_BEGIN}{source}\ncommit;\n"


def revert(title: str, deploy: str) -> str:
    """The script that drops all that a deploy script creates; empty if it creates nothing."""
    drops = [
        f"drop trigger {one.name} on {one.table};" if one.table else f"drop {one.kind} {one.name};"
        for one in created(deploy)
    ]
    drops += [
        f"alter table {added['table']} drop column {added['column']};"
        for added in _ADDED.finditer(deploy)
    ]
    return _script("Revert", title, drops[::-1], "commit")


def verify(title: str, deploy: str) -> str:
    """The script that fails if an object or a column is gone; empty if nothing is created."""
    columns: dict[str, list[str]] = {}
    for relation, column in _COLUMN.findall(deploy):
        columns.setdefault(relation, []).append(column)
    looks = [_look(one) for one in created(deploy) if one.name not in columns]
    for relation, names in columns.items():
        looks.append(f"select {', '.join(names)} from {relation} where false;")  # noqa: S608 - ours
    return _script("Verify", title, looks, "rollback")


def _look(one: Created) -> str:
    """The statement that fails if the object is gone."""
    if one.table is None:
        return f"select '{one.name}'::{_CASTS[one.kind]};"
    trigger = f"t.tgname = '{one.name}' and t.tgrelid = '{one.table}'::regclass"
    return f"select 1 / count(*) from pg_catalog.pg_trigger t\nwhere {trigger};"  # noqa: S608 - ours


def _script(verb: str, title: str, statements: list[str], end: str) -> str:
    if not statements:
        return ""
    return "\n\n".join((f"-- {verb} {title}", "begin;", "\n".join(statements), f"{end};\n"))
