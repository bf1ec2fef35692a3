"""Every definition of the examples, written in Python, compiles to what stands in the example."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from qwf_agent.cli import definition_files
from qwf_agent.cli.property_order import with_order
from support.servers import ROOT

EXAMPLES = ROOT / "examples"
MODULES = {
    "flow": EXAMPLES / "captions",
    "inspecting": ROOT / "tests/workflows/user",
    "greeting": ROOT / "tests/workflows/user",
}
IN_SQL = re.compile(r"qwf\.register_(pipeline|workflow)\('(.*?)'\)", re.DOTALL)

Json = Any


def of_the_examples() -> list[tuple[str, Json]]:
    """The definitions of all examples with their kinds: in files of their own, and in SQL."""
    found = []
    for file in sorted(EXAMPLES.rglob("*")):
        if "node_modules" in file.parts or not file.is_file():
            continue
        if "definitions" in file.parts:
            assert file.suffix == ".json", f"{file}: read it here, too"
            content = with_order(json.loads(file.read_text("utf-8")))  # as `qwf apply` sends it
            found.append(("workflow" if "steps" in content else "pipeline", content))
        elif file.suffix in (".sql", ".sh", ".py", ".rb", ".mjs"):
            text = file.read_text("utf-8")
            in_sql = [(kind, json.loads(content)) for kind, content in IN_SQL.findall(text)]
            assert len(in_sql) == len(re.findall("register_(pipeline|workflow)", text)), file
            found += in_sql
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that `qwf compile` writes for the examples."""
    out = tmp_path_factory.mktemp("definitions")
    for name, place in MODULES.items():
        subprocess.run(
            [sys.executable, "-c", "from qwf_agent.cli import main; main()", "compile", name,
             "--out", str(out)],
            cwd=place, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        )  # fmt: skip
    return out


def test_the_python_version_of_each_example_is_the_same_definition(folder: Path) -> None:
    compiled = [(one.kind, one.content) for one in definition_files.load(folder)]
    expected = of_the_examples()
    assert len(expected) == 7
    in_order = [
        sorted(all_of_them, key=lambda one: (one[0], one[1]["name"]))
        for all_of_them in (compiled, expected)
    ]
    assert in_order[0] == in_order[1]


def test_postgres_takes_both_for_the_same_version(folder: Path, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        first = definition_files.register(conn, definition_files.load(folder))
        assert {one.change for one in first} == {"new"}
        for kind, content in of_the_examples():
            conn.execute(f"select qwf.register_{kind}(%s)", [json.dumps(content)])
        again = definition_files.register(conn, definition_files.load(folder))
    assert {(one.version, one.change) for one in again} == {(1, "unchanged")}
