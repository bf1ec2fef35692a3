"""Signed links: who makes them, and that each answers one question, once."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result
from starlette.testclient import TestClient

from qwf_agent.cli import qwf as command
from qwf_agent.look import links
from qwf_agent.web.app import build, create_app
from qwf_agent.web.site import access, files
from support import asking, visitors
from support.visitors import FORM, Visit

Db = psycopg.Connection[Any]
SECRET = bytes(range(32))
NOW = datetime.now(timezone.utc)


def token(db: Db, job: int, name: str = "ada", last: timedelta = timedelta(hours=1)) -> str:
    """The token of a link to the present question of a job."""
    since = asking.one(db, "select since from qwf.pending_inputs where job_id = %s", job)
    return links.sign(SECRET, job, since, NOW + last, name)


def answers(db: Db) -> list[Any]:
    return db.execute(
        "select value, coalesce(acting_for, login) from qwf.input_answers order by id"
    ).fetchall()


@pytest.fixture
def phone(visit: Visit) -> visitors.Visitor:
    """Somebody without a session."""
    visitor = visit("operator", link_secret=SECRET)
    visitor.client.cookies.clear()
    return visitor


def test_an_operator_makes_a_link_that_answers_once(visit: Visit, db: Db) -> None:
    job = asking.ask(db, options=["attic", "cellar"])
    operator = visit("operator", link_secret=SECRET)
    form = asking.controls(operator.text(f"/inputs/{job}"), f"/inputs/{job}/link").sent
    sent: dict[str, Any] = form | {"name": ["ada"]}
    page = operator.client.post(f"/inputs/{job}/link", data=sent, headers=FORM).text
    found = re.search(r"http://127.0.0.1(/answer/[\w-]+)</code>", page)
    assert found is not None
    operator.client.cookies.clear()
    shown = asking.answer(operator.client, found[1], choose="attic")
    assert answers(db) == [("attic", "link:ada")]
    for words in ("acting for", "link:ada", "attic", "Run 1", "completed"):
        assert words in shown.text
    again = operator.client.post(found[1], data={"value": "x"}, headers=FORM)
    assert (again.status_code, "acting for link:ada" in again.text) == (409, True)
    assert len(answers(db)) == 1


@pytest.mark.parametrize(
    ("level", "fields", "why"),
    [
        ("viewer", {}, "your login may not answer"),
        ("operator", {"name": "a\u202eb"}, "cannot be seen"),
        ("operator", {"hours": "nan"}, "at most"),
        ("operator", {"hours": "1e9"}, "at most"),
        ("operator", {"hours": "x"}, "as a number"),
    ],
)
def test_a_link_that_may_not_be_is_not_made(
    visit: Visit, db: Db, level: str, fields: dict[str, str], why: str
) -> None:
    job = asking.ask(db, widget="text")
    visitor = visit(level, link_secret=SECRET)
    csrf = asking.controls(visitor.text(f"/inputs/{job}"), f"/inputs/{job}").sent["csrf"]
    sent = {"csrf": csrf, "name": "ada", "hours": "1"} | fields
    headers = FORM | {"HX-Request": "true"}
    answer = visitor.client.post(f"/inputs/{job}/link", data=sent, headers=headers)
    assert why in answer.text
    assert "/answer/" not in answer.text


def test_without_a_secret_there_are_no_links(visit: Visit, db: Db) -> None:
    job = asking.ask(db, widget="text")
    visitor = visit("operator")
    assert "Send somebody a link" not in visitor.text(f"/inputs/{job}")
    answer = visitor.get(f"/answer/{token(db, job)}")
    assert (answer.status_code, "has no signed links" in answer.text) == (404, True)


def test_a_link_opens_nothing_else(phone: visitors.Visitor, db: Db) -> None:
    job = asking.ask(db, widget="text")
    link = f"/answer/{token(db, job)}"
    assert phone.get(link).status_code == 200
    for path in ("/", "/inputs", f"/inputs/{job}", "/stream"):
        assert phone.get(path).status_code == 401
    answer = phone.client.post(link, data={"value": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, answers(db)) == (403, [])


def test_a_link_that_is_over_says_why(phone: visitors.Visitor, db: Db) -> None:
    job = asking.fail(db)
    old, late = token(db, job), token(db, job, last=timedelta(seconds=-1))
    assert phone.get(f"/answer/{late}").status_code == 410
    assert phone.get(f"/answer/{old[:-2]}").status_code == 404
    db.execute("select qwf.answer_job(%s, '\"retry\"', 'bob')", (job,))
    asking.fail(db)
    answer = phone.get(f"/answer/{old}")
    assert (answer.status_code, "acting for bob" in answer.text) == (200, True)
    refused = phone.client.post(f"/answer/{old}", data={"value": "x"}, headers=FORM)
    assert (refused.status_code, len(answers(db))) == (409, 1)
    new = token(db, job)
    db.execute("select qwf.cancel_job(%s)", (job,))
    assert "waits no longer" in phone.get(f"/answer/{new}").text


def test_a_value_that_does_not_fit_stays_in_the_form(phone: visitors.Visitor, db: Db) -> None:
    job = asking.ask(db, widget="number", max=3)
    page = asking.answer(phone.client, f"/answer/{token(db, job)}", value="4")
    assert (page.status_code, 'value="4"' in page.text) == (422, True)
    assert "must be at most 3" in page.text


def test_a_link_shows_the_pictures_of_its_question_alone(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    job = asking.ask(db, options=["a"], show="x")
    for number, name in enumerate(("shown.png", "hidden.png"), start=1):
        path = asking.list_file(db, tmp_path, f"ask/{name}", asking.PNG, job, number)
        if number == 1:
            db.execute("update qwf.jobs set input_spec = input_spec || %s where id = %s",
                       (psycopg.types.json.Jsonb({"show": path}), job))  # fmt: skip
    visitor = visit("operator", link_secret=SECRET, files=[files.Root(tmp_path)])
    visitor.client.cookies.clear()
    link = f"/answer/{token(db, job)}"
    assert f'<img src="{link}/files/{job}/1"' in visitor.text(link)
    assert visitor.get(f"{link}/files/{job}/1").content == asking.PNG
    assert visitor.get(f"{link}/files/{job}/2").status_code == 404
    assert visitor.get(f"/files/{job}/1").status_code == 401
    asking.answer(visitor.client, link, choose="a")
    assert visitor.get(f"{link}/files/{job}/1").status_code == 410


def test_a_page_that_changes_nothing_answers_by_no_link(db: Db, dsn: str) -> None:
    job = asking.ask(db, widget="text")
    where = visitors.login(db, dsn, "operator")
    who = access.TokenAccess(where, visitors.TOKEN, read_only=True)
    app = build(where, who, access.LOCAL_HOSTS, link_secret=SECRET)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = asking.answer(client, f"/answer/{token(db, job)}", value="x")
    assert ("this page is read-only" in page.text, answers(db)) == (True, [])


def test_in_another_application_the_link_acts_as_an_operator(db: Db, dsn: str) -> None:
    job = asking.ask(db, widget="text")
    app = create_app(dsn, lambda request: None, link_secret=SECRET)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/inputs").status_code == 403
        asking.answer(client, f"/answer/{token(db, job)}", value="x")
    assert answers(db) == [("x", "link:ada")]


def test_the_command_line_makes_the_same_link(
    db: Db, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def qwf(*words: Any) -> Result:
        return CliRunner().invoke(command, [str(word) for word in words])

    job = asking.ask(db, widget="text")
    monkeypatch.setenv("QWF_LINK_SECRET", SECRET.hex())
    printed = qwf("inputs", "--dsn", dsn, "--link", job, "--name", "zoë",
                  "--url", "https://box-a/qwf/")  # fmt: skip
    assert printed.output.startswith("https://box-a/qwf/answer/")
    made = printed.output.strip().rpartition("/")[2]
    assert links.check(SECRET.hex().encode(), made, NOW).by == "link:zoë"
    for words in (("--link", job), ("--link", job, "--name", "a", "--url", "javascript:x")):
        assert qwf("inputs", "--dsn", dsn, *words).exit_code == 2
    refused = qwf("inputs", "--dsn", dsn, "--link", 99, "--name", "a", "--url", "http://x")
    assert "job 99 asks nothing" in refused.output


def test_no_link_is_made_if_the_login_of_the_page_may_not_answer(db: Db, dsn: str) -> None:
    job = asking.ask(db, options=["attic", "cellar"])
    where = visitors.login(db, dsn, "operator")
    who = access.TokenAccess(where, visitors.TOKEN)
    with TestClient(
        build(where, who, access.LOCAL_HOSTS, link_secret=SECRET), base_url="http://127.0.0.1"
    ) as client:
        page = client.get(f"/inputs/{job}?token={visitors.TOKEN}").text
        form = asking.controls(page, f"/inputs/{job}/link").sent
        who._dsn = visitors.login(db, dsn, "viewer")  # as with --sign-in and the login `page`
        sent: dict[str, Any] = form | {"name": ["ada"]}
        answer = client.post(f"/inputs/{job}/link", data=sent, headers=FORM)
    assert answer.status_code == 422
    assert "grant qwf_producer to web_test_viewer" in answer.text
    assert "/answer/" not in answer.text
