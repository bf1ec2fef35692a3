"""Rows hold still while somebody points at one of them, in a real browser."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from qwf_agent.web.app import build
from qwf_agent.web.reads import database
from qwf_agent.web.site import access, handlers
from support.browser import Pages, served
from support.visitors import TOKEN, entrance, login

Db = psycopg.Connection[Any]
REFRESH = """
() => new Promise((resolve) => {
  document.addEventListener("qwf:fresh", () => resolve(), {once: true});
  htmx.trigger(document.getElementById("live"), "refresh");
})
"""
Enter = Callable[[str], Page]


@pytest.fixture
def enter(db: Db, dsn: str, browser: Browser) -> Iterator[Enter]:
    """Opens a page of an admin, which shows what was changed just before a refresh. Pages end
    before the server does."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(database, "FRESH_S", 0.0))
        stack.enter_context(mock.patch.object(handlers, "MOST_PER_S", math.inf))
        app: Any = build(login(db, dsn, "admin"), access.TokenAccess(dsn, TOKEN), ("127.0.0.1",))
        address = stack.enter_context(served(app))
        pages = Pages(browser)

        def opened(path: str) -> Page:
            return pages.open(entrance(address, path))

        yield opened
        assert pages.close() == []


def enqueue(db: Db, count: int = 1) -> list[int]:
    """Jobs that wait."""
    rows = db.execute("select qwf.enqueue('t') from generate_series(1, %s)", (count,)).fetchall()
    return [job for (job,) in rows]


def fail(db: Db, error: str) -> None:
    """A job that fails for good."""
    enqueue(db)
    db.execute(
        "select qwf.finish(c.job_id, c.token, 'fatal', null, %s) from qwf.claim('default', 'w') c",
        (error,),
    )


def top(page: Page, job: int) -> float:
    """Where the row of a job is in the window."""
    box = page.locator(f"#job-{job}").bounding_box()
    assert box is not None
    return box["y"]


def test_rows_hold_still_below_the_pointer_and_change_in_place(enter: Enter, db: Db) -> None:
    first, second = enqueue(db, 2)
    page = enter("/jobs")
    page.locator(f"#job-{first}").hover()
    before = top(page, first)
    newest = enqueue(db, 3)[-1]
    db.execute("select qwf.cancel_job(%s)", (second,))
    page.evaluate(REFRESH)
    assert top(page, first) == before
    expect(page.locator(f"#job-{second}")).to_contain_text("cancelled")
    expect(page.locator(f"#job-{newest}")).to_have_count(0)
    page.get_by_role("button", name="3 newer: show").click()
    expect(page.locator(f"#job-{newest}")).to_be_visible()
    expect(page.locator("#newer > button")).to_be_hidden()


def test_rows_that_newer_ones_push_onto_the_next_page_are_not_called_gone(
    enter: Enter, db: Db
) -> None:
    jobs = enqueue(db, 50)  # as many as a page has
    page = enter("/jobs")
    page.locator(f"#job-{jobs[-1]}").hover()
    enqueue(db, 2)
    page.evaluate(REFRESH)
    expect(page.get_by_role("button", name="2 newer: show", exact=True)).to_be_visible()
    expect(page.locator(f"#job-{jobs[0]}")).to_have_count(1)
    expect(page.locator(".gone")).to_have_count(0)


def test_a_row_that_is_gone_stays_until_nobody_points_there(enter: Enter, db: Db) -> None:
    first, second = enqueue(db, 2)
    page = enter("/jobs?status=queued")
    page.locator(f"#job-{first}").hover()
    before = top(page, first)
    db.execute("select qwf.cancel_job(%s)", (second,))
    page.evaluate(REFRESH)
    assert top(page, first) == before
    expect(page.locator(f"#job-{second}")).to_have_class("gone")
    expect(page.get_by_role("button", name="1 gone: show")).to_be_visible()
    page.mouse.move(1, 1)
    page.evaluate(REFRESH)
    expect(page.locator(f"#job-{second}")).to_have_count(0)
    expect(page.locator("#newer > button")).to_be_hidden()


@pytest.mark.parametrize("hold", ["tick", "focus"])
def test_rows_hold_still_while_one_is_ticked_or_has_the_focus(
    enter: Enter, db: Db, hold: str
) -> None:
    (first,) = enqueue(db)
    page = enter("/jobs")
    if hold == "tick":
        page.get_by_label(f"Select job {first}").check()
        page.evaluate("document.activeElement.blur()")
    else:
        page.locator(f"#job-{first} a").first.focus()
    page.mouse.move(1, 1)
    before = top(page, first)
    (newest,) = enqueue(db)
    page.evaluate(REFRESH)
    assert top(page, first) == before
    page.get_by_role("button", name="1 newer: show").click()
    expect(page.locator(f"#job-{newest}")).to_be_visible()


def test_what_comes_above_a_row_does_not_move_it(enter: Enter, db: Db) -> None:
    for number in range(9):
        enqueue(db)
        fail(db, f"error {'x' * number} alone")
    page = enter("/")
    page.evaluate("scrollTo(0, 200)")
    row = page.locator("[id^=queue-]").first
    row.hover()
    before = row.bounding_box()
    db.execute("select qwf.create_queue('held')")
    db.execute("select qwf.enqueue('t', queue => 'held')")
    db.execute("select qwf.pause_queue('held')")
    page.evaluate(REFRESH)
    expect(page.locator("#held-held")).to_have_count(1)
    after = row.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 2


def test_a_list_that_is_gone_does_not_leave_its_place_to_another(enter: Enter, db: Db) -> None:
    (only,) = enqueue(db)
    page = enter("/jobs?status=queued")
    page.locator(f"#job-{only}").hover()
    db.execute("select qwf.cancel_job(%s)", (only,))
    page.evaluate(REFRESH)
    expect(page.locator(f"#job-{only}")).to_be_visible()
    page.get_by_role("button", name="this list has changed: show").click()
    expect(page.locator(f"#job-{only}")).to_have_count(0)


def test_a_page_to_which_nobody_points_shows_what_is_new(enter: Enter, db: Db) -> None:
    enqueue(db)
    page = enter("/jobs")
    page.mouse.move(1, 1)
    (newest,) = enqueue(db)
    page.evaluate(REFRESH)
    expect(page.locator(f"#job-{newest}")).to_be_visible()
    expect(page.locator("#newer > button")).to_be_hidden()
