"""The examples that put the schema of qwf into migrations of an application, with real tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from support.servers import ROOT

EXAMPLES = ROOT / "examples" / "own_migrations"
PG = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
PATIENCE_S = 300

Run = Callable[..., str]


@pytest.fixture
def run(empty_dsn: str, tmp_path: Path) -> Run:
    """Runs a program of Python in a copy of the examples, on an empty database."""
    folder = tmp_path / "own_migrations"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__", "qwf.sql"))
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


def write_schema(run: Run, tmp_path: Path, tool: str) -> None:
    text = qwf(run, "migrate", "sql", "--no-transaction")
    (tmp_path / "own_migrations" / tool / "qwf.sql").write_text(text, encoding="utf-8")


def is_qwf_at_home(run: Run) -> None:
    """The schema is adopted, as shipped, and no upgrade is due."""
    qwf(run, "migrate", "adopt")
    qwf(run, "migrate", "verify")
    assert "up to date" in qwf(run, "migrate", "deploy")


def test_alembic_deploys_the_schema_and_the_tables_of_the_application(
    run: Run, tmp_path: Path, empty_dsn: str
) -> None:
    write_schema(run, tmp_path, "alembic")
    run("-m", "alembic", "-c", "alembic/alembic.ini", "upgrade", "head")
    is_qwf_at_home(run)
    run("-m", "alembic", "-c", "alembic/alembic.ini", "downgrade", "0001")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regclass('orders')").fetchone() == (None,)
        assert conn.execute("select qwf.enqueue('receipt')").fetchone() == (1,)


def test_django_deploys_the_schema_and_enqueues_in_its_transactions(
    run: Run, tmp_path: Path, empty_dsn: str
) -> None:
    write_schema(run, tmp_path, "django")
    folder = tmp_path / "own_migrations" / "django"
    run("manage.py", "migrate", folder=folder)
    run("manage.py", "makemigrations", "--check", folder=folder)
    is_qwf_at_home(run)
    script = "from shop.tasks import take_order; print(take_order('ada@example.org'))"
    assert run("manage.py", "shell", folder=folder, text=script).split()[-1] == "1"
    with psycopg.connect(empty_dsn) as conn:
        row = conn.execute("select task, inputs, (select count(*) from shop_order) from qwf.jobs")
        assert row.fetchall() == [("receipt", {"order": 1}, 1)]


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
    qwf(run, "migrate", "revert", "--yes", *own)
    qwf(run, "migrate", "verify")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regclass('orders')").fetchone() == (None,)
