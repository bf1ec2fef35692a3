"""`qwf doctor` on databases with a planted fault, and on a healthy one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import Result
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from qwf_agent import migrate
from qwf_agent.look.doctor import box, checks, shipped
from support.sources import before_releases
from support.welcome import Cli

Db = psycopg.Connection[Any]
OF_THE_TEST_SERVER = ("fsync is off", "full_page_writes is off")


def found(result: Result, level: str = "problem") -> dict[str, list[str]]:
    """Findings by check, without those that the test servers cause on purpose."""
    by_check = {
        one["check"]: [
            f["what"]
            for f in one["findings"]
            if f["level"] == level and not f["what"].startswith(OF_THE_TEST_SERVER)
        ]
        for one in json.loads(result.stdout)
    }
    return {name: findings for name, findings in by_check.items() if findings}


def test_a_healthy_database_has_no_problem(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu'), qwf.tick()")
    result = on_db("doctor", "--json")
    assert found(result) == {}, result.stdout
    assert [one["check"] for one in json.loads(result.stdout)] == list(checks.NAMES)


# sql/tests/health/doctor plants the others.
CALL = "select qwf.enqueue('t', queue => 'cpu')"
FAULTS: dict[str, tuple[list[str], str, str, str]] = {
    "a function was replaced": (
        ["create or replace function qwf.wake_channel(worker text) returns text language sql"
         " immutable as $$ select 'other' $$"],
        "drift", "function qwf.wake_channel differs from the shipped one",
        "qwf migrate verify",
    ),
    "a function was added": (
        ["create function qwf.mine() returns int language sql as 'select 1'",
         "revoke all on function qwf.mine() from public"],
        "drift", "function qwf.mine is not shipped",
        "qwf migrate verify",
    ),
    "a column was added": (
        ["alter table qwf.jobs add mine int"], "drift", "mine is not shipped",
        "qwf migrate verify",
    ),
    "a column has another type": (
        ["alter table qwf.attempt_counts alter outcome type varchar"],
        "drift", "outcome is character varying",
        "qwf migrate verify",
    ),
    "an index was dropped": (
        ["drop index qwf.jobs_due_or_failed"], "drift", "index qwf.jobs_due_or_failed is missing",
        "qwf migrate verify",
    ),
    "a trigger was disabled": (
        ["alter table qwf.queues disable trigger tg_queues__update"], "drift", "is disabled",
        "qwf migrate verify",
    ),
    "a grant is missing": (
        ["revoke execute on function qwf.tick(interval,boolean) from qwf_worker"],
        "roles", "qwf_worker may not execute qwf.tick(interval,boolean)",
        "grant execute on function qwf.tick(interval,boolean) to qwf_worker;",
    ),
    "dead rows": (
        ["alter table qwf.sleepers set (autovacuum_enabled = false)",
         "insert into qwf.sleepers select 'w' || i, 'cpu' from generate_series(1, 25000) i",
         "delete from qwf.sleepers", "select pg_stat_force_next_flush()"],
        "vacuum", "qwf.sleepers has 25000 dead rows",
        "vacuum (verbose, analyze) qwf.sleepers;",
    ),
    "a broken invariant": (
        [CALL, "update qwf.jobs set run_id = 99, graph_id = 1, node_idx = 0, node_id = 'x'"],
        "invariants", "99",
        "report it",
    ),
    "work without a worker": (
        [CALL], "queues", "queue cpu: 1 job waits, the oldest for",
        "qwf agent --queue cpu",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(on_db: Cli, db: Db, fault: str) -> None:
    """The finding names the next step; if that is a SQL statement, it removes the fault."""
    statements, check, says, step = FAULTS[fault]
    for statement in statements:
        db.execute(statement)
    result = on_db("doctor", "--json", "--only", check)
    assert result.exit_code == 1, result.output
    said = [one for check in json.loads(result.stdout) for one in check["findings"]]
    advice = next((one["advice"] for one in said if says in one["what"]), None)
    assert advice is not None, said
    assert step in advice
    if re.fullmatch(r"[^:.]+;", advice):
        db.execute(advice)
        assert on_db("doctor", "--json", "--only", check).exit_code == 0


@pytest.fixture
def slot(db: Db) -> Iterator[str]:
    """A replication slot without a reader."""
    name = "qwf_forgotten"
    db.execute("select pg_create_physical_replication_slot(%s, true)", (name,))
    yield name
    db.execute("select pg_drop_replication_slot(%s)", (name,))


def test_a_forgotten_replication_slot_is_found(on_db: Cli, slot: str) -> None:
    said = found(on_db("doctor", "--json", "--only", "snapshots"))["snapshots"]
    assert any(slot in what for what in said)


def test_an_old_transaction_is_found(on_db: Cli, db: Db, connect: Callable[[], Db]) -> None:
    db.execute(
        "create or replace function qwf.now() returns timestamptz language sql volatile"
        " as $$ select clock_timestamp() + interval '1 h' $$"
    )
    with connect() as forgotten:
        forgotten.execute("begin isolation level repeatable read")
        forgotten.execute("select count(*) from qwf.jobs")
        said = found(on_db("doctor", "--json", "--only", "snapshots"))["snapshots"]
        assert any(str(forgotten.info.backend_pid) in what for what in said)


def test_a_wrong_clock_is_found(on_db: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    here = box.time.time
    monkeypatch.setattr(box.time, "time", lambda: here() - 3600)
    said = found(on_db("doctor", "--json", "--only", "clock"))
    assert said["clock"][0].startswith("the clocks of this box")


@pytest.mark.fresh  # only a new session reads the settings of a database
@pytest.mark.parametrize("role", [None, "current_user"])
def test_a_database_that_takes_no_writes_is_found(
    on_db: Cli, db: Db, dsn: str, role: str | None
) -> None:
    """For a login alone it may be meant so: that is a note."""
    db.execute("set default_transaction_read_only = off")
    name = db.info.dbname
    who = f'role {role} in database "{name}"' if role else f'database "{name}"'
    db.execute(f"alter {who} set default_transaction_read_only = on")
    result = on_db("doctor", "--json", "--only", "server")
    (said,) = found(result, "note" if role else "problem")["server"]
    assert said.startswith("default_transaction_read_only is on")


@before_releases
def test_a_pending_upgrade_is_found(qwf: Cli, empty_dsn: str) -> None:
    changes = migrate.read_plan().changes
    migrate.deploy(empty_dsn, to=changes[-2].name)
    said = found(qwf("doctor", "--json", "--only", "schema", "--dsn", empty_dsn))["schema"]
    assert said == [f"an upgrade is pending: 1 changes, the first {changes[-1].name}"]


@pytest.mark.parametrize(("version", "level"), [("99.0.0", "problem"), ("0.1.99", "note")])
def test_another_version_is_found(on_db: Cli, db: Db, version: str, level: str) -> None:
    db.execute(
        "create or replace function qwf.version() returns text language sql immutable"
        f" as $$ select '{version}'::text $$"
    )
    (said,) = found(on_db("doctor", "--json", "--only", "schema"), level)["schema"]
    assert re.match(rf"the schema is (newer: it is )?{version}", said)


def test_a_database_without_the_schema(qwf: Cli, empty_dsn: str) -> None:
    result = qwf("doctor", "--dsn", empty_dsn)
    assert result.exit_code == 1
    assert "qwf migrate deploy" in result.stdout


def test_a_normal_state_is_a_note(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.enqueue('t', queue => 'cpu'), qwf.pause_queue('cpu')")
    db.execute("select qwf.worker_control('box-a', 'gpu', 'off', reason => 'new card')")
    result = on_db("doctor", "--json", "--only", "queues", "--only", "workers")
    assert result.exit_code == 0
    notes = found(result, "note")
    assert notes["queues"] == ["queue cpu is paused and 1 job waits"]
    assert "new card" in notes["workers"][0]


@pytest.fixture
def login(dsn: str, db: Db) -> Iterator[Callable[[str], str]]:
    """The address of a login that has one role."""
    db.execute("drop role if exists looking")
    db.execute("create role looking login")

    def with_role(role: str) -> str:
        db.execute(f"grant {role} to looking")  # type: ignore[arg-type]
        return make_conninfo(dsn, user="looking")

    yield with_role
    db.execute("drop role looking")


@pytest.mark.parametrize("role", ["qwf_viewer", "qwf_admin"])
def test_who_may_read_can_make_every_check(
    on_db: Cli, login: Callable[[str], str], role: str
) -> None:
    result = on_db("doctor", "--json", "--dsn", login(role))
    assert found(result, "unchecked") == found(result) == {}
    others = [name for name in checks.NAMES if name != "server"]  # there fsync is off
    only = [word for name in others for word in ("--only", name)]
    assert on_db("doctor", *only, "--dsn", login(role)).exit_code == 0
    notes = found(result, "note")
    assert "were not compared" in notes["schema"][0]
    assert "sees no transactions of other logins" in notes["snapshots"][0]


@pytest.mark.parametrize("role", ["qwf_worker", "qwf_producer"])
def test_checks_that_cannot_be_made_are_counted_and_fail(
    on_db: Cli, login: Callable[[str], str], role: str
) -> None:
    result = on_db("doctor", "--dsn", login(role))
    assert "16 checks could not be made" in result.stdout
    assert "→ run it as a login with qwf_viewer or qwf_admin" in result.stdout
    only = on_db("doctor", "--json", "--only", "queues", "--dsn", login(role))
    assert only.exit_code == 1
    (check,) = json.loads(only.stdout)
    assert check["state"] == "unchecked"


def test_a_queue_of_notifications_that_fills_is_found(
    on_db: Cli, db: Db, connect: Callable[[], Db]
) -> None:
    made = db.execute("select pg_get_functiondef('_qwf.doctor_server'::regproc)").fetchone()
    assert made is not None
    assert made[0].count("q.filled > 0.05") == 1
    db.execute(made[0].replace("q.filled > 0.05", "q.filled > 0"))
    with connect() as listener, connect() as sender:
        listener.execute("listen heard")
        listener.execute("begin")
        listener.execute("select 1")
        for _ in range(10):
            sender.execute("select pg_notify('heard', repeat('x', 7900))")
        said = found(on_db("doctor", "--json", "--only", "server"))["server"]
    assert any("the queue of notifications is" in what for what in said)


def test_a_database_that_everybody_may_connect_to_is_a_note(
    on_db: Cli, db: Db, login: Callable[[str], str]
) -> None:
    address = login("qwf_viewer")
    result = on_db("doctor", "--json", "--only", "roles")
    assert result.exit_code == 0
    (check,) = json.loads(result.stdout)
    (said,) = check["findings"]
    assert "every login of this server may connect" in said["what"]
    for statement in said["advice"].split("; "):
        db.execute(statement)
    assert found(on_db("doctor", "--json", "--only", "roles", "--dsn", address), "note") == {}


def test_the_private_server_of_up_has_no_such_note(
    on_db: Cli, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QWF_HOME", str(tmp_path))
    assert "every login" in on_db("doctor", "--only", "roles", "--dsn", dsn).stdout
    (tmp_path / "address").write_text(dsn + "\n")
    assert "every login" not in on_db("doctor", "--only", "roles", "--dsn", dsn).stdout


def test_sql_and_python_make_the_same_checks(db: Db) -> None:
    rows = db.execute("select name from _qwf.doctor_checks()").fetchall()
    asked = [n for n in checks.NAMES if n not in checks.IN_PYTHON or n in checks.IN_BOTH]
    assert [name for (name,) in rows] == asked
    body = shipped.read().functions["_qwf.doctor_server"].body
    assert body is not None
    assert f"upgrade the server to {migrate.OLDEST_SERVER} or newer" in body
    assert f"< {migrate.OLDEST_SERVER}0000" in body


def test_the_text_is_for_people(on_db: Cli) -> None:
    on_db("enqueue", "t")
    text = on_db("doctor").stdout
    assert "✓ drift" in text
    assert "queue default: 1 job waits" in text
    assert "→ qwf agent --queue default" in text
    assert max(map(len, text.splitlines())) <= 200


def test_the_objects_read_from_the_scripts_match_a_deployed_schema(db: Db) -> None:
    wanted = shipped.read()
    functions = db.execute(
        "select p.pronamespace::regnamespace || '.' || p.proname from pg_proc p"
        " where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)"
    ).fetchall()
    assert {name for (name,) in functions} == set(wanted.functions)
    tables = db.execute(
        "select schemaname || '.' || tablename from pg_tables where schemaname in ('qwf', '_qwf')"
    ).fetchall()
    assert {name for (name,) in tables} == set(wanted.tables)
    views = db.execute(
        "select 'qwf.' || viewname from pg_views where schemaname = 'qwf'"
    ).fetchall()
    assert {name for (name,) in views} == set(wanted.views)
    assert all(wanted.tables.values())


@pytest.mark.usefixtures("wide")
def test_two_agents_with_the_same_servers_are_a_problem(on_db: Cli, db: Db) -> None:
    server = {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": None}}
    info = Jsonb({"servers": [server, {**server, "name": "far", "external": True}]})
    register = "select qwf.register_worker('box-a', 'llm', %s)"
    db.execute(register, (info,))
    assert "models" not in found(on_db("doctor", "--json", "--only", "models"))
    assert "worker" not in on_db("servers").stdout.splitlines()[0].split()
    db.execute(register, (info,))
    assert found(on_db("doctor", "--json", "--only", "models"))["models"] == [
        "box box-a: several workers run the same model servers (vllm), so each may load a model on "
        "the same card"
    ]
    assert "worker" in on_db("servers").stdout.splitlines()[0].split()
