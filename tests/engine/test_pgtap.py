"""Runs every file of sql/tests as one test, on the wheel's newest Postgres; of each folder, a third
also on Debian's. With QWF_TEST_ALL=1 all files run on both, and on the wheel's older one, which
lies between them.

A file runs in its own transaction, which it rolls back, on a database that pytest-postgresql clones
from the template; the files of one server and test process share it. Many share a session, too,
which forgets what a file set: a new one compiles every function again, which takes half of the
time. With QWF_TEST_ALL=1 each file has a session of its own.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus, TransactionStatus
from pytest_postgresql.executors import NoopExecutor

from qwf_agent import embedded
from support.pgtap import framed
from support.servers import DEBIAN, ROOT, Janitor, deployed, own_server
from support.thorough import THOROUGH

TESTS = ROOT / "sql" / "tests"
FILES = sorted(p for p in TESTS.rglob("*.sql") if "_support" not in p.parts)
WHEEL = ["18", "16"] if THOROUGH else ["18"]
INSTALLED = sorted(p.name for p in DEBIAN.glob("*") if p.name not in WHEEL and int(p.name) >= 15)
SERVERS = ["given"] if os.environ.get("QWF_TEST_DSN") else [*WHEEL, *INSTALLED]
OLDEST = "15"
ROLES = re.compile(r"\bcreate role\b|\bas_role\(|\bqwf_(admin|producer|worker|viewer)\b")
MISSING = {OLDEST} - {*SERVERS} if SERVERS[1:] else set()
FILES_A_SESSION = 1 if THOROUGH else 300
# All of `discard all` but its plans.
FORGET = (
    b"close all; set session authorization default; reset all; deallocate all; unlisten *;"
    b" select pg_advisory_unlock_all(); discard sequences; discard temp"
)
OF_OTHERS = 3  # one of so many files of a folder runs on further servers
QUICK = ROOT / "tests" / "support" / "quick_pgtap.sql"


@pytest.fixture(scope="session")
def pgtap_server(request: pytest.FixtureRequest) -> Iterator[NoopExecutor]:
    name = request.param
    if name in ("given", WHEEL[0]):
        yield request.getfixturevalue("executor")
        return
    binaries = DEBIAN / name / "bin" if name in INSTALLED else embedded.binaries(int(name))
    with own_server(binaries) as server, deployed(server) as executor:
        yield executor


@pytest.fixture(scope="session")
def shared(pgtap_server: NoopExecutor) -> Iterator[str]:
    """Address of the database that the files share."""
    janitor = Janitor(
        user=pgtap_server.user,
        host=pgtap_server.host,
        port=pgtap_server.port,
        password=pgtap_server.password,
        dbname=f"{pgtap_server.template_dbname}_files_test",
        template_dbname=pgtap_server.template_dbname,
    )
    with janitor:
        address = make_conninfo(
            host=janitor.host,
            port=janitor.port,
            user=janitor.user,
            password=janitor.password,
            dbname=janitor.dbname,
        )
        with psycopg.connect(address, autocommit=True) as conn:
            conn.execute(QUICK.read_bytes())
        yield address


class Sessions:
    """Gives one session after the other, and the same again as long as it is as good as new."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._conn: psycopg.Connection[Any] | None = None
        self._taken = 0

    def take(self) -> psycopg.Connection[Any]:
        if self._conn is None:
            self._conn = psycopg.connect(self._dsn, autocommit=True)
            self._taken = 0
        self._taken += 1
        return self._conn

    def give_back(self) -> None:
        """End the session, unless it is young and can forget all that was done in it."""
        if self._conn is None:
            return
        young = self._taken < FILES_A_SESSION
        if young and self._conn.info.transaction_status == TransactionStatus.IDLE:
            # by libpq: psycopg would ask for statements that it has prepared and that are gone now
            result = self._conn.pgconn.exec_(FORGET)
            if result.status == ExecStatus.COMMAND_OK:
                return
        self.close()

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()
            self._conn = None


@pytest.fixture(scope="session")
def sessions(shared: str) -> Iterator[Sessions]:
    """Sessions on the database that the files share."""
    found = Sessions(shared)
    yield found
    found.close()


@pytest.fixture
def session(sessions: Sessions) -> Iterator[psycopg.Connection[Any]]:
    """A session in which nothing is set."""
    yield sessions.take()
    sessions.give_back()


def case(file: Path) -> Any:
    """A file as a test; marked if only a login that may make roles, or act as one, can run it."""
    marks = [pytest.mark.roles] if ROLES.search(file.read_text("utf-8")) else []
    return pytest.param(file, marks=marks, id=str(file.relative_to(TESTS))[:-4])


def on_others(files: list[Path]) -> list[Path]:
    """The first of every three files of a folder, which tests a function or a view; or all."""
    folders: dict[Path, list[Path]] = {}
    for file in files:
        folders.setdefault(file.parent, []).append(file)
    step = 1 if THOROUGH else OF_OTHERS
    return [file for found in folders.values() for file in found[::step]]


def missing(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.skip(f"Postgres {name} is not installed"))


@pytest.mark.parametrize("pgtap_server", SERVERS[:1], indirect=True)
@pytest.mark.parametrize("file", [case(file) for file in FILES])
def test_sql(file: Path, pgtap_server: NoopExecutor, session: psycopg.Connection[Any]) -> None:
    problems = fault(session, framed(file.read_text(encoding="utf-8")))
    assert not problems, "\n".join([str(file), *problems])


@pytest.mark.parametrize(
    "pgtap_server", [*SERVERS[1:], *map(missing, sorted(MISSING))], indirect=True
)
@pytest.mark.parametrize("file", [case(file) for file in on_others(FILES)])
def test_sql_on_another_version(
    file: Path, pgtap_server: NoopExecutor, session: psycopg.Connection[Any]
) -> None:
    test_sql(file, pgtap_server, session)


def fault(session: psycopg.Connection[Any], text: str) -> list[str]:
    """Problems when the text of a file is executed; none if it passed."""
    lines, error = run(session, f"set statement_timeout = '60s'; {text}")
    problems = judge(lines) + ([error] if error else [])
    if session.info.transaction_status != TransactionStatus.IDLE and not error:
        problems.append("the file ends inside its transaction: rollback is missing")
    return problems


def run(session: psycopg.Connection[Any], script: str) -> tuple[list[str], str | None]:
    """Everything the script's queries returned, as lines, and the error that ended it, if one did.

    Sent as libpq does it for psql -f, so that what was printed before an error is kept.
    """
    lines: list[str] = []
    error = None
    session.pgconn.send_query(script.encode())
    while result := session.pgconn.get_result():
        if result.status == ExecStatus.TUPLES_OK and result.nfields == 1:
            values = [result.get_value(row, 0) for row in range(result.ntuples)]
            lines += [line for value in values if value for line in value.decode().splitlines()]
        elif result.status == ExecStatus.FATAL_ERROR:
            error = result.error_message.decode()
    return lines, error


def judge(lines: list[str]) -> list[str]:
    """Problems of the TAP output of a file; none if it passed."""
    plans = [int(m[1]) for line in lines if (m := re.fullmatch(r"1\.\.(\d+)", line))]
    results = [line for line in lines if re.match(r"(not )?ok \d", line)]
    problems = []
    if len(plans) != 1 or not results:
        problems.append(f"{len(plans)} plans and {len(results)} tests: a file has one and some")
    elif plans[0] != len(results):
        problems.append(f"{plans[0]} tests planned, {len(results)} run")
    for number, line in enumerate(lines):
        if line.startswith("not ok") and "# TODO" not in line:
            diagnosis = [text for text in lines[number + 1 : number + 12] if text.startswith("#")]
            problems += [line, *diagnosis]
    return problems


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["1..1", "ok 1 - it does"], 0),
        (["1..2", "ok 1 - it does", "not ok 2 - yet # TODO later"], 0),
        (["1..1", "not ok 1 - it does", "# Failed"], 2),
        (["1..2", "ok 1 - it does"], 1),
        (["1..0"], 1),
        ([], 1),
        (["ok 1 - without a plan"], 1),
        (["1..2", "ok 1 - it does", "ok"], 1),
    ],
)
def test_the_runner_sees_what_is_wrong(lines: list[str], wrong: int) -> None:
    assert len(judge(lines)) == wrong


@pytest.mark.parametrize(
    ("head", "plan"),
    [
        ("", "plan(1)"),
        ("-- Why.\n", "plan(1)"),
        ("-- 7 tests\n-- Why.\n", "plan(7)"),
        ("-- any number of tests\n", "no_plan()"),
    ],
)
def test_the_first_line_of_a_file_says_how_many_tests_it_has(head: str, plan: str) -> None:
    script = framed(f"{head}select pass('it does');\n")
    assert script.startswith(f"begin; select * from {plan};\n")
    assert script.endswith(";\n\nselect * from finish();\nrollback;\n")


PASSES = "begin; select plan(1); select pass('it does'); select * from finish(); rollback;"


@pytest.mark.parametrize("pgtap_server", SERVERS[:1], indirect=True)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("plan(1)", "plan(2)"), "2 tests planned, 1 run"),
        (("pass('it does');", "pass('it does'); select pass('more');"), "1 tests planned, 2 run"),
        (("plan(1)", "1"), "a test without a plan"),
        (("pass(", "fail("), "not ok 1 - it does"),
        (("pass('it does')", "1 / 0"), "division by zero"),
        (("pass('it does')", "'ok'"), "1 plans and 0 tests"),
        (("rollback;", ""), "rollback is missing"),
    ],
)
def test_a_file_that_is_wrong_fails(
    pgtap_server: NoopExecutor,
    session: psycopg.Connection[Any],
    change: tuple[str, str],
    said: str,
) -> None:
    assert fault(session, PASSES) == []
    assert said in "\n".join(fault(session, PASSES.replace(*change)))


@pytest.mark.parametrize("pgtap_server", SERVERS[:1], indirect=True)
def test_a_file_finds_nothing_that_another_has_set(
    pgtap_server: NoopExecutor, sessions: Sessions
) -> None:
    """Not even a file that ends inside its transaction, or with an error."""
    left = (
        "set qwf.acting_for = 'somebody'; set timezone = 'Asia/Tokyo';"
        " create temp table jobs (id int);"
        " select pg_advisory_lock(1); listen qwf; begin; set role qwf_viewer; {}"
    )
    for end in ("commit", "select 1", "select 1 / 0"):
        conn = sessions.take()
        zone = run(conn, "show timezone")
        run(conn, left.format(end))
        sessions.give_back()
        conn = sessions.take()
        assert fault(conn, PASSES) == []
        assert run(conn, "show timezone") == zone
        assert run(conn, "select current_user = session_user") == (["t"], None)
        assert run(conn, "select coalesce(current_setting('qwf.acting_for', true), '')") == (
            [],
            None,
        )
        assert run(conn, "select to_regclass('pg_temp.jobs')::text") == ([], None)
        assert run(conn, "select pg_listening_channels()") == ([], None)
        locks = "select objid::text from pg_locks where locktype = 'advisory'"
        until = time.monotonic() + 10  # a session that ended keeps its locks for a moment
        while run(conn, locks) != ([], None):
            assert time.monotonic() < until
            time.sleep(0.02)
        sessions.give_back()


def test_every_file_is_one_that_is_run() -> None:
    """None has another ending, or lies where it is taken for a helper."""
    here = {p for p in TESTS.rglob("*") if p.is_file()}
    assert here - set(FILES) == set((TESTS / "_support").glob("*.sql"))
