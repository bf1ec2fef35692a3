"""Plain English: words and openings that the texts of the product do not use.

A docstring or comment begins with the thing itself ("Number of jobs", "Return True if the queue is
paused"), not with a relative clause ("What a worker runs", "Whether it is paused").
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.servers import ROOT

CLAUSE = re.compile(r"(?:What|Whether)\b")
# Words, and the plain ones in their place.
WORDS = {
    r"for ever\b": "forever",
    r"\b(?:is|was) no (?:object|list|number|text)\b(?! or\b)": "is not an object",
    r"\ban item takes\b": "an item may have",
    r"\bsparingly\b": "a number",
    r"\bwhosoever\b": "whoever",
    r"\bthereupon\b": "then",
    r"\bheretofore\b": "until now",
}
TREES = ("python/qwf_agent", "bench", "tools", "examples")
SQL = [file for file in (ROOT / "sql").rglob("*.sql") if not {"tests", "releases"} & {*file.parts}]
TEXTS = [
    *SQL,
    *(file for tree in TREES for file in (ROOT / tree).rglob("*.py")),
    *(file for file in (ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]
SENTENCE = re.compile(r"""(?:\A|\n\n)-- (\w[^\n]*)|\ncomment on [^;]*? is\s+'([^\n]*)""")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def docstrings(code: str) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


def comments(code: str) -> Iterator[str]:
    for line, comment in SENTENCE.findall(code):
        yield line or comment


def named(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("tree", [*TREES, "tests"])
def test_a_docstring_begins_with_the_thing_itself(tree: str) -> None:
    found = [
        f"{named(file)}: {text.splitlines()[0]}"
        for file in (ROOT / tree).rglob("*.py")
        if not any(part.startswith((".", "node_modules")) for part in file.parts)
        for text in docstrings(read(file))
        if CLAUSE.match(text)
    ]
    assert not found, "\n".join(found)


def test_a_comment_in_sql_begins_with_the_thing_itself() -> None:
    found = [
        f"{named(file)}: {text}"
        for file in SQL
        for text in comments(read(file))
        if CLAUSE.match(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_a_plainer_one(word: str) -> None:
    found = [
        f"{named(file)}: {match[0]}: {WORDS[word]}"
        for file in TEXTS
        if (match := re.search(word, read(file)))
    ]
    assert not found, "\n".join(found)


def test_both_kinds_of_openings_are_found() -> None:
    assert [*docstrings('"""What it is."""')] == ["What it is."]
    sql = "-- Whether it is.\n-- What else.\ncomment on view qwf.v is\n  'What it is.';\n"
    assert all(CLAUSE.match(text) for text in comments(sql))
    assert len([*comments(sql)]) == 2
