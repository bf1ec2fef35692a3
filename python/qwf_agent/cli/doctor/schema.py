"""Checks of the schema: complete, as shipped, and with the right grants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from qwf_agent import __version__, config, migrate
from qwf_agent.cli.doctor import drift, shipped
from qwf_agent.cli.doctor.findings import Finding, duration, first_few, note, problem, query_value
from qwf_agent.look.connection import Connection, call, many
from qwf_agent.versions import compatible_part

ROLES = ("qwf_admin", "qwf_producer", "qwf_worker", "qwf_viewer")
GRANTS_AGAIN = "as the owner of this database: qwf migrate grants | psql ADDRESS"


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
    """Whether the schema is the same, older or newer, by the versions."""
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
    rows = many(conn, "select rolname from pg_roles where rolname = any (%s)", (list(ROLES),))
    existing = {row["rolname"] for row in rows}
    for role in ROLES:
        if role not in existing:
            yield problem(
                f"role {role} is missing", f"create role {role} nologin;  then, {GRANTS_AGAIN}"
            )
    if dsn != config.address(config.home()):  # only its owner can reach the server of `qwf up`
        yield from _open_database(conn)
    yield from first_few(_missing_grants(conn, existing))
    yield from first_few(_open_to_everybody(conn))
    if "qwf_viewer" in existing:
        yield from first_few(_hidden_from_viewers(conn))
        if query_value(
            conn, "select has_column_privilege('qwf_viewer', 'qwf.jobs', 'token', 'select')"
        ):
            yield problem(
                "qwf_viewer may read the tokens of running jobs, and could finish them",
                GRANTS_AGAIN,
            )


def _open_database(conn: Connection) -> Iterator[Finding]:
    for row in many(
        conn,
        "select quote_ident(d.datname) as name from pg_database d"
        " where d.datname = current_database() and exists ("
        " select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a"
        " where a.grantee = 0 and a.privilege_type = 'CONNECT')",
    ):
        yield note(
            "every login of this server may connect to the database: it can listen, fill the queue"
            " of notifications, and hold advisory locks that the engine waits for",
            f"grant connect on database {row['name']} to qwf_producer, qwf_worker, qwf_viewer;"
            f" revoke connect on database {row['name']} from public;",
        )


def _missing_grants(conn: Connection, existing: set[str]) -> Iterator[Finding]:
    grants = [
        (role, name) for name, names in shipped.read().grants.items() for role in names & existing
    ]
    for row in many(
        conn,
        "select g.role, p.oid::regprocedure::text as function"
        " from unnest(%s::text[], %s::text[]) g(role, function)"
        " join pg_proc p on p.oid = to_regproc(g.function)"
        " where not has_function_privilege(g.role, p.oid, 'execute')",
        ([role for role, _ in grants], [function for _, function in grants]),
    ):
        yield problem(
            f"{row['role']} may not execute {row['function']}",
            f"grant execute on function {row['function']} to {row['role']};",
        )


def _open_to_everybody(conn: Connection) -> Iterator[Finding]:
    for row in many(
        conn,
        "select p.oid::regprocedure::text as function from pg_proc p"
        " where p.pronamespace in ('qwf'::regnamespace::oid, '_qwf'::regnamespace::oid)"
        " and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
        " where a.grantee = 0)",
    ):
        yield problem(
            f"everybody may execute {row['function']}",
            f"revoke all on function {row['function']} from public;",
        )


def _hidden_from_viewers(conn: Connection) -> Iterator[Finding]:
    for row in many(
        conn,
        "select relname from pg_class where relnamespace = 'qwf'::regnamespace::oid"
        " and relkind in ('r', 'v')"
        " and not has_any_column_privilege('qwf_viewer', oid, 'select')",
    ):
        yield problem(f"qwf_viewer may not read qwf.{row['relname']}", GRANTS_AGAIN)


def settings(conn: Connection, dsn: str) -> Iterator[Finding]:
    """The intervals in qwf.settings fit each other.

    A heartbeat needs no check: agents keep it to a third of the lease at most.
    """
    row = many(conn, "select * from qwf.settings")[0]
    change = "qwf settings {} TIME"
    if row["worker_stale"] < row["heartbeat"] * 2:
        yield problem(
            f"worker_stale {duration(row['worker_stale'])} is shorter than two heartbeats: live "
            "workers are taken for dead",
            change.format("worker_stale"),
        )
    if row["tick"] > row["lease"]:
        yield problem(
            "tick is longer than the lease: lost jobs wait for the next tick", change.format("tick")
        )
    if row["poll"] > timedelta(minutes=1):
        yield note(
            f"poll is {duration(row['poll'])}: a lost wake-up delays work that long",
            change.format("poll"),
        )
