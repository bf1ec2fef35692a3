"""The examples that put the schema of qwf into migrations of an application, with real tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from qwf_agent import migrate
from support.servers import ROOT
from support.sources import before_releases

EXAMPLES = ROOT / "examples" / "own_migrations"
PG = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
PATIENCE_S = 300
OLDER = migrate.read_plan().changes[-20:][0].name  # the last of a pretended older version
SCHEMAS = "select to_regnamespace('qwf'), to_regnamespace('_qwf')"

Run = Callable[..., str]


@pytest.fixture
def run(empty_dsn: str, tmp_path: Path) -> Run:
    """Runs a program of Python in a copy of the examples, on an empty database."""
    folder = tmp_path / "own_migrations"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    given: dict[str, Any] = conninfo_to_dict(empty_dsn)
    query = f"host={given['host']}&port={given['port']}&user={given['user']}"
    environment = {
        **os.environ,
        **{PG[key]: str(value) for key, value in given.items() if key in PG},
        "DATABASE_URL": f"postgresql:///{given['dbname']}?{query}",
        "PYTHONPATH": str(ROOT / "python"),
    }

    def program(*words: str | Path, folder: Path = folder, text: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=folder, env=environment, input=text,
            capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return program


def qwf(run: Run, *words: str) -> str:
    return run("-c", "from qwf_agent.cli import main; main()", *words)


def is_whole(dsn: str) -> None:
    """The schema is registered and as shipped, and no upgrade is due."""
    assert migrate.verify(dsn)
    assert migrate.deploy(dsn) == []


def alembic(run: Run, folder: str, *words: str) -> None:
    run("-m", "alembic", "-c", f"{folder}/alembic.ini", *words)


@pytest.mark.parametrize("folder", ["alembic", "alembic_asyncpg"])
@before_releases
def test_alembic_deploys_upgrades_and_reverts_the_schema(
    run: Run, folder: str, empty_dsn: str
) -> None:
    alembic(run, folder, "upgrade", "0001")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select qwf.enqueue('receipt')").fetchone() == (1,)
    migrate.revert(empty_dsn, to=OLDER)  # as an older version of qwf left it
    alembic(run, folder, "upgrade", "head")
    is_whole(empty_dsn)
    alembic(run, folder, "downgrade", "0001")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regclass('orders')").fetchone() == (None,)
        assert conn.execute("select qwf.enqueue('receipt')").fetchone() == (2,)
    alembic(run, folder, "downgrade", "base")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute(SCHEMAS).fetchone() == (None, None)


@before_releases
def test_django_deploys_upgrades_and_reverts_the_schema(
    run: Run, tmp_path: Path, empty_dsn: str
) -> None:
    folder = tmp_path / "own_migrations" / "django"
    run("manage.py", "migrate", "shop", "0001", folder=folder)
    migrate.revert(empty_dsn, to=OLDER)  # as an older version of qwf left it
    run("manage.py", "migrate", folder=folder)
    run("manage.py", "makemigrations", "--check", folder=folder)
    is_whole(empty_dsn)
    script = "from shop.tasks import take_order; print(take_order('ada@example.org'))"
    assert run("manage.py", "shell", folder=folder, text=script).split()[-1] == "1"
    with psycopg.connect(empty_dsn) as conn:
        row = conn.execute("select task, inputs, (select count(*) from shop_order) from qwf.jobs")
        assert row.fetchall() == [("receipt", {"order": 1}, 1)]
    run("manage.py", "migrate", "shop", "zero", folder=folder)
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute(SCHEMAS).fetchone() == (None, None)


def test_the_tests_of_a_django_project_work_as_the_page_says(run: Run, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    tests = re.search(r"^```python\n(# shop/tests\.py\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert tests
    folder = tmp_path / "own_migrations" / "django"
    (folder / "shop" / "tests.py").write_text(tests[1], encoding="utf-8")
    run("manage.py", "test", "--verbosity", "2", folder=folder)


def test_a_plan_of_ones_own_is_deployed_verified_and_reverted_beside_that_of_qwf(
    run: Run, empty_dsn: str
) -> None:
    own = ("--plan", "sqitch/sqitch.plan")
    qwf(run, "migrate", "deploy")
    qwf(run, "migrate", "deploy", *own)
    qwf(run, "migrate", "verify", *own)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("insert into orders (email) values ('ada@example.org')")
        row = conn.execute("select task, inputs from qwf.jobs").fetchone()
        assert row == ("receipt", {"order": 1})
    qwf(run, "migrate", "revert", "--all", "--yes", *own)
    qwf(run, "migrate", "verify")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regclass('orders')").fetchone() == (None,)
