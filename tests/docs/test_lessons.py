"""Every lesson of docs/lessons.md names a test, and the test exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import LONG, pytest_configure
from support.servers import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| | ", "| what "))
]
NAME = re.compile(r"`([\w/.]+\.py::\w+|_?[a-z]\w*(?:/\w+)+)`")


def test_every_lesson_is_answered() -> None:
    assert [row[0] for row in ROWS if row[0].isdigit()] == [str(n) for n in range(1, 76)]
    assert len(ROWS) > 110


def test_the_tests_that_a_lesson_names_exist() -> None:
    named = {row[0]: NAME.findall(row[2]) for row in ROWS}
    assert [lesson for lesson, names in named.items() if not names] == []
    for name in {name for names in named.values() for name in names}:
        file, _, test = name.partition("::")
        if test:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {test}\(", text, re.MULTILINE), name
        else:
            assert (ROOT / "sql" / "tests" / f"{file}.sql").is_file(), name


def test_the_files_that_start_first_exist() -> None:
    assert [name for name in LONG if not (ROOT / "tests" / name).is_file()] == []


# Tests that only a lesson asks for ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("dsn", "refused"),
    [
        ("dbname=qwf_test", False),
        ("postgresql://ada@box/qwf_test?sslmode=disable", False),
        ("postgresql://box/production?application_name=_test", True),
        ("dbname=production options=-cx=_test", True),
        ("host=box", True),
    ],
)
def test_the_guard_of_test_databases_checks_the_database_name(
    dsn: str, refused: bool, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setenv("QWF_TEST_DSN", dsn)
    if refused:
        with pytest.raises(pytest.UsageError, match="must end in _test"):
            pytest_configure(pytestconfig)
    else:
        pytest_configure(pytestconfig)


def code() -> list[Path]:
    folders = ["sql/schema", "sql/functions", "sql/triggers", "sql/views", "python/qwf_agent"]
    return [p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in (".sql", ".py")]


def test_the_engine_has_no_business_words() -> None:
    words = re.compile(
        r"parcel|fence_region|paint_|freshness|ai_leads|celery|ingest", re.IGNORECASE
    )
    assert [str(p) for p in code() if words.search(p.read_text(encoding="utf-8"))] == []
