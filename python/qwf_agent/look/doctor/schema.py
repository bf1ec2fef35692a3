"""Checks against the scripts that are shipped: the version, every object, every grant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from qwf_agent import __version__, migrate
from qwf_agent.look.connection import Connection, call, many
from qwf_agent.look.doctor import drift, shipped
from qwf_agent.look.doctor.findings import Finding, first_few, note, problem
from qwf_agent.system.versions import compatible_part

# Of the grants that are shipped, those that roles lack. Names are compared as texts, because no
# reader may look up a name in _qwf.
GRANTED = """
select g.role, p.oid::regprocedure::text as function
from unnest(%s::text[], %s::text[]) g (role, function)
join pg_roles r on r.rolname = g.role
join pg_proc p on format('%%s.%%s', p.pronamespace::regnamespace::text, p.proname) = g.function
where not has_function_privilege(r.oid, p.oid, 'execute')
"""


def schema(conn: Connection, dsn: str) -> Iterator[Finding]:
    """The deployed schema is that of this version."""
    deployed = call(conn, "version")
    if compatible_part(deployed) != compatible_part(__version__):
        yield problem(
            f"the schema is {deployed}, this qwf is {__version__}: they are not compatible",
            "upgrade one of them: docs/operations.md, Upgrade",
        )
        return
    found = _deployed(conn, dsn)
    if found.age == "newer":
        yield note(
            f"the schema is newer: it is {deployed}, this qwf is {__version__}",
            "upgrade this box: docs/operations.md, Upgrade",
        )
    elif found.pending:
        yield problem(
            f"an upgrade is pending: {len(found.pending)} changes, the first {found.pending[0]}",
            "qwf migrate deploy",
        )
    elif found.age == "older":
        yield problem(
            f"the schema is {deployed}, this qwf is {__version__}: an upgrade is pending",
            "qwf migrate deploy",
        )
    if found.edited:
        yield problem(
            f"scripts were edited after they were deployed: {len(found.edited)}, the first"
            f" {found.edited[0]}",
            "qwf migrate verify says which, and what to do",
        )
    if found.why:
        yield note(*found.why)


@dataclass(frozen=True)
class _Deployed:
    """The deployed changes beside those of this version. `age` of the schema: same, older, newer;
    `why`: why the changes were not compared, and what to do."""

    age: str
    pending: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    why: tuple[str, str] | None = None


def _deployed(conn: Connection, dsn: str) -> _Deployed:
    """Compare the changes; where they cannot be read, only the versions."""
    try:
        changes = migrate.status(dsn)
    except migrate.MigrateError as error:
        advice = "only that login may read them; drift, below, compares what they made"
        why = (f"the changes that are deployed were not compared: {error}", advice)
        return _Deployed(_age(conn), why=why)
    pending = [change.change for change in changes if change.state == migrate.PENDING]
    edited = [change.change for change in changes if change.state == migrate.CHANGED]
    if len(pending) == len(changes):
        why = (
            "qwf migrate did not deploy this schema, so it cannot tell whether it is complete",
            "if sqitch deployed it: sqitch status; missing objects are listed as drift below",
        )
        return _Deployed(_age(conn), why=why)
    if any(change.state == "unknown" for change in changes):
        return _Deployed("newer", edited=edited)
    return _Deployed("older" if pending else _age(conn), pending, edited)


def _age(conn: Connection) -> str:
    """Return True if the schema is the same, older or newer, by the versions."""
    theirs, ours = (
        [int(part) if part.isdecimal() else 0 for part in version.split(".")]
        for version in (call(conn, "version"), __version__)
    )
    return "newer" if theirs > ours else "older" if theirs < ours else "same"


def missing(conn: Connection, dsn: str) -> Iterator[Finding]:
    """There is no schema. It does not look again: by now it could be somebody else's."""
    yield problem("this database has no qwf schema", "qwf migrate deploy")


def changed_by_hand(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Functions, tables and indexes are as shipped."""
    age = _deployed(conn, dsn).age
    if age != "same":
        yield note(f"not compared: the schema is {age} than this qwf, so it has to differ")
        return
    yield from first_few(drift.find(conn))


def roles(conn: Connection, dsn: str) -> Iterator[Finding]:
    """The four roles exist and have their grants."""
    grants = [(role, name) for name, names in shipped.read().grants.items() for role in names]
    yield from first_few(
        problem(
            f"{row['role']} may not execute {row['function']}",
            f"grant execute on function {row['function']} to {row['role']};",
        )
        for row in many(conn, GRANTED, ([role for role, _ in grants], [name for _, name in grants]))
    )
