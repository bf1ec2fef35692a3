"""A form that is saved as it came changes nothing: no mask is stored, and no digit is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import psycopg
import pytest

import qwf_agent.web
from qwf_agent.look.masking import MASK
from qwf_agent.web.site.templating import exact
from support.made_jobs import claim, finish, worker
from support.visitors import FORM, Visit, Visitor

Db = psycopg.Connection[Any]
TEMPLATES = sorted((Path(qwf_agent.web.__file__).parent / "templates").glob("*.html"))
FIELD = re.compile(r'<input\b[^>]*?\svalue="([^"]*)"|<textarea\b[^>]*>(.*?)</textarea>', re.DOTALL)
VALUE = (
    '{"api_key": "hush-1", "plain": "x", "f": 0.10, "big": 1970670598291982290, '
    '"n": 12345678901234567890.123456789012345678, "z": {"password": "hush-2", '
    '"list": [{"token": "hush-3"}, 1.0]}}'
)
WORKFLOW = {"name": "w", "steps": [{"id": "a", "node": "a", "queue": "default",
                                    "inputs": {"x": 0.10, "password": "hush-4"}}]}  # fmt: skip


class Forms(HTMLParser):
    """The forms of a page: the address of each, and what it sends if nobody types."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self._area = self._choice = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self.forms.append((given.get("action") or "", {}))
        elif not self.forms:
            return
        elif tag == "input" and name:
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self.forms[-1][1][name] = value
        elif tag == "textarea":
            self._area = name
            self.forms[-1][1][name] = ""
        elif tag == "select":
            self._choice = name
        elif (
            tag == "option"
            and self._choice
            and ("selected" in given or self._choice not in self.forms[-1][1])
        ):
            self.forms[-1][1][self._choice] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""
        elif tag == "select":
            self._choice = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            before = self.forms[-1][1][self._area]  # browsers drop the first line end
            self.forms[-1][1][self._area] += data if before else data.removeprefix("\n")


def form(visitor: Visitor, path: str, action: str, field: str) -> tuple[str, dict[str, str]]:
    page = visitor.text(path)
    assert "hush" not in page, "a secret stands in clear"
    forms = Forms(page).forms
    return next(one for one in forms if action in one[0] and field in one[1])


def one(db: Db, query: str, *given: Any) -> Any:
    row = db.execute(query, given).fetchone()
    return row and row[0]


def rule(db: Db) -> tuple[str, str, str]:
    made = '{"when": ["run_ended"], "within": "1234567 s", "do": {"task": "t", "queue": "default",'
    db.execute("select qwf.set_alert('r', %s::jsonb)", (f'{made} "args": {VALUE}}}}}',))
    return "/alerts", "set_alert", "select rule::text from qwf.alerts"


def schedule(db: Db) -> tuple[str, str, str]:
    db.execute(
        "select qwf.create_schedule('s', 't', every => '1 h', args => %s::jsonb,"
        " expect => '{\"takes\": \"1 h\"}', options => '{\"max_attempts\": 3}')", (VALUE,)
    )  # fmt: skip
    return "/schedules/s", "create_schedule", (
        "select concat(args, options, expect, every, priority) from qwf.schedules")  # fmt: skip


def job(db: Db) -> tuple[str, str, str]:
    by = worker(db, "default")
    db.execute("select qwf.enqueue('t', %s::jsonb)", (VALUE,))
    finish(db, claim(db, "default", by)[0], "fatal", error="x")
    return "/jobs/1", "retry_job", "select inputs::text from qwf.jobs"


def run(db: Db) -> tuple[str, str, str]:
    db.execute("select qwf.register_workflow(%s)", (json.dumps(WORKFLOW),))
    db.execute("select qwf.enqueue_run('w', %s::jsonb)", (VALUE,))
    return "/runs/1?show=definition", "enqueue_run", (
        "select context::text from qwf.runs order by id desc limit 1")  # fmt: skip


@pytest.mark.parametrize(
    ("made", "field"), [(rule, "rule"), (schedule, "args"), (job, "args"), (run, "context")]
)
def test_a_form_that_is_saved_as_it_came_changes_nothing(
    visit: Visit, db: Db, made: Callable[[Db], tuple[str, str, str]], field: str
) -> None:
    path, action, stored = made(db)
    visitor, before = visit("admin"), one(db, stored)
    where, fields = form(visitor, path, action, field)
    assert MASK in fields[field]
    answer = visitor.client.post(where, data=fields, headers={**FORM, "HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    assert one(db, stored) == before
    if made is run:
        assert one(db, "select count(*) from qwf.runs") == 2, "the same context, in a new run"


def test_a_definition_is_registered_again_as_it_was(visit: Visit, db: Db) -> None:
    """Its secrets are those of the version that was opened, not those of the current one."""
    db.execute("select qwf.register_workflow(%s)", (json.dumps(WORKFLOW),))
    other = json.dumps(WORKFLOW).replace("hush-4", "hush-5").replace("0.1", "0.2")
    db.execute("select qwf.register_workflow(%s)", (other,))
    visitor = visit("admin")
    where, fields = form(visitor, "/workflows/-/preview?workflow=w&version=1", "preview", "text")
    assert MASK in fields["text"]
    headers = dict(FORM)
    page = visitor.client.post(where, data=fields, headers=headers).text
    assert "hush" not in page
    again = next(found for _, found in Forms(page).forms if "seen" in found)
    page = visitor.client.post(where, data={**again, "register": "workflow w"}, headers=headers)
    assert page.status_code == 200
    current = "select definition::text from qwf.definition_overview where current and name = 'w'"
    assert json.loads(one(db, current)) == WORKFLOW


def test_a_retry_keeps_the_secrets_of_a_context_that_was_copied(visit: Visit, db: Db) -> None:
    """Its plan knows it, too."""
    reads = {"id": "a", "node": "a", "queue": "default", "inputs": {"x": {"$from": "token"}}}
    fails = {"id": "b", "node": "b", "queue": "default", "depends_on": ["a"]}
    made = json.dumps({"name": "two", "steps": [reads, fails]})
    db.execute("select qwf.register_workflow(%s)", (made,))
    db.execute("select qwf.enqueue_run('two', '{\"token\": \"hush-6\"}')")
    by = worker(db, "default")
    finish(db, claim(db, "default", by)[0], "completed")
    finish(db, claim(db, "default", by)[0], "fatal", error="x")
    visitor, copied = visit("operator"), json.dumps({"token": MASK})
    page = visitor.get("/runs/1", params={"show": "retry", "context": copied}).text
    assert "1</strong> reused" in page or "1</strong> unchanged" in page, page
    assert "hush" not in page
    unknown = json.dumps({"password": MASK})
    wrong = visitor.get("/runs/1", params={"show": "retry", "context": unknown})
    assert "password is hidden" in wrong.text
    assert visitor.do("retry_run", run_id="1", context=copied).status_code == 200
    assert one(db, "select context ->> 'token' from qwf.runs") == "hush-6"


def test_a_mask_that_stands_for_nothing_known_is_refused_everywhere(visit: Visit, db: Db) -> None:
    visitor, masked = visit("admin"), json.dumps({"password": MASK})
    for action, fields in (
        ("enqueue", {"task": "t", "args": masked}),
        ("enqueue_run", {"workflow": "w", "context": masked}),
        ("set_alert", {"name": "new", "rule": masked}),
        ("register_workflow", {"definition": masked}),
    ):
        refused = visitor.do(action, **fields)
        assert (refused.status_code, "password is hidden" in refused.text) == (422, True), action


def test_no_field_is_filled_by_what_is_for_eyes() -> None:
    """Filters that mask, round or shorten are for reading; a field is sent back."""
    bad, fields = [], 0
    for file in TEMPLATES:
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", file.read_text(), flags=re.DOTALL)
        printed = re.findall(r"\{\{-?(.*?)-?\}\}", text, re.DOTALL)
        places = iter(range(len(printed)))
        text = re.sub(r"\{\{.*?\}\}", lambda _: f"\0{next(places)}\0", text, flags=re.DOTALL)  # noqa: B023
        for value, area in FIELD.findall(text):
            for place in re.findall(r"\0(\d+)\0", value + area):
                fields += 1
                if not re.search(r"\| exact\s*$", printed[int(place)]):
                    bad.append((file.name, printed[int(place)]))
    assert bad == []
    assert fields > 60


@pytest.mark.parametrize("value", ["a\r\u202e\x9b<\"'&>", "", "\n"])
def test_a_field_has_each_character(value: str) -> None:
    field = Forms(f'<form><input name="x" value="{exact(value)}"></form>').forms[0][1]
    assert field["x"] == value
    assert "\u202e" not in exact(value), "nothing moves what is around it"
    assert exact(timedelta(days=9, microseconds=100_000)) == "777600.1 s"
