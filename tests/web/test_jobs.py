"""The list of jobs: what it shows, its filters, and what is done to many jobs at once."""

from __future__ import annotations

import html
import re
from typing import Any

import psycopg
import pytest

from qwf_agent.web.pages import jobs, waiting
from qwf_agent.web.site import actions
from support import poison
from support.made_jobs import claim, enqueue, fail, start_run, worker
from support.visitors import FORM, Visit, Visitor

Db = psycopg.Connection[Any]


def row(page: str, job: int) -> str:
    """The words of a row of the list."""
    found = re.search(rf'<tr data-row id="job-{job}">(.*?)</tr>', page, re.DOTALL)
    assert found, f"job {job} is not in the list"
    return " ".join(html.unescape(re.sub(r"<pre.*?</pre>|<[^>]*>", " ", found[1])).split())


def listed(page: str) -> list[int]:
    """The jobs of a list, in its order."""
    return [int(job) for job in re.findall(r'<tr data-row id="job-(\d+)">', page)]


def test_each_waiting_row_says_why_in_a_few_words(visit: Visit, db: Db) -> None:
    db.execute(
        "select qwf.create_queue('mail'), qwf.create_queue('nobody'),"
        " qwf.create_queue('small', max_running => 1), qwf.create_limit('llm', 1)"
    )
    one = worker(db, "default", slots=1, tasks=["a", "b"])
    small = worker(db, "small", slots=3)
    worker(db, "mail")
    worker(db, "gpu", models=["clip"])
    db.execute("select qwf.pause_queue('mail')")
    for queue in ("small", "small", "mail", "nobody"):
        enqueue(db, "a", queue=queue)
    limited = [enqueue(db, "a", limit_by="llm") for _ in range(2)]
    claim(db, "small", small)
    claim(db, "default", one)
    expected = {
        2: "queue is full", 3: "queue is paused", 4: "no worker serves it",
        limited[1]: "limit llm is full",
        enqueue(db, "c"): "no worker has the task",
        enqueue(db, "a", queue="gpu", model="llava"): "no worker has the model",
        enqueue(db, "a", run_at="2100-01-01 00:00Z"): "due 2100-01-01",
        enqueue(db, "a", key="k", debounce="1 h"): ", debounced",
        enqueue(db, "b"): "workers are busy",
    }  # fmt: skip
    page = visit("viewer").text("/jobs")
    for job, said in expected.items():
        assert said in row(page, job), (job, row(page, job))


def test_a_node_waits_for_what_it_depends_on(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "a", "node": "t"}, {"id": "b", "node": "t", "depends_on": ["a"]})
    assert "after s/a" in row(visit("viewer").text("/jobs?status=blocked"), 2)


def test_rows_tell_progress_and_errors(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    error = 'Traceback (most recent call last):\n  File "a.py"\nKeyError: <b>7'
    failed = fail(db, by, "t", error)
    running = enqueue(db, "u")
    ((_, token),) = claim(db, "default", by)
    db.execute("select qwf.progress(%s, %s, 0.25, 'page 2 of 8')", (running, token))
    page = visit("viewer").text("/jobs")
    assert "KeyError: <b>7" in row(page, failed)
    assert "25 % page 2 of 8" in row(page, running)
    assert "box-a" in row(page, running)


def test_filters_of_the_address_choose_the_jobs(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    first = fail(db, by, "t", "OSError: disk 1 full")
    second = fail(db, by, "t", "OSError: disk 2 full")
    other = fail(db, by, "t", "KeyError: 7")
    third = enqueue(db, "u", queue="cpu", key="k", labels={"n": 1, "s": "1"}, args={"photo": 7})
    visitor = visit("viewer")
    for query, found in {
        "": [third, other, second, first],
        "?status=failed": [other, second, first],
        "?status=failed&error=disk+1": [first],
        "?signature=OSError:+disk+%23+full": [second, first],
        "?task=u": [third], "?queue=cpu": [third], "?key=k": [third],
        "?label=n%3D1": [third], '?label=s%3D"1"': [third], "?label=s%3D1": [],
        '?args={"photo":7}': [third], "?host=box-a": [other, second, first],
        "?since=1h&status=queued,failed": [third, other, second, first],
        "?since=2100-01-01": [], "?run_id=4711": [], "?status=completed": [],
        "?q=state:failed+%22disk+1%22": [first], "?q=args.photo=7+label:n=1": [third],
        "?q=photo": [third], "?status=queued&q=task:t": [], "?q=host:box-a&task=u": [],
    }.items():  # fmt: skip
        assert listed(visitor.text("/jobs" + query)) == found, query


@pytest.mark.parametrize(
    "query",
    ["status=lost", "since=yesterdaymorning", "args={", "label=x", "run_id=x", "before=-1",
     "before=99999999999999999999", "task=%00", "args=NaN", "args=" + "[" * 900],
)  # fmt: skip
def test_a_filter_that_means_nothing_is_answered_with_a_sentence(
    visit: Visit, db: Db, query: str
) -> None:
    enqueue(db, "t")
    page = visit("viewer").text("/jobs?" + query)
    assert 'role="alert"' in page
    assert not listed(page)


def test_a_filter_with_a_character_that_no_job_has_says_so(visit: Visit) -> None:
    assert "No job has a NUL character" in visit("viewer").text("/jobs?task=a%00b")


def test_older_jobs_are_behind_a_link(visit: Visit, db: Db) -> None:
    for _ in range(51):
        enqueue(db, "t", queue="cpu")
    visitor = visit("viewer")
    page = visitor.text("/jobs?queue=cpu")
    assert listed(page) == list(range(51, 1, -1))
    (link,) = re.findall(r'href="([^"]*before=2[^"]*)"', page)
    assert listed(visitor.text(html.unescape(link))) == [1]


def test_a_list_says_how_far_it_looked(visit: Visit, db: Db) -> None:
    needle = enqueue(db, "needle")
    db.execute(
        "insert into qwf.jobs (task, status, queue) "
        "select 'hay', 'completed', 'cpu' from generate_series(1, 100000)"
    )
    visitor = visit("viewer")
    page = visitor.text("/jobs?task=needle")
    assert "Searched back to job " in page
    for _ in range(20):  # once, unless the machine is so busy that a search ends early
        (link,) = re.findall(r'href="([^"]*before=[^"]*)">Look further', page)
        page = visitor.text(html.unescape(link))
        if listed(page):
            break
    assert listed(page) == [needle]


def test_an_empty_list_says_how_to_fill_it(visit: Visit) -> None:
    visitor = visit("viewer")
    assert "qwf enqueue" in visitor.text("/jobs")
    assert "No job matches this filter." in visitor.text("/jobs?task=x")


@pytest.mark.parametrize(("level", "may"), [("viewer", False), ("operator", True), ("admin", True)])
def test_buttons_are_there_for_who_may_press_them(
    visit: Visit, db: Db, level: str, may: bool
) -> None:
    failed, queued = fail(db, worker(db, "default"), "t", "x"), enqueue(db, "t", queue="cpu")
    page = visit(level).text("/jobs?since=1h")
    assert ("Retry" in row(page, failed)) == may
    assert ("Run next" in row(page, queued) and "Cancel" in row(page, queued)) == may
    assert ('name="jobs"' in page) == may
    assert ("/jobs/all/cancel" in page) == may


def send(visitor: Visitor, action: str, back: str, jobs: list[str], **fields: str) -> str:
    """Send the form of a list without scripts; the page that comes back."""
    csrf = re.findall(r'name="csrf" value="([^"]+)"', visitor.text(back))[0]
    form = {"csrf": csrf, "back": back, "jobs": jobs, **fields}
    answer = visitor.client.post(f"/do/{action}", data=form, headers=FORM)
    assert str(answer.url).endswith(back)
    return str(answer.text)


def test_ticked_jobs_are_retried_and_the_filter_stays(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    failed = [fail(db, by, "t", "x") for _ in range(3)]
    waits = enqueue(db, "t")
    ticked = [*map(str, failed[:2]), str(waits)]
    page = send(visit("operator"), "retry_jobs", "/jobs?task=t", ticked)
    assert f"2 of 3 jobs run again; not {waits}:" in page
    states = db.execute("select status from qwf.jobs order by id").fetchall()
    assert [state for (state,) in states] == ["queued", "queued", "failed", "queued"]


NOTHING = {f"change_jobs.{name}": "" for name in ("priority", "queue", "run_at", "limit_by")}


def test_ticked_jobs_are_changed(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('mail')")
    jobs = [enqueue(db, "t") for _ in range(3)]
    ended = fail(db, worker(db, "gpu"), "t", "x", queue="gpu")
    visitor = visit("operator")
    shown = visitor.text("/jobs?task=t")
    assert all(f'name="{name}"' in shown for name in NOTHING)
    ticked = [*map(str, jobs[:2]), str(ended)]
    fields = {**NOTHING, "change_jobs.priority": "7", "change_jobs.queue": "mail"}
    page = send(visitor, "change_jobs", "/jobs?task=t", ticked, **fields)
    assert f"2 of 3 jobs changed; not {ended}: the job is not waiting in a queue" in page
    fields = {**NOTHING, "change_jobs.run_next": "true"}
    assert "1 of 1 jobs changed" in send(visitor, "change_jobs", "/jobs", ticked[1:2], **fields)
    rows = db.execute("select priority, queue, run_next from qwf.jobs order by id").fetchall()
    assert rows[:3] == [(7, "mail", False), (7, "mail", True), (100, "default", False)]
    assert "nothing to change" in send(visitor, "change_jobs", "/jobs", ticked, **NOTHING)
    db.execute("select qwf.create_limit('customer', 1, keyed => true)")
    fields = {**NOTHING, "change_jobs.limit_by": "customer:acme"}
    assert "2 of 3 jobs changed" in send(visitor, "change_jobs", "/jobs", ticked, **fields)
    keys = db.execute("select limit_by from qwf.jobs order by id").fetchall()
    assert keys[:3] == [("customer:acme",), ("customer:acme",), (None,)]
    page = send(
        visitor, "change_jobs", "/jobs", ticked, **fields, **{"change_jobs.limit_by-none": "true"}
    )
    assert "nothing was changed: limit_by is given, and the box for none is ticked" in page
    fields = {**NOTHING, "change_jobs.limit_by-none": "true"}
    assert "2 of 3 jobs changed" in send(visitor, "change_jobs", "/jobs", ticked, **fields)
    assert db.execute("select count(limit_by) from qwf.jobs").fetchone() == (0,)


def test_a_waiting_job_is_taken_out_of_its_limit(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_limit('api', 1)")
    job = enqueue(db, "t")
    box = 'name="limit_by-none"'
    assert box not in visit("operator").text(f"/jobs/{job}")
    db.execute("select qwf.change_job(%s, limit_by => 'api')", [job])
    visitor = visit("operator")  # another page: one shows an answer for a second
    shown = visitor.text(f"/jobs/{job}")
    assert box in shown
    csrf = re.findall(r'name="csrf" value="([^"]+)"', shown)[0]
    form = {"csrf": csrf, "back": f"/jobs/{job}", "job_id": str(job), "limit_by": ""}
    visitor.client.post("/do/change_job", data={**form, "priority": "7"}, headers=FORM)
    query = "select priority, limit_by from qwf.jobs where id = %s"
    assert db.execute(query, [job]).fetchone() == (7, "api")
    visitor.client.post("/do/change_job", data={**form, "limit_by-none": "true"}, headers=FORM)
    assert db.execute(query, [job]).fetchone() == (7, None)


def test_the_fields_of_a_change_are_nothing_to_the_other_buttons_of_the_form(
    visit: Visit, db: Db
) -> None:
    failed = fail(db, worker(db, "default"), "t", "x")
    fields = {**NOTHING, "change_jobs.priority": "7", "change_jobs.run_next": "true"}
    said = send(visit("operator"), "retry_jobs", "/jobs", [str(failed)], **fields)
    assert "1 of 1 jobs run again" in said
    assert db.execute("select priority, run_next from qwf.jobs").fetchone() == (100, False)


def test_all_jobs_of_a_filter_are_changed_and_counted_first(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue('t') from generate_series(1, 60)")
    running = enqueue(db, "u", queue="cpu")
    claim(db, "cpu", worker(db, "cpu"))
    visitor = visit("operator")
    assert "/jobs/all/change?" not in visitor.text("/jobs?status=running")
    assert "/jobs/all/change?status=queued" in visitor.text("/jobs?status=queued")
    page = visitor.text("/jobs/all/change?status=queued,running")
    assert "Change 60 jobs" in page
    (chosen,) = re.findall(r'name="jobs" value="([^"]+)"', page)
    assert str(running) not in chosen.split(",")
    fields = {**NOTHING, "change_jobs.run_at": "2100-01-01"}
    said = send(visitor, "change_jobs", "/jobs", [chosen], **fields)
    assert "60 of 60 jobs changed" in said
    states = "select status::text, count(*) from qwf.jobs group by 1 order by 1"
    assert db.execute(states).fetchall() == [("running", 1), ("scheduled", 60)]


@pytest.mark.parametrize("action", ["retry_jobs", "cancel_jobs", "cancel_runs", "retry_runs"])
def test_an_action_without_ticks_is_refused(visit: Visit, db: Db, action: str) -> None:
    ticks = action.rpartition("_")[2]
    visitor = visit("operator")
    for fields in ({}, {ticks: ""}, {ticks: ","}):
        answer = visitor.do(action, **fields)
        assert (answer.status_code, f"tick {ticks} first" in answer.text) == (400, True)


def test_a_viewer_cannot_change_many_jobs_either(visit: Visit, db: Db) -> None:
    job = enqueue(db, "t")
    claim(db, "default", worker(db, "default"))
    visitor = visit("viewer")
    page = visitor.text(f"/jobs/{job}")  # the only form that a viewer gets
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page)[0]
    form = {"csrf": csrf, "jobs": [str(job)]}
    answer = visitor.client.post(
        "/do/cancel_jobs", data=form, headers={**FORM, "HX-Request": "true"}
    )
    assert (answer.status_code, "permission denied" in answer.text) == (403, True)
    assert db.execute("select status from qwf.jobs").fetchone() == ("running",)


def test_an_action_on_the_whole_filter_is_counted_first_and_changes_these_jobs(
    visit: Visit, db: Db
) -> None:
    db.execute("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 60)")
    other = enqueue(db, "u")
    visitor = visit("operator")
    assert "/jobs/all/retry?" not in visitor.text("/jobs?task=t&status=queued")
    page = visitor.text("/jobs/all/cancel?task=t&status=queued")
    assert "Cancel 60 jobs" in page
    (chosen,) = re.findall(r'name="jobs" value="([^"]+)"', page)
    later = enqueue(db, "t", queue="cpu")
    said = send(visitor, "cancel_jobs", "/jobs?task=t&status=queued", [chosen])
    assert "60 of 60 jobs cancelled" in said
    left = db.execute("select id from qwf.jobs where status = 'queued' order by id").fetchall()
    assert left == [(other,), (later,)]


def test_one_click_changes_more_jobs_than_a_call_takes(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue('t') from generate_series(1, 2300)")
    visitor = visit("operator")
    page = visitor.text("/jobs/all/cancel?task=t")
    assert "Cancel 2,300 jobs" in page
    assert "There may be more" not in page
    (chosen,) = re.findall(r'name="jobs" value="([^"]+)"', page)
    assert "2300 of 2300 jobs cancelled" in send(visitor, "cancel_jobs", "/jobs", [chosen])
    assert db.execute("select from qwf.jobs where status = 'queued'").fetchall() == []


def test_one_click_has_an_end_and_says_so(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_AT_ONCE", 1000)
    db.execute("select qwf.enqueue('t') from generate_series(1, 1001)")
    page = visit("operator").text("/jobs/all/cancel?task=t")
    assert "the newest 1,000. There may be more: do it again for them" in page
    assert "Cancel 1,000 jobs" in page


def test_what_stops_between_two_calls_is_said(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = enqueue(db, "t"), enqueue(db, "t")
    monkeypatch.setattr(actions, "A_CALL", {"jobs": 1})
    visitor = visit("operator")
    said = send(visitor, "cancel_jobs", "/jobs", [f"{first},no number,{second}"])
    assert "1 of 1 jobs cancelled; stopped there: invalid input syntax" in said
    assert db.execute("select id from qwf.jobs where status = 'queued'").fetchall() == [(second,)]


def test_an_action_on_the_whole_filter_has_its_limits(visit: Visit, db: Db) -> None:
    enqueue(db, "t")
    visitor = visit("viewer")
    assert visitor.get("/jobs/all/drop").status_code == 404
    assert "No job that matches can be retried." in visitor.text("/jobs/all/retry?task=t")
    page = visitor.text("/jobs/all/cancel?task=t")
    assert "You may look, but not cancel jobs." in page
    assert 'method="post"' not in page


def test_strange_values_stay_text(visit: Visit, db: Db) -> None:
    poison.fill(db)
    page = visit("admin").text("/jobs")
    assert len(listed(page)) >= 10
    assert "\x1b" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["no job is ahead of it in queue q"], "next in line"),
        (["1000 or more jobs are ahead of it in queue q"], "1000 or more jobs ahead"),
        (["1 job is ahead of it in queue q"], "1 job ahead"),
        (["it is a map: 1 of its 3 elements have not ended"], "1 element to go"),
        (["it is a map: 11 of its 30 elements have not ended"], "11 elements to go"),
        (["worker a cannot take it: it has 8 MiB of VRAM, the job needs 9"], "needs more VRAM"),
        (["worker a cannot take it: a is switched off (hard) by x", "worker b cannot take it: it "
          "has no task t"], "its worker is off"),
        (["worker a cannot take it: its server s could serve m, but is broken"],
         "its model server does not work"),
        (["limit " + "x" * 99 + " is full, 1 of 1"], "limit " + "x" * 41 + "…"),
        (["something nobody has put into words"], "something nobody has put into words"),
        ([], ""),
    ],
)  # fmt: skip
def test_reasons_are_short(lines: list[str], said: str) -> None:
    assert waiting.short(lines) == said
