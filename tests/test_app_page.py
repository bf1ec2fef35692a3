"""docs/python.md is correct: its programs run, and its tables are complete."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.app.options import KINDS
from qwf_agent.app.parameters import FILLED
from support.harness import agents
from support.servers import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")

PIPELINE = {
    "name": "mail",
    "nodes": [
        {
            "id": "send", "node": "send_email", "queue": "default",
            "inputs": {"to": {"$from": "pipeline.email"}},
        },
    ],
}  # fmt: skip
WORKFLOW = {
    "name": "sign_up",
    "steps": [
        {
            "id": "mail", "kind": "pipeline", "pipeline": "mail",
            "inputs": {"email": {"$from": "email"}},
        },
        {
            "id": "ok", "kind": "input", "widget": "confirm", "prompt": "Take them in?",
            "target": "yes", "depends_on": ["mail"],
        },
    ],
}  # fmt: skip


def first_column(heading: str) -> set[str]:
    """The names in the first column of the tables under a heading."""
    chapter = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*)\|", chapter, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_its_programs_run(
    dsn: str, db: psycopg.Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    db.execute("create table orders (email text)")
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    jobs = ModuleType("shop.jobs")
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    monkeypatch.setitem(sys.modules, "shop.jobs", jobs)
    exec(programs[0], vars(jobs))
    names = {**vars(jobs), "dsn": dsn, "conn": db}
    db.execute("select qwf.register_pipeline(%s)", [Jsonb(PIPELINE)])
    db.execute("select qwf.register_workflow(%s)", [Jsonb(WORKFLOW)])
    first_to_wait = next(n for n, program in enumerate(programs) if ".wait(" in program)
    for program in programs[1:first_to_wait]:
        exec(program, names)
        names["conn"] = db
    rows = db.execute(
        "select key, inputs ->> 'subject', status::text from qwf.jobs where run_id is null "
        "order by id"
    )
    assert rows.fetchall() == [
        (None, "Thank you", "queued"),
        ("news ada@example.org", "News", "queued"),
        ("news grace@example.org", "News", "queued"),
        ("order 7", None, "scheduled"),
        (None, None, "scheduled"),
    ]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "jobs.py").write_text(programs[0])
    with agents(dsn, tmp_path) as start:
        start("--app", "shop.jobs:app", "--queue", "default")
        for program in programs[first_to_wait:]:
            exec(program, names)
            names["conn"] = db
    rows = db.execute("select workflow, status::text, error from qwf.runs order by id")
    ended = rows.fetchall()
    assert ended[1] == ("sign_up", "completed", None)
    assert ended[2][:2] == ("sign_up", "cancelled")
    assert f"cancelled: {ended[2][2]} cancelled\n" in capsys.readouterr().out


def test_it_lists_every_option() -> None:
    assert first_column("Options") == set(KINDS)


def test_it_lists_every_parameter_that_the_agent_fills() -> None:
    assert first_column("Bodies") == set(FILLED)
