"""Lists in a real browser: many rows are ticked at once, the search box suggests words, and keys
reach what the menu of a row has."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urljoin

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support import lively_fleet
from support.browser import Pages, served
from support.visitors import TOKEN, entrance, login

Db = psycopg.Connection[Any]
REFRESH = """
() => new Promise((resolve) => {
  document.addEventListener("qwf:fresh", () => resolve(), {once: true});
  htmx.trigger(document.getElementById("live"), "refresh");
})
"""
SUGGESTED = "() => [...document.getElementById('words').options].map((one) => one.value)"
Enter = Callable[[str], Page]


@pytest.fixture
def enter(db: Db, dsn: str, browser: Browser) -> Iterator[Enter]:
    """Opens a page of an admin. Pages end before the server does, without an error."""
    with contextlib.ExitStack() as stack:
        app: Any = build(login(db, dsn, "admin"), access.TokenAccess(dsn, TOKEN), ("127.0.0.1",))
        address = stack.enter_context(served(app))
        pages = Pages(browser)

        def opened(path: str) -> Page:
            return pages.open(entrance(address, path))

        yield opened
        assert pages.close() == []


def enqueue(db: Db, count: int) -> list[int]:
    """Jobs that wait, the newest first."""
    rows = db.execute("select qwf.enqueue('t') from generate_series(1, %s)", (count,)).fetchall()
    return [job for (job,) in reversed(rows)]


def ticked(page: Page) -> list[int]:
    """The jobs that are ticked, from above."""
    boxes = page.locator('[data-row] input[type="checkbox"]:checked')
    return boxes.evaluate_all("(all) => all.map((one) => Number(one.value))")


def test_one_box_ticks_all_rows_and_shift_those_between_two(enter: Enter, db: Db) -> None:
    jobs = enqueue(db, 6)
    page = enter("/jobs")
    every = page.get_by_label("Select all jobs of this page")
    every.check()
    assert ticked(page) == jobs
    expect(page.get_by_text("6 selected, all of this page")).to_be_visible()
    page.evaluate(REFRESH)
    assert ticked(page) == jobs
    expect(every).to_be_checked()
    every.uncheck()
    assert ticked(page) == []
    expect(page.locator("#bulk")).to_be_hidden()
    page.get_by_label(f"Select job {jobs[4]}").click()
    page.get_by_label(f"Select job {jobs[1]}").click(modifiers=["Shift"])
    assert ticked(page) == jobs[1:5]
    expect(page.get_by_text("4 selected", exact=True)).to_be_visible()
    assert every.evaluate("(box) => box.indeterminate")
    page.locator("#cancel-ticked > summary").click()
    page.get_by_role("button", name="Cancel the ticked jobs").click()
    expect(page.get_by_text("4 of 4 jobs cancelled")).to_be_visible()
    left = db.execute("select id from qwf.jobs where status = 'queued' order by id desc")
    assert [job for (job,) in left] == [jobs[0], jobs[5]]


def test_one_box_ticks_all_runs(enter: Enter, db: Db) -> None:
    db.execute("""select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "n"}]}'),
      qwf.register_workflow('{"name": "w",
        "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}')""")
    db.execute("select qwf.enqueue_run('w') from generate_series(1, 3)")
    page = enter("/runs")
    page.get_by_label("Select all runs of this page").check()
    expect(page.get_by_text("3 selected, all of this page")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#bulk")).to_be_hidden()
    page.get_by_label("Select all runs of this page").check()
    page.get_by_role("button", name="Cancel…").click()
    expect(page.get_by_role("button", name="Cancel 3 runs")).to_be_visible()


def test_the_search_box_suggests_the_word_that_is_typed(enter: Enter, db: Db) -> None:
    db.execute("select qwf.create_queue('mail'), qwf.create_queue('mills')")
    enqueue(db, 1)
    page = enter("/jobs")
    box = page.locator("#query")
    box.press_sequentially("since:2h qu")
    assert page.evaluate(SUGGESTED)[0] == "since:2h queue:"
    box.press_sequentially("eue:mi")
    assert page.evaluate(SUGGESTED) == ["since:2h queue:mills"]
    box.press_sequentially("lls")
    assert page.evaluate(SUGGESTED) == []
    box.press("Enter")
    page.wait_for_url("**/jobs?**")
    expect(page.get_by_text("No job matches this filter.")).to_be_visible()
    page.get_by_role("link", name="queue:mills").click()
    expect(page.locator("#query")).to_have_value("since:2h")
    expect(page.locator("[data-row]")).to_have_count(1)


def test_a_key_reaches_what_the_menu_of_a_row_has(enter: Enter, db: Db) -> None:
    (job,) = enqueue(db, 1)
    page = enter("/jobs")
    page.keyboard.press("j")
    page.keyboard.press("c")
    sheet = page.locator("details.acts details.confirm[open] > .sheet")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.locator("details.acts")).not_to_have_attribute("open", "")
    focused = "() => document.activeElement.closest('[data-row]')?.id"
    assert page.evaluate(focused) == f"job-{job}"
    page.keyboard.press("c")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"job {job} is cancelled")).to_be_visible()
    page.evaluate(REFRESH)
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_text(f"job {job} runs again")).to_be_visible()
    status = db.execute("select status from qwf.jobs where id = %s", (job,)).fetchone()
    assert status == ("queued",)


HEIGHTS = "() => [...document.querySelectorAll('tr[data-row]')].map((one) => one.offsetHeight)"


def test_rows_of_lists_have_one_line_on_a_desk_and_a_few_on_a_phone(enter: Enter, db: Db) -> None:
    """A node with the name of its task and its run, a run with nodes that failed, a workflow."""
    lively_fleet.fill(db)
    page = enter("/jobs")
    for path, highest, on_a_phone in (
        ("/jobs", 40, 80), ("/runs", 40, 72), ("/events?kind=run_ended", 60, 160),
        ("/workflows", 70, 240), ("/", 48, 90),
    ):  # fmt: skip
        page.goto(urljoin(page.url, path))
        page.set_viewport_size({"width": 1280, "height": 800})
        assert max(page.evaluate(HEIGHTS)) <= highest, path
        page.set_viewport_size({"width": 390, "height": 844})
        assert max(page.evaluate(HEIGHTS)) <= on_a_phone, path


@pytest.mark.parametrize("path", ["/failures", "/events", "/audit"])
def test_on_a_phone_the_filter_is_behind_a_button(enter: Enter, path: str) -> None:
    page = enter(path)
    filled = page.locator(".filter-box input").locator("visible=true").first
    expect(filled).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".filter-box")).to_be_hidden()
    page.locator("[for=filters-shown]").click()
    expect(filled).to_be_visible()
