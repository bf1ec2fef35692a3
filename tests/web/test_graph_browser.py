"""Graphs, cells and timelines in a real browser, under the policy that every page has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from qwf_agent.web.drawings import graph, timeline
from qwf_agent.web.drawings.graph_nodes import Node
from qwf_agent.web.drawings.map_cells import LETTERS, cells_document
from qwf_agent.web.drawings.timeline_rows import rows_of_spans
from qwf_agent.web.drawings.timeline_spans import AttemptSpan
from support.browser import Pages
from support.poison import STRANGE
from support.servers import ROOT

POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
EVIL = '<img src=x onerror="window.pwned=1">"><script>window.pwned=1</script>' + STRANGE
COLOURS = "\n".join(
    [
        ":root { color-scheme: light dark; --fg: light-dark(#111, #eee); --muted: #777;",
        "--bg: light-dark(#fff, #111); --line: light-dark(#ccc, #444); --accent: #25d;",
        *(f"--state-{name}: rgb({40 * place}, 9, 9);" for place, name in enumerate(LETTERS)),
        "} body { margin: 8px; background: var(--bg); color: var(--fg) }",
    ]
)
NOON = datetime(2026, 3, 28, 12, tzinfo=timezone.utc)


@dataclass
class Shown:
    """Graph that the server shows; a test may change it while a page is open."""

    nodes: list[Node] = field(default_factory=list)
    letters: list[tuple[int, str]] = field(default_factory=list)
    spans: list[AttemptSpan] = field(default_factory=list)
    attributes: str = 'data-structure="/structure" data-states="/states" data-table="#table"'
    broken: bool = False
    asked: list[str] = field(default_factory=list)

    def page(self, request: Request) -> Response:
        drawn = timeline.draw(rows_of_spans(self.spans), NOON + timedelta(hours=1))
        cells = '<canvas class="cells" data-cells="/cells" data-href="/job?element="></canvas>'
        return HTMLResponse(
            '<!doctype html><html lang="en"><title>t</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,"><link rel="stylesheet" href="/colours.css">'
            '<link rel="stylesheet" href="/static/graph.css">'
            '<script defer src="/static/graph.js"></script>'
            '<script defer src="/static/cells.js"></script>'
            f'<figure class="graph" {self.attributes}></figure>{cells}{drawn}<p id="table">Table'
        )

    def structure(self, request: Request) -> Response:
        self.asked.append(str(request.url.query))
        drawing = graph.draw(self.nodes, request.query_params.getlist("open"))
        return JSONResponse(drawing.structure)

    def states(self, request: Request) -> Response:
        drawing = graph.draw(self.nodes, request.query_params.getlist("open"))
        return JSONResponse(drawing.states, status_code=500 if self.broken else 200)

    def cells(self, request: Request) -> Response:
        return JSONResponse(cells_document(self.letters, len(self.letters)))


async def with_policy(request: Request, call_next: Any) -> Response:
    response: Response = await call_next(request)
    response.headers["content-security-policy"] = POLICY
    return response


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def address(shown: Shown, serve: Callable[[Starlette], str]) -> str:
    static = StaticFiles(directory=ROOT / "python" / "qwf_agent" / "web" / "static")
    routes = [
        Route("/", shown.page),
        Route("/structure", shown.structure),
        Route("/states", shown.states),
        Route("/cells", shown.cells),
        Route("/job", lambda request: HTMLResponse('<link rel="icon" href="data:,">a job')),
        Route("/colours.css", lambda request: Response(COLOURS, media_type="text/css")),
        Mount("/static", static),
    ]
    policy = Middleware(BaseHTTPMiddleware, dispatch=with_policy)
    return serve(Starlette(routes=routes, middleware=[policy]))


def steps(count: int, size: int = 25, done: int = 0) -> list[Node]:
    """A chain of nodes in steps; the first ones are completed and the next one runs."""
    nodes: list[Node] = []
    for i in range(count):
        status = "completed" if i < done else "running" if i == done else "blocked"
        needs = (nodes[-1].id,) if nodes else ()
        name, step = f"s{i // size}/n{i}", f"s{i // size}"
        nodes.append(Node(name, step, "work", needs, status=status, href=f"/job?id={i}"))
    return nodes


def refresh(page: Page, selector: str = ".graph") -> None:
    page.eval_on_selector(selector, "one => one.dispatchEvent(new Event('qwf:refresh'))")


def box(page: Page, name: str) -> Locator:
    """The box whose accessible name begins with `name`."""
    title = page.locator("title", has_text=re.compile(f"^{name} "))
    return page.locator(".graph .box").filter(has=title)


def width(page: Page) -> float:
    return float(page.locator(".graph-room svg").get_attribute("width") or 0)


def is_in_view(page: Page, name: str) -> bool:
    around = page.locator(".graph-room").bounding_box()
    one = box(page, name).bounding_box()
    assert around
    assert one
    return (
        around["x"] <= one["x"] <= around["x"] + around["width"] - one["width"]
        and around["y"] <= one["y"] <= around["y"] + around["height"] - one["height"]
    )


@pytest.mark.parametrize("count", [1, 5, 100, 150])
def test_every_node_is_drawn_with_its_state_in_words(
    pages: Pages, shown: Shown, address: str, count: int
) -> None:
    shown.nodes = steps(count, done=count // 2)
    page = pages.open(address)
    expect(page.locator(".graph .box")).to_have_count(count)
    running = box(page, f"n{count // 2}" if count > 1 else "s0/n0")
    expect(running).to_have_class("box node running")
    expect(running.locator(".line")).to_have_text("running")
    assert running.locator(".icon").get_attribute("d") == graph.ICONS["running"]
    nodes = "1 node in 1 step" if count == 1 else f"{count} nodes in "
    expect(page.locator(".graph-status")).to_contain_text(nodes)
    assert page.locator(".graph .edge").count() == count - 1


def test_a_graph_without_nodes_is_empty(pages: Pages, address: str) -> None:
    page = pages.open(address)
    expect(page.locator(".graph-status")).to_have_text("0 nodes in 0 steps")


def test_a_change_of_states_moves_nothing(pages: Pages, shown: Shown, address: str) -> None:
    shown.nodes = steps(60, done=2)
    page = pages.open(address)
    expect(box(page, "n2")).to_have_class("box node running")
    places = "boxes => boxes.map(one => one.getAttribute('transform'))"
    before = page.eval_on_selector_all(".graph .box", places)
    page.eval_on_selector(".graph-room svg", "one => one.dataset.same = 1")
    shown.nodes = steps(60, done=40)
    refresh(page)
    expect(box(page, "n40")).to_have_class("box node running")
    expect(box(page, "n2")).to_have_class("box node completed")
    assert page.eval_on_selector_all(".graph .box", places) == before
    assert page.locator(".graph-room svg[data-same]").count() == 1
    assert len(shown.asked) == 1


def test_the_running_node_is_kept_in_view_until_the_reader_scrolls(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(100, done=90)
    page = pages.open(address, reduced_motion="reduce")
    expect(box(page, "n90")).to_have_class("box node running")
    assert is_in_view(page, "n90")
    shown.nodes = steps(100, done=5)
    refresh(page)
    expect(box(page, "n5")).to_have_class("box node running")
    assert is_in_view(page, "n5")
    page.locator(".graph-room").hover()
    page.mouse.wheel(0, 30)
    follow = page.get_by_role("button", name="Follow")
    expect(follow).to_have_attribute("aria-pressed", "false")
    shown.nodes = steps(100, done=95)
    refresh(page)
    expect(box(page, "n95")).to_have_class("box node running")
    assert not is_in_view(page, "n95")
    follow.click()
    assert is_in_view(page, "n95")


def test_a_click_opens_a_step_and_a_second_one_closes_it(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(300, size=100)
    page = pages.open(address)
    expect(page.locator(".graph .box.step")).to_have_count(3)
    box(page, "s1").click()
    expect(box(page, "n100")).to_be_focused()
    expect(page.locator(".graph .box")).to_have_count(102)
    assert shown.asked[-1] == "open=s1"
    page.get_by_role("button", name="close s1").click()
    expect(page.locator(".graph .box.step")).to_have_count(3)
    expect(box(page, "s1")).to_be_focused()


def test_everything_works_by_keyboard(pages: Pages, shown: Shown, address: str) -> None:
    shown.nodes = steps(300, size=100)
    page = pages.open(address, reduced_motion="reduce")
    expect(page.locator(".graph .box.step")).to_have_count(3)
    room = page.get_by_role("region", name="graph: 300 nodes in 3 steps")
    room.focus()
    before = width(page)
    page.keyboard.press("-")
    assert width(page) < before
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert width(page) > before
    page.keyboard.press("0")
    assert width(page) == pytest.approx(before)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="s0 0 of 100, 1 running, step")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(box(page, "s1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box(page, "n100")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/job?id=101")


def test_a_click_follows_the_link_of_a_node_and_a_drag_does_not(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(40)
    page = pages.open(address, reduced_motion="reduce")
    expect(box(page, "n0")).to_have_attribute("href", "/job?id=0")
    box(page, "n0").hover()
    page.mouse.down()
    page.mouse.move(40, 300, steps=5)
    page.mouse.up()
    room = page.locator(".graph-room")
    assert room.evaluate("one => one.scrollLeft + one.scrollTop") > 0
    assert page.url == f"{address}/"
    room.evaluate("one => one.scrollTo(0, 0)")
    box(page, "n0").click()
    page.wait_for_url("**/job?id=0")


def test_ctrl_and_the_wheel_zoom_at_the_pointer(pages: Pages, shown: Shown, address: str) -> None:
    shown.nodes = steps(40)
    page = pages.open(address, reduced_motion="reduce")
    expect(box(page, "n0")).to_have_class("box node running")
    before = width(page)
    written = str(page.locator(".graph-room svg").get_attribute("width"))
    box(page, "n1").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(page.locator(".graph-room svg")).not_to_have_attribute("width", written)
    assert width(page) > before
    assert is_in_view(page, "n1")


def test_two_fingers_zoom_the_graph_and_not_the_page(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(40)
    page = pages.open(address, width=390, height=844, has_touch=True, is_mobile=True)
    expect(box(page, "n0")).to_have_class("box node running")
    before = width(page)
    device = page.context.new_cdp_session(page)
    around = page.locator(".graph-room").bounding_box()
    assert around
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80)):
        points = [{"x": 150 + side * apart, "y": around["y"] + 200} for side in (-1, 1)]
        device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    device.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.locator(".graph-room svg")).not_to_have_attribute("width", str(before))
    assert width(page) > 1.5 * before
    assert page.evaluate("visualViewport.scale") == 1


def test_a_drawing_of_what_is_busy_changes_with_it_but_not_all_the_time(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = [replace(node, step="one") for node in steps(1000, done=300)]
    page = pages.open("about:blank")
    page.add_init_script("window.clockMs = 1e6; performance.now = () => window.clockMs")
    page.goto(address)
    expect(page.locator(".graph .box.step")).to_have_count(1)
    page.locator(".graph .box.step").click()
    expect(box(page, "s12/n300")).to_have_class("box node running")
    expect(page.locator(".graph .box")).to_have_count(4)
    drawn = len(shown.asked)
    shown.nodes = [replace(node, step="one") for node in steps(1000, done=600)]
    refresh(page)
    expect(page.locator(".graph-status")).to_contain_text("600 completed")
    assert len(shown.asked) == drawn
    page.evaluate("window.clockMs += 6000")
    refresh(page)
    expect(box(page, "s24/n600")).to_have_class("box node running")
    expect(page.locator(".graph-room")).to_be_focused()  # the box that had the focus is gone


def test_a_reader_who_clicks_twice_gets_what_was_asked_last(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(300, size=50)
    page = pages.open(address)
    expect(page.locator(".graph .box.step")).to_have_count(6)
    clicks = "one => { for (let i = 0; i < 3; i++) one.dispatchEvent(new MouseEvent('click')) }"
    box(page, "s1").evaluate(clicks)
    box(page, "s2").evaluate("one => one.dispatchEvent(new MouseEvent('click'))")
    expect(page.locator(".graph .box")).to_have_count(104)
    expect(page.locator(".graph .frame")).to_have_count(2)


def test_a_definition_is_drawn_without_states(pages: Pages, shown: Shown, address: str) -> None:
    shown.nodes = [replace(node, status=None) for node in steps(5, size=5)]
    shown.attributes = 'data-structure="/structure"'
    page = pages.open(address)
    expect(box(page, "n4").locator(".line")).to_have_text("work")
    assert page.get_by_role("button", name="Follow").count() == 0


def test_a_figure_that_comes_later_is_drawn(pages: Pages, shown: Shown, address: str) -> None:
    shown.nodes = steps(5)
    page = pages.open(address)
    page.eval_on_selector(".graph", "one => one.after(one.cloneNode(false))")
    expect(page.locator(".graph >> nth=1").locator(".box")).to_have_count(5)
    expect(page.locator(".graph >> nth=0").locator(".box")).to_have_count(5)


def test_foreign_texts_stay_text(pages: Pages, shown: Shown, address: str) -> None:
    node = Node(f"{EVIL}/{EVIL}", EVIL, EVIL, status="running", message=EVIL)
    shown.nodes = [
        replace(node, href="javascript:window.pwned=1"),
        replace(node, id=f"{EVIL}/b", task="b", href="//[bad"),
        replace(node, id=f"{EVIL}/c", task="c", href="/\\evil.example"),
        *[replace(node, id=f"{EVIL}/{i}", needs=(node.id,)) for i in range(200)],
    ]
    more = {"outcome": EVIL, "worker": EVIL, "detail": EVIL, "href": f"/{EVIL}"}
    shown.spans = [AttemptSpan(EVIL, started_at=NOON, ended_at=NOON, **more)]
    page = pages.open(address)
    page.locator(".graph .box.step").click()
    expect(page.locator(".graph .box.stack")).to_have_count(1)
    expect(page.locator(".graph .name")).to_contain_text("<img src=x")
    assert page.locator(".graph a[href]").count() == 1
    assert page.locator(".graph .box.stack").get_attribute("href") == "#table"
    assert page.locator("img, body script").count() == 0


def test_a_refusal_is_said_and_the_drawing_stays(pages: Pages, shown: Shown, address: str) -> None:
    pages.expected = ["status of 500"]
    shown.nodes = steps(5)
    page = pages.open(address)
    expect(page.locator(".graph .box")).to_have_count(5)
    shown.broken = True
    refresh(page)
    expect(page.locator(".graph-status")).to_contain_text("the server said 500")
    assert page.locator(".graph .box").count() == 5
    shown.broken = False
    refresh(page)
    expect(page.locator(".graph-status")).to_contain_text("5 nodes")


def test_a_layout_that_fails_is_said(pages: Pages, shown: Shown, address: str) -> None:
    pages.expected = ["dagre", "importScripts", "ERR_FAILED", "NetworkError"]
    shown.nodes = steps(5)
    page = pages.open("about:blank")
    page.context.route("**/dagre.min.js", lambda route: route.abort())
    page.goto(address)
    expect(page.locator(".graph-status")).to_contain_text("could not be drawn: its layout failed")


def test_a_small_map_has_larger_cells(pages: Pages, shown: Shown, address: str) -> None:
    shown.letters = [(i, "failed" if i == 25 else "completed") for i in range(30)]
    canvas = pages.open(address).locator("canvas.cells")
    expect(canvas).to_have_attribute("aria-label", "30 elements: 29 completed, 1 failed")
    cell = canvas.evaluate("one => one.clientWidth / 20")
    canvas.hover(position={"x": 5.5 * cell, "y": 1.5 * cell})
    expect(canvas.page.locator(".cells-said")).to_have_text("element 25: failed")
    canvas.focus()
    canvas.page.keyboard.press("ArrowUp")
    expect(canvas.page.locator(".cells-said")).to_have_text("element 5: completed")


def test_elements_are_cells_that_say_what_they_are(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.letters = [(i, "failed" if i == 4711 else "completed") for i in range(10_000)]
    page = pages.open(address)
    canvas = page.locator("canvas.cells")
    expect(canvas).to_have_attribute("aria-label", "10000 elements: 9999 completed, 1 failed")
    side = canvas.evaluate("one => one.width / 100")
    colour = """(one, [x, y]) => [...one.getContext("2d").getImageData(x, y, 1, 1).data]"""
    failed = canvas.evaluate(colour, [11 * side + 1, 47 * side + 1])
    assert failed[:3] == [40 * list(LETTERS).index("failed"), 9, 9]
    assert canvas.evaluate(colour, [12 * side + 1, 47 * side + 1]) != failed
    cell = canvas.evaluate("one => one.clientWidth / 100")
    middle = {"x": 11.5 * cell, "y": 47.5 * cell}
    canvas.hover(position=middle)
    expect(page.locator(".cells-said")).to_have_text("element 4711: failed")
    page.mouse.move(0, 0)
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".cells-said")).to_have_text("element 101: completed")
    shown.letters[4711] = (4711, "running")
    refresh(page, ".cells")
    expect(canvas).to_have_attribute("aria-label", "10000 elements: 9999 completed, 1 running")
    canvas.click(position=middle)
    page.wait_for_url("**/job?element=4711")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_to_the_side(
    pages: Pages, shown: Shown, address: str, scheme: str
) -> None:
    shown.nodes = steps(150, done=70)
    shown.letters = [(i, "completed") for i in range(10_000)]
    at = [NOON + timedelta(seconds=30 * i) for i in range(50)]
    shown.spans = [AttemptSpan("x" * 90 + str(i), "completed", *at[i : i + 2]) for i in range(40)]
    phone = {"width": 390, "height": 844, "has_touch": True, "color_scheme": scheme}
    page = pages.open(address, **phone)
    expect(page.locator(".graph .box")).to_have_count(150)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    name = page.locator(".timeline-name").first.bounding_box()
    row = page.locator(".timeline li svg").first.bounding_box()
    assert name
    assert row
    assert row["y"] >= name["y"] + name["height"] - 1  # below the name, and as wide as the page
    assert row["width"] > 350
    page.locator(".graph .box").nth(70).tap()
    page.wait_for_url("**/job?id=70")


def test_nothing_moves_for_who_asks_for_less_motion(
    pages: Pages, shown: Shown, address: str
) -> None:
    shown.nodes = steps(5)
    behaviour = "one => getComputedStyle(one).scrollBehavior"
    still = pages.open(address, reduced_motion="reduce")
    assert still.locator(".graph-room").evaluate(behaviour) == "auto"
    moving = pages.open(address, reduced_motion="no-preference")
    assert moving.locator(".graph-room").evaluate(behaviour) == "smooth"


def test_the_fixture_sees_what_no_page_may_do(pages: Pages, shown: Shown, address: str) -> None:
    page = pages.open(address)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x')")
    page.evaluate("window.pwned = 1")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('an error of a page') })")
    with page.expect_event("dialog"):
        page.evaluate("setTimeout(() => alert('a dialog'))")
    expected = ["policy broken: style-src-attr", "a foreign script ran", "an error of a page"]
    expected += ["a dialog", "violates the following Content Security Policy"]
    for text in expected:
        assert [problem for problem in pages.problems if text in problem], pages.problems
    pages.expected = expected
    page.close()  # before its server ends
