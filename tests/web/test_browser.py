"""All pages in a real browser: for everybody to use, safe, and fresh whatever happens."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from starlette.types import ASGIApp, Receive, Scope, Send

from qwf_agent.look import links
from qwf_agent.web.app import build
from qwf_agent.web.pages import PAGES
from qwf_agent.web.site import access
from qwf_agent.web.site.sign_in import SignIn
from support import lively, poison
from support.addresses import real
from support.browser import Pages, served
from support.harness import until
from support.servers import Server
from support.thorough import THOROUGH
from support.visitors import TOKEN, entrance, login, session

Db = psycopg.Connection[Any]
SECRET = bytes(range(32))
Around = Callable[[ASGIApp], ASGIApp]
AXE = Path(__file__).with_name("vendor") / "axe.min.js"
LOOKS = [(390, "dark"), (1280, "light")]  # each width and each colour once
LOOKS += [(390, "light"), (1280, "dark")] if THOROUGH else []
WIDTHS = [1280, 800, 390] if THOROUGH else [1280, 390]
FIND = """
() => axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
  .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))}`))
"""
# One alert that is open, for a receiver that nobody has.
ALERT = (
    """select qwf.set_alert('bad', '{"when": ["lost"], "do": {"receiver": "ops"}}')""",
    "insert into _qwf.event_log (kind, subject) values ('lost', 'load')",
    "select _qwf.number_and_match()",
)
# Opens each sheet in turn, as a click would, and looks whether window or box cuts something off.
CUT_OFF = """
() => [...document.querySelectorAll("main details.confirm")].flatMap((one) => {
  if (!one.checkVisibility({visibilityProperty: true})) return [];
  one.open = true;
  one.dispatchEvent(new Event("toggle"));
  const sheet = one.querySelector(".sheet"), {left, right, bottom} = sheet.getBoundingClientRect();
  let whole = left >= 0 && right < innerWidth + 1 && sheet.scrollWidth <= sheet.clientWidth;
  const fixed = getComputedStyle(sheet).position === "fixed";
  for (let box = one; box && !fixed; box = box.parentElement)
    if (getComputedStyle(box).overflowY !== "visible" && box !== document.documentElement)
      whole &&= bottom <= box.getBoundingClientRect().bottom;
  one.open = false;
  return whole ? [] : [`${one.id} is at ${left}..${right}, down to ${bottom}`];
})
"""
# Addresses of `real` that have no page: a change of nothing, an attempt that was not.
ABSENT = (
    r"40[04] \((Not Found|Bad Request)\) at "
    r"\S+(/runs/change|/failures/retry|/jobs/all/burn\S*|/attempts/\d+|/files/\S+)$"
)
REFRESH = """
() => new Promise((resolve) => {
  document.addEventListener("qwf:fresh", () => resolve(), {once: true});
  htmx.trigger(document.getElementById("live"), "refresh");
})
"""
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
MOVING = """
() => [...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  const long = (times) => times.split(",").some((time) => parseFloat(time) > 0.01);
  const shown = style.animationName !== "none";
  return long(style.transitionDuration) || (shown && long(style.animationDuration));
}).map((one) => one.outerHTML.slice(0, 100))
"""


@dataclass
class Site:
    """A database and the page on it, for an admin."""

    db: Db
    dsn: str
    address: str
    sessions: access.Sessions

    def enter(self, pages: Pages, path: str = "/", **options: Any) -> Page:
        """A page in a window of its own, signed in. All workers have just been heard of."""
        self.db.execute("select qwf.heartbeat(id) from qwf.workers")
        return pages.open(entrance(self.address, path), **options)

    def paths(self) -> list[str]:
        """An address of every page, and a few more."""
        return [path for page in PAGES for path in real(self.db, page.path)]


@contextlib.contextmanager
def opened(server: Server, template: str, around: Around = lambda app: app) -> Iterator[Site]:
    """A page on a database of its own; `around` may put something in front of it."""
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        with psycopg.connect(dsn, autocommit=True) as db:
            where = login(db, dsn, "admin")
            who = access.TokenAccess(where, TOKEN)
            app = build(where, who, access.LOCAL_HOSTS, link_secret=SECRET)
            with served(around(app)) as address:
                yield Site(db, dsn, address, who.sessions)


@pytest.fixture(scope="module")
def full(server: Server, template: str, browser: Browser) -> Iterator[Site]:
    """A page on a database that has everything once. Tests here change little in it."""
    with opened(server, template) as found:
        lively.fill(found.db)
        for statement in ALERT:
            found.db.execute(statement)
        yield found


@pytest.fixture
def open_site(server: Server, template: str, browser: Browser) -> Iterator[Callable[..., Site]]:
    """open_site() is a page on an empty database; name it before `pages`, so that it ends last."""
    with contextlib.ExitStack() as stack:
        yield lambda *around: stack.enter_context(opened(server, template, *around))


def problems(page: Page) -> list[str]:
    """Problems that keep people from using the page, which has axe, at all widths and in all
    colours."""
    found = []
    page.evaluate(HIDE, True)  # a refresh that comes while axe looks changes what it looks at
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        found += [f"{page.url} {width}: {sheet}" for sheet in page.evaluate(CUT_OFF)]
    page.evaluate("document.querySelectorAll('main details').forEach((d) => d.open = true)")
    for width, scheme in LOOKS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour is on its way
        page.set_viewport_size({"width": width, "height": 800})
        said = page.evaluate(FIND)
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            said.append(f"is {wide} wide")
        found += [f"{page.url} {width} {scheme}: {problem}" for problem in said]
    return found


def test_no_page_has_what_keeps_people_from_using_it(full: Site, pages: Pages) -> None:
    """It breaks no rule of axe, fits its window, and what opens at a button is seen whole."""
    pages.expected.append(ABSENT)
    page = full.enter(pages)
    page.add_init_script(path=AXE)
    found, absent = [], set()
    for path in dict.fromkeys(full.paths()):
        answer = page.goto(full.address + path)
        assert answer is not None
        if answer.status == 200 or answer.status not in absent:
            found += problems(page)
            absent.add(answer.status)
    assert not found, "\n".join(found[:60])


def test_pages_for_everybody_have_nothing_either(full: Site, pages: Pages) -> None:
    pages.expected += ["404", "410"]
    asked = full.db.execute("select job_id, since from qwf.pending_inputs").fetchone()
    assert asked is not None
    until_then = datetime.now(timezone.utc) + timedelta(hours=1)
    token = links.sign(SECRET, *asked, until_then, "ada")
    with served(build(full.dsn, SignIn("host=127.0.0.1"), access.LOCAL_HOSTS)) as signed:
        page = pages.open(f"{signed}/sign-in")
        page.add_init_script(path=AXE)
        page.reload()
        found = problems(page)
    for path in (f"/answer/{token}", f"/answer/{token[:-2]}", "/no-such-page"):
        page.goto(full.address + path)
        found += problems(page)
    assert not found, "\n".join(found[:60])


def test_on_a_phone_the_menu_shows_where_one_is(full: Site, pages: Pages) -> None:
    page = full.enter(pages, "/doctor", width=720)
    entry = page.locator(".menu [aria-current]")
    expect(entry).to_have_text("Doctor")
    expect(entry).to_be_in_viewport(ratio=0.9)
    page.set_viewport_size({"width": 390, "height": 800})
    expect(entry).to_be_hidden()
    page.locator("#more-pages > summary").click()
    expect(page.locator("#more-pages [aria-current]")).to_have_text("Doctor")


def test_escape_closes_a_sheet_and_the_focus_is_at_its_button(full: Site, pages: Pages) -> None:
    page = full.enter(pages, "/queues")
    button = page.locator("summary", has_text="Create a queue")
    button.click()
    name = page.get_by_label("Name").first
    name.fill("mail")
    name.press("Escape")
    expect(name).to_be_hidden()
    expect(button).to_be_focused()


def test_a_chart_of_what_ended_has_the_colours_of_the_states(full: Site, pages: Pages) -> None:
    page = full.enter(pages, "/queues/default")
    for line, colour in (("completed", "--good"), ("failed", "--danger")):
        wanted = page.evaluate(
            """(name) => {
              const one = document.body.appendChild(document.createElement("i"));
              one.style.color = `var(${name})`;
              return getComputedStyle(one).color;
            }""",
            colour,
        )
        expect(page.locator(f"[data-line={line}] i")).to_have_css("color", wanted)


def test_a_message_with_a_link_leads_to_what_it_names(full: Site, pages: Pages) -> None:
    (job,) = full.db.execute("select qwf.enqueue('later', queue => 'paused')").fetchone() or (0,)
    page = full.enter(pages, f"/jobs/{job}")
    page.get_by_role("button", name="Run next").click()
    page.locator(".notice").get_by_role("link", name=f"job {job}").click()
    page.wait_for_url(f"**/jobs/{job}")


def test_hostile_texts_do_nothing_on_any_page(open_site: Callable[..., Site], pages: Pages) -> None:
    pages.expected.append(ABSENT)
    hostile = open_site()
    lively.fill(hostile.db)
    poison.mark(hostile.db)
    page = hostile.enter(pages, width=390)
    wide = []
    for path in hostile.paths():
        page.goto(hostile.address + path)
        page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
        page.evaluate(REFRESH)
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(path)
    assert wide == []


def test_what_is_typed_and_opened_survives_refreshes(full: Site, pages: Pages) -> None:
    page = full.enter(pages, "/fleet")
    page.get_by_text("Off…").first.click()
    sheet = page.locator("details.confirm[open]")
    sheet.get_by_label("Reason").fill("a new ca")
    sheet.get_by_label("Reason").evaluate("(field) => { field.same = 1; }")
    for _ in range(20):
        page.evaluate(REFRESH)
    expect(sheet).to_have_count(1)
    expect(sheet.get_by_label("Reason")).to_have_value("a new ca")
    expect(sheet.get_by_label("Reason")).to_be_focused()
    assert sheet.get_by_label("Reason").evaluate("(field) => field.same") == 1
    page.keyboard.type("rd")
    expect(sheet.get_by_label("Reason")).to_have_value("a new card")


def test_ticks_and_a_change_of_them_survive_refreshes(full: Site, pages: Pages) -> None:
    jobs = [
        full.db.execute("select qwf.enqueue('moved', queue => 'gpu')").fetchone() for _ in range(2)
    ]
    page = full.enter(pages, "/jobs?task=moved")
    expect(page.locator("#change-ticked")).not_to_be_visible()
    for (job,) in filter(None, jobs):
        page.get_by_label(f"Select job {job}").check()
    page.get_by_text("Change…").first.click()
    page.get_by_label("Priority, lower is sooner").fill("7")
    page.get_by_label("Run next").check()
    for _ in range(5):
        page.evaluate(REFRESH)
    expect(page.get_by_label("Priority, lower is sooner")).to_have_value("7")
    page.get_by_role("button", name="Change the ticked jobs").click()
    expect(page.get_by_text("2 of 2 jobs changed")).to_be_visible()
    found = full.db.execute("select priority, run_next from qwf.jobs where task = 'moved'")
    assert found.fetchall() == [(7, True)] * 2


@pytest.mark.parametrize("width", [1280, 390])
def test_the_question_of_a_button_in_a_table_is_seen_at_once(
    open_site: Callable[..., Site], pages: Pages, width: int
) -> None:
    site = open_site()
    site.db.execute("select qwf.create_schedule('nightly', 't', cron => '@daily')")
    page = site.enter(pages, "/schedules", width=width)
    page.get_by_text("Fire now…").click()
    button = page.get_by_role("button", name="Fire now")
    expect(button).to_be_visible()
    on_top = """(one) => {
      const box = one.getBoundingClientRect();
      return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === one;
    }"""
    assert button.evaluate(on_top), "nothing cuts it off or covers it"
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_twelve_tabs_load_and_stay_fresh(full: Site, pages: Pages) -> None:
    first = full.enter(pages, "/queues")
    tabs = [first, *(first.context.new_page() for _ in range(11))]
    for tab in tabs[1:]:
        tab.goto(full.address + "/queues")
    full.db.execute("select qwf.create_queue('brand-new')")
    for tab in tabs:
        expect(tab.get_by_role("link", name="brand-new")).to_be_visible()


def test_a_hidden_tab_closes_its_stream_and_opens_it_again(full: Site, pages: Pages) -> None:
    page = full.enter(pages)
    secret = next(c["value"] for c in page.context.cookies() if access.COOKIE in c["name"])
    found = session(full.sessions, secret)
    assert found is not None
    until(lambda: found.streams == 1, "the stream")
    page.evaluate(HIDE, True)
    until(lambda: found.streams == 0, "the end of the stream")
    page.evaluate(HIDE, False)
    until(lambda: found.streams == 1, "the stream again")


def without_stream(app: ASGIApp) -> ASGIApp:
    """A proxy that keeps what a stream sends to itself."""

    async def passing(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/stream":
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b": \n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    return passing


def test_a_page_asks_by_itself_if_its_stream_says_nothing(
    open_site: Callable[..., Site], pages: Pages
) -> None:
    found = open_site(without_stream)
    page = pages.open(f"{found.address}/?token={TOKEN}")
    page.clock.install()
    page.goto(found.address + "/queues")
    found.db.execute("select qwf.create_queue('brand-new')")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(3):
        page.clock.fast_forward(8_000)
    expect(page.get_by_role("link", name="brand-new")).to_be_visible()
    assert len([url for url in asked if url.endswith("/stream")]) <= 2  # it does not storm


def test_a_question_is_answered_with_keys_alone(full: Site, pages: Pages) -> None:
    page = full.enter(pages)
    page.clock.set_fixed_time(datetime.now())  # for the page, the second key follows at once
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inputs")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inputs/*")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".answered")).to_contain_text("Answered by")
    answers = full.db.execute("select value from qwf.input_answers order by answered_at").fetchall()
    assert answers[-1][0]["id"] == "b"


def test_a_worker_is_switched_with_keys_alone(full: Site, pages: Pages) -> None:
    page = full.enter(pages)
    page.clock.set_fixed_time(datetime.now())  # for the page, the second key follows at once
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/fleet")
    page.keyboard.press("j")
    page.keyboard.press("d")
    sheet = page.locator("details.confirm[open]")
    expect(sheet).to_have_count(1)
    reason = sheet.get_by_label("Reason")
    for _ in range(6):
        page.keyboard.press("Tab")
        if reason.evaluate("(field) => field === document.activeElement"):
            break
    expect(reason).to_be_focused()
    page.keyboard.type("fan noise")
    page.keyboard.press("Enter")
    expect(page.get_by_text("fan noise").first).to_be_visible()
    state = "select reason from qwf.worker_controls where reason = 'fan noise'"
    assert full.db.execute(state).fetchall() == [("fan noise",)]


def test_nothing_moves_for_those_who_want_no_motion(full: Site, pages: Pages) -> None:
    page = full.enter(pages, reduced_motion="reduce")
    run = real(full.db, "/runs/{run}")[0]
    for path in ("/", "/fleet", run):
        page.goto(full.address + path)
        assert page.evaluate(MOVING) == []


def test_pages_can_be_read_without_javascript(full: Site, pages: Pages) -> None:
    pages.expected.append(ABSENT)
    page = full.enter(pages, java_script_enabled=False)
    for path in full.paths():
        page.goto(full.address + path)
        expect(page.locator("h1")).to_be_visible()


def test_a_page_says_that_the_database_is_away_and_is_fresh_when_it_is_back(
    server: Server, open_site: Callable[..., Site], pages: Pages
) -> None:
    pages.expected += ["503", "stream"]
    found = open_site()
    page = found.enter(pages, "/queues")
    page.evaluate("window.same = 1")
    server.stop_immediate()
    try:
        expect(page.locator("#stale")).to_be_visible()
        without_an_answer(page)  # which must not be shown
        expect(page.locator("#stale")).to_contain_text("what you see is from")
        expect(page.locator("#live.stale h1")).to_have_text("Queues")
        expect(page.get_by_role("link", name="default").first).to_be_visible()
    finally:
        server.start()
    with psycopg.connect(found.dsn, autocommit=True) as db:
        db.execute("select qwf.create_queue('brand-new')")
    with contextlib.suppress(PlaywrightTimeout):  # the page may have tried by itself already
        page.get_by_role("button", name="Try now").click(timeout=2000)
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.locator("#live.stale")).to_have_count(0)
    expect(page.get_by_role("link", name="brand-new")).to_be_visible()
    assert page.evaluate("window.same") == 1


def test_an_outage_keeps_what_is_ticked(
    server: Server, open_site: Callable[..., Site], pages: Pages
) -> None:
    pages.expected += ["503", "stream"]
    found = open_site()
    runs = [made_run(found.db) for _ in range(3)]
    page = found.enter(pages, "/runs")
    selected = page.locator("#bulk").get_by_role("button", name="Cancel…")
    expect(selected).to_be_hidden()
    page.get_by_label(f"Select run {runs[1]}").check()
    expect(selected).to_be_visible()
    server.stop_immediate()
    try:
        expect(page.locator("#stale")).to_be_visible()
        without_an_answer(page)
        expect(page.get_by_label(f"Select run {runs[1]}")).to_be_checked()
    finally:
        server.start()
    expect(page.locator("#stale")).to_be_hidden(timeout=40_000)
    expect(page.get_by_label(f"Select run {runs[1]}")).to_be_checked()
    selected.click()
    expect(page.get_by_role("heading", name="Cancel 1 run")).to_be_visible()


def without_an_answer(page: Page) -> None:
    """Wait until the page has asked once more, and the database did not answer."""
    longer = re.compile(r"in ([3-9]|\d\d) s")  # than after the first time
    expect(page.locator("#stale [data-again]")).to_contain_text(longer)


def made_run(db: Db) -> int:
    """A run that waits for its first node."""
    db.execute("""select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "n"}]}'),
      qwf.register_workflow('{"name": "w",
        "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}')""")
    row = db.execute("select qwf.enqueue_run('w')").fetchone()
    assert row is not None
    return int(row[0])


def test_an_answer_that_is_sent_in_an_outage_is_sent_again(
    server: Server, open_site: Callable[..., Site], pages: Pages
) -> None:
    pages.expected += ["503", "stream"]
    found = open_site()
    found.db.execute("""select qwf.register_workflow('{"name": "ask", "steps": [{"id": "why",
      "kind": "input", "widget": "text", "prompt": "Why?", "target": "reason"}]}')""")
    found.db.execute("select qwf.enqueue_run('ask')")
    ((job,),) = found.db.execute("select job_id from qwf.pending_inputs").fetchall()
    page = found.enter(pages, f"/inputs/{job}")
    page.get_by_role("textbox").last.fill('a <long> story & "more"')
    server.stop_immediate()
    try:
        page.get_by_role("button", name="Answer").click()
        expect(page.get_by_role("heading", name="The database does not answer")).to_be_visible()
        expect(page.get_by_role("link", name="Questions")).to_be_visible()
    finally:
        server.start()
    expect(page.locator("#outage")).to_have_text("The database answers again. Send it now.")
    page.get_by_role("button", name="Send again").click()
    with psycopg.connect(found.dsn, autocommit=True) as db:
        answered = "select value from qwf.input_answers"
        expect(page.get_by_text("answered").first).to_be_visible()
        assert db.execute(answered).fetchall() == [('a <long> story & "more"',)]


def test_a_page_that_cannot_be_read_has_the_menu_and_comes_back_by_itself(
    server: Server, open_site: Callable[..., Site], pages: Pages
) -> None:
    pages.expected += ["503", "404"]
    found = open_site()
    page = found.enter(pages)
    page.goto(f"{found.address}/nowhere")
    expect(page.get_by_role("link", name="Fleet")).to_be_visible()
    server.stop_immediate()
    try:
        page.goto(f"{found.address}/queues")
        expect(page.get_by_role("heading", name="The database does not answer")).to_be_visible()
    finally:
        server.start()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible(timeout=20_000)
