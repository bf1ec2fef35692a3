"""The five tasks of an operator in a real browser, with their clicks counted; the page on a phone,
Ctrl-K, and a busy list that holds still."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from psycopg.types.json import Jsonb

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support import asking
from support.browser import Pages, served
from support.made_jobs import fail, start_run, worker
from support.visitors import TOKEN, entrance, login

Db = psycopg.Connection[Any]
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
  }).observe({type: "layout-shift", buffered: true});
"""
Enter = Callable[..., Page]


@pytest.fixture
def enter(db: Db, dsn: str, browser: Browser, tmp_path: Path) -> Iterator[Enter]:
    """Opens a page of an admin. Pages end before the server does, without an error."""
    with contextlib.ExitStack() as stack:
        who = access.TokenAccess(dsn, TOKEN)
        app: Any = build(login(db, dsn, "admin"), who, ("127.0.0.1",), inbox=tmp_path)
        address = stack.enter_context(served(app))
        pages = Pages(browser)

        def opened(path: str = "/", **options: Any) -> Page:
            return pages.open(entrance(address, path), **options)

        yield opened
        assert pages.close() == []


class Clicks:
    """Clicks, counted."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, target: Locator) -> None:
        self.count += 1
        target.click()


def test_a_failed_run_is_understood_and_retried_with_three_clicks(enter: Enter, db: Db) -> None:
    run = start_run(db, {"id": "only", "queue": "default"})
    fail_one(db)
    page, click = enter(), Clicks()
    click(page.locator(f"#now-{run} a").first)
    expect(page.get_by_text("no paper").first).to_be_visible()
    click(page.locator("main").get_by_text("Retry…").first)
    click(page.get_by_role("button", name="Retry: 1 node runs"))
    expect(page.locator("#notices")).to_contain_text(f"run {run} goes on")
    assert click.count == 3


def fail_one(db: Db) -> None:
    """The first job of the queue fails for good."""
    box = worker(db, "default")
    db.execute(
        "select qwf.finish(c.job_id, c.token, 'fatal', null, 'no paper')"
        " from qwf.claim('default', %s) c",
        (box,),
    )


def test_the_slowest_node_of_a_workflow_is_found_with_two_clicks(enter: Enter, db: Db) -> None:
    start_run(db, {"id": "only", "queue": "default"})
    db.execute("select qwf.finish(c.job_id, c.token, 'completed') from qwf.claim('default', 'w') c")
    for _ in range(3):
        db.execute("select qwf.tick()")
    page, click = enter(), Clicks()
    name = db.execute("select workflow from qwf.run_overview").fetchall()[0][0]
    click(page.locator(".menu").get_by_role("link", name="Workflows"))
    click(page.locator("main").get_by_role("link", name=name, exact=True).first)
    expect(page.get_by_role("heading", name="Nodes over time")).to_be_visible()
    expect(page.locator("#nodes-over-time")).to_contain_text("only")
    assert click.count == 2


def test_a_box_is_switched_off_with_two_clicks(enter: Enter, db: Db) -> None:
    for queue in ("default", "cpu"):
        db.execute("select qwf.create_queue(%s)", (queue,))
        worker(db, queue, "box-a")
    page, click = enter("/fleet"), Clicks()
    click(page.get_by_text("Switch off box-a…"))
    click(page.get_by_role("button", name="Switch off box-a"))
    expect(page.get_by_text("box-a is off").first).to_be_visible()
    off = db.execute("select count(*) from qwf.switched_off where host = 'box-a'").fetchall()
    assert off == [(2,)]
    assert click.count == 2
    page.locator("#notices").get_by_role("button", name="Undo").click()
    expect(page.locator("#notices")).to_contain_text("box-a is on")
    expect(page.locator("#notices").get_by_role("button", name="Undo")).to_be_hidden()
    assert db.execute("select from qwf.switched_off").fetchall() == []


def test_a_question_is_answered_from_a_phone_with_two_taps(enter: Enter, db: Db) -> None:
    ask = {"id": "send", "kind": "input", "widget": "confirm", "prompt": "Send it?",
           "target": "yes"}  # fmt: skip
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "pick", "steps": [ask]}),))
    db.execute("select qwf.enqueue_run('pick')")
    page, click = enter(**PHONE), Clicks()
    answer = page.get_by_role("link", name="Answer", exact=True)
    box = answer.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 844 - 54, "in the first window, above the bar at the foot"
    click(answer)
    click(page.locator(".answer").get_by_role("button", name="Yes"))
    expect(page.get_by_text("Answered by")).to_be_visible()
    assert click.count == 2


def test_one_of_several_is_chosen_from_a_phone_with_two_taps(enter: Enter, db: Db) -> None:
    """The list of questions has a button for each option; its page has it chosen."""
    asking.ask(db, options=[{"id": "a", "label": "attic"}, {"id": "c", "label": "cellar"}])
    page, click = enter("/inputs", **PHONE), Clicks()
    click(page.get_by_role("link", name="cellar"))
    expect(page.get_by_label("cellar")).to_be_checked()
    click(page.locator(".answer").get_by_role("button", name="Answer"))
    expect(page.get_by_text("Answered by")).to_be_visible()
    assert click.count == 2
    (answer,) = db.execute("select value ->> 'label' from qwf.input_answers").fetchall()
    assert answer == ("cellar",)


def test_a_photograph_is_uploaded_from_a_phone(enter: Enter, db: Db, tmp_path: Path) -> None:
    """Its path is in the answer, which the person then sends."""
    job = asking.ask(db, widget="file", accept="image/*")
    page = enter(f"/inputs/{job}", **PHONE)
    photo = {
        "name": "IMG_1.JPG",
        "mimeType": "image/jpeg",
        "buffer": b"\xff\xd8\xff\xe0" + bytes(99),
    }
    page.locator(".upload input[type=file]").set_input_files(photo)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("status").filter(has_text="Uploaded")).to_be_visible()
    page.locator(".answer").get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Answered by")).to_be_visible()
    (file,) = tmp_path.iterdir()
    assert db.execute("select value from qwf.input_answers").fetchall() == [(str(file),)]


def test_a_job_is_found_by_a_value_of_its_arguments_with_one_click(enter: Enter, db: Db) -> None:
    db.execute(
        "select qwf.enqueue('mail', args => jsonb_build_object('to', 'user' || n || '@x.org'))"
        " from generate_series(1, 50) n"
    )
    page, click = enter(), Clicks()
    page.keyboard.press("/")
    page.keyboard.type("user42@x.org")
    page.keyboard.press("Enter")
    found = page.locator("main a[href^='/jobs/']").first
    expect(found).to_be_visible()
    click(found)
    expect(page.get_by_text("user42@x.org").first).to_be_visible()
    assert click.count == 1


def test_a_phone_has_a_bar_at_its_foot_and_the_filters_behind_a_button(
    enter: Enter, db: Db
) -> None:
    box = worker(db, "default")
    jobs = [fail(db, box, "print", "no paper") for _ in range(30)]
    page = enter("/jobs?status=failed&task=print", **PHONE)
    first = page.locator(f"#job-{jobs[-1]}")
    top = first.bounding_box()
    assert top is not None
    assert top["y"] < 300
    expect(page.get_by_label("States")).to_be_hidden()
    expect(page.locator("#bulk")).to_be_hidden()
    page.get_by_text("Filter · failed · task:print").tap()
    expect(page.get_by_role("link", name="Failed", exact=True)).to_be_in_viewport()
    expect(page.get_by_label("Search this list").last).to_be_visible()
    tick = first.get_by_role("checkbox")
    size = tick.bounding_box()
    assert size is not None
    assert min(size["width"], size["height"]) >= 24
    tick.tap()
    expect(page.locator("#bulk")).to_be_in_viewport(ratio=1)
    bar, foot = page.locator("#bulk").bounding_box(), page.locator(".foot-bar").bounding_box()
    assert bar is not None
    assert foot is not None
    assert bar["y"] + bar["height"] <= foot["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    expect(page.locator(".foot-bar")).to_contain_text("30")
    page.locator("#more-pages > summary").tap()
    page.locator("#more-pages").get_by_role("link", name="Fleet").tap()
    expect(page.get_by_role("heading", name="Fleet")).to_be_visible()


def test_ctrl_k_goes_to_names_and_to_what_is_done(enter: Enter, db: Db) -> None:
    db.execute("select qwf.create_queue('odd.name')")
    page = enter("/jobs")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="or what to do")
    expect(box).to_be_focused()
    box.fill("odd pause")
    expect(page.get_by_role("option").first).to_contain_text("Pause or resume queue odd.name…")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="odd.name")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="or what to do").fill("doct")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Doctor")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="or what to do")).to_be_hidden()


def test_a_busy_list_does_not_move_below_the_pointer(enter: Enter, db: Db, dsn: str) -> None:
    """In 30 seconds with new jobs, new states and refreshes, all shifts together are below 0.02."""
    box = worker(db, "default", slots=50)
    for _ in range(30):
        fail(db, box, "print", "no paper")
    page = enter("/jobs")
    page.locator("[data-row]").nth(3).hover()
    page.evaluate(SHIFTS)
    done = threading.Event()

    def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as busy:
            while not done.wait(0.1):
                busy.execute("select qwf.enqueue('print')")
                busy.execute("select qwf.finish(c.job_id, c.token, 'completed')"
                             " from qwf.claim('default', %s) c", (box,))  # fmt: skip

    busy = threading.Thread(target=work)
    busy.start()
    try:
        page.wait_for_timeout(30_000)
    finally:
        done.set()
        busy.join()
    expect(page.locator("#newer > button")).to_contain_text("newer: show")
    assert page.evaluate("window.shifted") <= 0.02


def test_a_list_that_is_scrolled_holds_still_and_shows_the_newest_on_demand(
    enter: Enter, db: Db
) -> None:
    jobs = [row[0] for row in db.execute("select qwf.enqueue('t') from generate_series(1, 40)")]
    page = enter("/jobs")
    page.mouse.move(1, 1)
    page.evaluate("scrollTo(0, 400)")
    seen = page.locator(f"#job-{jobs[15]}")
    before = seen.bounding_box()
    ((newest,),) = db.execute("select qwf.enqueue('t')").fetchall()
    db.execute("select qwf.cancel_job(%s)", (jobs[15],))
    expect(seen).to_contain_text("cancelled")
    assert seen.bounding_box() == before
    expect(page.locator(f"#job-{newest}")).to_have_count(0)
    page.get_by_role("button", name="1 newer: show").click()
    expect(page.locator(f"#job-{newest}")).to_be_in_viewport()
