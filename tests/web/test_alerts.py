"""The page Alerts, and "Notify me": receivers by their names, and this browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, expect

from qwf_agent.web.app import build
from qwf_agent.web.pages import tell
from qwf_agent.web.site import access
from support.browser import Pages, served
from support.harness import until
from support.made_jobs import claim, enqueue, finish, worker
from support.visitors import TOKEN, Visit, login

Db = psycopg.Connection[Any]
# A headless browser has no desktop and denies notifications, whatever it is asked: these are the
# ones that it would show.
NOTED = """
  window.noted = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { return this.permission = "granted"; }
    constructor(title, options) { super(); window.noted.push(options.body); }
  };
"""
WORKFLOW = {"name": "nightly", "steps": [{"id": "go", "node": "go", "queue": "default"}]}
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def one(db: Db, query: str, *given: Any) -> Any:
    row = db.execute(query, given).fetchone()
    return row and row[0]


def set_rule(db: Db, name: str, receiver: str, **more: Any) -> None:
    rule = {"when": ["run_ended", "job_failed"], "do": {"receiver": receiver}, **more}
    db.execute("select qwf.set_alert(%s, %s)", (name, json.dumps(rule)))


def agent(db: Db, *receivers: str) -> str:
    """An agent of box-a that delivers messages to these receivers."""
    labels = {f"receiver.{name}": "true" for name in receivers}
    options = json.dumps({"slots": 1, "labels": labels})
    return str(one(db, "select qwf.register_worker('box-a', 'qwf.alerts', %s)", options))


def fail(db: Db, task: str, error: str) -> int:
    """A job that has failed, and the event that tells it has its number."""
    cpu = worker(db, "default")
    job = enqueue(db, task)
    finish(db, claim(db, "default", cpu)[0], "fatal", error)
    db.execute("select _qwf.number_and_match()")
    return job


def test_it_says_what_is_wrong_who_was_told_and_why_it_did_not_arrive(visit: Visit, db: Db) -> None:
    """An open alert comes with its delivery; a receiver that nobody has comes with the remedy."""
    ops = agent(db, "ops")
    set_rule(db, "bad", "ops", more_than=0)
    set_rule(db, "gone", "watch", where={"workflow": "nightly"})
    job = fail(db, "load", "<b>boom</b>")
    sent = claim(db, "qwf.alerts", ops)[0]
    finish(db, sent, "tempfail", "receiver ops: 503 from <i>hooks</i>")
    page = visit("viewer").text("/alerts")
    opened = page[page.index('id="open-title"') : page.index('id="rules-title"')]
    for shown in ("load</a>", f"/jobs/{job}", "is tried again", "503 from &lt;i&gt;hooks", ">1<"):
        assert shown in opened
    rules = page[page.index('id="rules-title"') : page.index('id="receivers-title"')]
    assert "run ended, job failed; status failed; workflow nightly" in rules
    assert "no live agent has it" in rules[rules.index('id="rule-gone"') :]
    assert "no live agent" not in rules[rules.index('id="rule-bad"') : rules.index("rule-gone")]
    assert "[receiver.watch]" in page
    assert "<button" not in rules, "a viewer changes nothing"
    db.execute("update qwf.open_alerts set close_at = now()")
    db.execute("select _qwf.number_and_match()")
    page = visit("viewer").text("/alerts")  # a new page: answers serve for a second
    assert "No alert is open." in page
    assert "load</a>" in page[page.index('id="closed-title"') :]


def test_an_admin_sets_tests_and_drops_a_rule(visit: Visit, db: Db) -> None:
    """The page says what the engine says of a rule: what is wrong with it, and who is not there."""
    admin = visit("admin")
    wrong = admin.do("set_alert", name="bad", rule='{"when": ["run_fail"]}')
    assert wrong.status_code == 409
    assert "when[0]: unknown kind" in wrong.text
    rule = '{"when": ["run_ended"], "do": {"receiver": "ops"}}'
    assert "no live agent has receiver ops" in admin.do("set_alert", name="bad", rule=rule).text
    assert one(db, "select count(*) from qwf.alerts") == 1
    assert "a test message of the rule bad will be sent" in admin.do("test_alert", name="bad").text
    assert one(db, "select state from qwf.alert_messages") == "test"
    page = admin.text("/alerts")

    asked = page.partition("spellcheck")[2].partition(">")[2].partition("</textarea>")[0]
    again = asked.replace("&#34;", '"')
    before = one(db, "select rule from qwf.alerts")
    assert admin.do("set_alert", name="bad", rule=again).status_code == 200
    assert one(db, "select rule from qwf.alerts") == before, "what it shows is what it is"
    assert admin.do("set_alert", name="bad", rule="null").status_code == 200
    assert one(db, "select count(*) from qwf.alerts") == 0
    for level in ("viewer", "operator"):
        assert visit(level).do("set_alert", name="x", rule=rule).status_code == 403


@pytest.mark.fresh
def test_the_menu_counts_open_alerts(visit: Visit, db: Db) -> None:
    """On every page, and on a phone behind More."""
    badge = '<span class="count bad" data-count="alerts"{}>{}</span>'
    assert visit("viewer").text("/doctor").count(badge.format(" hidden", 0)) == 3
    for at in range(3):
        db.execute(
            "insert into qwf.open_alerts (rule, key, kind, opened_at, closed_at, first_at, last_at,"
            " first_seq, last_seq) values ('r', %s, 'lost', case when %s > 0 then now() end,"
            " case when %s = 2 then now() end, now(), now(), 1, 1)",
            [str(at), at, at],
        )
    page = visit("viewer").text("/doctor")
    assert page.count(badge.format("", 1)) == 3
    assert 'data-alerts="1"' in page


def test_a_receiver_is_chosen_by_its_name(visit: Visit, db: Db) -> None:
    """For a run an operator names it; for a workflow and for failures an admin gets a rule."""
    agent(db, "ops", "ada")
    db.execute("select qwf.register_workflow(%s)", [json.dumps(WORKFLOW)])
    run = one(db, "select qwf.enqueue_run('nightly', notify => 'ada')")
    db.execute("select qwf.tick()")
    operator, admin = visit("operator"), visit("admin")
    page = operator.text(f"/runs/{run}")
    assert "<strong>ada</strong> is told now" in page
    job = one(db, "select min(id) from qwf.jobs")
    assert '<input type="hidden" name="notify" value="ops">' in page
    assert operator.do("change_job", job_id=str(job), notify="ops").status_code == 200
    assert "<strong>ops</strong> is told now" in operator.text(f"/runs/{run}")
    assert "Do not notify ops" in operator.text(f"/runs/{run}")
    assert "Do not notify" not in visit("viewer").text(f"/runs/{run}")
    assert operator.do("change_job", job_id=str(job), notify="").status_code == 200
    assert "is told now" not in operator.text(f"/runs/{run}")
    assert one(db, "select labels from qwf.runs") == {}
    operator.do("change_job", job_id=str(job), notify="ops")
    assert "✓ ops" not in operator.text(f"/jobs/{job}"), "of a node its run tells"
    assert 'data-tell="job' in operator.text(f"/jobs/{job}")
    of_workflow = "/workflows/nightly", "workflow.nightly.ops"
    for path, name in (of_workflow, ("/failures", "failures.ops")):
        assert name not in operator.text(path)
        assert name in admin.text(path)
    rule = {"when": ["run_ended"], "where": {"workflow": "nightly"}, "do": {"receiver": "ops"}}
    admin.do("set_alert", name="workflow.nightly.ops", rule=json.dumps(rule))
    assert "✓ ops" in admin.text("/workflows/nightly")


def test_a_tab_asks_what_happened_to_what_it_watches(visit: Visit, db: Db) -> None:
    """Each event once, in the words of messages; many are counted, and another's are not told."""

    def told(query: str) -> Any:  # of a new page each time: answers serve for a second
        return visit("viewer").get(f"/told?{query}").json()

    last = told("job=1")
    assert last["told"] == []
    done = fail(db, "load", "boom")
    other = fail(db, "other", "bang")
    got = told(f"job={done}&after={last['last']}")
    assert [(one["what"], one["text"], one["path"], one["over"]) for one in got["told"]] == [
        (f"job {done}", f"job {done} (load) failed: boom", f"/jobs/{done}", True)
    ]
    assert told(f"failures=1&after={got['last']}")["told"] == []
    for number in range(9):
        fail(db, "load", f"boom {number}")
    many = told(f"failures=1&after={last['last']}")["told"]
    assert len(many) == 6
    assert many[0]["text"] == "6 more events"
    assert f"job {other} " not in str(told(f"job={done}&after=0"))
    for odd in ("after=-1", "after=x&run=%00", "after=0&run=x&workflow=%00", "after=" + "9" * 30):
        assert "last" in told(odd)


def test_the_link_of_a_question_leads_to_it(visit: Visit, db: Db) -> None:
    """In a notification as in a mail. Who watches the workflow hears of it, and of late work."""
    steps = [{"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go on?"}]
    db.execute("select qwf.register_workflow(%s)", [json.dumps({"name": "w", "steps": steps})])
    run = one(db, "select qwf.enqueue_run('w')")
    db.execute("select qwf.tick()")
    db.execute("select _qwf.number_and_match()")
    (said,) = visit("viewer").get(f"/told?run={run}&after=0").json()["told"]
    assert said["text"] == "ask asks: Go on?"
    assert not said["over"]
    assert "Go on?" in visit("viewer").text(said["path"])
    db.execute(
        "insert into _qwf.event_log (kind, subject, names) values"
        " ('overdue', 'w', '{\"workflow\": \"w\"}')"
    )
    db.execute("select _qwf.number_and_match()")
    of_workflow = visit("viewer").get("/told?workflow=w&after=0").json()["told"]
    assert [one["text"] for one in of_workflow] == ["ask asks: Go on?", "w: overdue"]


@pytest.fixture
def watch(db: Db, dsn: str, browser: Browser) -> Iterator[Callable[[str], Any]]:
    """Opens a page of an admin in a browser that may show notifications."""
    app: Any = build(login(db, dsn, "admin"), access.TokenAccess(dsn, TOKEN), ("127.0.0.1",))
    with served(app) as address:
        pages = Pages(browser)

        def opened(path: str) -> Any:
            page = pages.open(f"{address}/?token={TOKEN}")
            page.add_init_script(NOTED)
            page.goto(address + path)
            return page

        yield opened
        assert pages.close() == []


def test_a_hidden_tab_notifies_when_its_run_ends(watch: Any, db: Db) -> None:
    """The stream of the page wakes it, also while it is hidden and on another page; once."""
    db.execute("select qwf.register_workflow(%s)", [json.dumps(WORKFLOW)])
    run = one(db, "select qwf.enqueue_run('nightly')")
    db.execute("select qwf.tick()")
    page = watch(f"/runs/{run}")
    page.get_by_text("Notify me…").click()
    button = page.get_by_role("button", name="In this browser")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.goto(page.url.partition("/runs")[0] + "/queues")
    page.evaluate(HIDE, True)
    cpu = worker(db, "default")
    finish(db, claim(db, "default", cpu)[0], "fatal", "disk full")
    db.execute("select _qwf.number_and_match()")
    until(lambda: page.evaluate("window.noted"), "a notification")
    assert page.evaluate("window.noted") == [f"run {run} of nightly failed: go failed: disk full"]
    assert not page.evaluate("'tells' in document.body.dataset")
    assert page.evaluate("JSON.parse(sessionStorage['qwf-tell']).watched") == []


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("workflow.a/b", "workflow.a-b"),
        ("workflow." + "x" * 120 + "1", "workflow." + "x" * 120 + "2"),
    ],
)
def test_no_two_workflows_share_a_rule(one: str, two: str) -> None:
    """A name with other letters, or a long one, ends in a hash; a plain one stays as it is."""
    names = [tell.rule_name(subject, "ops") for subject in (one, two)]
    assert names[0] != names[1]
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,99}", name) for name in names)
    assert tell.rule_name("workflow.nightly", "ops") == "workflow.nightly.ops"
