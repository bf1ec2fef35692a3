"""A day with two boxes, all of it by clicks in a real browser."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import psycopg
from playwright.sync_api import Browser, expect

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages, served
from support.harness import agents, until
from support.visitors import TOKEN, login

Db = psycopg.Connection[Any]
PIPELINE = {
    "name": "relay",
    "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "nodes": [
        {"id": "first", "node": "relay", "inputs": {"baton": {"$from": "pipeline.n"}}},
        {"id": "second", "node": "relay", "depends_on": ["first"],
         "inputs": {"baton": {"$from": "first.baton"}}},
    ],
}  # fmt: skip
WORKFLOW = {
    "name": "relay",
    "steps": [
        {"id": "ready", "kind": "input", "widget": "choose_one", "target": "said",
         "prompt": "Shall they run?", "options": ["now", "later"]},
        {"id": "race", "kind": "pipeline", "pipeline": "relay", "depends_on": ["ready"],
         "inputs": {"n": {"$from": "n"}}},
    ],
}  # fmt: skip


def test_a_run_is_started_watched_and_answered_and_a_worker_is_switched(
    db: Db, dsn: str, tmp_path: Path, browser: Browser, pages: Pages
) -> None:
    db.execute("select qwf.register_pipeline(%s)", (json.dumps(PIPELINE),))
    db.execute("select qwf.register_workflow(%s)", (json.dumps(WORKFLOW),))
    where = login(db, dsn, "admin")
    app = build(where, access.TokenAccess(where, TOKEN), access.LOCAL_HOSTS)
    out = str(tmp_path / "out")
    with agents(dsn, tmp_path) as start, served(app) as address, contextlib.closing(pages):
        for host in ("box-a", "box-b"):
            start("--queue", "cpu", "--nodes", "steps", "--app", "bodies", "--host", host,
                  "--slots", "1", "--out-root", out)  # fmt: skip
        page = pages.open(f"{address}/?token={TOKEN}")

        page.get_by_role("link", name="Workflows").click()
        page.get_by_role("link", name="relay").first.click()
        page.get_by_role("link", name="Start").first.click()
        page.get_by_label("n", exact=True).fill("7")
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/runs/1")
        expect(page.locator(".graph svg")).to_be_visible()
        expect(page.locator(".graph .completed")).to_have_count(0)

        page.get_by_role("link", name="Questions").click()
        page.get_by_role("link", name="Shall they run?").click()
        page.get_by_text("now", exact=True).click()
        page.get_by_role("button", name="Answer").click()
        expect(page.locator(".answered")).to_contain_text("now")
        page.goto(f"{address}/runs/1")
        expect(page.locator(".graph .completed").nth(2)).to_be_visible()
        expect(page.locator("h1 + *, main").first).to_contain_text("completed")

        page.get_by_role("link", name="Fleet").click()
        box = page.locator(".box", has=page.get_by_role("link", name="box-b"))
        box.get_by_text("Off…").click()
        box.locator("details[open]").get_by_label("Reason").fill("new card")
        box.locator("details[open]").get_by_role("button", name="Off").click()
        expect(box.get_by_text("new card")).to_be_visible()
        box.get_by_role("button", name="On").click()
        expect(box.get_by_text("new card")).to_have_count(0)

        db.execute("select qwf.enqueue('raising', '{\"kind\": \"permanent\"}', queue => 'cpu')")
        page.get_by_role("link", name="Failures").click()
        expect(page.get_by_role("link", name="as asked")).to_be_visible()
        page.get_by_role("button", name="Retry").click()
        page.get_by_role("link", name="Jobs").click()
        page.locator("tr[data-row] th a").first.click()
        expect(page.get_by_text("#2", exact=True)).to_be_visible()
        tries = "select from qwf.job_attempts where job_id = 4"
        until(lambda: len(db.execute(tries).fetchall()) == 2, "the end of the second attempt")
