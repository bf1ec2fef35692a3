"""Migrations: deploy, status, verify, revert; concurrent, interrupted, and next to sqitch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from qwf_agent import migrate
from qwf_agent.migrate import database
from qwf_agent.migrate.database import LOCK
from support.logins import plain_login
from support.servers import ROOT, Server
from support.sources import before_releases
from support.sqitch import dump, needs_sqitch, sqitch
from support.thorough import thorough

OBJECTS = """
select
  (select count(*) from pg_namespace where nspname in ('qwf', 'shop'))
  + (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('qwf', 'shop'))
"""


class Chain:
    """A small project with its own plan, which a test may break."""

    def __init__(self, folder: Path) -> None:
        self.plan = folder / "sqitch.plan"
        self.plan.write_text("%syntax-version=1.0.0\n%project=shop\n%uri=https://shop.invalid/\n\n")
        self.add("shop", "create schema shop;", "drop schema shop;", "select 'shop'::regnamespace;")

    def add(self, name: str, deploy: str, revert: str, verify: str = "select 1;") -> None:
        self.write(name, deploy, revert, verify)
        self.line(f"{name} 2026-01-02T03:04:05Z A Planner <a@shop.invalid> # Adds {name}")

    def table(self, name: str) -> None:
        self.add(
            name,
            f"create table shop.{name} (id int);",
            f"drop table shop.{name};",
            f"select id from shop.{name} where false;",
        )

    def line(self, text: str) -> None:
        with self.plan.open("a") as plan:
            plan.write(text + "\n")

    def write(self, name: str, deploy: str, revert: str, verify: str, folder: str = "") -> None:
        base = self.plan.parent / folder
        scripts = (
            ("deploy", deploy, "commit"),
            ("revert", revert, "commit"),
            ("verify", verify, "rollback"),
        )
        for kind, text, end in scripts:
            file = base / kind / f"{name}.sql"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"-- {kind.title()} shop:{name}\n\nbegin;\n\n{text}\n\n{end};\n")


@pytest.fixture
def chain(tmp_path: Path) -> Chain:
    return Chain(tmp_path)


@pytest.fixture
def query(empty_dsn: str) -> Iterator[Callable[[str], Any]]:
    """Asks the empty database for one value."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:

        def ask(text: str) -> Any:
            row = conn.execute(text).fetchone()  # type: ignore[arg-type]
            return row[0] if row else None

        yield ask


def states(dsn: str, chain: Chain | None = None) -> list[str]:
    return [row.state for row in migrate.status(dsn, plan=chain.plan if chain else None)]


# The engine's own plan ---------------------------------------------------------------------------


def test_the_engine_deploys_verifies_reverts_and_deploys_again(
    empty_dsn: str, query: Callable[[str], Any]
) -> None:
    names = [change.name for change in migrate.read_plan().changes]
    assert set(states(empty_dsn)) == {"pending"}
    assert migrate.deploy(empty_dsn) == names
    assert migrate.deploy(empty_dsn) == []
    assert set(states(empty_dsn)) == {"deployed"}
    assert migrate.verify(empty_dsn) == names
    assert migrate.revert(empty_dsn) == names[::-1]
    assert query(OBJECTS) == 0
    assert set(states(empty_dsn)) == {"pending"}
    assert migrate.deploy(empty_dsn) == names


def test_verify_names_what_is_missing(dsn: str, db: psycopg.Connection[Any]) -> None:
    db.execute("drop function qwf.version() cascade")
    with pytest.raises(
        migrate.MigrateError, match=r"shared/conversions: .*\"qwf\.version\" does not exist"
    ):
        migrate.verify(dsn)


@before_releases
def test_changes_at_once_leave_the_same_marks_and_log_as_one_by_one(
    server: Server, empty_dsn: str
) -> None:
    last = "functions/shared/conversions"
    said: list[str] = []
    at_once = migrate.deploy(empty_dsn, to=last, say=said.append)
    assert said == [f"+ {name}" for name in at_once]
    query = """
        select m.migration_hash, m.migration_id, m.script_hash, m.applied_at_utc is null,
          l.operation, l.username, l.hostname, length(l.id), l.created_at_utc is null
        from qwf_migrations._yoyo_migration m
        join qwf_migrations._yoyo_log l using (migration_hash, migration_id)
        order by m.migration_id"""
    with server.database(server.new_name()) as janitor:
        one_by_one = server.dsn(janitor.dbname)
        migrate.deploy(one_by_one, to="schema/schemas")
        assert migrate.deploy(one_by_one, to=last) == at_once[1:]
        assert dump(server, empty_dsn) == dump(server, one_by_one)
        with psycopg.connect(empty_dsn) as first, psycopg.connect(one_by_one) as second:
            rows = first.execute(query).fetchall()
            assert rows == second.execute(query).fetchall()
    assert len(rows) == len(at_once)


@before_releases
def test_an_engine_script_that_fails_is_named_and_those_before_it_stay(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("""
            create function refuse() returns event_trigger language plpgsql as
            $$ begin raise exception 'no views here'; end $$;
            create event trigger no_views on ddl_command_start when tag in ('CREATE VIEW')
            execute function public.refuse()""")
        with pytest.raises(migrate.MigrateError, match=r"sql: no views here"):
            migrate.deploy(empty_dsn)
        kept = states(empty_dsn).count("deployed")
        assert kept > 20
        conn.execute("drop event trigger no_views; drop function refuse()")
    assert len(migrate.deploy(empty_dsn)) == len(migrate.read_plan().changes) - kept


@before_releases
def test_deploy_takes_the_keywords_of_pytest_postgresql(empty_dsn: str) -> None:
    parts = conninfo_to_dict(empty_dsn)
    given = {"password": None, "autocommit": False, **parts}
    assert migrate.deploy(to="schema/schemas", **given) == ["schema/schemas"]
    assert states(empty_dsn)[0] == "deployed"


@pytest.mark.roles
def test_a_role_without_createrole_can_deploy(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn, plain_login(conn) as login:
        migrate.deploy(empty_dsn, plan=None, **login)
        assert migrate.verify(empty_dsn, **login)
        migrate.revert(empty_dsn, **login)


@pytest.mark.roles
def test_memberships_that_exist_need_no_administrator(empty_dsn: str, template: str) -> None:
    """The roles exist, because the template of the tests is on the same server."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn, plain_login(conn) as login:
        said: list[str] = []
        migrate.deploy(empty_dsn, say=said.append, **login)
        assert not [line for line in said if "member" in line and not line.startswith("+ ")]


def test_a_schema_that_psql_deployed_is_adopted(
    empty_dsn: str, query: Callable[[str], Any]
) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(migrate.script().encode())
    with pytest.raises(migrate.MigrateError, match="qwf migrate adopt"):
        migrate.deploy(empty_dsn)
    with pytest.raises(migrate.MigrateError, match=r"no change is registered.*qwf migrate adopt"):
        migrate.verify(empty_dsn)
    names = [change.name for change in migrate.read_plan().changes]
    assert migrate.adopt(empty_dsn) == names
    assert set(states(empty_dsn)) == {"deployed"}
    assert migrate.deploy(empty_dsn) == []
    assert migrate.verify(empty_dsn) == names
    with pytest.raises(migrate.MigrateError, match="nothing to adopt"):
        migrate.adopt(empty_dsn)
    assert migrate.revert(empty_dsn) == names[::-1]
    assert query(OBJECTS) == 0


@before_releases
def test_a_schema_that_was_dropped_does_not_count_as_deployed(empty_dsn: str) -> None:
    migrate.deploy(empty_dsn, to="schema/runs")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("drop schema qwf, _qwf cascade")
        for refused in (migrate.deploy, migrate.status, migrate.verify, migrate.revert):
            with pytest.raises(migrate.MigrateError, match="was dropped, but qwf_migrations") as no:
                refused(empty_dsn)
        advice = str(no.value).partition("deployed: ")[2].partition(";")[0]
        conn.execute(advice.encode())
    assert migrate.deploy(empty_dsn, to="schema/runs")


def test_a_schema_that_is_incomplete_is_not_adopted(dsn: str, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(migrate.script().encode())
        conn.execute("drop function qwf.version() cascade")
    with pytest.raises(migrate.MigrateError, match="shared/conversions: "):
        migrate.adopt(empty_dsn)
    assert set(states(empty_dsn)) == {"pending"}


def test_the_schema_is_deployed_by_the_migration_of_another_tool(empty_dsn: str) -> None:
    """In its transaction, with its search path, over a driver that takes percent signs as is."""
    text = migrate.script(transaction=False)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("set search_path = public")
        conn.commit()
        conn.execute("create table public.theirs (id int)")
        conn.cursor().execute(text.encode())
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        assert conn.execute("select current_setting('search_path')").fetchone() == ("public",)
        conn.rollback()
        assert conn.execute("select to_regclass('theirs'), to_regnamespace('qwf')").fetchone() == (
            None, None,
        )  # fmt: skip
        conn.execute(text.encode())
        conn.commit()
    migrate.adopt(empty_dsn)
    assert migrate.verify(empty_dsn)


# Any plan ----------------------------------------------------------------------------------------


def test_deploy_and_revert_stop_at_the_given_change(empty_dsn: str, chain: Chain) -> None:
    for name in ("a", "b", "c"):
        chain.table(name)
    assert migrate.deploy(empty_dsn, to="a", plan=chain.plan) == ["shop", "a"]
    assert states(empty_dsn, chain) == ["deployed", "deployed", "pending", "pending"]
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["b", "c"]
    assert migrate.revert(empty_dsn, to="a", plan=chain.plan) == ["c", "b"]
    with pytest.raises(migrate.MigrateError, match="the plan has no nowhere"):
        migrate.deploy(empty_dsn, to="nowhere", plan=chain.plan)


def test_a_script_leaves_nothing_in_the_session_of_the_next(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    """All scripts share one session."""
    leaves = "create temporary table left_behind (); set work_mem = '1MB'; set search_path = shop;"
    chain.add("first", leaves + " create table shop.a ();", "drop table shop.a;")
    seen = "select to_regclass('left_behind')::text as temp, current_setting('work_mem') as memory"
    chain.add("second", f"create table shop.b as {seen};", "drop table shop.b;")
    migrate.deploy(empty_dsn, plan=chain.plan)
    assert query("select row(temp, memory)::text from shop.b") == "(,4MB)"
    assert query("select to_regclass('shop.a') is not null") is True


def names_missing(dsn: str, chain: Chain, to: str | None = None) -> list[str]:
    return [change.change for change in migrate.missing(dsn, to=to, plan=chain.plan)]


def test_what_is_missing_is_listed_and_nothing_is_written(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    """Not even the registry, and also while another process holds the lock of a deploy."""
    for name in ("a", "b"):
        chain.table(name)
    schemas = "select array_agg(nspname::text order by 1) from pg_namespace"
    before = query(schemas)
    query(f"select pg_advisory_lock({LOCK})")
    assert names_missing(empty_dsn, chain) == ["shop", "a", "b"]
    assert names_missing(empty_dsn, chain, to="a") == ["shop", "a"]
    assert query(schemas) == before
    query(f"select pg_advisory_unlock({LOCK})")
    migrate.deploy(empty_dsn, to="a", plan=chain.plan)
    assert names_missing(empty_dsn, chain) == ["b"]
    assert names_missing(empty_dsn, chain, to="a") == []
    migrate.deploy(empty_dsn, plan=chain.plan)
    assert names_missing(empty_dsn, chain) == []


def test_a_database_that_deploy_refuses_has_nothing_missing_either(
    empty_dsn: str, chain: Chain
) -> None:
    chain.table("a")
    migrate.deploy(empty_dsn, plan=chain.plan)
    text = chain.plan.read_text()
    chain.plan.write_text(text.replace("Adds a", "Adds another a"))
    with pytest.raises(migrate.MigrateError, match="another version deployed this database"):
        migrate.missing(empty_dsn, plan=chain.plan)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create schema qwf")
    with pytest.raises(migrate.MigrateError, match="qwf migrate did not make it"):
        migrate.missing(empty_dsn)


def test_a_deploy_that_has_nothing_to_do_writes_nothing(empty_dsn: str, chain: Chain) -> None:
    """All replicas of a program may deploy at once when they start."""
    chain.table("a")
    migrate.deploy(empty_dsn, plan=chain.plan)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        query = "select pg_snapshot_xmax(pg_current_snapshot())"
        before = conn.execute(query).fetchone()
        assert migrate.deploy(empty_dsn, plan=chain.plan) == []
        assert conn.execute(query).fetchone() == before


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_is_not_utf8_is_refused(empty_dsn: str, encoding: str) -> None:
    """By qwf migrate, and by the first script, which others send."""
    name = sql.Identifier(f"other_{encoding.lower()}")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(sql.SQL("create database {} encoding {} template template0 locale 'C'").format(
            name, sql.Literal(encoding)))  # fmt: skip
        try:
            for call in (migrate.deploy, migrate.missing):
                with pytest.raises(migrate.MigrateError, match="--encoding UTF8"):
                    call(empty_dsn, dbname=name.as_string(conn).strip('"'))
            other = make_conninfo(empty_dsn, dbname=name.as_string(conn).strip('"'))
            script = (ROOT / "sql" / "schema" / "schemas.sql").read_text()
            with (
                psycopg.connect(other, autocommit=True) as there,
                pytest.raises(psycopg.errors.FeatureNotSupported, match="UTF8"),
            ):
                there.execute(script)
        finally:
            conn.execute(sql.SQL("drop database {} with (force)").format(name))


def test_a_failing_script_leaves_nothing_and_names_its_line(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    chain.add("bad", "create table shop.bad (id int);\nselect wrong;", "drop table shop.bad;")
    with pytest.raises(migrate.MigrateError, match=r'bad\.sql:6: column "wrong" does not exist'):
        migrate.deploy(empty_dsn, plan=chain.plan)
    assert states(empty_dsn, chain) == ["deployed", "pending"]
    assert query("select to_regclass('shop.bad')") is None


def test_a_change_that_fails_its_verify_is_reverted(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    chain.add("bad", "create table shop.bad (id int);", "drop table shop.bad;", "select 1 / 0;")
    with pytest.raises(migrate.MigrateError, match=r"bad was reverted.*\n.*division by zero"):
        migrate.deploy(empty_dsn, plan=chain.plan)
    assert states(empty_dsn, chain) == ["deployed", "pending"]
    assert query("select to_regclass('shop.bad')") is None
    assert migrate.deploy(empty_dsn, plan=chain.plan, verify=False) == ["bad"]


def test_a_reworked_change_keeps_its_frozen_scripts(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    old = "create or replace function shop.f() returns int language sql as 'select 1';"
    new = "create or replace function shop.f() returns int language sql as 'select 2';"
    drop = "drop function shop.f();"
    chain.add("f", old, drop)
    chain.line("@v1 2026-01-02T03:04:05Z A Planner <a@shop.invalid>")
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["shop", "f"]
    frozen = chain.plan.parent / "reworked" / "deploy" / "f@v1.sql"
    chain.write("f@v1", old, drop, "select 1;", folder="reworked")
    shutil.copy(chain.plan.parent / "deploy" / "f.sql", frozen)  # as sqitch rework does
    chain.add("f", new, old)
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["f"]
    assert query("select shop.f()") == 2
    assert migrate.verify(empty_dsn, plan=chain.plan) == ["shop", "f"]
    assert migrate.revert(empty_dsn, to="@v1", plan=chain.plan) == ["f"]
    assert query("select shop.f()") == 1
    assert migrate.revert(empty_dsn, plan=chain.plan) == ["f", "shop"]


def edit(chain: Chain, name: str) -> None:
    """Change a deploy script that may be deployed already."""
    file = chain.plan.parent / "deploy" / f"{name}.sql"
    file.write_text(file.read_text().replace("id int", "id bigint"))


def test_an_edited_script_is_named_with_the_commands_that_deploy_it(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    for name in ("a", "b"):
        chain.table(name)
    migrate.deploy(empty_dsn, plan=chain.plan)
    chain.table("c")
    edit(chain, "b")
    for refused in (migrate.deploy, migrate.missing, migrate.verify):
        with pytest.raises(migrate.MigrateError, match="deployed them: b; ") as no:
            refused(empty_dsn, plan=chain.plan)
        advice = f"revert --plan {chain.plan} --all --yes && qwf migrate deploy --plan {chain.plan}"
        assert advice in str(no.value)
    assert states(empty_dsn, chain) == ["deployed", "deployed", "changed", "pending"]
    assert migrate.revert(empty_dsn, plan=chain.plan) == ["b", "a", "shop"]
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["shop", "a", "b", "c"]
    assert query("select format_type(atttypid, null) from pg_attribute"
                 " where attrelid = 'shop.b'::regclass and attname = 'id'") == "bigint"  # fmt: skip


def test_an_edited_script_after_a_release_is_reverted_to_the_release(
    empty_dsn: str, chain: Chain
) -> None:
    chain.table("a")
    chain.line("@v1 2026-01-02T03:04:05Z A Planner <a@shop.invalid>")
    chain.table("b")
    migrate.deploy(empty_dsn, plan=chain.plan)
    edit(chain, "b")
    with pytest.raises(migrate.MigrateError, match="--to @v1 --yes"):
        migrate.deploy(empty_dsn, plan=chain.plan)
    edit(chain, "a")
    with pytest.raises(migrate.MigrateError, match="a, b; a release has them"):
        migrate.deploy(empty_dsn, plan=chain.plan)


def test_a_registry_from_before_the_hashes_is_taken_as_it_is(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    chain.table("a")
    migrate.deploy(empty_dsn, plan=chain.plan)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("alter table shop_migrations._yoyo_migration drop column script_hash")
    edit(chain, "a")
    assert states(empty_dsn, chain) == ["deployed"] * 2
    assert migrate.verify(empty_dsn, plan=chain.plan) == ["shop", "a"]
    chain.table("b")
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["b"]
    edit(chain, "b")
    assert states(empty_dsn, chain) == ["deployed", "deployed", "changed"]


@before_releases
def test_two_projects_are_deployed_to_one_database(empty_dsn: str, chain: Chain) -> None:
    migrate.deploy(empty_dsn, to="schema/runs")
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["shop"]
    assert set(states(empty_dsn)) == {"deployed", "pending"}
    migrate.revert(empty_dsn)
    assert states(empty_dsn, chain) == ["deployed"]


def test_a_database_of_another_version_is_refused(empty_dsn: str, chain: Chain) -> None:
    chain.table("a")
    migrate.deploy(empty_dsn, plan=chain.plan)
    text = chain.plan.read_text()
    chain.plan.write_text(text.replace("Adds a", "Adds another a"))
    with pytest.raises(migrate.MigrateError, match="another version deployed this database"):
        migrate.deploy(empty_dsn, plan=chain.plan)
    assert states(empty_dsn, chain) == ["deployed", "pending", "unknown"]


def test_a_schema_made_without_qwf_migrate_is_refused(
    empty_dsn: str, query: Callable[[str], Any]
) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create schema qwf")
    with pytest.raises(migrate.MigrateError, match="qwf migrate did not make it"):
        migrate.deploy(empty_dsn)


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("host=/nowhere dbname=x", "cannot connect"),
        ("host=a b c", "not a database address"),
    ],
)
def test_a_bad_address_gives_a_message_that_says_what_to_do(dsn: str, message: str) -> None:
    with pytest.raises(migrate.MigrateError, match=message):
        migrate.deploy(dsn)


def test_a_database_role_and_password_may_have_any_characters(server: Server, chain: Chain) -> None:
    name = server.new_name()[:-5] + " %/@:?#é'\"_test"
    with server.database(name) as janitor:
        assert migrate.deploy(server.dsn(janitor.dbname), plan=chain.plan) == ["shop"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%project=shop\n\nwhat is this\n", r"sqitch\.plan:3: not a line"),
        ("%project=shop\n\n@v1 2026-01-02T03:04:05Z A <a@b.c>\n", "a tag without a change"),
        ("\n", "no %project"),
        (
            "%project=shop\n\n" + "a 2026-01-02T03:04:05Z A <a@b.c>\n" * 2,
            "a appears twice without a tag",
        ),
        (
            "%project=shop\n\na [b] 2026-01-02T03:04:05Z A <a@b.c>\n",
            "a requires b, which is not before it",
        ),
    ],
)
def test_a_malformed_plan_says_which_line(tmp_path: Path, text: str, message: str) -> None:
    plan = tmp_path / "sqitch.plan"
    plan.write_text(text)
    with pytest.raises(migrate.MigrateError, match=message):
        migrate.read_plan(plan)


# Concurrent and interrupted ----------------------------------------------------------------------


def deploying(dsn: str, plan: Path | None = None) -> subprocess.Popen[str]:
    """Another process that deploys, and prints the changes it deployed."""
    script = f"""
        from qwf_agent import migrate
        for name in migrate.deploy({dsn!r}, plan={str(plan) if plan else None!r}):
            print(name)
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(conn: psycopg.Connection[Any], condition: str) -> None:
    """Wait until the query returns true."""
    deadline = threading.Event()
    timer = threading.Timer(30, deadline.set)
    timer.start()
    try:
        while not deadline.is_set():
            row = conn.execute(condition).fetchone()  # type: ignore[arg-type]
            if row and row[0]:
                return
            deadline.wait(0.02)
        raise AssertionError(f"never true: {condition}")
    finally:
        timer.cancel()


def test_two_concurrent_deploys_share_the_work(empty_dsn: str) -> None:
    both = [deploying(empty_dsn), deploying(empty_dsn)]
    printed = []
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        printed += out.split()
    assert sorted(printed) == sorted(change.name for change in migrate.read_plan().changes)
    assert migrate.verify(empty_dsn)


@before_releases
def test_a_script_gives_up_if_a_table_stays_locked_and_leaves_nothing(
    dsn: str, db: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE_S", 0.0)
    with db.transaction():
        db.execute("select count(*) from qwf.queues")
        with pytest.raises(migrate.MigrateError, match="tables locked for ten minutes"):
            migrate.revert(dsn, to="views/queues/queues")
    assert db.execute("select count(*) from pg_trigger where tgrelid = 'qwf.queues'::regclass"
                      ).fetchone() == (3,)  # fmt: skip
    migrate.deploy(dsn)
    assert migrate.verify(dsn)


def test_a_migration_of_a_database_in_use_leaves_an_event(
    dsn: str, db: psycopg.Connection[Any]
) -> None:
    events = "select kind, subject, login, detail from _qwf.event_log order by id"
    assert db.execute(events).fetchall() == []  # it was new
    last = migrate.status(dsn)[-1].change
    migrate.deploy(dsn)
    assert db.execute(events).fetchall() == []  # nothing was missing
    to = "views/queues/queues"
    reverted = migrate.revert(dsn, to=to)
    migrate.deploy(dsn)
    all_of_them = {"changes": len(migrate.status(dsn)), "last": last}
    left = {"changes": len(migrate.status(dsn)) - len(reverted), "last": to}
    assert db.execute(events).fetchall() == [
        ("schema_changed", "qwf", db.info.user, {"old": all_of_them, "new": left}),
        ("schema_changed", "qwf", db.info.user, {"old": left, "new": all_of_them}),
    ]


@before_releases
def test_a_deploy_that_fails_halfway_leaves_an_event_of_what_stays(
    dsn: str, db: psycopg.Connection[Any]
) -> None:
    migrate.revert(dsn, to="functions/finish/finish")
    db.execute("""
        create function refuse() returns event_trigger language plpgsql as
        $$ begin raise exception 'no triggers here'; end $$;
        create event trigger no_triggers on ddl_command_start when tag in ('CREATE TRIGGER')
        execute function public.refuse()""")
    with pytest.raises(migrate.MigrateError, match="no triggers here"):
        migrate.deploy(dsn)
    rows = db.execute("select detail from _qwf.event_log where kind = 'schema_changed' order by id")
    (back,), (halfway,) = rows.fetchall()
    assert halfway["old"] == back["new"]
    assert back["new"]["changes"] < halfway["new"]["changes"] < back["old"]["changes"]


def test_a_deploy_waits_for_a_running_one_and_says_so(empty_dsn: str, chain: Chain) -> None:
    lines: list[str] = []
    with psycopg.connect(empty_dsn, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(%s)", [LOCK])
        waiting = threading.Thread(
            target=migrate.deploy,
            args=[empty_dsn],
            kwargs={"plan": chain.plan, "say": lines.append},
        )
        waiting.start()
        wait_until(
            holder,
            "select exists (select from pg_locks l join pg_database d on d.oid = l.database"
            " where l.locktype = 'advisory' and not l.granted and d.datname = current_database())",
        )
        assert states(empty_dsn, chain) == ["pending"]
    waiting.join(60)
    assert "waiting" in lines[0]
    assert states(empty_dsn, chain) == ["deployed"]


GATE = 20260102  # an advisory lock that a script waits for, so that a test can stop it half way
PASS = f"select pg_advisory_xact_lock({GATE});"


def kill_at_the_gate(dsn: str, chain: Chain, *, cut: bool) -> None:
    """Start a deploy and kill -9 it while a script waits at the gate.

    The server does not notice at once: the script continues when the gate opens, unless its
    session is cut too.
    """
    waits = f"from pg_locks where locktype = 'advisory' and objid = {GATE} and not granted"
    with psycopg.connect(dsn, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(%s)", [GATE])
        process = deploying(dsn, chain.plan)
        wait_until(holder, f"select exists (select {waits})")
        process.kill()
        process.communicate()
        if cut:
            holder.execute(f"select pg_terminate_backend(pid, 10000) {waits}")  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", [True, False], ids=["session cut", "session continues"])
@pytest.mark.parametrize(
    ("gates", "after_kill"),
    [
        (("gate", "open", "open"), {"deployed", "pending"}),
        (("open", "gate", "open"), {"deployed", "unverified", "pending"}),
        (("open", "open", "gate"), {"deployed", "pending"}),
    ],
    ids=["inside a script", "between script and verify", "in the next change"],
)
def test_a_deploy_killed_half_way_is_finished_by_the_next(
    empty_dsn: str, chain: Chain, gates: tuple[str, str, str], after_kill: set[str], cut: bool
) -> None:
    first, verify, second = (PASS if gate == "gate" else "" for gate in gates)
    check = "select id from shop.late where false;"
    chain.add(
        "late", "create table shop.late (id int);" + first, "drop table shop.late;", check + verify
    )
    chain.add("last", "create table shop.last (id int);" + second, "drop table shop.last;")
    kill_at_the_gate(empty_dsn, chain, cut=cut)
    if cut:
        assert set(states(empty_dsn, chain)) == after_kill
        to_do = [s for s in states(empty_dsn, chain) if s != "deployed"]
        assert [s.state for s in migrate.missing(empty_dsn, plan=chain.plan)] == to_do
    migrate.deploy(empty_dsn, plan=chain.plan)
    assert states(empty_dsn, chain) == ["deployed"] * 3
    assert migrate.verify(empty_dsn, plan=chain.plan) == ["shop", "late", "last"]


def test_a_change_killed_before_its_failing_verify_is_reverted(
    empty_dsn: str, chain: Chain, query: Callable[[str], Any]
) -> None:
    chain.add(
        "late", "create table shop.late (id int);", "drop table shop.late;", PASS + "select 1 / 0;"
    )
    kill_at_the_gate(empty_dsn, chain, cut=True)
    with pytest.raises(migrate.MigrateError, match="late was reverted"):
        migrate.deploy(empty_dsn, plan=chain.plan)
    assert states(empty_dsn, chain) == ["deployed", "pending"]
    assert query("select to_regclass('shop.late')") is None


def test_a_deploy_fails_if_the_server_stops_and_the_next_one_continues(
    server: Server, empty_dsn: str, chain: Chain
) -> None:
    chain.add("late", "create table shop.late (id int);" + PASS, "drop table shop.late;")
    errors: list[Exception] = []

    def run() -> None:
        try:
            migrate.deploy(empty_dsn, plan=chain.plan)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    with psycopg.connect(empty_dsn, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(%s)", [GATE])
        thread.start()
        wait_until(
            holder, f"select exists (select from pg_locks where objid = {GATE} and not granted)"
        )
        server.stop_immediate()
    thread.join(60)
    server.start()
    assert [type(error) for error in errors] == [migrate.MigrateError]
    assert "late.sql" in str(errors[0])
    assert migrate.deploy(empty_dsn, plan=chain.plan) == ["late"]


def test_a_killed_revert_is_finished_by_the_next(empty_dsn: str, chain: Chain) -> None:
    chain.add("late", "create table shop.late (id int);", PASS + "drop table shop.late;")
    migrate.deploy(empty_dsn, plan=chain.plan)
    script = (
        f"from qwf_agent import migrate; migrate.revert({empty_dsn!r}, plan={str(chain.plan)!r})"
    )
    with psycopg.connect(empty_dsn, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(%s)", [GATE])
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        )
        wait_until(
            holder, f"select exists (select from pg_locks where objid = {GATE} and not granted)"
        )
        process.kill()
        process.wait()
        assert states(empty_dsn, chain) == ["deployed", "deployed"]
    assert migrate.revert(empty_dsn, plan=chain.plan)[-1] == "shop"
    assert states(empty_dsn, chain) == ["pending", "pending"]


# Next to sqitch ----------------------------------------------------------------------------------


@pytest.fixture
def sqitch_tree(tmp_path: Path) -> Path:
    """Folder that `make sqitch-scripts` writes."""
    folder = tmp_path / "sqitch"
    subprocess.run([sys.executable, ROOT / "tools" / "sqitch_scripts.py", folder], check=True)
    return folder


def test_the_script_makes_the_same_schema_as_the_changes_one_by_one(
    server: Server, dsn: str, empty_dsn: str
) -> None:
    """The template of the tests is made by the script."""
    migrate.deploy(empty_dsn)
    assert dump(server, empty_dsn) == dump(server, dsn)
    registered = (
        "select migration_hash, migration_id, script_hash from %s._yoyo_migration order by 2"
    )
    with psycopg.connect(dsn) as ours, psycopg.connect(empty_dsn) as theirs:
        query = registered % "qwf_migrations"
        assert ours.execute(query).fetchall() == theirs.execute(query).fetchall()


@needs_sqitch
def test_sqitch_gives_every_change_of_the_plan_the_same_id() -> None:
    """Its own deploy of all changes takes a minute: QWF_TEST_ALL=1 runs it."""
    ours = [change.id for change in migrate.read_plan().changes]
    assert ids_of_sqitch(ROOT) == ours


@needs_sqitch
@thorough
def test_sqitch_makes_the_same_schema_and_the_same_ids(server: Server, sqitch_tree: Path) -> None:
    with server.database(server.new_name()) as ours, server.database(server.new_name()) as theirs:
        our_dsn, their_dsn = server.dsn(ours.dbname), server.dsn(theirs.dbname)
        migrate.deploy(our_dsn)
        sqitch(sqitch_tree, "deploy", "--no-verify", dsn=their_dsn)
        assert dump(server, our_dsn) == dump(server, their_dsn)
        with psycopg.connect(their_dsn) as conn:
            theirs_in_order = conn.execute(
                "select change_id, change from sqitch.changes order by committed_at"
            ).fetchall()
        assert [(row.id, row.change) for row in migrate.status(our_dsn)] == theirs_in_order
        with psycopg.connect(our_dsn) as conn:
            conn.execute("alter table qwf.jobs add column more int")
        assert dump(server, our_dsn) != dump(server, their_dsn)
        for refused in (migrate.deploy, migrate.revert, migrate.status, migrate.verify):
            with pytest.raises(migrate.MigrateError, match="sqitch deployed this database"):
                refused(their_dsn)
        sqitch(sqitch_tree, "verify", dsn=their_dsn)
        sqitch(sqitch_tree, "revert", "-y", dsn=their_dsn)
        with psycopg.connect(their_dsn) as conn:
            assert conn.execute(OBJECTS).fetchone() == (0,)


@needs_sqitch
@pytest.mark.parametrize("command", [["deploy"], ["revert"], ["revert", "-y"]])
@before_releases
def test_sqitch_says_first_where_it_can_deploy_and_revert(command: list[str]) -> None:
    """In the checkout, which lacks most revert and verify scripts."""
    done = subprocess.run(
        ["sqitch", *command, "db:pg:none"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    first = (done.stdout + done.stderr).splitlines()[0]
    assert "run it in build/sqitch: `make sqitch-scripts` writes that folder" in first
    assert done.returncode != 0


def test_only_scripts_of_the_engine_are_derived(chain: Chain) -> None:
    chain.add("functions/f", "select 1;", "select 1;")
    (chain.plan.parent / "revert" / "functions" / "f.sql").unlink()
    with pytest.raises(migrate.MigrateError, match="cannot read"):
        migrate.read_plan(chain.plan).changes[-1].revert.read()


@needs_sqitch
def test_sqitch_agrees_on_ids_with_tags_dependencies_and_rework(
    tmp_path: Path, chain: Chain
) -> None:
    chain.line(
        "one [shop other:x@v1] 2026-01-02T03:04:05Z Zoé <z@shop.invalid> # Umlaut ü, a\\nbreak, #"
    )
    chain.line("two [shop !bad one] 2026-01-02T03:04:05Z A B <a@shop.invalid>")
    chain.line("@v1 2026-01-02T03:04:05Z A B <a@shop.invalid> # First")
    chain.line("one [one@v1] 2026-01-02T03:04:05Z A B <a@shop.invalid> # Again")
    (tmp_path / "sqitch.conf").write_text("[core]\n\tengine = pg\n")
    assert [change.id for change in migrate.read_plan(chain.plan).changes] == ids_of_sqitch(
        tmp_path
    )


def ids_of_sqitch(folder: Path) -> list[str]:
    """The ids that sqitch gives the changes of the plan of a folder."""
    done = subprocess.run(
        ["sqitch", "plan", "--format", "format:%H"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.split() if len(line) == 40]
