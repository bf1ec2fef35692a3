"""An attacker who has the rights of a role can do nothing beyond them."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from pgspot.state import Counter, State
from pgspot.visitors import visit_sql
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from qwf_agent import embedded, migrate
from qwf_agent.migrate.objects import objects
from support.servers import ROOT, own_server

Session = psycopg.Connection[Any]


def rows(session: Session, query: str, *values: Any) -> list[tuple[Any, ...]]:
    return session.execute(query, values or None).fetchall()


def sqlstate(session: Session, query: Any, *values: Any) -> str:
    """Run a statement and return its SQLSTATE, 00000 for success."""
    try:
        session.execute(query, values or None)
    except psycopg.Error as error:
        return error.sqlstate or "lost"
    return "00000"


# pgspot ------------------------------------------------------------------------------------------

# The path that qwf migrate deploys with; docs/security.md tells users of sqitch and psql to set it.
DEPLOYED_WITH = "set search_path = pg_catalog, pg_temp;\n"
# Public functions without a search_path of their own, so that the planner can inline them. They run
# with the rights of their caller, so misleading them gains nothing. Private functions need none:
# only functions with a fixed path call them, and they inherit it.
UNPINNED = {"now", "version", "wake_channel"}


def spotted(script: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The findings of pgspot in a script, without bodies that its parser cannot read."""
    ignored: dict[str, Any] = {
        "ignore": [],
        "ignore_lang": [],
        "proc_without_search_path": [],
        "sql_fn": [],
        "summary_only": False,
    }
    for plpgsql in (True, False):
        counter = Counter(argparse.Namespace(plpgsql=plpgsql, **ignored))
        try:
            visit_sql(State(counter), DEPLOYED_WITH + script, toplevel=True)
        except Exception as error:  # pglast cannot parse fields of composite variables
            capsys.readouterr()
            if not plpgsql or "list index" in str(error):
                raise
            continue
        return [line for line in capsys.readouterr().out.splitlines() if line]
    raise AssertionError("not reached")


def as_called(script: str) -> str:
    """The script as pgspot should see it: with the path that a private function really runs with.

    A body written as an expression (`return ...`) is bound when it is created; pgspot cannot read
    it, so it is given as text.
    """
    script = (
        re.sub(r"^return (.*?);$", r"as $$ select \1 $$;", script, flags=re.MULTILINE | re.DOTALL)
        if "plpgsql" not in script
        else script
    )
    name = re.search(r"^create function (_?qwf)\.(\w+)", script, re.MULTILINE)
    if "set search_path" in script or name is None or name[2] in UNPINNED:
        return script
    assert name[1] == "_qwf", f"{name[2]}: public, so pin its search_path"
    assert "security definer" not in script
    return re.sub(
        r"^(language sql\b.*)$", r"\1 set search_path = pg_catalog, pg_temp", script, flags=re.M
    )


def test_pgspot_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    faults = {}
    for source in migrate.read_plan().sources.changes:
        for name, text in objects(source.deploy.path.read_text(encoding="utf-8")).items():
            found = spotted(as_called(text), capsys)
            if name.rpartition(".")[2] in UNPINNED:  # see UNPINNED for the reason
                found = [line for line in found if not re.match("PS0(01|05|16|17)", line)]
            faults[f"{source.name}: {name}"] = found
    assert len(faults) > 500
    assert {name: found for name, found in faults.items() if found} == {}


def test_pgspot_finds_a_planted_fault(capsys: pytest.CaptureFixture[str]) -> None:
    open_door = (
        "create function qwf.f(a text) returns text language plpgsql security definer as"
        " $$ begin return a || 'x'; end $$"
    )
    assert [line[:5] for line in spotted(open_door, capsys)] == ["PS003", "PS001"]


# Objects that shadow others ----------------------------------------------------------------------

LIFE = ROOT / "tests" / "security" / "life.sql"

TRAPS = ROOT / "tests" / "security" / "traps.sql"


@pytest.fixture
def mallory(db: Session, connect: Callable[[], Session]) -> Iterator[Session]:
    """An attacker with the rights of all four roles, who makes trap objects and a path to them."""
    db.execute(TRAPS.read_text(encoding="utf-8"))
    db.execute("drop role if exists mallory")
    db.execute("create role mallory login")
    db.execute("grant qwf_admin to mallory")
    database = sql.Identifier(db.info.dbname)
    db.execute(sql.SQL("grant temporary on database {} to mallory").format(database))
    session = connect()
    session.execute("set session authorization mallory")
    session.execute("set search_path = evil, pg_temp, pg_catalog")
    yield session
    session.close()
    db.execute("drop owned by mallory")
    db.execute("drop role mallory")


def test_no_security_definer_function_uses_a_trap_object(db: Session, mallory: Session) -> None:
    names = rows(
        db,
        "select relname from pg_class where relnamespace = 'qwf'::regnamespace and relkind = 'r'",
    )
    for (name,) in names:
        mallory.execute(sql.SQL("create temp table {} (id int)").format(sql.Identifier(name)))
    for statement in LIFE.read_text(encoding="utf-8").split(";\n")[:-1]:
        mallory.execute(statement)
    assert rows(db, "select status::text from qwf.runs") == [("cancelled",)]
    assert rows(db, "select what from evil.caught where who <> 'mallory'") == []
    assert rows(db, "select * from qwf.check_invariants()") == []
    # the traps work: in mallory's own statements, and in a function without a path of its own
    assert rows(db, "select count(*) > 0 from evil.caught") == [(True,)]
    db.execute(
        "create function public.unpinned(a int) returns boolean language plpgsql security definer"
        " as $$ begin return a = 1; end $$"
    )
    mallory.execute("select public.unpinned(1)")
    assert len(rows(db, "select what from evil.caught where who <> 'mallory'")) == 1


def test_a_database_with_a_hostile_search_path_is_deployed_correctly(empty_dsn: str) -> None:
    """A user who may create operators in schema public cannot change what a constraint checks."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(
            "create function public.never(int, int) returns boolean language sql immutable"
            " as 'select false'"
        )
        conn.execute(
            "create operator public.>= (function = public.never, leftarg = int, rightarg = int)"
        )
        path = sql.SQL("alter database {} set search_path = public, pg_catalog")
        conn.execute(path.format(sql.Identifier(conn.info.dbname)))
    migrate.deploy(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("set search_path = pg_catalog")
        assert (
            rows(
                conn,
                "select conname from pg_constraint"
                " where pg_get_constraintdef(oid) like '%%OPERATOR(public%%'",
            )
            == []
        )
        assert rows(conn, "select qwf.enqueue('t', queue => 'cpu')") == [(1,)]


# Hostile texts -----------------------------------------------------------------------------------

EVIL = [
    "'; drop table public.victim; --",
    "$$; drop table public.victim; $$",
    '"; drop table public.victim; --',
    "\\'; drop table public.victim; --",
    "%s %I %L %1$s %",
    "x' || pg_terminate_backend(pg_backend_pid()) || '",
    "{}",
    "null",
    "..\\../../../etc/passwd",
    "\u202e\u0000".replace("\u0000", "") + "\U0001f4a5\ufffe\u0007\x1b[2J",
    "a" * 100_000,
    "[" * 10_000,
    "(" * 300 + "a+" * 300 + ")" * 300 + "*",
    "",
    " ",
    "-1",
    "NaN",
    "infinity",
]
# Values that let a call get far; other arguments keep their default or get a small value.
USUAL: dict[str, Any] = {
    "task": "t",
    "workflow": "w",
    "queue": "cpu",
    "worker": "me",
    "host": "h",
    "name": "cpu",
    "node_id": "ask",
    "outcome": "completed",
    "state": "on",
    "value": Jsonb(True),
}
OF_TYPE: dict[str, Any] = {
    "text": "t",
    "jsonb": Jsonb({}),
    "bigint": 1,
    "integer": 1,
    "real": 1,
    "boolean": True,
    "uuid": "00000000-0000-0001-0000-000000000000",
    "interval": "1 min",
    "timestamp with time zone": "2100-01-01",
    "uuid[]": [],
    "integer[]": [1],
    "bigint[]": [1],
    "text[]": [],
}
ARGUMENTS = """
select p.proname, a.name, format_type(t.type, null), a.ord > p.pronargs - p.pronargdefaults
from pg_proc p
cross join lateral unnest(p.proargnames) with ordinality a (name, ord)
join lateral unnest(p.proargtypes::oid[]) with ordinality t (type, ord) on t.ord = a.ord
where p.pronamespace = 'qwf'::regnamespace and p.prokind = 'f'
order by p.proname, a.ord
"""
OBJECTS = """
select 'class', oid::regclass::text from pg_class where relname !~ '^pg_toast'
union all select 'proc', oid::regprocedure::text from pg_proc
union all select 'role', rolname::text from pg_roles
union all select 'schema', nspname::text from pg_namespace where nspname !~ '^pg_(toast_)?temp'
union all select 'row', count(*)::text from public.victim
order by 1, 2
"""
# Besides QW...: not valid for the type (22P02, 22007, 22008, 22003), or nested or escaped too much
# (22P05, 54001, 54000).
REFUSALS = {"00000", "22P02", "22P05", "22007", "22008", "22003", "54001", "54000"}


def calls(db: Session) -> Iterator[tuple[str, list[tuple[str, str]], list[tuple[str, str]]]]:
    """Each public function, its required arguments, and the arguments that accept text."""
    for name, found in itertools.groupby(rows(db, ARGUMENTS), lambda row: row[0]):
        arguments = list(found)
        needed = [(a, kind) for _, a, kind, optional in arguments if not optional]
        texts = [(a, kind) for _, a, kind, _ in arguments if kind in ("text", "jsonb", "text[]")]
        yield name, needed, texts


def hostile(kind: str, text: str) -> list[Any]:
    """Values of a type that contain the text, in each place where it can be."""
    if kind == "jsonb":
        return [
            Jsonb(v)
            for v in (
                text,
                [text],
                {text: text},
                [{"task": text, "queue": "cpu", "key": text}],
                {"name": text, "nodes": [{"id": text, "node": text}]},
                {"name": "w", "steps": [{"id": "s", "pipeline": text, "skip_if": {"$from": text}}]},
                {"tasks": [text], "labels": {text: text}, "current_model": text},
                [{"job_id": 1, "token": text, "outcome": text, "error": text}],
            )
        ]
    return [[text]] if kind == "text[]" else [text]


def test_no_text_given_to_a_function_is_executed(
    db: Session, connect: Callable[[], Session]
) -> None:
    db.execute("create table public.victim as select generate_series(1, 3)")
    db.execute('select qwf.register_pipeline(\'{"name": "p", "nodes": [{"id": "a"}]}\')')
    db.execute(
        'select qwf.register_workflow(\'{"name": "w", "steps": [{"id": "ask", "kind": "input",'
        ' "widget": "text"},{"id": "s", "kind": "pipeline", "pipeline": "p"}]}\')'
    )
    db.execute("select qwf.enqueue('t', queue => 'cpu'), qwf.enqueue_run('w')")
    before = rows(db, OBJECTS)
    session = connect()
    session.execute("set statement_timeout = '10s'; set client_min_messages = 'error'")
    refused = []
    for name, needed, texts in calls(db):
        for (target, kind), text in itertools.product(texts, EVIL):
            for value in hostile(kind, text):
                given = {
                    a: OF_TYPE[k] if (a, k) == ("workflow", "jsonb") else USUAL.get(a, OF_TYPE[k])
                    for a, k in needed
                } | {target: value}
                call = sql.SQL("select * from qwf.{}({})").format(
                    sql.Identifier(name),
                    sql.SQL(", ").join(
                        sql.SQL("{} => {}").format(sql.Identifier(a), sql.Placeholder())
                        for a in given
                    ),
                )
                state = sqlstate(session, call, *given.values())
                if state not in REFUSALS and not state.startswith("QW"):
                    refused.append((state, name, target, str(value)[:60]))
    assert not refused, "\n".join(map(str, refused))
    assert rows(db, OBJECTS) == before
    assert rows(db, "select * from qwf.check_invariants()") == []


# The recorded user -------------------------------------------------------------------------------


def test_the_login_is_recorded_whichever_role_it_sets(db: Session, mallory: Session) -> None:
    mallory.execute("set search_path to default")
    mallory.execute("set role qwf_admin")
    mallory.execute("select qwf.enqueue('t', queue => 'cpu')")
    mallory.execute("select qwf.claim('cpu', 'w')")
    mallory.execute("select qwf.cancel_job(1), qwf.worker_control('h', 'cpu', 'off')")
    assert rows(db, "select login from qwf.cancel_requests") == [("mallory",)]
    assert rows(db, "select distinct login from _qwf.event_log") == [("mallory",)]
    assert rows(db, "select login from qwf.worker_controls") == [("mallory",)]


@pytest.fixture
def liar(db: Session, dsn: str) -> Iterator[Session]:
    """A producer that connected with a login of its own, whose name looks like that of the page."""
    db.execute('drop role if exists "web, acting for ada"')
    db.execute('create role "web, acting for ada" login in role qwf_producer')
    conninfo = make_conninfo(dsn, user="web, acting for ada", application_name="web")
    try:
        with psycopg.connect(conninfo, autocommit=True) as session:
            yield session
    finally:
        db.execute('drop owned by "web, acting for ada"')
        db.execute('drop role "web, acting for ada"')


LIAR = "web, acting for ada"
WHO = """
select 'run', login::text, acting_for from qwf.runs
union all select 'job', login, acting_for from qwf.jobs where run_id is null
union all select kind, login, acting_for from _qwf.event_log where kind <> 'definition_changed'
union all select 'answer', login, acting_for from qwf.input_answers
union all select 'cancel', login, acting_for from qwf.cancel_requests
"""


def test_a_producer_cannot_appear_as_another_login(db: Session, liar: Session) -> None:
    """Whatever it sets, passes and calls itself: the login is its own, in a field of its own."""
    ask = {"name": "w", "steps": [{"id": "ask", "kind": "input", "widget": "text"}]}
    db.execute("select qwf.register_workflow(%s)", [Jsonb(ask)])
    db.execute("select qwf.register_worker('box', 'cpu')")
    liar.execute("set qwf.acting_for = 'bob'")
    liar.execute("set qwf.actor = 'bob'")
    liar.execute("set application_name = 'bob'")
    liar.execute("set role qwf_producer")
    for forbidden in (
        "set session authorization postgres",
        "set role postgres",
        "set role qwf_admin",
        "set session_user = 'bob'",
    ):
        assert sqlstate(liar, forbidden) != "00000", forbidden
    liar.execute("select qwf.enqueue('t', queue => 'cpu'), qwf.enqueue('u')")
    liar.execute('select count(*) from qwf.enqueue_many(\'[{"task": "v"}]\')')
    liar.execute('select qwf.enqueue_run(\'w\', labels => \'{"login": "bob", "schedule": "x"}\')')
    liar.execute("select qwf.submit_input(1, 'ask', '\"x\"', acting_for => 'postgres')")
    liar.execute("select qwf.enqueue_run('w')")
    liar.execute("select qwf.cancel_run(2, 'by postgres')")
    db.execute("select c.job_id from qwf.workers w, qwf.claim('cpu', w.id) c")
    liar.execute("select qwf.cancel_job(id, 'x') from unnest('{1,2}'::bigint[]) id")
    liar.execute("select qwf.retry_job(2), qwf.change_job(2, priority => 3, run_next => true)")
    found = rows(db, WHO)
    assert {login for _, login, _ in found} == {LIAR}
    assert {said for _, _, said in found} == {"bob", "postgres"}
    assert {"run", "job", "answer", "cancel", "cancelled", "retried", "changed"} <= {
        kind for kind, _, _ in found
    }
    assert rows(db, "select distinct schedule from qwf.runs") == [(None,)]
    assert rows(db, "select error from qwf.runs where id = 2") == [
        ('cancelled by "web, acting for ada", acting for bob: by postgres',)
    ]


def test_nobody_but_the_owner_writes_who_it_was(db: Session, liar: Session) -> None:
    for statement in (
        "insert into _qwf.event_log (kind, login) values ('retried', 'bob')",
        "insert into qwf.runs (login) values ('bob')",
        "update qwf.jobs set login = 'bob'",
        "update qwf.input_answers set login = 'bob'",
        "insert into qwf.cancel_requests (job_id, login) values (1, 'bob')",
        "select _qwf.record_change('queue_changed', 'cpu', '{}', '{\"a\": 1}')",
    ):
        assert sqlstate(liar, statement) == "42501", statement
    db.execute('grant qwf_admin to "web, acting for ada"')
    order = "insert into qwf.worker_controls (host_label, queue, login, requested_by)"
    liar.execute(f"{order} values ('box', 'cpu', 'bob', 'bob')")
    liar.execute("update qwf.worker_controls set login = 'bob', desired_state = 'off'")
    liar.execute("update qwf.worker_controls set login = 'bob'")
    assert rows(db, "select login, acting_for from qwf.order_overview") == [(LIAR, None)]
    assert rows(db, "select distinct login from qwf.audit") == [(LIAR,)]


# Without CREATEROLE ------------------------------------------------------------------------------


@pytest.fixture
def alone() -> Iterator[tuple[str, Session]]:
    """A server without the four roles: an address for a plain user, and a superuser's session."""
    with own_server(embedded.binaries()) as server:
        dsn = server.dsn(server.maintenance)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("create role plain login")
            database = sql.Identifier(conn.info.dbname)
            conn.execute(sql.SQL("grant create on database {} to plain").format(database))
            yield make_conninfo(dsn, user="plain"), conn


def test_without_createrole_the_owner_works_and_roles_can_be_added_later(
    alone: tuple[str, Session],
) -> None:
    dsn, superuser = alone
    printed: list[str] = []
    migrate.deploy(dsn, say=printed.append)
    skipped = [line for line in printed if "not created: no CREATEROLE" in line]
    assert len(skipped) == 4
    assert all("create role" in line and "qwf migrate grants" in line for line in skipped)
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("select qwf.enqueue('t', queue => 'cpu')")
        ended = "select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'w')"
        assert rows(owner, ended) == [("ok",)]
        assert rows(owner, "select * from qwf.check_invariants()") == []

        for role in ("qwf_admin", "qwf_producer", "qwf_worker", "qwf_viewer"):
            superuser.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))
        assert sqlstate(superuser, "set role qwf_producer; select qwf.enqueue('t')") == "42501"
        superuser.execute("reset role")
        owner.execute(migrate.grants())
    assert sqlstate(superuser, "set role qwf_producer; select qwf.enqueue('t')") == "00000"
    assert sqlstate(superuser, "set role qwf_viewer; select * from qwf.run_overview") == "00000"
    assert sqlstate(superuser, "set role qwf_viewer; select token from qwf.jobs") == "42501"


def test_the_sql_of_the_document_works(db: Session) -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    with db.transaction(force_rollback=True):
        for block in re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            db.execute("revoke qwf_producer from shop" if "order_receipt" in block else "select 1")
            db.execute(block)
        db.execute("set local role shop")
        assert rows(db, "select public.order_receipt(7), public.order_receipt(7)") == [(1, 1)]
        assert sqlstate(db, "select qwf.enqueue('rm')") == "42501"
