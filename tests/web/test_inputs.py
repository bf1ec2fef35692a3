"""The pages of questions: what they show, and that answering is one call with its refusals."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import psycopg
import pytest

from qwf_agent.web.pages import inputs
from support import asking, poison
from support.visitors import LEVELS, Visit

Db = psycopg.Connection[Any]


def answered(db: Db, job: int) -> list[Any]:
    """The answers of a job, with who gave them."""
    query = (
        "select value, coalesce(acting_for, login) from qwf.input_answers where job_id = %s"
        " order by id"
    )
    return db.execute(query, (job,)).fetchall()


def test_questions_are_listed_with_their_end_and_default(visit: Visit, db: Db) -> None:
    asking.ask(db, "a", prompt="Which room?", options=["attic", "cellar"])
    asking.ask(db, "b", prompt="Publish?", widget="confirm", expires="2 hours", default=False,
               project="album")  # fmt: skip
    viewer = visit("viewer")
    page = viewer.text("/inputs")
    assert page.index("Which room?") < page.index("Publish?")
    for shown in ("run 1", "run 2", "until", "false", "is taken", "album"):
        assert shown in page
    ending = viewer.text("/inputs?order=ending")
    assert ("Publish?" in ending, "Which room?" in ending) == (True, False)
    assert "Only those that end by themselves." in ending
    of_project = viewer.text("/inputs?project=album")
    assert ("Publish?" in of_project, "Which room?" in of_project) == (True, False)
    assert "No question of project nope waits" in viewer.text("/inputs?project=nope%00")


def test_what_is_taken_if_nobody_answers_is_said_by_its_label(visit: Visit, db: Db) -> None:
    rooms = [{"id": "a", "label": "the attic"}, {"id": "c", "label": "the cellar"}]
    job = asking.ask(db, options=rooms, expires="2 hours", default=rooms[1])
    text = asking.ask(db, "b", widget="text", expires="2 hours", default="as it is")
    viewer = visit("viewer")
    assert "<q>the cellar</q> is taken" in viewer.text(f"/inputs/{job}")
    assert "<q>as it is</q> is taken" in viewer.text(f"/inputs/{text}")
    assert "<q>the cellar</q> is taken" in viewer.text("/inputs")


@pytest.mark.parametrize("order", ["oldest", "ending"])
def test_many_questions_are_on_pages(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    monkeypatch.setattr(inputs, "MOST", 2)
    for name in ("one", "two", "three", "four", "five"):
        asking.ask(db, name, prompt=f"Room {name}?", widget="confirm", expires="2 hours",
                   project="p")  # fmt: skip
    path, pages = f"/inputs?order={order}&project=p", []
    while path:
        page = visit("viewer").text(path)
        pages.append(re.findall(r"Room (\w+)\?</a>", page))
        link = re.search(r'href="([^"]+)">Next ', page)
        path = unescape(link[1]) if link else ""
        assert not path or "project=p" in path
    assert pages == [["one", "two"], ["three", "four"], ["five"]]
    assert "← First" in page


@pytest.mark.parametrize(
    "place", ["after=x&job=1", "after=2030-01-01T00:00:00&job=1", "after=&job=", "job=7",
              "after=2030-01-01T00:00:00%2B00:00&job=-1", "after=%00&job=%00"],
)  # fmt: skip
def test_a_place_that_makes_no_sense_is_the_first_page(visit: Visit, db: Db, place: str) -> None:
    asking.ask(db, prompt="Which room?", widget="confirm")
    assert "Which room?" in visit("viewer").text(f"/inputs?{place}")


def test_after_the_last_question_the_page_says_so(visit: Visit, db: Db) -> None:
    asking.ask(db, prompt="Which room?", widget="confirm")
    far = "after=9999-12-31T00:00:00%2B00:00&job=9999999999999999999"
    assert "No further question waits here." in visit("viewer").text(f"/inputs?{far}")
    early = "after=0001-01-01T00:00:00%2B14:00&job=1"
    assert "Which room?" in visit("viewer").text(f"/inputs?{early}")


def test_without_a_question_the_page_says_what_asks_one(visit: Visit) -> None:
    page = visit("viewer").text("/inputs")
    assert "No question waits" in page
    assert "on_failure" in page


def test_a_failure_is_decided_in_the_list(visit: Visit, db: Db) -> None:
    job = asking.fail(db)
    operator = visit("operator")
    page = operator.text("/inputs")
    assert "no such mailbox" in page
    form = asking.controls(page, "/do/answer_job").sent
    sent = {name: values[0] for name, values in form.items()}  # of the first button
    headers = {"Sec-Fetch-Site": "same-origin", "HX-Request": "true"}
    said = operator.client.post("/do/answer_job", data=sent, headers=headers)
    assert "is answered" in said.text
    assert answered(db, job) == [("retry", db.info.user)]
    assert asking.fail(db) == job  # it asks again: the list from before is of no use
    late = operator.client.post("/do/answer_job", data=sent, headers=headers)
    assert (late.status_code, "the job asks again" in late.text) == (409, True)
    assert len(answered(db, job)) == 1


def test_a_choice_is_answered_without_scripts(visit: Visit, db: Db) -> None:
    job = asking.ask(db, options=["attic", "cellar"])
    page = asking.answer(visit("operator").client, f"/inputs/{job}", choose="cellar")
    assert answered(db, job) == [("cellar", db.info.user)]
    for shown in ("Answered by", db.info.user, "cellar", "run 1", "completed", "1 of 1"):
        assert shown in page.text
    assert f'data-draft-done="question-{job}-' in page.text
    assert f'<form class="card" method="post" action="/inputs/{job}"' not in page.text


def test_the_command_for_a_terminal_has_a_real_answer(visit: Visit, db: Db) -> None:
    operator = visit("operator")
    failed = asking.fail(db)
    first = "&#39;#1&#39;</code> <span>(#1 is "
    assert f"qwf answer --job {failed} {first}" in operator.text(f"/inputs/{failed}")
    job = asking.ask(db, options=[{"id": "a", "label": "the attic"}, "cellar"])
    assert f"qwf answer 1 ask {first}the attic)" in operator.text(f"/inputs/{job}")
    asks = asking.ask(db, "b", widget="confirm")
    assert "qwf answer 2 ask true</code></p>" in operator.text(f"/inputs/{asks}")


@pytest.mark.parametrize(
    ("spec", "entered", "value"),
    [
        ({"widget": "number", "min": 0.5}, "1.50", 1.5),
        ({"widget": "text"}, " x\r\n", " x\n"),
        ({"widget": "json"}, '{"a": [1, null]}', {"a": [1, None]}),
    ],
)
def test_each_widget_is_answered(
    visit: Visit, db: Db, spec: dict[str, Any], entered: str, value: Any
) -> None:
    job = asking.ask(db, **spec)
    asking.answer(visit("operator").client, f"/inputs/{job}", value=entered)
    assert [given for given, _ in answered(db, job)] == [value]


def test_a_confirmation_and_a_schema_are_answered(visit: Visit, db: Db) -> None:
    operator = visit("operator")
    job = asking.ask(db, "a", widget="confirm")
    asking.answer(operator.client, f"/inputs/{job}", choose="No")
    assert answered(db, job)[0][0] is False
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    job = asking.ask(db, "b", widget="json", schema=schema)
    asking.answer(operator.client, f"/inputs/{job}", value__name="ada")
    assert answered(db, job)[0][0] == {"name": "ada"}


def test_a_value_that_does_not_fit_stays_in_the_form(visit: Visit, db: Db) -> None:
    job = asking.ask(db, widget="text", min_length=9)
    page = asking.answer(visit("operator").client, f"/inputs/{job}", value="<b>ab")
    assert page.status_code == 422
    assert 'value="&lt;b&gt;ab"' in page.text
    assert "Nothing was changed" in page.text
    assert 'id="f-value-problems"' in page.text
    assert "data-filled" in page.text
    assert answered(db, job) == []


def test_an_answer_that_comes_second_says_who_was_first(visit: Visit, db: Db) -> None:
    job = asking.ask(db, widget="text")
    operator = visit("operator")
    opened = operator.text(f"/inputs/{job}")
    db.execute("select qwf.answer_job(%s, '\"mine\"', 'bob')", (job,))
    page = asking.answer(operator.client, f"/inputs/{job}", opened, value="typed for long")
    assert page.status_code == 409
    for shown in ("Not sent", "<q>bob</q>", "mine", "typed for long"):
        assert shown in page.text
    assert answered(db, job) == [("mine", "bob")]


def test_an_answer_to_an_earlier_question_is_refused(visit: Visit, db: Db) -> None:
    job = asking.fail(db)
    operator = visit("operator")
    opened = operator.text(f"/inputs/{job}")
    assert "no such mailbox" in opened
    db.execute("select qwf.answer_job(%s, '\"retry\"', 'bob')", (job,))
    asking.fail(db)
    page = asking.answer(operator.client, f"/inputs/{job}", opened, choose="Abort")
    assert (page.status_code, "The job asks again" in page.text) == (409, True)
    assert answered(db, job) == [("retry", "bob")]
    asking.answer(operator.client, f"/inputs/{job}", choose="Skip")
    assert len(answered(db, job)) == 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_answers_only_if_its_role_may(visit: Visit, db: Db, level: str) -> None:
    job = asking.ask(db, widget="text")
    visitor = visit(level)
    html = visitor.text(f"/inputs/{job}") if level != "stranger" else ""
    sent: dict[str, Any] = dict(asking.controls(html, f"/inputs/{job}").sent) if html else {}
    from_page = {"Sec-Fetch-Site": "same-origin"}
    answer = visitor.client.post(f"/inputs/{job}", data=sent | {"value": "x"}, headers=from_page)
    may = level in ("operator", "admin")
    assert bool(answered(db, job)) == may
    assert answer.status_code == (200 if may else 401 if level == "stranger" else 403)
    if level == "viewer":
        assert "disabled" in html
        assert "Your login may not answer" in html
        assert "permission denied" in answer.text


def test_a_form_without_its_token_or_of_another_site_answers_nothing(visit: Visit, db: Db) -> None:
    job = asking.ask(db, widget="text")
    operator = visit("operator")
    sent: dict[str, Any] = dict(asking.controls(operator.text(f"/inputs/{job}"),
                                                f"/inputs/{job}").sent)  # fmt: skip
    sent["value"] = "x"
    for data, site in ((sent | {"csrf": "x"}, "same-origin"), (sent, "cross-site")):
        answer = operator.client.post(f"/inputs/{job}", data=data, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403
    assert answered(db, job) == []


def test_lists_grow_and_shrink_without_scripts(visit: Visit, db: Db) -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    job = asking.ask(db, widget="json", schema=schema)
    operator = visit("operator")
    page = asking.answer(operator.client, f"/inputs/{job}", **{"*add": "value"})
    assert (page.status_code, 'name="value/0"' in page.text) == (200, True)
    page = asking.answer(operator.client, f"/inputs/{job}", page.text, value__0="a")
    assert answered(db, job)[0][0] == ["a"]


def test_what_is_not_a_question_is_said(visit: Visit, db: Db) -> None:
    first = asking.ask(db, widget="confirm")
    db.execute("select qwf.answer_job(%s, 'true')", (first,))
    asking.ask(db, "b", widget="confirm")
    plain = asking.one(db, "select qwf.enqueue('t')")
    viewer = visit("viewer")
    assert "This job asks nothing" in viewer.text(f"/inputs/{plain}")
    assert "Next question" in viewer.text(f"/inputs/{plain}")
    for unknown, why in ((plain + 1, "There has never been"), (10**30, "There has never been")):
        answer = viewer.get(f"/inputs/{unknown}")
        assert (answer.status_code, why in answer.text) == (404, True)
    db.execute("delete from qwf.runs where id = 1")
    db.execute("delete from qwf.jobs where id = %s", (first,))
    assert "is not there any more" in viewer.get(f"/inputs/{first}").text


def test_poisoned_questions_are_shown(visit: Visit, db: Db) -> None:
    poison.fill(db)
    operator = visit("operator")
    asked = [job for (job,) in db.execute("select job_id from qwf.pending_inputs")]
    assert asked
    for path in ("/inputs", *(f"/inputs/{job}" for job in asked)):
        page = operator.text(path)
        assert not set(poison.CONTROLS + poison.UNSEEN) & set(page) - set("\n\t\r")


def test_steps_that_wait_for_signals_and_kept_signals_are_listed(visit: Visit, db: Db) -> None:
    """The page of a run names its signal; secrets of a payload are masked."""
    db.execute(
        'select qwf.register_workflow(\'{"name": "order", "steps": [{"id": "paid", "kind":'
        ' "input", "signal": ["paid", {"$from": "n"}], "schema": {"type": "object"}}]}\')'
    )
    db.execute("select qwf.enqueue_run('order', '{\"n\": 1}')")
    db.execute("select qwf.enqueue_run('order', '{\"n\": 2}', project => 'shop')")
    db.execute("select qwf.signal('paid:1', '5')")
    db.execute("select qwf.signal('early', '{\"api_key\": \"hush\", \"n\": 7}', keep_for => '1 h')")
    viewer = visit("viewer")
    page = viewer.text("/inputs?order=signals")
    for shown in ("paid:1", "paid:2", "shop", "The last one did not fit.", "early", "7"):
        assert shown in page
    assert "hush" not in page
    assert "paid:1" not in viewer.text("/inputs?order=signals&project=shop")
    assert "No question waits for a person" in viewer.text("/inputs")
    of_run = viewer.text("/runs/1")
    assert "Waits for signals" in of_run
    assert "paid:1" in of_run
    job = db.execute("select job_id from qwf.awaited_signals order by 1 limit 1").fetchone()
    assert job is not None
    assert "did not fit, sent at" in viewer.text(f"/jobs/{job[0]}")


def test_what_may_have_run_is_decided_with_its_output(visit: Visit, db: Db) -> None:
    job = db.execute(
        "select qwf.enqueue('mail', on_failure => 'ask', at_most_once => true)"
    ).fetchone()[0]  # type: ignore[index]
    db.execute("select qwf.finish(c.job_id, c.token, 'lost') from qwf.claim('default', 'w') c")
    operator = visit("operator")
    page = operator.text("/inputs")
    for shown in ("It may have run", "It has run…", "It has not", "with this output"):
        assert shown in page
    assert "It has not" in operator.text(f"/inputs/{job}")
    said = operator.do("answer_job", job_id=job, value='{"has_run": {"receipt": 7}}').text
    assert "is answered" in said
    assert db.execute("select status::text, output from qwf.jobs").fetchall() == [
        ("completed", {"receipt": 7})
    ]
    db.execute("select qwf.enqueue('call', at_most_once => true)")
    db.execute("select qwf.finish(c.job_id, c.token, 'lost') from qwf.claim('default', 'w') c")
    page = operator.text(f"/jobs/{job + 1}")
    assert "at most once: it may have run" in page
    assert "Retry it only if it has not" in page
