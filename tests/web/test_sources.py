"""The sources of the page have nothing that is forbidden, whatever pages are added."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import qwf_agent.web
from qwf_agent.web.pages import run_tabs
from qwf_agent.web.site.actions import ACTIONS
from qwf_agent.web.site.terms import TERMS

DOCS = Path(__file__).parents[2] / "docs"
ROOM = Path(qwf_agent.web.__file__).parent
TEMPLATES = sorted((ROOM / "templates").glob("*.html"))
TESTS = Path(__file__).parent
VENDORED = (ROOM / "static" / "vendor", TESTS / "vendor")
ROW = re.compile(r"^\| `([^`]+)` \| \S+ \| (\S+) \| ([^|]+) \| `([0-9a-f]{64})` \|$", re.MULTILINE)
MADE = {"buttons.py", "graph.py", "timeline.py"}
NOT_ON_A_PAGE = {
    "change_settings": "pages have no form for settings: `qwf settings` has",
    "register_pipeline": "the preview makes its name from the kind of a definition",
    "submit_input": "pages answer questions by their job, with answer_job",
}


def test_markup_is_made_where_it_is_escaped_by_hand() -> None:
    makes = {file.name for file in ROOM.rglob("*.py") if "Markup(" in file.read_text()}
    assert makes <= MADE


FORBIDDEN = (
    r"\|\s*safe\b|\bMarkup\b|\{%-?\s*autoescape",
    r"<style\b|<[^>{]*\s(style|on[a-z]+|hx-on[:a-z-]*)\s*=",
    r"<script(?![^>]*\ssrc=)[^>]*>|javascript:",
)


def test_a_template_trusts_nothing_and_has_nothing_inline() -> None:
    texts = {f.name: re.sub(r"\{#.*?#\}", "", f.read_text(), flags=re.DOTALL) for f in TEMPLATES}
    bad = [(name, p) for name, text in texts.items() for p in FORBIDDEN if re.search(p, text)]
    assert bad == []


def test_every_template_is_used() -> None:
    texts = "".join(file.read_text() for file in (*ROOM.rglob("*.py"), *TEMPLATES))
    named = {file.name for file in TEMPLATES if f'"{file.name}"' in texts}
    named |= {f"_run_{tab}.html" for tab in run_tabs.TABS}  # run.html includes the one of its tab
    assert {file.name for file in TEMPLATES} == named


def test_every_action_is_on_a_page() -> None:
    texts = "".join(file.read_text() for file in (*TEMPLATES, *(ROOM / "pages").glob("*.py")))
    named = {name for name in ACTIONS if f'"{name}"' in texts or f"/do/{name}" in texts}
    assert set(ACTIONS) - named == set(NOT_ON_A_PAGE)


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.parent.name)
def test_code_of_others_is_what_its_table_says(folder: Path) -> None:
    rows = {name: digest for name, _, _, digest in ROW.findall((folder / "README.md").read_text())}
    code = {file.name: file for file in folder.iterdir() if file.suffix in (".js", ".css")}
    assert set(rows) == set(code)
    for name, file in code.items():
        assert hashlib.sha256(file.read_bytes()).hexdigest() == rows[name], name
    licences = set(re.findall(r"`([^`]+LICENSE\.txt)`", (folder / "README.md").read_text()))
    assert licences == {file.name for file in folder.glob("*LICENSE.txt")}


def test_words_are_explained_as_in_the_glossary() -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8").replace("`", "")
    for term, means in TERMS.items():
        assert re.search(rf"^\| {term} \| {re.escape(means)} \|$", glossary, re.MULTILINE), term
