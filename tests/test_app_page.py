"""docs/python.md is correct: its programs run, and its tables are complete."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import psycopg
import pytest

from qwf_agent.app.options import KINDS
from qwf_agent.app.parameters import FILLED
from support.servers import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def first_column(heading: str) -> set[str]:
    """The names in the first column of the tables under a heading."""
    chapter = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*)\|", chapter, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_its_programs_run(
    dsn: str, db: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    db.execute("create table orders (email text)")
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    jobs = ModuleType("shop.jobs")
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    monkeypatch.setitem(sys.modules, "shop.jobs", jobs)
    exec(programs[0], vars(jobs))
    names = {**vars(jobs), "dsn": dsn, "conn": db}
    for program in programs[1:]:
        exec(program, names)
        names["conn"] = db
    rows = db.execute("select key, inputs ->> 'subject', status::text from qwf.jobs order by id")
    assert rows.fetchall() == [
        (None, "Thank you", "queued"),
        ("order 7", None, "scheduled"),
        (None, None, "scheduled"),
    ]


def test_it_lists_every_option() -> None:
    assert first_column("Options") == set(KINDS)


def test_it_lists_every_parameter_that_the_agent_fills() -> None:
    assert first_column("Bodies") == set(FILLED)
