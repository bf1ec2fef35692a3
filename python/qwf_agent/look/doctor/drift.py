"""Compares the objects in the database with those that this version ships."""

from __future__ import annotations

from collections.abc import Iterator

from qwf_agent.look.connection import Connection, many
from qwf_agent.look.doctor import shipped
from qwf_agent.look.doctor.findings import Finding, problem

ADVICE = (
    "do not change the schemas qwf and _qwf by hand; compare with `qwf migrate sql`, restore it, "
    "then: qwf migrate verify"
)
FUNCTIONS = """
select p.pronamespace::regnamespace::text || '.' || p.proname as name, p.prosrc as body,
  p.prosecdef as definer, p.provolatile::text as volatility
from pg_proc p where p.pronamespace in ('qwf'::regnamespace::oid, '_qwf'::regnamespace::oid)
"""
COLUMNS = """
select c.relnamespace::regnamespace::text || '.' || c.relname as relation, c.relkind::text as kind,
  a.attname as column, format_type(a.atttypid, a.atttypmod) as type
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace in ('qwf'::regnamespace::oid, '_qwf'::regnamespace::oid)
  and a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'v', 'c')
order by c.relname, a.attnum
"""
LABELS = """
select t.typnamespace::regnamespace::text || '.' || t.typname as name, e.enumlabel as label
from pg_type t join pg_enum e on e.enumtypid = t.oid
where t.typnamespace = 'qwf'::regnamespace::oid order by t.typname, e.enumsortorder
"""
INDEXES = """
select c.relname as name, i.indisvalid and i.indisready as valid
from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relnamespace = 'qwf'::regnamespace::oid
"""
TRIGGERS = """
select t.tgname as name, t.tgenabled <> 'D' as enabled
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace = 'qwf'::regnamespace::oid and not t.tgisinternal
"""


def find(conn: Connection) -> Iterator[Finding]:
    """All differences from the shipped schema."""
    wanted = shipped.read()
    for what in (
        *_functions(conn, wanted),
        *_relations(conn, wanted),
        *_types(conn, wanted),
        *_indexes_and_triggers(conn, wanted),
    ):
        yield problem(what, ADVICE)


def _functions(conn: Connection, wanted: shipped.Shipped) -> Iterator[str]:
    existing: dict[str, list[shipped.Function]] = {}
    for row in many(conn, FUNCTIONS):
        one = shipped.Function(row["body"], row["definer"], row["volatility"])
        existing.setdefault(row["name"], []).append(one)
    for name, function in wanted.functions.items():
        found = existing.pop(name, [])
        if not found:
            yield f"function {name} is missing"
        elif len(found) > 1:
            yield f"function {name} exists {len(found)} times, with different arguments"
        elif function.body is not None and found[0].body != function.body:
            yield f"function {name} differs from the shipped one"
        elif found[0].definer != function.definer:
            yield f"function {name}: security definer was switched {_on_or_off(found[0].definer)}"
        elif found[0].volatility != function.volatility:
            yield f"function {name}: its volatility was changed"
    for name in existing:
        yield f"function {name} is not shipped with this version"


def _relations(conn: Connection, wanted: shipped.Shipped) -> Iterator[str]:
    existing: dict[str, dict[str, str]] = {}
    kinds: dict[str, str] = {}
    for row in many(conn, COLUMNS):
        existing.setdefault(row["relation"], {})[row["column"]] = row["type"]
        kinds[row["relation"]] = row["kind"]
    for name, columns in wanted.tables.items():
        yield from _columns(conn, f"table {name}", columns, existing.get(name))
    for name, names in wanted.views.items():
        yield from _names(f"view {name}", names, existing.get(name))
    for name, kind in kinds.items():
        if kind == "r" and name not in wanted.tables:
            yield f"table {name} is not shipped with this version"
        if kind == "v" and name not in wanted.views:
            yield f"view {name} is not shipped with this version"


def _columns(
    conn: Connection, what: str, wanted: dict[str, str], found: dict[str, str] | None
) -> Iterator[str]:
    yield from _names(what, list(wanted), found)
    # A viewer may not look up types of _qwf; each of them has one name.
    names = [name for name in wanted.values() if not name.startswith("_qwf.")]
    rows = many(
        conn,
        "select n.name, format_type(to_regtype(n.name), null) as type"
        " from unnest(%s::text[]) n(name)",
        (names,),
    )
    canonical = {row["name"]: row["type"] for row in rows}
    for column, kind in wanted.items():
        shipped_as = canonical.get(kind, kind)
        if found and column in found and found[column] != shipped_as:
            yield f"{what}: column {column} is {found[column]}, shipped as {shipped_as}"


def _names(what: str, wanted: list[str], found: dict[str, str] | list[str] | None) -> Iterator[str]:
    if found is None:
        yield f"{what} is missing"
        return
    for name in wanted:
        if name not in found:
            yield f"{what}: {name} is missing"
    for name in found:
        if name not in wanted:
            yield f"{what}: {name} is not shipped with this version"


def _types(conn: Connection, wanted: shipped.Shipped) -> Iterator[str]:
    existing: dict[str, list[str]] = {}
    for row in many(conn, LABELS):
        existing.setdefault(row["name"], []).append(row["label"])
    for row in many(conn, COLUMNS):
        if row["kind"] == "c":
            existing.setdefault(row["relation"], []).append(row["column"])
    for name, parts in wanted.types.items():
        yield from _names(f"type {name}", parts, existing.get(name))


def _indexes_and_triggers(conn: Connection, wanted: shipped.Shipped) -> Iterator[str]:
    indexes = {row["name"]: row["valid"] for row in many(conn, INDEXES)}
    for name in sorted(wanted.indexes):
        if name not in indexes:
            yield f"index qwf.{name} is missing"
        elif not indexes[name]:
            yield f"index qwf.{name} is invalid: reindex index qwf.{name}"
    triggers = {row["name"]: row["enabled"] for row in many(conn, TRIGGERS)}
    for name in sorted(wanted.triggers):
        if name not in triggers:
            yield f"trigger {name} is missing"
        elif not triggers[name]:
            yield f"trigger {name} is disabled"


def _on_or_off(on: bool) -> str:
    return "on" if on else "off"
