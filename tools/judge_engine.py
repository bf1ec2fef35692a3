"""Judges whether qwf runs on a server that calls itself Postgres: `make engine DSN=...`.

It runs those tests of this checkout that need nothing but a server, and prints what holds. They
make their own databases next to the one in the address, whose name ends in _test, and touch no
other. The login has to be allowed to create databases. It need be no superuser: without the right
to create roles, the tests that need roles are left out, and this is said. What was made is removed,
also when the tests are interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

TESTS = Path(__file__).resolve().parents[1] / "tests"
RACES = ("cancel", "claim", "enqueue", "expiry", "finish", "finish_and_claim", "input",
         "isolation", "limits", "maps", "outbox", "tick", "wake")  # fmt: skip
PARTS = {
    "deploy, verify, revert": ["migrate/test_migrate.py"],
    "functions, one by one": ["engine/test_pgtap.py"],
    "two sessions at once": [f"races/test_{name}.py" for name in RACES],
    "plans with bad statistics": ["engine/test_plans.py"],
    "random operations against a model": ["drills/test_machine.py"],
    "agents with real children": ["agent/test_outcomes.py", "agent/test_waking.py"],
}


ROLES = ("qwf_viewer", "qwf_producer", "qwf_worker", "qwf_admin")
# of another login, the server hides what kind of session it has
OF_CLIENTS = """
select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a
where a.datname = %s and a.backend_type = 'client backend'
"""
Db = psycopg.Connection[Any]


class Outcomes:
    """Leaves out tests that need roles, if there are none, and counts outcomes: a pytest plugin."""

    def __init__(self, with_roles: bool) -> None:
        self.with_roles = with_roles
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []
        self.left_out = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        if report.when == "call" or report.skipped:
            self.counts[report.outcome] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        if self.with_roles:
            return
        out = [item for item in items if item.get_closest_marker("roles")]
        items[:] = [item for item in items if item not in out]
        self.left_out = len(out)
        config.hook.pytest_deselected(items=out)


def first(conn: Db, query: sql.SQL, *args: object) -> tuple[Any, ...]:
    """The first row of a query that has one."""
    row = conn.execute(query, args).fetchone()
    if row is None:
        raise SystemExit(f"the server answered nothing to: {query.as_string(conn)}")
    return tuple(row)


def check_rights(conn: Db) -> str:
    """The name and version of the server. Exits if the tests cannot make their databases there."""
    name = conn.info.dbname
    if not name.endswith("_test"):
        raise SystemExit(f"the name of the database has to end in _test, not {name}")
    version, may, user = first(
        conn,
        sql.SQL("""
        select version(), r.rolcreatedb or r.rolsuper, r.rolname
        from pg_roles r where r.rolname = current_user"""),
    )
    if not may:
        raise SystemExit(
            f"{user} may not create databases, and the tests need their own: "
            f"an administrator runs: alter role {sql.Identifier(user).as_string(conn)} createdb"
        )
    return str(version)


def take_role(conn: Db, role: str) -> str | None:
    """Make sure that this login may act as a role; the statement that takes back what was done.
    Raises psycopg.Error if it may not."""
    name = sql.Identifier(role)
    undo = None
    if not first(conn, sql.SQL("select to_regrole(%s) is not null"), role)[0]:
        conn.execute(sql.SQL("create role {} nologin").format(name))
        undo = sql.SQL("drop role {}").format(name).as_string(conn)
    try:
        try:
            conn.execute(sql.SQL("set role {}").format(name))
        except psycopg.Error:
            conn.execute(sql.SQL("grant {} to current_user").format(name))
            undo = undo or sql.SQL("revoke {} from current_user").format(name).as_string(conn)
            conn.execute(sql.SQL("set role {}").format(name))
        conn.execute("reset role")
    except psycopg.Error:
        if undo:
            conn.execute(undo.encode())
        raise
    return undo


@contextlib.contextmanager
def tidy(conn: Db) -> Iterator[str | None]:
    """Gives why roles cannot be used, if they cannot. Afterwards the databases and roles that were
    not there before are gone."""
    before = {row[0] for row in conn.execute("select datname from pg_database")}
    new = [role for role in ROLES if not first(
        conn, sql.SQL("select to_regrole(%s) is not null"), role)[0]]  # fmt: skip
    taken: list[str] = []
    refused = None
    try:
        if not first(conn, sql.SQL(
            "select rolcreaterole or rolsuper from pg_roles where rolname = current_user")
        )[0]:  # fmt: skip
            refused = f"{conn.info.user} may not create roles"
        else:
            try:
                taken += filter(None, (take_role(conn, role) for role in ROLES))
            except psycopg.Error as error:
                refused = str(error).splitlines()[0]
        yield refused
    finally:
        clean(conn, before, new, taken)


def clean(conn: Db, before: set[str], new: list[str], taken: list[str]) -> None:
    """Remove the databases and roles that this program made."""
    own = conn.execute(
        "select datname from pg_database where starts_with(datname, %s) order by datistemplate",
        [f"{conn.info.dbname.removesuffix('_test')}_{os.getpid()}_"],
    )
    for name in sorted({row[0] for row in own} - before):
        database = sql.Identifier(name)
        conn.execute(sql.SQL("alter database {} is_template false").format(database))
        conn.execute(OF_CLIENTS, [name])
        conn.execute(sql.SQL("drop database {}").format(database))
    for statement in taken:
        conn.execute(statement.encode())
    for role in new:  # what deploy made
        if not first(conn, sql.SQL("select to_regrole(%s) is not null"), role)[0]:
            continue
        try:
            conn.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(role)))
        except psycopg.Error as error:
            print(f"role {role} stays: {error}", file=sys.stderr)


def judge(files: list[str], only: str, with_roles: bool) -> Outcomes:
    """Run the tests in these files, quietly."""
    found = Outcomes(with_roles)
    arguments = ["-q", "-p", "no:cacheprovider", "--tb=short", "--no-header", "-r", "f"]
    arguments += ["-k", f"not sqitch and ({only})" if only else "not sqitch"]
    code = pytest.main([*arguments, *(str(TESTS / one) for one in files)], plugins=[found])
    known = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    if only or found.left_out:
        known.add(pytest.ExitCode.NO_TESTS_COLLECTED)
    if code not in known:
        found.failed.append(f"pytest ended with {code!r}")
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def show(version: str, found: dict[str, Outcomes], refused: str | None) -> None:
    """Print what holds, what does not, and what was left out."""
    print(f"\n{version}")
    for part, outcomes in found.items():
        held, skipped = outcomes.counts["passed"], outcomes.counts["skipped"]
        print(f"  {part:34} {held:5} hold, {len(outcomes.failed):3} do not, {skipped:3} skipped")
    for outcomes in found.values():
        for name in outcomes.failed:
            print(f"    does not hold: {name}")
    if refused:
        left_out = sum(outcomes.left_out for outcomes in found.values())
        print(f"  left out: {left_out} tests that make roles or act as one: {refused}")


def main() -> int:
    """Judge the server in DSN; the exit code is 1 if anything does not hold."""
    dsn, only = os.environ.get("DSN", ""), " ".join(sys.argv[1:])
    if not dsn:
        raise SystemExit("which server? make engine DSN=postgresql://user@host/name_test")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        conn = psycopg.connect(dsn, connect_timeout=10, autocommit=True)
    except psycopg.Error as error:
        raise SystemExit(f"cannot connect to it: {error}") from None
    with conn:
        version = check_rights(conn)
        os.environ["QWF_TEST_DSN"] = dsn
        with tidy(conn) as refused:
            found = {part: judge(files, only, refused is None) for part, files in PARTS.items()}
    show(version, found, refused)
    return 1 if any(outcomes.failed for outcomes in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
