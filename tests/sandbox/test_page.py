"""The sandbox in a real browser: it opens, its tour can be taken, and nothing that people do breaks
it.
"""

from __future__ import annotations

import html
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from playwright.sync_api import Page, expect

from support.browser import Pages
from support.servers import ROOT
from support.thorough import THOROUGH

AXE = ROOT / "tests" / "web" / "vendor" / "axe.min.js"
FIND = """
() => axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
  .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))}`))
"""
LOOKS: list[tuple[int, Any]] = [(1280, "light"), (390, "dark")]  # each width and each colour once
LOOKS += [(1280, "dark"), (390, "light")] if THOROUGH else []
WAITING = '#jobs tr:has-text("describe"):has-text("queued") .why-button >> nth=-1'
RETRY_NODE = '#graph:has(a.completed:has-text("publish")) a:has-text("cut_out")'
# Jobs last five times as long; pressed again, all is as before.
SLOW = [f'[data-host="box-{one}"] .slow' for one in "abc"]
DONE = '#tour[data-state="done"]'
ZOMBIE = '.worker:has-text("renews no lease"), .worker.overtaken'
FROZEN = '.worker[data-state="frozen"]'
PATIENCE_MS = 60_000
ACTIONS = int(os.environ.get("QWF_MONKEY", "200" if THOROUGH else "60"))
SEED = int(os.environ.get("QWF_SEED", "15"))
# A clock of the page that jumps: leases must depend on the database's clock alone.
JUMPING_CLOCK = "(() => { let ms = 0; Date.now = () => (ms += 86_400_000); })()"
STATEMENTS = (
    "select * from qwf.queue_overview;",
    "begin; select qwf.enqueue('extra', queue => 'cpu');",
    "select qwf.enqueue('extra', queue => 'nowhere');",
    "select qwf.cancel_run(max(id)) from qwf.runs;",
    "select qwf.retry_job(max(id)) from qwf.jobs where status = 'failed';",
    "select qwf.pause_queue('cpu'); select qwf.resume_queue('cpu');",
    "set role qwf_viewer; select 1;",
    "begin; set search_path = nowhere;",
    "listen qwf_events; select 1; select 2",
    "this is not SQL;",
    r"\dt",
)
# Presses the Nth button of those that can be pressed; the one that begins again would end all.
PRESS = """(number) => {
  const buttons = [...document.querySelectorAll("main button:enabled, #graph a")]
    .filter((one) => one.checkVisibility());
  const button = buttons[number % buttons.length];
  button.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  return button.textContent;
}"""


def opened(pages: Pages, address: str) -> Page:
    page = pages.open(address)
    begin(page)
    return page


def begin(page: Page) -> None:
    """Wait until the database is open; workers are quick, and the test is patient."""
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    expect(page.locator('.worker[data-state="asleep"]')).to_have_count(3)
    page.select_option("#pace", "quick")


def unbroken(page: Page) -> None:
    """No rule of the database is broken, and the page met no error that it did not expect."""
    expect(page.locator("#lamp")).to_have_attribute("data-state", "good")
    assert page.locator("#log li.bad", has_text="page got an error").all_inner_texts() == []


def test_a_reader_can_take_the_tour(pages: Pages, address: str) -> None:
    page = pages.open("about:blank")
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.add_init_script(JUMPING_CLOCK)
    page.goto(address)
    begin(page)
    steps: dict[str, Callable[[], None]] = {
        "Crash a worker": lambda: start_and_crash(page),
        "Watch the lease lapse": lambda: None,
        "Make a zombie": lambda: hurt(page, ".zombie", ZOMBIE),
        "Wake the zombie": lambda: wake_all(page),
        "Answer a question": lambda: press(page, ".question .answer >> nth=0"),
        "Retry from a node": lambda: press(page, RETRY_NODE, "#chosen .retry"),
        "Read why a job waits": lambda: ask_at_a_full_limit(page),
    }
    for title, act in steps.items():
        expect(page.locator("#tour h2")).to_contain_text(title)
        act()
        expect(page.locator(DONE)).to_be_visible()
        page.click("#tour .next")
    expect(page.locator('#tour[data-state="over"]')).to_be_visible()
    expect(page.locator("#chosen")).to_contain_text("limit model is full")
    unbroken(page)
    assert {url.rpartition("/")[2] for url in asked} >= {"qwf.data", "pglite.wasm", "main.js"}
    assert [url for url in asked if not url.startswith((address, "blob:"))] == []


def press(page: Page, *targets: str) -> None:
    for target in targets:
        page.click(target)


def hurt(page: Page, button: str, seen: str) -> None:
    """Press this button of workers until it hits one with a job: a job may end meanwhile."""
    while not page.locator(seen).count():
        page.click(f'.worker[data-state="working"] {button}')


def start_and_crash(page: Page) -> None:
    press(page, *SLOW, "#tour .start")
    hurt(page, ".crash", DONE)


def wake_all(page: Page) -> None:
    """Wake the zombie, and workers that were frozen without a job."""
    press(page, *SLOW)
    for host in page.locator(FROZEN).evaluate_all("(all) => all.map((one) => one.dataset.host)"):
        worker = page.locator(f'.worker[data-host="{host}"]')
        worker.locator(".zombie").click()  # a second click would freeze it again
        expect(worker).not_to_have_attribute("data-state", "frozen")


def ask_at_a_full_limit(page: Page) -> None:
    """Ask once two of the six jobs run; at this pace they do not end meanwhile."""
    page.select_option("#pace", "calm")
    press(page, *SLOW, "#tour .start")
    running = page.locator('#jobs tr:has-text("describe"):has-text("running")')
    expect(running).to_have_count(2)
    press(page, WAITING)


def test_an_old_token_changes_nothing_and_a_poison_job_ends(pages: Pages, address: str) -> None:
    page = opened(pages, address)
    page.click("#preset-poison")
    poison = page.locator('#jobs tr:has-text("big_video")')
    expect(poison).to_contain_text(re.compile("[123] lost"))
    page.click("#cheat")
    refused = page.locator('#log [data-kind="refused"]')
    expect(refused).to_contain_text('an old token: the answer is "lost"')
    expect(poison).to_contain_text("✗ failed")
    expect(poison).to_contain_text("3 lost")
    unbroken(page)


def test_the_sql_of_a_click_can_be_changed_and_run(pages: Pages, address: str) -> None:
    page = opened(pages, address)
    result = page.locator("#result")
    page.click("#preset-limit")
    page.click('#log li:has-text("enqueue six jobs") summary')
    page.click('#log li:has-text("enqueue six jobs") .edit')
    typed(page, page.input_value("#sql").replace("'model', 2", "'model', 1"))
    expect(result).to_contain_text("6 rows")
    typed(page, "select max_running as at_once from qwf.limits where name = 'model';")
    expect(page.locator('#result:has-text("at_once") td')).to_have_text("1")
    typed(page, "begin; create table mine (id int);")
    expect(result).to_contain_text("Your transaction was rolled back")
    typed(page, "select * from mine;")
    expect(result).to_contain_text('42P01: relation "mine" does not exist')
    unbroken(page)
    page.click("#preset-photo")
    expect(page.locator("#runs option")).to_have_count(1)
    typed(page, "update qwf.runs set open_nodes = 99;")
    expect(page.locator("#lamp")).to_contain_text("broken: open_nodes counts nodes")


def typed(page: Page, statement: str) -> None:
    page.fill("#sql", statement)
    page.press("#sql", "Enter")


def all_can_use(page: Page) -> None:
    page.click("#preset-photo")
    expect(page.locator("#jobs tr")).to_have_count(6)
    page.click('.worker[data-state="asleep"] .crash >> nth=0')
    page.click("#jobs .why-button >> nth=0")
    expect(page.locator("#chosen")).to_be_visible()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FIND) == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


# 2,000 actions are run by hand: QWF_MONKEY=2000 QWF_SEED=7 pytest tests/sandbox -k random
def test_everybody_can_use_the_page_and_random_actions_break_nothing(
    pages: Pages, address: str
) -> None:
    page = opened(pages, address)
    all_can_use(page)
    chance = random.Random(SEED)
    for _ in range(ACTIONS):
        if chance.random() < 0.1:
            page.fill("#sql", chance.choice(STATEMENTS))
            page.evaluate("document.getElementById('run-sql').click()")
        else:
            page.evaluate(PRESS, chance.randrange(10_000))
        page.wait_for_timeout(chance.choice((0, 0, 20, 150)))
    unbroken(page)
    typed(page, "select count(*) as broken from qwf.check_invariants();")
    expect(page.locator('#result:has-text("broken") td')).to_have_text("0")


def test_a_page_without_its_database_says_so(pages: Pages, address: str) -> None:
    pages.expected.append("404")
    page = pages.open("about:blank")
    page.route("**/qwf.data", lambda route: route.fulfill(status=404))
    page.goto(address)
    expect(page.locator("#boot")).to_contain_text("qwf.data: the server answered 404")


def test_two_terminals_do_what_the_page_says(dsn: str) -> None:
    text = html.unescape((ROOT / "sandbox" / "page" / "index.html").read_text(encoding="utf-8"))
    snippet = re.search(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)
    assert snippet is not None
    parts = re.findall(r"-- terminal (\d)[^\n]*\n(.*?)(?=-- terminal|\Z)", snippet[1], re.DOTALL)
    claimed = []
    with psycopg.connect(dsn, autocommit=True) as one, psycopg.connect(dsn, autocommit=True) as two:
        two.execute("set lock_timeout = '20 s'")
        for number, statements in parts:
            for statement in re.sub("--.*", "", statements).split(";"):
                if statement.strip():
                    rows = {"1": one, "2": two}[number].execute(statement)
                    claimed += rows.fetchall() if "claim" in statement else []
        assert [job for job, _ in claimed] == [1, 2]
        states = one.execute("select status::text from qwf.jobs order by id").fetchall()
    assert states == [("queued",), ("running",)]


def test_no_script_of_the_page_reads_the_clock_of_the_browser(built: Path) -> None:
    reading = re.compile(r"\bDate\.now|new Date\b")
    assert [p.name for p in built.glob("*.js") if reading.search(p.read_text("utf-8"))] == []
