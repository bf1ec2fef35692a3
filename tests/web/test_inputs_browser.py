"""Questions in a real browser: by keyboard, on a phone, answered elsewhere, by a link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Page, expect
from starlette.types import ASGIApp

from qwf_agent.web.app import build
from qwf_agent.web.site import access, files
from qwf_agent.web.site.sign_in import SignIn
from support import asking, visitors
from support.browser import Pages
from support.logins import names

Db = psycopg.Connection[Any]
Serve = Callable[[ASGIApp], str]
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def address(db: Db, dsn: str, serve: Serve, tmp_path: Path) -> Callable[[str], str]:
    """The address of a page for an operator, which opens a session."""
    where = visitors.login(db, dsn, "operator")
    who = access.TokenAccess(where, visitors.TOKEN)
    roots = [files.Root(tmp_path)]
    site = serve(build(where, who, access.LOCAL_HOSTS, files=roots, link_secret=bytes(32)))
    return lambda path: visitors.entrance(site, path)


def answers(db: Db) -> list[Any]:
    return db.execute(
        "select value, coalesce(acting_for, login) from qwf.input_answers order by id"
    ).fetchall()


def fits(page: Page) -> bool:
    """Return True if nothing is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_is_chosen_and_sent_on_a_phone(
    address: Callable[[str], str], pages: Pages, db: Db, tmp_path: Path, theme: str
) -> None:
    job = asking.ask(db, context={"options": [1]}, source={"$from": "options"})
    path = asking.list_file(db, tmp_path, "ask/1.png", asking.PNG, job)
    options = [{"id": name, "label": name, "picture": path} for name in ("attic", "cellar")]
    spec = psycopg.types.json.Jsonb({"source": options, "show": path})
    db.execute("update qwf.jobs set input_spec = input_spec || %s where id = %s", (spec, job))
    page = pages.open(address(f"/inputs/{job}"), color_scheme=theme, **PHONE)
    expect(page.locator(".look img")).to_have_js_property("naturalWidth", 4)
    expect(page.locator(".form-option img").first).to_have_js_property("naturalWidth", 4)
    assert fits(page)
    page.get_by_label("cellar").tap()
    page.get_by_role("button", name="Answer").tap()
    expect(page.locator(".answered .given")).to_have_text("cellar")
    expect(page.locator(".answered img")).to_have_js_property("naturalWidth", 4)
    assert fits(page)
    assert [value["id"] for value, _ in answers(db)] == ["cellar"]


def test_a_question_is_answered_by_keyboard(
    address: Callable[[str], str], pages: Pages, db: Db
) -> None:
    asking.ask(db, options=["attic", "cellar"])
    page = pages.open(address("/inputs"))
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Which one?")
    page.wait_for_load_state()
    page.keyboard.press("2")
    expect(page.get_by_label("cellar")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Answered by")).to_be_visible()
    assert answers(db) == [("cellar", db.info.user)]


def test_an_answer_from_elsewhere_ends_the_form_and_loses_nothing(
    address: Callable[[str], str], pages: Pages, db: Db
) -> None:
    job = asking.ask(db, widget="text")
    page = pages.open(address(f"/inputs/{job}"))
    page.get_by_label("Your answer").fill("typed for long")
    db.execute("select qwf.answer_job(%s, '\"mine\"', 'bob')", (job,))
    expect(page.locator(".who", has_text="bob")).to_be_visible()
    expect(page.get_by_role("button", name="Answer")).to_be_hidden()
    expect(page.get_by_label("Your answer")).to_have_value("typed for long")


def test_a_draft_is_kept_until_it_is_sent(
    address: Callable[[str], str], pages: Pages, db: Db
) -> None:
    job = asking.ask(db, widget="text")
    page = pages.open(address(f"/inputs/{job}"))
    page.get_by_label("Your answer").fill("half a sentence")
    page.reload()
    expect(page.get_by_label("Your answer")).to_have_value("half a sentence")
    assert page.evaluate("Object.keys(localStorage).filter(k => k.includes('draft')).length") == 1
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Answered by")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter(k => k.includes('draft')).length") == 0


def test_a_link_is_made_beside_a_draft_and_answers_on_a_phone(
    address: Callable[[str], str], pages: Pages, db: Db
) -> None:
    job = asking.ask(db, widget="text")
    page = pages.open(address(f"/inputs/{job}"))
    page.get_by_label("Your answer").fill("typed for long")
    page.get_by_text("Send somebody a link").click()
    page.get_by_label("For").fill("ada")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("code.link").text_content()
    expect(page.get_by_label("Your answer")).to_have_value("typed for long")
    assert link is not None
    phone = pages.open(link, java_script_enabled=False, **PHONE)
    phone.get_by_label("Your answer").fill("from my phone")
    phone.get_by_role("button", name="Answer").tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Answered")
    expect(page.locator(".who", has_text="link:ada")).to_be_visible()
    assert answers(db) == [("from my phone", "link:ada")]


def test_a_link_needs_no_sign_in_and_opens_one_question(
    passwords: str, serve: Serve, pages: Pages, db: Db
) -> None:
    pages.expected.append("409")
    ada, _ = names(db)
    job = asking.ask(db, options=["attic", "cellar"])
    other = asking.ask(db, "x", widget="text", prompt="And now?")
    who = SignIn(passwords)
    site = serve(build(passwords, who, access.LOCAL_HOSTS, link_secret=bytes(32)))
    desk = pages.open(f"{site}/inputs/{job}")
    desk.get_by_label("Login").fill(ada)
    desk.get_by_label("Password").fill("right")
    desk.get_by_role("button", name="Sign in").click()
    desk.get_by_text("Send somebody a link").click()
    desk.get_by_label("For").fill("bob")
    desk.get_by_role("button", name="Make a link").click()
    link = desk.locator("code.link").text_content() or ""

    phone, late = pages.open(link, **PHONE), pages.open(link, **PHONE)
    expect(phone.get_by_role("heading", level=1)).to_have_text("Which one?")
    expect(phone.get_by_role("link")).to_have_count(0)
    assert "And now?" not in phone.content()
    for path in ("/", f"/inputs/{job}", f"/inputs/{other}"):
        phone.goto(site + path)
        expect(phone.get_by_label("Password")).to_be_visible()
    phone.goto(link)
    phone.get_by_label("cellar").tap()
    phone.get_by_role("button", name="Answer").tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Answered")
    expect(desk.locator(".who", has_text="link:bob")).to_be_visible()

    late.get_by_label("attic").tap()
    late.get_by_role("button", name="Answer").tap()
    expect(late.get_by_text("acting for link:bob")).to_be_visible()
    assert answers(db) == [("cellar", "link:bob")]
    late.goto(link)
    expect(late.get_by_text("acting for link:bob")).to_be_visible()
