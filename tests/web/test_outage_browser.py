"""The database stops while people work at the page, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from playwright.sync_api import expect
from starlette.applications import Starlette

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages
from support.servers import Server
from support.visitors import TOKEN, entrance, login

Db = psycopg.Connection[Any]
ASK = """select qwf.register_workflow('{"name": "ask", "steps": [{"id": "why", "kind": "input",
  "widget": "text", "prompt": "Why?", "target": "reason"}]}')"""


def test_an_outage_loses_nothing_that_was_typed_or_ticked(
    server: Server, db: Db, dsn: str, serve: Callable[[Starlette], str], pages: Pages
) -> None:
    """Four people read, filter, tick and answer. Each page keeps what it has, and goes on by
    itself when the database is back."""
    pages.expected += ["503", "stream"]
    jobs = [row[0] for row in db.execute("select qwf.enqueue('mail') from generate_series(1, 3)")]
    db.execute(ASK)
    db.execute("select qwf.enqueue_run('ask')")
    ((question,),) = db.execute("select job_id from qwf.pending_inputs").fetchall()
    app: Any = build(login(db, dsn, "admin"), access.TokenAccess(dsn, TOKEN), ("127.0.0.1",))
    address = serve(app)

    def entered(path: str) -> Any:
        return pages.open(entrance(address, path))

    reads, filters, ticks, answers, acts = (
        entered(path) for path in ("/", "/jobs", "/jobs", f"/inputs/{question}", f"/jobs/{jobs[2]}")
    )
    filters.locator("#query").fill("task:mail")
    ticks.get_by_label(f"Select job {jobs[0]}").check()
    ticks.locator("#query").fill("task:ma")
    answers.get_by_role("textbox").last.fill("because of rain")
    acts.get_by_text("Cancel…").first.click()
    acts.get_by_label("Reason").fill("too late")
    before = reads.locator("h1").inner_text()
    server.stop_immediate()
    try:
        for page in (reads, ticks, acts):
            expect(page.locator("#stale")).to_contain_text("Trying again")
        expect(reads.locator("#live.stale h1")).to_have_text(before)
        filters.locator("#query").press("Enter")
        expect(filters.get_by_role("heading", name="The database does not answer")).to_be_visible()
        acts.get_by_label("Reason").press("Enter")
        expect(acts.locator("#notices")).to_contain_text("the database does not answer")
        expect(ticks.locator("#bulk")).to_contain_text("1 selected")
        button = ticks.locator("#bulk button").first
        assert button.evaluate("(one) => getComputedStyle(one).pointerEvents") == "none"
    finally:
        server.start()
    expect(filters).to_have_url(f"{address}/jobs?q=task%3Amail")
    expect(filters.locator("#query")).to_have_value("task:mail")
    expect(filters.locator("[data-row]")).to_have_count(3)
    for page in (reads, ticks, acts):
        expect(page.locator("#stale")).to_be_hidden()
    expect(ticks.get_by_label(f"Select job {jobs[0]}")).to_be_checked()
    expect(ticks.locator("#query")).to_have_value("task:ma")
    expect(answers.get_by_role("textbox").last).to_have_value("because of rain")
    answers.get_by_role("button", name="Answer").click()
    expect(answers.get_by_text("because of rain").first).to_be_visible()
    acts.get_by_role("button", name="Send again").click()
    expect(acts.locator("#notices")).to_contain_text(f"job {jobs[2]} is cancelled")
    with psycopg.connect(dsn, autocommit=True) as now:
        told = now.execute("select last_error from qwf.jobs where id = %s", (jobs[2],)).fetchall()
        assert "too late" in str(told)
