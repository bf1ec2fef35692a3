"""Runs the command line inside the test process, on a database of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.types.json import Jsonb

from qwf_agent.cli import qwf as command
from support.kept_fixtures import connect, db
from support.kept_fixtures import reopening_dsn as dsn
from support.welcome import OPTIONS, PIPELINE, WORKFLOW, Cli

__all__ = ["connect", "db", "dsn"]

# Node modules import each other as the package `streetview`, as agents do.
ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "examples"))

WHERE = ("QWF_DSN", "DATABASE_URL", "PGSERVICE", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE")


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No database except the one a test names, an empty home; processes find the package."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    for variable in (*WHERE, "QWF_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("QWF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def qwf() -> Cli:
    """Runs a command line without any database."""
    return lambda *words, stdin=None: CliRunner().invoke(command, [*map(str, words)], input=stdin)


@pytest.fixture
def on_db(qwf: Cli, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command line on a fresh database."""
    monkeypatch.setenv("QWF_DSN", dsn)
    return qwf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Definitions of a small workflow that asks a question."""
    place = tmp_path / "definitions"
    place.mkdir()
    (place / "greet.json").write_text(json.dumps(PIPELINE))
    (place / "welcome.json").write_text(json.dumps(WORKFLOW))
    return place


@pytest.fixture
def applied(on_db: Cli, folder: Path) -> Cli:
    """Runs a command line on a database that has the small workflow."""
    result = on_db("apply", folder)
    assert result.exit_code == 0, result.output
    return on_db


@pytest.fixture
def work(db: psycopg.Connection[Any]) -> Callable[..., list[str]]:
    """Does queued jobs like an agent until there are none; returns the nodes it did."""

    def run(outcome: str = "completed", error: str | None = None) -> list[str]:
        done: list[str] = []
        while True:
            jobs = [
                job
                for queue in ("cpu", "gpu")
                for job in db.execute(
                    "select job_id, token, task from qwf.claim(%s, 'test', 10)", (queue,)
                )
            ]
            if not jobs:
                return done
            for job, token, task in jobs:
                output = Jsonb({"options": OPTIONS} if task == "think" else {})
                db.execute(
                    "select qwf.finish(%s, %s, %s, %s, %s, %s)",
                    (job, token, outcome, output, error, Jsonb({"log_tail": f"{task} spoke\n"})),
                )
                done.append(task)
            db.execute("select qwf.tick()")

    return run


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which no column of a list is left out."""
    monkeypatch.setenv("COLUMNS", "250")
