"""The charts of a box, the counts of the menu, and the switches in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Page, expect
from psycopg.types.json import Jsonb
from starlette.types import ASGIApp

from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages
from support.poison import STRANGE
from support.visitors import TOKEN, entrance, login

Db = psycopg.Connection[Any]
CARD = {"id": 0, "use_pct": 55, "vram_used_mb": 9000, "vram_total_mb": 24576}
SAMPLE = {"cpu_percent": 40, "cpu_ours_percent": 20, "ram_percent": 60, "gpus": [CARD]}


@pytest.fixture
def look(db: Db, dsn: str, serve: Callable[[ASGIApp], str], pages: Pages) -> Callable[..., Page]:
    """look(path) opens a page as an admin."""
    where = login(db, dsn, "admin")
    address = serve(build(where, access.TokenAccess(where, TOKEN), access.LOCAL_HOSTS))

    def start(path: str, **options: Any) -> Page:
        return pages.open(entrance(address, path), **options)

    return start


def measure(db: Db, host: str, **sample: Any) -> None:
    """A sample of a box."""
    db.execute("select qwf.report_metrics(%s, %s)", (host, Jsonb(SAMPLE | sample)))


def test_charts_are_drawn_and_samples_are_added_as_they_come(
    db: Db, look: Callable[..., Page]
) -> None:
    db.execute("select qwf.register_worker('box-a', 'default')")
    measure(db, "box-a")
    page = look("/fleet/box-a")
    expect(page.locator(".chart canvas")).to_have_count(4)
    page.evaluate("""() => {
      window.heard = new Promise((resolve) => {
        document.addEventListener("qwf:sample", (event) => resolve([JSON.parse(event.detail)]));
        setTimeout(() => resolve(["no sample came"]), 60000);
      });
    }""")
    overview = page.context.new_page()
    overview.goto(page.url.partition("/fleet")[0])
    expect(overview.get_by_text("changes show at once")).to_be_visible()
    measure(db, "box-a", cpu_percent=77)
    heard = page.evaluate("() => window.heard")
    assert [sample["cpu_percent"] for sample in heard if sample["host"] == "box-a"] == [77]
    page.locator(".me > summary").click()
    page.get_by_role("button", name="dark").click()
    expect(page.locator(".chart canvas")).to_have_count(4)
    page.get_by_role("link", name="24 hours").click()
    expect(page.get_by_text("No samples of this time")).to_be_visible()


def test_what_fails_is_counted_in_menu_title_and_icon_without_a_reload(
    db: Db, look: Callable[..., Page]
) -> None:
    page = look("/")
    expect(page).to_have_title("Overview · qwf")
    db.execute("select qwf.enqueue('t')")
    db.execute("select qwf.finish(job_id, token, 'fatal', null, 'no paper')"
               " from qwf.claim('default', 'w')")  # fmt: skip
    expect(page).to_have_title("✗1 Overview · qwf")
    expect(page.locator(".menu [data-count=failed]")).to_have_text("1")
    assert page.locator("link[rel=icon]").get_attribute("href") == "/static/icon-failed.svg"
    db.execute("select qwf.retry_job(1)")
    expect(page).to_have_title("Overview · qwf")
    expect(page.locator(".menu [data-count=failed]")).to_be_hidden()


def test_a_worker_is_switched_off_on_a_phone(db: Db, look: Callable[..., Page]) -> None:
    db.execute("select qwf.register_worker('box-a', 'default')")
    db.execute("select qwf.enqueue('t')")
    db.execute("select qwf.claim('default', (select id from qwf.workers))")
    page = look("/fleet", width=390, height=800, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_text("Off…").click()
    sheet = page.locator("details.confirm[open]")
    expect(sheet).to_contain_text("no other box could take it")
    sheet.get_by_label("Reason").fill("new card")
    sheet.get_by_role("button", name="Off").click()
    expect(page.get_by_text(": new card")).to_be_visible()
    page.get_by_role("button", name="On").click()
    expect(page.get_by_text("new card")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
def test_strange_names_break_neither_page(db: Db, look: Callable[..., Page], width: int) -> None:
    evil = '"><script>window.pwned=1</script>' + STRANGE[:100].replace("\0", "")
    db.execute("select qwf.register_worker(%s, 'default', %s)", (evil, Jsonb({"models": [evil]})))
    measure(db, evil, gpus=[{"id": evil, "use_pct": evil}])
    page = look("/fleet", width=width)
    expect(page.locator(".card.box")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".box h2 a").click()
    expect(page.locator(".chart canvas").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") == width
