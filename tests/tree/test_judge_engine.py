"""`make engine` on a server where its login is no superuser."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from support.logins import plain_login
from support.servers import ROOT

LEFT = "select array(select datname from pg_database where starts_with(datname, %s))"


def judged(dsn: str, only: str) -> subprocess.CompletedProcess[str]:
    """Output of the program, which runs only these tests."""
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "judge_engine.py", only],
        cwd=ROOT, env={**os.environ, "DSN": dsn}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def left(db: psycopg.Connection[Any]) -> list[str]:
    """The databases beside the one of this session, and its own."""
    row = db.execute(LEFT, [db.info.dbname.removesuffix("_test")]).fetchone()
    assert row is not None
    return list(row[0])


def test_a_login_without_createdb_is_told_so_in_a_sentence(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as db, plain_login(db) as login:
        found = judged(make_conninfo(empty_dsn, **login), "version")
        assert found.returncode == 1
        (line,) = found.stderr.splitlines()
        assert line.startswith(f"{login['user']} may not create databases")
        assert "alter role" in line
        assert found.stdout == ""
        assert left(db) == [db.info.dbname]


def test_a_login_that_may_make_no_roles_judges_the_rest_and_leaves_nothing(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as db, plain_login(db) as login:
        db.execute(sql.SQL("alter role {} createdb").format(sql.Identifier(login["user"])))
        found = judged(
            make_conninfo(empty_dsn, **login),
            "draws_an_empty_workflow or createrole",
        )
        assert found.returncode == 0, found.stdout + found.stderr
        assert "left out: 1 tests that make roles or act as one" in found.stdout
        assert f"{login['user']} may not create roles" in found.stdout
        assert " 1 hold,   0 do not" in found.stdout
        assert left(db) == [db.info.dbname]
