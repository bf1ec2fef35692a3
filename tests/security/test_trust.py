"""A superuser runs commands in a database where somebody else has planted code."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg import sql
from psycopg.conninfo import make_conninfo

from qwf_agent import migrate
from qwf_agent.cli import qwf
from support.servers import ROOT

Session = psycopg.Connection[Any]
Grant = Callable[[str], Session]

# A function that makes its owner a superuser, if a superuser runs it.
TRAP = """
create function {schema}.{name}({arguments}) returns {returns} language plpgsql as $$
begin
  if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
    alter role tenant superuser;
  end if;
  {ends}
end $$;
"""


def trap(schema: str, name: str, arguments: str, returns: str, ends: str) -> str:
    return TRAP.format(schema=schema, name=name, arguments=arguments, returns=returns, ends=ends)


@pytest.fixture
def tenant(empty_dsn: str) -> Iterator[Grant]:
    """Opens a session of a login that may create schemas in the database; it runs no test code."""
    with psycopg.connect(empty_dsn, autocommit=True) as superuser:
        superuser.execute("drop role if exists tenant")
        superuser.execute("create role tenant login")
        database = sql.Identifier(superuser.info.dbname)
        opened: list[Session] = []

        def session(statement: str) -> Session:
            superuser.execute(sql.SQL(statement).format(database=database))  # type: ignore[arg-type]
            opened.append(psycopg.connect(make_conninfo(empty_dsn, user="tenant"), autocommit=True))
            return opened[-1]

        yield session
        rose = superuser.execute(
            "select rolsuper from pg_roles where rolname = 'tenant'"
        ).fetchone()
        for one in opened:
            one.close()
        superuser.execute(sql.SQL("alter database {} owner to current_user").format(database))
        superuser.execute("drop owned by tenant cascade")
        superuser.execute("drop role tenant")
        assert rose == (False,)


def run(dsn: str, *words: str) -> Result:
    result = CliRunner().invoke(qwf, [*words, "--dsn", dsn])
    assert "Traceback" not in result.output
    return result


CREATE = "grant create on database {database} to tenant"
OWNER = "alter database {database} owner to tenant"


def test_a_view_in_place_of_sqitchs_registry_is_not_read(empty_dsn: str, tenant: Grant) -> None:
    session = tenant(CREATE)
    session.execute("create schema sqitch; grant usage on schema sqitch to public")
    session.execute(trap("sqitch", "f", "", "setof text", "return;"))
    session.execute("create view sqitch.changes as select f as project from sqitch.f()")
    session.execute("grant select on sqitch.changes to public")
    assert {row.state for row in migrate.status(empty_dsn)} == {"pending"}


def test_a_registry_of_somebody_else_is_refused(empty_dsn: str, tenant: Grant) -> None:
    session = tenant(CREATE)
    migrate.deploy(empty_dsn, user="tenant", to="schema/schemas")
    session.execute(trap("qwf_migrations", "f", "", "trigger", "return new;"))
    session.execute(
        "create trigger t before insert on qwf_migrations._yoyo_migration"
        " for each row execute function qwf_migrations.f()"
    )
    session.execute("grant all on schema qwf_migrations to public")
    session.execute("grant all on all tables in schema qwf_migrations to public")
    for refused in (migrate.deploy, migrate.status, migrate.verify, migrate.revert):
        with pytest.raises(
            migrate.MigrateError,
            match=r"schema \w+ belongs to tenant.*: connect as the owner or",
        ):
            refused(empty_dsn)
    assert {row.state for row in migrate.status(empty_dsn, user="tenant")} >= {"deployed"}


def test_a_schema_that_somebody_else_makes_meanwhile_is_refused(
    empty_dsn: str, tenant: Grant
) -> None:
    tenant(CREATE).execute("create schema qwf_migrations")
    with pytest.raises(migrate.MigrateError, match="schema qwf_migrations belongs to tenant"):
        migrate.deploy(empty_dsn)


def test_a_trigger_of_somebody_else_on_our_table_is_refused(empty_dsn: str, tenant: Grant) -> None:
    session = tenant(CREATE)
    migrate.deploy(empty_dsn, to="schema/schemas")
    with psycopg.connect(empty_dsn, autocommit=True) as superuser:
        superuser.execute("grant usage on schema qwf_migrations to tenant")
        superuser.execute("grant trigger on qwf_migrations._yoyo_migration to tenant")
    session.execute("create schema mine")
    session.execute(trap("mine", "f", "", "trigger", "return new;"))
    session.execute(
        "create trigger t before insert on qwf_migrations._yoyo_migration"
        " for each row execute function mine.f()"
    )
    with pytest.raises(migrate.MigrateError, match=r"trigger t on .* belongs to tenant"):
        migrate.deploy(empty_dsn)


def plant_operator(session: Session, left: str, right: str) -> None:
    name = f"eq_{left}_{right}"
    session.execute(trap("public", name, f"{left}, {right}", "boolean", "return true;"))
    session.execute(
        f"create operator public.= (function = public.{name}, leftarg = {left}, rightarg = {right})"
    )


@pytest.mark.parametrize("command", [["doctor"], ["migrate", "status"], ["migrate", "verify"]])
def test_operators_of_the_database_are_not_used(
    empty_dsn: str, tenant: Grant, command: list[str]
) -> None:
    migrate.deploy(empty_dsn)
    session = tenant(OWNER)
    plant_operator(session, "oid", "regnamespace")
    for same in ("oid", "name", "text"):
        plant_operator(session, same, same)
    session.execute(f'alter database "{session.info.dbname}" set search_path = public, pg_catalog')
    result = run(empty_dsn, *command)
    assert "belongs to" not in result.output


@pytest.mark.parametrize(
    "command", [["workers"], ["jobs"], ["doctor"], ["metrics"], ["enqueue", "t"]]
)
def test_a_schema_of_somebody_else_is_not_read(
    empty_dsn: str, tenant: Grant, command: list[str]
) -> None:
    session = tenant(CREATE)
    session.execute("create schema qwf; grant usage on schema qwf to public")
    session.execute(trap("qwf", "f", "", "int", "return 1;"))
    for view in ("worker_overview", "job_overview", "queue_overview", "job_details"):
        session.execute(f"create view qwf.{view} as select qwf.f() as id")  # type: ignore[arg-type]
        session.execute(f"grant select on qwf.{view} to public")  # type: ignore[arg-type]
    session.execute(trap("qwf", "enqueue", "task text", "bigint", "return 1;"))
    result = run(empty_dsn, *command)
    assert result.exit_code != 0
    assert "qwf belongs to tenant" in result.output


def test_a_superuser_who_takes_the_owners_role_is_still_one(empty_dsn: str, tenant: Grant) -> None:
    tenant(CREATE).execute("create schema qwf")
    result = run(make_conninfo(empty_dsn, options="-c role=tenant"), "workers")
    assert "qwf belongs to tenant" in result.output


@pytest.mark.parametrize(
    ("schema", "command"),
    [
        ("qwf", ["doctor"]),
        ("qwf", ["limits"]),
        ("qwf_migrations", ["migrate", "status", "--json"]),
        ("qwf_migrations", ["migrate", "verify"]),
        ("sqitch", ["migrate", "status", "--json"]),
    ],
)
def test_a_schema_that_comes_and_goes_is_not_used(
    empty_dsn: str,
    tenant: Grant,
    monkeypatch: pytest.MonkeyPatch,
    schema: str,
    command: list[str],
) -> None:
    session = tenant(CREATE)
    session.execute("create schema mine; grant usage on schema mine to public")
    session.execute(trap("mine", "version", "", "text", "return '0.1.0';"))
    for view, column in [
        ("limits", "name"),
        ("limit_slots", "limit_name"),
        ("changes", "project"),
        ("_yoyo_migration", "migration_id"),
    ]:
        session.execute(
            f"create view mine.{view} as"  # type: ignore[arg-type]
            f" select mine.version() as {column}, 1 as job_id, 1 as max_running, now() as"
            " applied_at_utc"
        )
        session.execute(f"grant select on mine.{view} to public")  # type: ignore[arg-type]
    execute = psycopg.Cursor.execute
    here: list[bool] = []  # whether it is there, for each of the statements of the command

    def after_the_tenant(cursor: psycopg.Cursor[Any], *args: Any, **options: Any) -> Any:
        if cursor.connection is not session:
            old, new = ("mine", schema) if here.pop(0) else (schema, "mine")
            with contextlib.suppress(psycopg.Error):
                session.execute(f"alter schema {old} rename to {new}")  # type: ignore[arg-type]
        return execute(cursor, *args, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", after_the_tenant)
    monkeypatch.setattr(migrate, "read_plan", functools.cache(migrate.read_plan))
    tried: set[tuple[bool, ...]] = set()
    for pattern in itertools.product((False, True), repeat=6):
        if not any(pattern[:n] in tried for n in range(7)):  # it would be the same once more
            here[:] = [*pattern, *[True] * 1000]
            run(empty_dsn, *command)
            tried.add(pattern[: 1006 - len(here)])


@pytest.mark.usefixtures("dsn")  # an administrator has made the roles
def test_other_users_work_in_a_schema_that_a_plain_user_deployed(
    empty_dsn: str, tenant: Grant
) -> None:
    tenant(CREATE)
    migrate.deploy(empty_dsn, user="tenant")
    with psycopg.connect(empty_dsn, autocommit=True) as superuser:
        superuser.execute("drop role if exists reader")
        superuser.execute("create role reader login in role qwf_viewer")
    try:
        assert run(make_conninfo(empty_dsn, user="reader"), "workers").exit_code == 0
        assert run(make_conninfo(empty_dsn, user="tenant"), "workers").exit_code == 0
    finally:
        with psycopg.connect(empty_dsn, autocommit=True) as superuser:
            superuser.execute("drop role reader")


# The sources --------------------------------------------------------------------------------------

PACKAGE = ROOT / "python" / "qwf_agent"
# These connect to servers and databases that they have made themselves.
OWN = {file for room in ("embedded", "testing") for file in (PACKAGE / room).glob("*.py")}


def test_statements_find_no_object_by_the_path_of_the_database() -> None:
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.findall(r"::regnamespace(?!::(?:oid|text))", text), (file, "::oid or ::text")
        if file not in OWN:
            for call in re.findall(r"psycopg\.connect\((.*?)\n?\s*\)\n", text, re.DOTALL):
                assert re.search(r"cursor_factory=(?:trust\.Pinned)?Cursor\b", call), file
