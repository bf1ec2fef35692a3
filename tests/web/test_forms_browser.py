"""Forms in a real browser: by keyboard, with drafts, with lists, and without JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from qwf_agent.web.forms import exact_json, fields, filled
from qwf_agent.web.forms.choices import File
from qwf_agent.web.forms.fields import Field, from_question, from_schema
from qwf_agent.web.site import templating
from support.browser import Pages

ROOM = Path(fields.__file__).parents[1]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " form-action 'self'; base-uri 'none'"
)
PAGE = """<!doctype html><html lang="en"><head><title>A form</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/forms.css"><script src="/static/forms.js" defer></script>
</head><body data-secret="token"><main><h1>A form</h1>{% import "_form.html" as form %}
{% if value is not none %}<pre id="value">{{ value }}</pre><p data-draft-done="{{ name }}"></p>
{% else %}<form method="post" data-draft="{{ name }}"{{ " data-filled" if filled }}>
{{ form.summary(root) }}{{ form.body(root) }}{{ form.buttons(root, "Answer") }}</form>
{% endif %}</main></body></html>"""
HOSTILE = "</textarea><script>pwned=1</script><img src=x onerror=pwned=1>"
BOX = {"label": {"type": "string"}, "at": {"type": "array", "items": {"type": "integer"}}}
INPUTS = {
    "type": "object",
    "required": ["photo"],
    "properties": {
        "photo": {"type": "string"},
        "max_tokens": {"type": "number", "default": 3},
        "size": {"enum": ["s", "m", "l", "xl", "xxl", "3xl"]},
        "token": {"type": "string"},
        "boxes": {"type": "array", "items": {"type": "object", "properties": BOX}},
    },
}
FORMS: dict[str, Field] = {
    "choose": from_question({"widget": "choose_one", "options": ["a", "b", "c"]}),
    "several": from_question({"widget": "turnout", "options": ["a", "b", "c"], "multiple": True}),
    "confirm": from_question({"widget": "confirm"}),
    "number": from_question({"widget": "number", "unit": "mm"}),
    "text": from_question({"widget": "text", "multiline": True}),
    "file": from_question({"widget": "file"}, [File("/out/1.png", "1.png")]),
    "inputs": from_schema(INPUTS),
    "hostile": from_schema(
        {"type": "object", "properties": {HOSTILE: {"type": "string", "title": HOSTILE}}},
        {HOSTILE: HOSTILE},
    ),
}
ADD_BOX = "[id='f-context/boxes'] > button"
ADD_PLACE = "[id='f-context/boxes/0/at'] > button"


def application() -> Starlette:
    """A page for each form, which shows the value that it has read."""
    loader = jinja2.FileSystemLoader(ROOM / "templates")
    templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    templates.filters["exact"] = templating.exact
    page = templates.from_string(PAGE)

    async def show(request: Request) -> Response:
        name = request.path_params["name"]
        root, value, is_filled = FORMS[name], None, request.method == "POST"
        if is_filled:
            sent = filled.entries((await request.form()).multi_items())
            edited = filled.edited(root, sent)
            read = filled.parse(root, sent)
            root = edited or read.field
            value = None if edited or read.problems else exact_json.write(read.value)
        html = page.render(root=root, value=value, name=name, filled=is_filled)
        return HTMLResponse(html, headers={"content-security-policy": POLICY})

    static = Mount("/static", StaticFiles(directory=ROOM / "static"))
    return Starlette(routes=[Route("/{name}", show, methods=["GET", "POST"]), static])


@pytest.fixture
def form(pages: Pages, serve: Callable[[Starlette], str]) -> Callable[..., Page]:
    """form("choose") opens a form; keywords go to Pages.open."""
    address = serve(application())
    return lambda name, **options: pages.open(f"{address}/{name}", **options)


def value(page: Page) -> Any:
    """Value that the server has read."""
    return exact_json.read(page.locator("#value").inner_text())


def test_a_number_key_chooses_and_the_button_answers(form: Callable[..., Page]) -> None:
    page = form("choose")
    page.keyboard.press("2")
    expect(page.get_by_label("b")).to_be_focused()
    page.get_by_role("button", name="Answer").click()
    assert value(page) == "b"


def test_number_keys_switch_check_boxes(form: Callable[..., Page]) -> None:
    page = form("several")
    for key in "1233":
        page.keyboard.press(key)
    page.get_by_role("button", name="Answer").click()
    assert value(page) == ["a", "b"]


def test_a_number_key_only_moves_to_a_button(form: Callable[..., Page]) -> None:
    page = form("confirm")
    page.keyboard.press("2")
    expect(page.get_by_role("button", name="No")).to_be_focused()
    page.keyboard.press("Enter")
    assert value(page) is False


@pytest.mark.parametrize("number", ["9007199254740993", "0.10", "1.1000000000000000000001"])
def test_a_browser_sends_every_digit(form: Callable[..., Page], number: str) -> None:
    page = form("number")
    page.get_by_label("Your answer").press_sequentially(number)  # digits are no number keys here
    page.keyboard.press("Enter")
    assert exact_json.write(value(page)) == number


def test_digits_of_a_text_choose_no_card(form: Callable[..., Page]) -> None:
    page = form("file")
    page.get_by_label("Another path").press_sequentially("/out/1.jpg")
    page.keyboard.press("Enter")
    assert value(page) == "/out/1.jpg"


def test_a_draft_survives_a_reload_and_ends_with_the_answer(form: Callable[..., Page]) -> None:
    page = form("text")
    page.get_by_label("Your answer").fill("typed\nfor an hour")
    page.reload()
    expect(page.get_by_label("Your answer")).to_have_value("typed\nfor an hour")
    expect(page.get_by_role("status")).to_contain_text("Your draft of")
    page.get_by_role("button", name="Answer").click()
    assert value(page) == "typed\nfor an hour"
    page.goto(page.url)
    expect(page.get_by_label("Your answer")).to_have_value("")


def test_a_draft_can_be_discarded(form: Callable[..., Page]) -> None:
    page = form("text")
    page.get_by_label("Your answer").fill("no")
    page.reload()
    page.get_by_role("button", name="Discard the draft").click()
    expect(page.get_by_label("Your answer")).to_have_value("")
    expect(page.get_by_role("status")).to_have_count(0)


def test_a_draft_has_the_elements_of_lists_and_no_secrets(form: Callable[..., Page]) -> None:
    page = form("inputs")
    page.locator("[name='context/token']").fill("hush")
    page.locator("[name='context/max_tokens']").fill("8")
    page.locator(ADD_BOX).click()
    page.locator(ADD_PLACE).click()
    page.locator("[name='context/boxes/0/at/0']").fill("5")
    page.locator(ADD_BOX).click()
    page.locator("[name='context/boxes/1/label']").fill("two")
    page.get_by_label("size").select_option(label="xl")
    page.reload()
    expect(page.locator("[name='context/boxes/0/at/0']")).to_have_value("5")
    expect(page.locator("[name='context/token']")).to_have_value("")
    expect(page.locator("[name='context/max_tokens']")).to_have_value("8")
    assert "hush" not in page.evaluate("JSON.stringify(localStorage)")
    page.locator("button[name='*remove'][value='context/boxes/0']").click()
    page.get_by_label("photo").fill("a.jpg")
    page.get_by_label("photo").press("Enter")
    assert value(page) == {
        "photo": "a.jpg", "max_tokens": 8, "size": "xl", "boxes": [{"label": "two"}]
    }  # fmt: skip


def test_a_list_is_edited_without_javascript(form: Callable[..., Page]) -> None:
    page = form("inputs", java_script_enabled=False)
    page.get_by_label("photo").fill("a.jpg")
    page.locator(ADD_BOX).click()
    page.locator(ADD_PLACE).click()
    page.locator("[name='context/boxes/0/at/0']").fill("7")
    page.get_by_label("photo").press("Enter")  # is no button of the list
    assert value(page) == {"photo": "a.jpg", "max_tokens": 3, "boxes": [{"at": [7]}]}


def test_hostile_texts_run_nothing(form: Callable[..., Page]) -> None:
    page = form("hostile")
    expect(page.locator(".form-body label")).to_contain_text(HOSTILE)
    page.get_by_role("button", name="Answer").click()
    assert value(page) == {HOSTILE: HOSTILE}


@pytest.mark.parametrize("name", [name for name in FORMS if name != "hostile"])
def test_a_form_fits_a_phone(form: Callable[..., Page], name: str) -> None:
    page = form(name, width=390, height=844, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    controls = "button:not(.form-default), select, textarea, input[type=text], .form-option"
    heights = page.locator(controls).evaluate_all(
        "found => found.map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
