"""The page of one job: attempts, tries left, inputs, its log, and what helps if it waits."""

from __future__ import annotations

import html
import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest

from qwf_agent.look import masking
from qwf_agent.system.log_pipe import shorten
from qwf_agent.web.pages import job as page_of_job
from qwf_agent.web.pages import waiting
from qwf_agent.web.reads import database
from qwf_agent.web.site import render
from support import poison
from support.made_jobs import claim, enqueue, fail, finish, start_run, worker
from support.visitors import FORM, Visit, Visitor

Db = psycopg.Connection[Any]


def words(page: str) -> str:
    """Words that a person reads on a page."""
    main = page.partition("<main")[2].partition('<details class="sql"')[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", main)).split())


def act(visitor: Visitor, page: str, function: str, **fields: Any) -> Any:
    """Send a form of a page as a browser with scripts does."""
    csrf = re.findall(r'name="csrf" value="([^"]+)"', visitor.text(page))[0]
    return visitor.client.post(
        f"/do/{function}", data={"csrf": csrf, **fields}, headers={**FORM, "HX-Request": "true"}
    )


def buttons(page: str) -> set[str]:
    """The actions that a page offers."""
    return set(re.findall(r'action="/do/([a-z_]+)"', page))


def test_an_unknown_job_was_pruned_or_never_existed(visit: Visit, db: Db) -> None:
    assert "has never existed" in visit("viewer").get("/jobs/1").text
    for _ in range(4):
        enqueue(db, "t")
    db.execute("delete from qwf.jobs where id in (1, 3)")
    visitor = visit("viewer")
    never = dict.fromkeys((5, 2**63, 10**30), "has never existed")
    for number, said in {1: "was pruned", 3: "was never stored", **never}.items():
        answer = visitor.get(f"/jobs/{number}")
        assert (answer.status_code, said in answer.text) == (404, True), number
    assert "The oldest job that is kept is job 2." in visitor.get("/jobs/1").text
    assert visitor.get("/jobs/2/attempts/7").status_code == 404
    assert visitor.get("/jobs/2/attempts/99999999999").status_code == 404


def test_a_job_that_never_ran_is_not_asked_for_what_attempts_leave(visit: Visit, db: Db) -> None:
    job = enqueue(db, "t")
    asked = ("attempt_overview", "file_overview", "series_overview")
    assert "s.claimed_at" not in visit("viewer").text(f"/jobs/{job}"), "no limit is held"
    page = visit("viewer").text(f"/jobs/{job}")
    assert [view for view in asked if view in page] == []
    finish(db, claim(db, "default", worker(db, "default"))[0], "error", "no luck")
    page = visit("viewer").text(f"/jobs/{job}")
    assert [view for view in asked if view in page] == [*asked]
    assert "no luck" in words(page)


def test_a_job_is_shown_beside_another_one(visit: Visit, db: Db) -> None:
    """First beside the newest one of its task: how they went, and which lines of them differ."""
    viewer, box = visit("viewer"), worker(db, "default")
    old = enqueue(db, "resize", args={"file": "a.png", "size": 1})
    assert "no other job of this task" in words(viewer.text(f"/jobs/{old}/beside"))
    finish(db, claim(db, "default", box)[0], "completed", output={"ok": True})
    new = fail(db, box, "resize", "<b>no luck</b>")
    other = enqueue(db, "crop", args={"file": "x" * 70_000})
    page = visit("viewer").text(f"/jobs/{new}/beside")
    for shown in (
        f"Job {new} beside job {old}", "State ✗ failed ✓ completed", "Error <b>no luck</b>",
        '- "file": "a.png"', "From job",
    ):  # fmt: skip
        assert shown in words(page), words(page)
    assert f'href="/jobs/{new}/beside"' in viewer.text(f"/jobs/{new}")
    page = words(viewer.text(f"/jobs/{new}/beside?against={other}"))
    assert "Task resize crop" in page
    assert "Inputs From job" in page
    assert "too long to be compared" in page
    assert "no other job 999" in words(viewer.text(f"/jobs/{new}/beside?against=999"))
    assert f"no other job {new}." in words(viewer.text(f"/jobs/{new}/beside?against={new}"))
    assert viewer.get("/jobs/999/beside").status_code == 404


def test_attempts_show_who_held_the_job_and_how_it_ended(visit: Visit, db: Db) -> None:
    first, second = worker(db, "default", "box-a"), worker(db, "default", "box-b")
    job = enqueue(db, "t", max_attempts=4)
    claim(db, "default", first)
    db.execute("update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s'")
    db.execute("select _qwf.reclaim()")
    ((_, token),) = claim(db, "default", second)
    finish(db, (job, token), "error", "ValueError: 7", exit_code=3, max_rss_bytes=2**30,
           cpu_seconds=12.5, gpu_peak_bytes=2**31, log_tail="two lines\nof log\n",
           usage={"prompt_tokens": 2000, "completion_tokens": 9},
           batch={"size": 32, "jobs": [job, 77, 78]})  # fmt: skip
    text = words(visit("viewer").text(f"/jobs/{job}"))
    assert "#1 lost lease lapsed box-a" in text
    assert "the lease lapsed, and the job was taken back" in text
    assert "a report that comes later is answered lost and changes nothing" in text
    assert "#2 error box-b" in text
    assert "exit code 3 1.0 GiB RAM 12 s CPU 2.0 GiB GPU in a batch of 32, with 77 78 …" in text
    assert "tokens: 2,000 prompt, 9 generated" in text
    assert "failures 3 of 4 losses 2 of 3" in text
    assert "a failure is tried again; a loss goes back to the front" in text
    assert "reclaimed by" in text
    assert "two lines of log" in text


def test_a_late_report_changes_nothing_on_the_page(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    job = enqueue(db, "t")
    (old,) = claim(db, "default", by)
    db.execute("update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s'")
    db.execute("select _qwf.reclaim()")
    claim(db, "default", by)
    assert "lost" in finish(db, old, "completed", output={"late": 1})
    page = visit("viewer").text(f"/jobs/{job}")
    assert "#2 running" in words(page)
    assert "late&#34;" not in page


def test_long_errors_and_logs_are_cut_and_whole_on_a_page_of_their_own(
    visit: Visit, db: Db
) -> None:
    error = "Traceback (most recent call last):\n" + "".join(
        f"  frame {n:05}\n" for n in range(900)
    )
    log = "".join(f"line {n:05}\n" for n in range(2000))
    job = fail(db, worker(db, "default"), "t", error + "KeyError: 'x'", log_tail=log)
    visitor = visit("viewer")
    page = visitor.text(f"/jobs/{job}")
    assert "KeyError: &#39;x&#39;</p>" in page
    assert "frame 00001" in page
    assert "characters left out" in page
    assert "frame 00450" not in page
    assert "line 01999" in page
    assert "line 00100" not in page
    whole = visitor.text(f"/jobs/{job}/attempts/1")
    assert "frame 00450" in whole
    assert "line 00100" in whole


def test_a_long_log_says_how_much_of_it_is_kept(visit: Visit, db: Db) -> None:
    log = shorten(b"", 0, b"a line of 20 letters" * 60_000, 65_536)
    job = fail(db, worker(db, "default"), "t", "it broke", log_tail=log)
    for path in (f"/jobs/{job}", f"/jobs/{job}/attempts/1"):
        assert "64.0 KiB of 1.1 MiB kept" in visit("viewer").text(path)
    short = fail(db, worker(db, "default"), "t", "it broke", log_tail="all of it")
    assert " kept" not in visit("viewer").text(f"/jobs/{short}").partition('id="log"')[2]


def test_an_absent_log_is_not_said_to_be_an_empty_one(visit: Visit, db: Db) -> None:
    by, visitor = worker(db, "default"), visit("viewer")
    for sent, said in (({}, "Its worker sent no log."), ({"log_tail": ""}, "It printed nothing.")):
        job = fail(db, by, "t", "no", **sent)
        assert said in visitor.text(f"/jobs/{job}/attempts/1")
        assert ("sent no log" in visitor.text(f"/jobs/{job}")) is ("log_tail" not in sent)


def test_the_log_of_a_running_job_is_followed_by_a_viewer(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    job = enqueue(db, "t")
    ((_, token),) = claim(db, "default", by)
    visitor = visit("viewer")
    assert "follow_log" not in buttons(visitor.text(f"/jobs/{job}?follow=no"))
    following = f"/jobs/{job}"
    assert buttons(visitor.text(following)) == {"follow_log"}
    assert act(visitor, following, "follow_log", job_id=job).status_code == 200
    assert db.execute("select job_id from qwf.live_logs").fetchall() == [(job,)]
    db.execute("select qwf.report_log(%s, %s, 12, 'epoch 3 of 8')", (job, token))
    assert "epoch 3 of 8" in visitor.text(following)
    finish(db, (job, token), "completed", log_tail="epoch 8 of 8")
    page = visit("viewer").text(following)
    assert "follow_log" not in buttons(page)
    assert "epoch 8 of 8" in page


def test_inputs_say_where_they_come_from(visit: Visit, db: Db) -> None:
    by = worker(db, "default")
    start_run(
        db,
        {"id": "a", "node": "t", "queue": "default"},
        {"id": "b", "node": "t", "queue": "default", "depends_on": ["a"],
         "inputs": {"n": {"$from": "a.deep.n"}, "who": {"$from": "who"}}},
        context={"who": "Ada"},
    )  # fmt: skip
    ((first, token),) = claim(db, "default", by)
    visitor = visit("viewer")
    assert "depends on s/a" in words(visitor.text("/jobs/2"))
    assert f'href="/jobs/{first}">s/a</a>' in visitor.text("/jobs/2")
    finish(db, (first, token), "completed", output={"deep": {"n": 9007199254740993}})
    claim(db, "default", by)
    page = visit("viewer").text("/jobs/2")
    assert f'href="/jobs/{first}">s/a</a>' in page
    text = words(page)
    assert "deep.n 9007199254740993" in text
    assert "context of the run who Ada" in text
    assert "node of run 1 (w, running)" in text


def test_secrets_are_masked_and_long_values_cut(visit: Visit, db: Db) -> None:
    long = {"api_token": "hush-1", "x": "y" * 70_000}
    job = enqueue(db, "t", args={"password": "hush-2", "max_tokens": 200})
    second = enqueue(db, "t", args=long)
    visitor = visit("admin")
    assert "hush" not in (page := visitor.text(f"/jobs/{job}"))
    assert "max_tokens&#34;: 200" in page
    page = visitor.text(f"/jobs/{second}")
    assert "hush" not in page
    assert "The first 60,000 of 70" in page


def test_of_a_progress_bar_its_last_state_is_shown(visit: Visit, db: Db) -> None:
    """A worker in another language sends what a body printed as it came."""
    log = "begin\r\n 10 %\r 20 %\r\n"
    job = fail(db, "w", "t", "no", log_tail=log)
    page = visit("admin").text(f"/jobs/{job}")
    assert re.findall(r'aria-label="line \d"></a>([^<]*)\n', page)[:2] == ["begin", " 20 %"]
    assert "10 %" not in page


@pytest.fixture
def hiding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words that a page reads from the settings."""
    monkeypatch.setattr(masking, "_of_this_process", ("password", "token", "secret", "api_key"))


COUNTS = {"max_tokens": 20, "prompt_tokens_details": {"cached_tokens": 3}, "tokens": [4], "n": None}


@pytest.mark.parametrize(
    "value",
    [{"token": "hush"}, {"token": ["hush"]}, {"Secret_key": {"a": {"b": "hush"}}},
     {"token": 'a\\"hush\\'}, {"api_key": [{"a": "hush"}, "hush"]}, {"a": [{"password": "hush"}]}],
)  # fmt: skip
def test_texts_under_secret_keys_are_masked_and_counts_are_not(
    hiding: None, value: dict[str, Any]
) -> None:
    whole = {"first": COUNTS, **value, "last": "seen"}
    shown = masking.masked(whole)
    assert "hush" not in str(shown)
    assert (shown["first"], shown["last"]) == (COUNTS, "seen")
    text = json.dumps(whole)
    assert json.loads(masking.masked_start(text)) == shown, "the same rule for a text"
    for end in range(len(text)):
        start = masking.masked_start(text[:end])
        assert "hus" not in start, start


def test_secrets_are_masked_in_a_value_that_is_cut(hiding: None) -> None:
    text = json.dumps({"a": COUNTS, "token": "hush" + "y" * page_of_job.MOST_TEXT})
    shown = page_of_job.shown({"text": text, "letters": 99_999, "stored": 9})["text"]
    assert "hush" not in shown
    assert '"max_tokens": 20' in shown


@pytest.mark.parametrize(
    "stored",
    [{"password": "hush", "n": 1}, {"token": ["a", "b"]}, {"Secret": {"a": [{"b": "x"}]}}, {},
     {"list": [{"name": "a", "token": "x"}, {"name": "b", "token": "y"}]}],
)  # fmt: skip
def test_what_comes_back_with_masks_gets_its_secrets_again(
    hiding: None, stored: dict[str, Any]
) -> None:
    assert masking.unmasked(masking.masked(stored), stored) == stored
    edited = {**masking.masked(stored), "more": {"password": "new"}}
    assert masking.unmasked(edited, stored) == {**stored, "more": {"password": "new"}}


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"secret": masking.MASK}, "secret"),
        ({"a": {"password": masking.MASK}}, "a.password"),
        ({"tokens": [masking.MASK, masking.MASK]}, "tokens[1]"),
        ({"list": [{"name": "b", "token": masking.MASK}]}, "list[0]"),
        ({"list": {"token": masking.MASK}}, "list.token"),
    ],
)
def test_a_mask_that_hides_nothing_known_is_refused(
    hiding: None, given: dict[str, Any], where: str
) -> None:
    """Elements of a list that change places do not get the secrets of each other."""
    stored = {"password": "x", "tokens": ["y"], "n": 1,
              "list": [{"name": "a", "token": "1"}, {"name": "b", "token": "2"}]}  # fmt: skip
    with pytest.raises(ValueError, match=re.escape(f"{where} is hidden")):
        masking.unmasked(given, stored)


def test_a_job_is_retried_with_other_arguments(visit: Visit, db: Db) -> None:
    args = {"password": "hush", "list": [{"token": "t"}], "n": 0.10, "big": 2**60}
    job = failed_with(db, args)
    visitor = visit("operator")
    page = visitor.text(f"/jobs/{job}")
    field = re.findall(r'<textarea name="args"[^>]*>(.*?)</textarea>', page, re.DOTALL)[0]
    text = html.unescape(field)
    assert "hush" not in page
    shown = json.loads(text)
    assert (shown["password"], shown["big"]) == (masking.MASK, 2**60)

    for ascii_only in (True, False):
        lost = json.dumps({"a": {"token": masking.MASK}}, ensure_ascii=ascii_only)
        refused = act(visitor, f"/jobs/{job}", "retry_job", job_id=job, args=lost)
        assert (refused.status_code, "a.token is hidden" in refused.text) == (422, True)
    refused = act(visitor, f"/jobs/{job}", "retry_job", job_id=job, args=masking.MASK)
    assert (refused.status_code, "nothing was changed" in refused.text) == (422, True)
    assert state_and_args(db, job) == ("failed", args)

    changed = text.replace('"n": 0.1', '"n": 0.2')
    assert act(visitor, f"/jobs/{job}", "retry_job", job_id=job, args=changed).status_code == 200
    assert state_and_args(db, job) == ("queued", {**args, "n": 0.2})
    page = visitor.text(f"/jobs/{job}")
    assert "old_args" in page
    assert "hush" not in page, "nor in the event"


def test_arguments_that_are_left_as_they_are_are_no_change(visit: Visit, db: Db) -> None:
    job = failed_with(db, {"password": "hush", "n": 1})
    visitor = visit("operator")
    page = visitor.text(f"/jobs/{job}")
    field = re.findall(r'<textarea name="args"[^>]*>(.*?)</textarea>', page, re.DOTALL)[0]
    text = html.unescape(field)
    assert act(visitor, f"/jobs/{job}", "retry_job", job_id=job, args=text).status_code == 200
    assert state_and_args(db, job) == ("queued", {"password": "hush", "n": 1})
    query = "select detail from qwf.event_overview where kind = 'retried'"
    assert db.execute(query).fetchall() == [({},)]


def test_a_message_of_an_alert_is_retried_as_it_is(visit: Visit, db: Db) -> None:
    job = failed_with(db, {"n": 1})
    db.execute("update qwf.jobs set task = 'qwf.send', queue = 'qwf.alerts' where id = %s", [job])
    page = visit("operator").text(f"/jobs/{job}")
    assert "retry_job" in page
    assert '<textarea name="args"' not in page


def test_a_page_of_what_is_over_is_fetched_less_often(visit: Visit, db: Db) -> None:
    over, runs, waits = (enqueue(db, "t") for _ in range(3))
    claimed = claim(db, "default", "w", 2)
    run = start_run(db, {"id": "a", "node": "t", "queue": "cpu"})
    ended = start_run(db, {"id": "a", "node": "t", "queue": "cpu"})
    finish(db, claimed[0], "completed")
    db.execute("select qwf.cancel_run(%s)", [ended])
    visitor = visit("viewer")
    paths = [*(f"/jobs/{job}" for job in (over, runs, waits)), f"/runs/{run}", f"/runs/{ended}"]
    found = [re.findall(r'data-every="([^"]*)"', visitor.text(path)) for path in paths]
    assert found == [["10"], ["2"], ["5"], ["2"], ["10"]]


def failed_with(db: Db, args: dict[str, Any]) -> int:
    """A job with these arguments that has failed."""
    job = enqueue(db, "t", args=args)
    finish(db, claim(db, "default", "w")[0], "fatal", "no")
    return job


def state_and_args(db: Db, job: int) -> tuple[Any, ...] | None:
    return db.execute("select status::text, inputs from qwf.jobs where id = %s", (job,)).fetchone()


def test_the_words_of_secrets_are_a_setting(visit: Visit, db: Db) -> None:
    job = enqueue(db, "t", args={"IBAN": "hush", "password": "shown"})
    visitor = visit("admin")
    change = {"changes": '{"secret_keys": ["iban"]}'}
    assert act(visitor, f"/jobs/{job}", "change_settings", **change).status_code == 200
    page = visitor.text(f"/jobs/{job}")
    assert "hush" not in page
    assert "shown" in page
    assert 'data-secret="iban"' in page


def waiting_job(db: Db, state: str) -> int:
    """A job that one thing alone keeps from running."""
    db.execute("select qwf.create_queue('q')")
    by = worker(db, "q", "box-b", slots=3, models=["m", "other"], vram_mb=8192)
    if state == "paused":
        db.execute("select qwf.pause_queue('q')")
    elif state == "off":
        db.execute("select qwf.worker_control('box-b', 'q', 'off', reason => 'dust')")
    elif state == "full limit":
        db.execute("select qwf.create_limit('llm', 1)")
        enqueue(db, "t", queue="q", limit_by="llm")
        claim(db, "q", by)
    elif state == "full queue":
        db.execute("select qwf.create_queue('q', max_running => 1)")
        enqueue(db, "t", queue="q")
        claim(db, "q", by)
    arguments: dict[str, Any] = {
        "full limit": {"limit_by": "llm"}, "model": {"model": "m"}, "vram": {"vram_mb": 12288},
    }.get(state, {})  # fmt: skip
    return enqueue(db, "t", queue="q", **arguments)


@pytest.mark.parametrize(
    ("state", "action", "fields"),
    [
        ("paused", "resume_queue", {"name": "q"}),
        ("off", "worker_control", {"host": "box-b", "queue": "q", "state": "on"}),
        ("full limit", "create_limit", {"name": "llm", "max_running": "2"}),
        ("full queue", "create_queue", {"name": "q", "max_running": "2"}),
    ],
)
def test_what_keeps_a_job_waiting_has_a_button_that_helps(
    visit: Visit, db: Db, state: str, action: str, fields: dict[str, str]
) -> None:
    job = waiting_job(db, state)
    path = f"/jobs/{job}"
    assert action not in buttons(visit("operator").text(path))
    visitor = visit("admin")
    page = visitor.text(path)
    form = page.partition(f'action="/do/{action}"')[2].partition("</form>")[0]
    shown = dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', form))
    assert {name: shown[name] for name in fields} == fields
    assert act(visitor, path, action, **fields).status_code == 200
    by = db.execute("select id from qwf.workers").fetchone()
    assert by is not None
    assert [claimed for claimed, _ in claim(db, "q", by[0])] == [job]


def test_a_model_can_be_loaded_for_a_job(visit: Visit, db: Db) -> None:
    job = waiting_job(db, "model")
    visitor = visit("admin")
    assert "Load the model on box-b" in visitor.text(f"/jobs/{job}")
    asked = {"host": "box-b", "queue": "q", "model": "m", "action": "load"}
    assert act(visitor, f"/jobs/{job}", "request_model", **asked).status_code == 200
    assert db.execute("select model from qwf.model_requests").fetchall() == [("m",)]


def test_the_nearest_miss_says_what_is_lacking(visit: Visit, db: Db) -> None:
    job = waiting_job(db, "vram")
    assert "lacks 4.0 GiB" in words(visit("viewer").text(f"/jobs/{job}"))


def test_a_worker_without_the_labels_says_only_which_it_lacks(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('q')")
    worker(db, "q", "box-b", labels={"zone": "eu", "disk": "ssd"})
    job = enqueue(db, "t", queue="q", requires={"zone": "mars", "disk": "ssd"})
    page = words(visit("viewer").text(f"/jobs/{job}"))
    assert "does not fit lacks zone=mars" in page
    assert "has {" not in page


def test_a_debounced_job_says_until_when_it_waits_and_why(visit: Visit, db: Db) -> None:
    job = enqueue(db, "t", key="k", debounce="1 h", debounce_max="2 h")
    later = enqueue(db, "t", run_at="2100-01-01 00:00Z")
    said = "it is debounced, and a call with its key may put it off until "
    visitor = visit("viewer")
    assert said in words(visitor.text(f"/jobs/{job}"))
    assert "Why it waits" not in words(visitor.text(f"/jobs/{later}"))


def test_a_log_is_shown_without_the_orders_to_a_terminal(visit: Visit, db: Db) -> None:
    log = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain \x1b[2Kgone\n"
    job = fail(db, worker(db, "default"), "t", "it broke", log_tail=log)
    for path in (f"/jobs/{job}", f"/jobs/{job}/attempts/1"):
        page = visit("viewer").text(path)
        assert '<i class="ansi-1 bold">red</i> plain gone' in page
        assert "title\x07" not in page


def test_holders_of_the_places_of_a_limit_are_named(visit: Visit, db: Db) -> None:
    job = waiting_job(db, "full limit")
    assert "job 1 t on box-b" in words(visit("viewer").text(f"/jobs/{job}"))


def test_the_matrix_agrees_with_the_engine(visit: Visit, db: Db) -> None:
    worker(db, "default", "a", tasks=["u"])
    worker(db, "default", "b", models=["n"])
    worker(db, "default", "c", vram_mb=4)
    worker(db, "default", "d", labels={"zone": "us"})
    worker(db, "default", "e", project="other")
    worker(db, "default", "f")
    worker(db, "default", "g", tasks=["t"], models=["m"], vram_mb=9, labels={"zone": "eu"})
    worker(db, "default", "h", labels={"zone": "eu"})
    db.execute("select qwf.worker_control('h', 'default', 'off')")
    for arguments in (
        {}, {"model": "m"}, {"vram_mb": 8}, {"requires": {"zone": "eu"}}, {"project": "other"},
        {"model": "m", "vram_mb": 8, "requires": {"zone": "eu"}},
    ):  # fmt: skip
        job = enqueue(db, "t", **arguments)
        db.execute(
            "update qwf.jobs set avoid_host = 'g', avoid_until = qwf.now() + interval '1 h'"
            " where id = %s", (job,))  # fmt: skip
        able = {host for (host,) in db.execute(
            "select w.host from qwf.jobs j, _qwf.why_unfit(j, qwf.now()) u join qwf.workers w"
            " on w.id = u.worker where j.id = %s and u.reasons = '{}'", (job,))}  # fmt: skip
        with db.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            rows = cursor.execute(waiting.WORKERS, {"job": job}).fetchall()
        assert {w["host"] for w in rows if w["takes"]} == able, arguments


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("queued", {"change_job", "cancel_job"}),
        ("scheduled", {"change_job", "cancel_job"}),
        ("running", {"cancel_job"}),
        ("failed", {"retry_job"}),
        ("completed", set()),
    ],
)
def test_buttons_fit_the_state_and_the_level(
    visit: Visit, db: Db, state: str, offered: set[str]
) -> None:
    by = worker(db, "default")
    if state == "failed":
        job = fail(db, by, "t", "x")
    else:
        later = {"run_at": "2100-01-01 00:00Z"} if state == "scheduled" else {}
        job = enqueue(db, "t", **later)
        for claimed in claim(db, "default", by) if state in ("running", "completed") else []:
            if state == "completed":
                finish(db, claimed, "completed")
    operators = {"retry_job", "cancel_job", "change_job"}
    assert buttons(visit("operator").text(f"/jobs/{job}")) & operators == offered
    assert buttons(visit("viewer").text(f"/jobs/{job}")) <= {"follow_log"}


def test_priority_queue_limit_and_time_are_changed(visit: Visit, db: Db) -> None:
    job = enqueue(db, "t")
    visitor = visit("operator")
    db.execute("select qwf.create_limit('customer', 1, keyed => true)")
    changes = {"job_id": job, "priority": "7", "queue": "cpu", "run_at": "2100-01-01 08:00+01",
               "limit_by": "customer:acme"}  # fmt: skip
    assert act(visitor, f"/jobs/{job}", "change_job", **changes).status_code == 200
    assert db.execute("select priority, queue, status, limit_by from qwf.jobs").fetchone() == (
        7, "cpu", "scheduled", "customer:acme")  # fmt: skip
    assert "due 2100-01-01" in words(visitor.text(f"/jobs/{job}"))
    (now,) = re.findall(
        r'name="job_id" value="(\d+)">\s*<input type="hidden" name="run_next" value="true">',
        visitor.text(f"/jobs/{job}"),
    )
    assert act(visitor, f"/jobs/{job}", "change_job", job_id=now, run_next="true").is_success
    assert "runs next" in words(visitor.text(f"/jobs/{job}"))
    bad = act(visitor, f"/jobs/{job}", "change_job", job_id=job, queue="cup")
    assert (bad.status_code, "cpu" in bad.text) == (409, True)


def test_a_failed_job_is_retried(visit: Visit, db: Db) -> None:
    job = fail(db, worker(db, "default"), "t", "x")
    assert act(visit("operator"), f"/jobs/{job}", "retry_job", job_id=job).status_code == 200
    assert db.execute("select status from qwf.jobs").fetchone() == ("queued",)


def test_a_map_and_its_elements_lead_to_each_other(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "m", "node": "t", "queue": "default", "map": {"$from": "list"},
                   "inputs": {"x": {"$from": "item"}}}, context={"list": [1, 2, 3]})  # fmt: skip
    visitor = visit("viewer")
    assert "queued 3 List them" in words(visitor.text("/jobs/1"))
    assert "element 1 of the map job 1" in words(visitor.text("/jobs/3"))


def test_strange_values_stay_text(visit: Visit, db: Db) -> None:
    poison.fill(db)
    visitor = visit("admin")
    for (job,) in db.execute("select id from qwf.jobs").fetchall():
        page = visitor.text(f"/jobs/{job}")
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert len(page) < 600_000


def state(**known: Any) -> dict[str, Any]:
    """Columns of a job that the strip and the tries left read."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    return {
        "status": "queued", "queue": "q", "elements": None, "created_at": now, "queued_at": now,
        "claimed_at": None, "finished_at": None, "run_at": None, "failures": 0, "losses": 0,
        "error_tries": 1, "transient_tries": 4, "loss_tries": 3, "on_failure": "fail",
    } | known  # fmt: skip


@pytest.mark.parametrize(
    ("known", "states"),
    [
        ({}, "enqueued QUEUED running completed"),
        ({"status": "blocked", "queued_at": None}, "enqueued BLOCKED queued running completed"),
        ({"status": "scheduled"}, "enqueued SCHEDULED queued running completed"),
        ({"status": "cancelled"}, "enqueued queued CANCELLED"),
        ({"status": "skipped", "queued_at": None}, "enqueued SKIPPED"),
        ({"status": "awaiting_input", "queue": None}, "enqueued AWAITING_INPUT completed"),
        ({"status": "completed", "queue": None}, "enqueued awaiting_input COMPLETED"),
        ({"status": "blocked", "elements": 3}, "enqueued BLOCKED completed"),
        ({"status": "awaiting_input", "claimed_at": datetime.now(timezone.utc)},
         "enqueued queued running AWAITING_INPUT completed"),
    ],
)  # fmt: skip
def test_the_strip_shows_the_way_of_a_job(known: dict[str, Any], states: str) -> None:
    steps = page_of_job.strip(state(**known))
    assert " ".join(s["state"].upper() if s["here"] else s["state"] for s in steps) == states


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "an error fails it, a transient failure is tried again"),
        ({"failures": 3, "transient_tries": 4}, "an error fails it, a transient failure fails it"),
        ({"error_tries": 4}, "a failure is tried again"),
        ({"error_tries": 4, "failures": 3, "on_failure": "ask"}, "the next failure asks a person"),
    ],
)
def test_tries_left_say_what_counts_next(known: dict[str, Any], said: str) -> None:
    assert page_of_job.tries_left(state(**known))[0]["next"] == said
    assert page_of_job.tries_left(state(losses=2))[1]["next"] == "a loss fails it"


def test_bars_of_attempts_stay_within_their_lane() -> None:
    begin = datetime(2026, 1, 1, tzinfo=timezone.utc)
    times = [begin + timedelta(minutes=n) for n in range(6)]
    blank = dict.fromkeys(page_of_job.ENDED)
    rows = [blank | {"attempt": n, "outcome": "error", "worker": "w", "host": "h",
                     "queued_at": times[a], "started_at": times[b], "finished_at": times[c]}
            for n, (a, b, c) in enumerate([(3, 4, 5), (1, 2, 2), (2, 1, 0)])]  # fmt: skip
    rows.append(rows[0] | {"queued_at": None, "started_at": None})
    for claimed in page_of_job.lanes(state(now=times[5]), rows):
        bar = claimed["bar"]
        assert 0 <= bar["wait_x"] <= bar["wait_x"] + bar["wait_width"] <= page_of_job.WIDTH
        assert 0 <= bar["x"] < bar["x"] + bar["width"] <= page_of_job.WIDTH + 4
        assert json.dumps(bar)


def test_a_tab_that_has_the_newest_answers_is_sent_nothing_and_nothing_is_rendered(
    visit: Visit, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once an answer of the database or what the person may do is another, it is rendered again."""
    rendered: list[str] = []
    page = render.page

    def counted(*given: Any) -> str:
        rendered.append(given[0])
        return page(*given)

    monkeypatch.setattr(render, "page", counted)
    monkeypatch.setattr(database, "FRESH_S", 60.0)
    visitor, path = visit("operator"), f"/jobs/{enqueue(db, 't')}"

    def refresh(tag: str) -> Any:
        headers = {"HX-Request": "true", "If-None-Match": tag}
        return visitor.client.get(path, headers=headers)

    rendered.clear()
    first = refresh("")
    tag = first.headers["etag"]
    assert (first.status_code, len(rendered)) == (200, 1)
    assert [refresh(tag).status_code for _ in range(3)] == [304] * 3
    assert len(rendered) == 1
    assert refresh('"another"').status_code == 200
    assert len(rendered) == 2
    act(visitor, path, "cancel_job", job_id=path.rpartition("/")[2])
    before = len(rendered)
    changed = refresh(tag)
    assert (changed.status_code, len(rendered)) == (200, before + 1)
    assert "cancelled" in words('<main id="main">' + changed.text)
    assert refresh(changed.headers["etag"]).status_code == 304
