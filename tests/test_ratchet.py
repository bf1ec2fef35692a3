"""Counts of the tree that may fall and not rise: ratchet.toml has them.

Whoever lowers a count lowers its number there, too, so that it stays low. Whoever must raise one
writes beside it why: `modules_over_400_lines = 13  # raised: …`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import migrate
from qwf_agent.migrate import derived
from support.servers import ROOT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PACKAGE = ROOT / "python" / "qwf_agent"
RATCHET = Path(__file__).with_name("ratchet.toml")
BOUNDS: dict[str, int] = tomllib.loads(RATCHET.read_text(encoding="utf-8"))
SLACK = 0.01  # lines and files come and go: a count this close to its number need not be written
READS_TABLES = ("migrate", "testing")  # rooms that may name tables


CHANGES = migrate.read_plan().sources.changes
WRITTEN = [
    file for file in (ROOT / "sql").rglob("*.sql") if not {"tests", "releases"} & {*file.parts}
]
ACTING = [file for file in WRITTEN if {"functions", "revert", "verify"} & set(file.parts)]
TABLES = {
    one.name
    for change in CHANGES
    if change.name.startswith("schema/")
    for one in derived.created(change.deploy.read())
    if one.kind == "table"
}
NAMES_TABLE = re.compile(
    rf"\b(?:from|join|update|into|table)\s+(?:only\s+)?(?:{'|'.join(map(re.escape, TABLES))})\b",
    re.I,
)


def texts(tree: ast.AST) -> Iterator[str]:
    """The strings of a module; an f-string is one, with a blank for each value."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
             for part in ast.walk(node) if part is not node}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else " " for v in node.values)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner
        ):
            yield node.value


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0]


def lines(files: list[Path]) -> int:
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


@cache
def counts() -> dict[str, int]:
    """Every count of ratchet.toml, as the tree has it."""
    modules = {
        file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))
    }
    functions = [
        one.name
        for change in CHANGES
        if change.name.startswith("functions/")
        for one in derived.created(change.deploy.read())
        if one.kind == "function"
    ]
    classes = [
        node
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    defs = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        "entries_at_the_top_of_the_package": len(
            [e for e in PACKAGE.iterdir() if not e.name.startswith((".", "__pycache__"))]
        ),
        "lines_of_the_package": lines(list(modules)),
        "modules_over_400_lines": sum(lines([file]) > 400 for file in modules),
        "classes_over_25_methods": sum(
            sum(isinstance(part, defs) for part in one.body) > 25 for one in classes
        ),
        "class_names_that_stand_twice": sum(
            n > 1 for n in Counter(one.name for one in classes if one.name[0] != "_").values()
        ),
        "statements_that_name_a_table": sum(
            1
            for file, tree in modules.items()
            if room(file) not in READS_TABLES
            for text in texts(tree)
            if NAMES_TABLE.search(text)
        ),
        "modules_of_web_that_import_cli": sum(
            any(
                isinstance(node, ast.ImportFrom) and (node.module or "").startswith("qwf_agent.cli")
                for node in ast.walk(tree)
            )
            for file, tree in modules.items()
            if room(file) == "web"
        ),
        "public_functions_of_sql": sum(name.startswith("qwf.") for name in functions),
        "private_functions_of_sql": sum(name.startswith("_qwf.") for name in functions),
        "functions_revert_and_verify_scripts_of_sql": len(ACTING),
        "lines_of_functions_revert_and_verify_scripts_of_sql": lines(ACTING),
        "scripts_of_sql": len(WRITTEN),
        "lines_of_scripts_of_sql": lines(WRITTEN),
    }


def test_every_count_has_a_number() -> None:
    assert list(BOUNDS) == list(counts())


@pytest.mark.parametrize("name", BOUNDS)
def test_a_count_does_not_rise(name: str) -> None:
    assert counts()[name] <= BOUNDS[name], (
        f"{name} was {BOUNDS[name]}: look for what the change lets you delete; else raise the"
        f" number in {RATCHET.name}, with a comment beside it: raised: why"
    )


@pytest.mark.parametrize("name", BOUNDS)
def test_a_count_that_has_fallen_is_written(name: str) -> None:
    least = BOUNDS[name] - int(BOUNDS[name] * SLACK)
    assert counts()[name] >= least, f"write {name} = {counts()[name]} in {RATCHET.name}"


def test_the_walker_sees_tables_in_strings_and_in_f_strings() -> None:
    def seen(code: str) -> list[bool]:
        found: list[Any] = [NAMES_TABLE.search(text) for text in texts(ast.parse(code))]
        return [one is not None for one in found]

    assert seen('"select 1 from qwf.jobs j"') == [True]
    assert seen('f"select {x}, {y!r} from qwf.jobs where {z}"') == [True]
    assert seen('"select * from qwf.job_details"') == [False]
    assert seen('"see qwf.jobs"') == [False]
