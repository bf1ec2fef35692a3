"""An action of a person at the page is one call as their login, and Postgres decides."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from qwf_agent.web.site.actions import ACTIONS
from support.made_jobs import start_run
from support.poison import one
from support.visitors import FORM, LEVELS, Visit

Db = psycopg.Connection[Any]
SIGNATURES = """
select p.proname, array_agg(a.name) as names
from pg_proc p cross join unnest(p.proargnames[1 : p.pronargs]) a (name)
where p.pronamespace = 'qwf'::regnamespace
group by p.proname
"""


def test_actions_have_the_arguments_of_their_functions(db: Db) -> None:
    known = {name: set(names) for name, names in db.execute(SIGNATURES)} | {"tick": set()}
    for name, action in ACTIONS.items():
        assert set(action.arguments) <= known[name], name


def test_an_action_is_done_as_the_login(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('mail')")
    assert "queue mail is paused" in visit("admin").do("pause_queue", name="mail").text
    assert db.execute("select paused from qwf.queues where name = 'mail'").fetchone() == (True,)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_does_only_what_its_role_may(visit: Visit, db: Db, level: str) -> None:
    db.execute("select qwf.create_queue('mail')")
    answer = visit(level).do("pause_queue", name="mail")
    paused = db.execute("select paused from qwf.queues where name = 'mail'").fetchone()
    expected = {"admin": 200, "stranger": 401}.get(level, 403)  # a stranger gets no session
    assert (answer.status_code, paused) == (expected, (level == "admin",))


def test_a_form_without_the_token_of_its_session_is_refused(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('mail')")
    visitor = visit("admin")
    for fields in ({}, {"csrf": "x"}, {"csrf": "\u00e9"}):
        answer = visitor.client.post(
            "/do/pause_queue", data={"name": "mail", **fields}, headers=FORM
        )
        assert answer.status_code == 403
    assert db.execute("select paused from qwf.queues where name = 'mail'").fetchone() == (False,)


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://evil"}],
)
def test_a_form_of_another_site_is_refused(visit: Visit, headers: dict[str, str]) -> None:
    visitor = visit("admin")
    answer = visitor.client.post(
        "/do/pause_queue", data={"csrf": visitor.csrf(), "name": "default"}, headers=headers
    )
    assert answer.status_code == 403


def test_a_body_that_is_too_large_is_refused(visit: Visit) -> None:
    visitor = visit("admin")
    for sent in (b"name=" + b"x" * 7_000_000, (b"name=" + b"x" * 1_000_000 for _ in range(8))):
        headers = {**FORM, "Content-Type": "application/x-www-form-urlencoded"}
        answer = visitor.client.post("/do/pause_queue", content=sent, headers=headers)
        assert answer.status_code == 413


def test_fields_that_an_action_does_not_know_are_refused(visit: Visit) -> None:
    answer = visit("admin").do("pause_queue", name="default", force="1")
    assert answer.status_code == 422
    assert "force" in answer.text


def test_a_field_of_another_action_is_no_field_of_this_one(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    said = admin.do("pause_queue", **{"pause_queue.name": "default", "change_jobs.queue": "x"})
    assert "queue default is paused" in said.text
    for name in ("nobody.name", ".name", "pause_queue.force", "x.pause_queue.name"):
        assert admin.do("pause_queue", **{name: "default"}).status_code == 422, name


def test_without_scripts_the_page_of_the_form_comes_back_and_says_it(visit: Visit) -> None:
    visitor = visit("admin")
    form = {"csrf": visitor.csrf(), "back": "/?x=1", "name": "default"}
    answer = visitor.client.post("/do/pause_queue", data=form, headers=FORM)
    assert str(answer.url).endswith("/?x=1")
    assert "queue default is paused" in answer.text


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_a_form_never_leads_to_another_site(visit: Visit, back: str) -> None:
    visitor = visit("admin")
    form = {"csrf": visitor.csrf(), "back": back, "name": "default"}
    answer = visitor.client.post("/do/pause_queue", data=form, headers=FORM, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_a_foreign_host_is_refused(visit: Visit) -> None:
    visitor = visit("admin")
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:5688"):
        assert visitor.get("/", headers={"Host": host}).status_code == 421


def test_a_notice_leads_to_the_run_or_job_that_it_names(visit: Visit, db: Db) -> None:
    job = one(db, "select qwf.enqueue('clean')")
    admin = visit("admin")
    for action in ("change_job", "cancel_job", "retry_job"):
        assert f'<a href="/jobs/{job}">job {job}</a>' in admin.do(action, job_id=job).text
    start_run(db, {"id": "n", "node": "n"})
    started = admin.do("enqueue_run", workflow="w").text
    assert '<a href="/runs/2">run 2</a> is started' in started
    refused = admin.do("change_job", job_id=999, run_next="true")
    assert (refused.status_code, '<a href="/jobs/999">job 999</a>' in refused.text) == (409, True)
    assert "&lt;b&gt;" in admin.do("drop_limit", name="run 1 <b>").text


def test_a_notice_after_a_form_leads_to_what_it_names(visit: Visit, db: Db) -> None:
    job = one(db, "select qwf.enqueue('clean')")
    admin = visit("admin")
    form = {"csrf": admin.csrf(), "job_id": job, "back": "/jobs"}
    shown = admin.client.post("/do/cancel_job", data=form, headers=FORM).text
    assert f'<a href="/jobs/{job}">job {job}</a> is cancelled' in shown


@pytest.mark.parametrize(
    ("action", "fields"),
    [("create_queue", {"name": "a\0b"}), ("enqueue", {"task": "t", "args": '{"a": "\\u0000"}'})],
)
def test_a_text_that_postgres_cannot_store_is_refused_with_the_reason(
    visit: Visit, action: str, fields: dict[str, str]
) -> None:
    answer = visit("admin").do(action, **fields)
    assert answer.status_code == 422
    assert "a text has a NUL character, which Postgres cannot store" in answer.text
