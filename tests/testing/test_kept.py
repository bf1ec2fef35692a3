"""A test that uses a database after another one finds it as new."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from support.kept import Database, Databases
from support.planted_bugs import BUGS, put_in
from support.servers import Server
from support.thorough import THOROUGH

MENDED = {
    "a job": "select qwf.enqueue('t')",
    "a setting of the engine": "update qwf.settings set affinity_max_wait = '1 s'",
    "what a session sets": "set qwf.acting_for = 'somebody'; set timezone = 'Asia/Tokyo'",
    "a temporary table": "create temp table jobs (id int)",
    "an open transaction": "begin; select qwf.enqueue('t')",
    "a clock": "create or replace function qwf.now() returns timestamptz language sql volatile"
    " as 'select timestamptz ''2026-01-01Z'''",
}
NOT_MENDED = {
    "a table": "create table public.more (id int)",
    "a column": "alter table qwf.jobs add more int",
    "statistics": "select qwf.enqueue('t'); analyze qwf.jobs",
    "rights": "grant execute on function qwf.enqueue to public",
    "a comment": "comment on table qwf.jobs is 'mine'",
    "a function that is gone": "drop function qwf_test.travel(interval)",
    "a function that has another name": "alter function qwf_test.travel(interval) rename to moved;"
    " create function qwf_test.travel(interval) returns void language sql as ''",
    "rights of the database": "do $$ begin execute format("
    "'revoke all on database %I from public', current_database()); end $$",
    "a setting of the database": "do $$ begin execute format("
    "'alter database %I set timezone = ''Asia/Tokyo''', current_database()); end $$",
}
LOOK = """
  select (select count(*) from qwf.jobs), (select s.affinity_max_wait from qwf.settings s),
    current_setting('timezone'), current_setting('qwf.acting_for', true), qwf.now()::date,
    to_regclass('pg_temp.jobs')
"""


@pytest.fixture(autouse=True)
def young(databases: Databases) -> None:
    """The database is not replaced in the middle of a test because so many have used it."""
    with databases.lent() as database:
        database.tests = 0


@pytest.mark.skipif(THOROUGH, reason="each test has a database of its own")
@pytest.mark.parametrize("left", MENDED)
def test_nothing_is_left(databases: Databases, left: str) -> None:
    with databases.lent() as database:
        before = database.connect().execute(LOOK).fetchone()
    with databases.lent() as database:
        database.connect().execute(MENDED[left].encode())
    with databases.lent() as again:
        assert again is database
        found = again.connect().execute(LOOK).fetchone()
        assert before is not None
        assert found is not None
        assert [value or None for value in found] == [value or None for value in before]


@pytest.mark.skipif(THOROUGH, reason="each test has a database of its own")
def test_a_database_whose_sessions_were_cut_is_not_lent(databases: Databases) -> None:
    with databases.lent() as database:
        name = database.connect().info.dbname
    with psycopg.connect(database.dsn, autocommit=True) as cutting:
        cutting.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = %s and pid <> pg_backend_pid()", [name]
        )  # fmt: skip
    with databases.lent() as another:
        assert another is not database
        assert another.connect().execute("select 1").fetchone() == (1,)


@pytest.mark.parametrize("left", NOT_MENDED)
def test_a_database_that_is_not_as_new_is_dropped(kept: Database, left: str) -> None:
    kept.connect().execute(NOT_MENDED[left].encode())
    assert kept.clean() is not None


def test_a_session_that_was_closed_is_given_again_as_new(kept: Database) -> None:
    with kept.reused.open():
        first = psycopg.connect(kept.dsn, prepare_threshold=0)
        before, pid = first.execute(LOOK).fetchone(), first.info.backend_pid
        for left in ("what a session sets", "a temporary table", "an open transaction"):
            first.execute(MENDED[left].encode(), prepare=False)
        first.close()
        assert first.closed
        with pytest.raises(psycopg.OperationalError):
            first.execute("select 1")
        again = psycopg.connect(kept.dsn, prepare_threshold=0)
        assert again.info.backend_pid == pid
        found = again.execute(LOOK).fetchone()
        assert before is not None
        assert found is not None
        assert [value or None for value in found] == [value or None for value in before]
        with psycopg.connect(kept.dsn) as another:
            assert another.info.backend_pid != pid
        again.close()
    assert kept.clean() is None
    with psycopg.connect(kept.dsn) as new:
        assert new.info.backend_pid != pid


@pytest.mark.parametrize("end", ["listen qwf", "select pg_terminate_backend(pg_backend_pid())"])
def test_a_session_that_listens_or_has_ended_is_not_given_again(kept: Database, end: str) -> None:
    with kept.reused.open():
        first = psycopg.connect(kept.dsn, autocommit=True)
        pid = first.info.backend_pid
        with contextlib.suppress(psycopg.OperationalError):
            first.execute(end.encode())
        first.close()
        with psycopg.connect(kept.dsn) as again:
            assert again.info.backend_pid != pid


def test_a_session_given_again_has_its_role_unless_that_is_dropped(kept: Database) -> None:
    db = kept.connect()
    db.execute("drop role if exists ends; create role ends")
    address = make_conninfo(kept.dsn, options="-c role=ends")
    with kept.reused.open():
        pids = []
        for again in (False, False, True):
            if again:
                db.execute("drop role ends; create role ends")
            with psycopg.connect(address) as session:
                assert session.execute("select current_user").fetchone() == ("ends",)
                pids.append(session.info.backend_pid)
    assert pids[0] == pids[1] != pids[2]
    db.execute("drop role ends")


@pytest.mark.parametrize("change", [{"user": "ends"}, {"application_name": "another"}])
def test_a_session_is_not_given_to_another_address(kept: Database, change: dict[str, str]) -> None:
    kept.connect().execute("drop role if exists ends; create role ends login")
    with kept.reused.open():
        pids = []
        for address in (kept.dsn, make_conninfo(kept.dsn, **change)) * 2:
            with psycopg.connect(address) as session:
                pids.append(session.info.backend_pid)
    assert pids[0] == pids[2] != pids[1]
    assert (pids[1] == pids[3]) == ("user" not in change)
    kept.connect().execute("drop role ends")


def test_a_planted_bug_is_gone(kept: Database, server: Server) -> None:
    function, text, bug = next(iter(BUGS.values()))
    query = f"select pg_get_functiondef('{function}'::regproc)".encode()
    before = kept.connect().execute(query).fetchone()
    put_in(kept.dsn, function, text, bug)
    assert kept.connect().execute(query).fetchone() != before
    assert kept.clean() is None
    assert kept.connect().execute(query).fetchone() == before
