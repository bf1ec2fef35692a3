"""The path of somebody who hears the page and has no pointer.

By the accessibility tree, and by Tab, Enter and arrows alone: through a failed run to its retry,
and through a question to its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from playwright.sync_api import Page, expect
from psycopg.types.json import Jsonb
from starlette.applications import Starlette

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages
from support.made_jobs import claim, finish, start_run, worker
from support.visitors import TOKEN, login

Db = psycopg.Connection[Any]
MOST_TABS = 60  # a person gives up sooner
ASK = {
    "name": "ask",
    "steps": [
        {"id": "print", "kind": "input", "widget": "choose_one", "target": "paper",
         "prompt": "Which paper?",
         "options": [{"id": "a4", "label": "A4", "help": "the large one"},
                     {"id": "a5", "label": "A5"}]},
    ],
}  # fmt: skip


def heard(page: Page) -> str:
    """Return what a screen reader says of the element with the focus: its role and its name."""
    return page.locator(":focus").first.aria_snapshot().splitlines()[0].lstrip("- ").rstrip(":")


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the reader says this; each stop has a role and a name."""
    stops: list[str] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        stops.append(heard(page))
        if wanted in stops[-1]:
            return
        named = '"' in stops[-1] or stops[-1].startswith("text: ")  # what opens details
        assert named, f"a stop without a name: {stops[-1]}"
    raise AssertionError(f"no {wanted!r} within {MOST_TABS} Tabs: {stops}")


def skip_to_content(page: Page) -> None:
    """The first stop of every page leads past the menu."""
    tab_to(page, 'link "Skip to the content"')
    page.keyboard.press("Enter")


def opened(pages: Pages, serve: Callable[[Starlette], str], db: Db, dsn: str) -> Page:
    app: Any = build(login(db, dsn, "admin"), access.TokenAccess(dsn, TOKEN), ("127.0.0.1",))
    return pages.open(f"{serve(app)}/?token={TOKEN}")


def test_a_failed_run_is_heard_and_retried_without_a_pointer(
    serve: Callable[[Starlette], str], pages: Pages, db: Db, dsn: str
) -> None:
    """From the first page to the run, to its error, to the retry, and the answer is announced."""
    run = start_run(db, {"id": "only", "queue": "default"})
    (job,) = claim(db, "default", worker(db, "default"))
    finish(db, job, "fatal", "no paper")
    page = opened(pages, serve, db, dsn)
    skip_to_content(page)
    tab_to(page, f'link "{run} w"')
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run}")
    said = page.locator("main").aria_snapshot()
    order = [f'heading "Run {run}', "failed", 'heading "What failed"', "no paper", 'table "The nod']
    places = [said.index(text) for text in order]
    assert places == sorted(places), said
    skip_to_content(page)
    tab_to(page, "Retry…")
    page.keyboard.press("Enter")
    page.wait_for_url("**show=retry*")
    skip_to_content(page)
    tab_to(page, 'button "Retry: 1 node runs"')
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text=f"run {run} goes on")).to_be_visible()
    assert db.execute("select status from qwf.runs where status = 'failed'").fetchall() == []


def test_a_question_is_heard_and_answered_without_a_pointer(
    serve: Callable[[Starlette], str], pages: Pages, db: Db, dsn: str
) -> None:
    """The options are radio buttons with their help, in a group that says the question."""
    db.execute("select qwf.register_workflow(%s)", (Jsonb(ASK),))
    db.execute("select qwf.enqueue_run('ask')")
    page = opened(pages, serve, db, dsn)
    skip_to_content(page)
    tab_to(page, 'link "Which paper?"')
    page.keyboard.press("Enter")
    page.wait_for_url("**/inputs/*")
    said = page.locator("main").aria_snapshot()
    places = [said.index(text) for text in ("Which paper?", 'radio "A4', 'button "Answer"')]
    assert places == sorted(places), said
    skip_to_content(page)
    tab_to(page, 'radio "A4')
    assert "the large one" in heard(page)
    page.keyboard.press("ArrowDown")
    assert 'radio "A5"' in heard(page)
    tab_to(page, 'button "Answer"')
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="answered")).to_be_visible()
    assert db.execute("select value ->> 'id' from qwf.input_answers").fetchone() == ("a5",)
