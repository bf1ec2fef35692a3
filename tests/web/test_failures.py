"""Failures in groups: what is in a group, what is new, and what is done to a whole group."""

from __future__ import annotations

import html
import re
import shlex
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from qwf_agent.cli import qwf
from qwf_agent.web.pages import failures
from support import poison
from support.made_jobs import claim, enqueue, fail, finish, start_run, worker
from support.visitors import Visit

Db = psycopg.Connection[Any]
NOW = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def groups(page: str) -> list[str]:
    """The words of each group."""
    found = re.findall(r'<article class="card failure[^"]*"(.*?)</article>', page, re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", " ", one)).split()) for one in found]


def links(page: str) -> list[str]:
    """Where the links of a page lead."""
    return [html.unescape(link) for link in re.findall(r'href="([^"]+)"', page)]


def three(db: Db) -> list[int]:
    """Two failures of one cause on two boxes, then one of another."""
    first, second = worker(db, "default", "box-a"), worker(db, "default", "box-b")
    return [
        fail(db, first, "t", "OSError: disk 1 full"),
        fail(db, second, "t", "OSError: disk 2 full"),
        fail(db, first, "u", "OSError: disk 3 full"),
    ]


def test_failures_of_one_cause_are_one_group(visit: Visit, db: Db) -> None:
    three(db)
    enqueue(db, "t")
    page = visit("viewer").text("/failures")
    assert "3 failed jobs in 2 groups" in page
    last, first = groups(page)
    assert "OSError: disk 3 full" in last and " u " in last and "1 job " in last  # noqa: PT018
    assert "OSError: disk 2 full" in first and " t " in first and "2 jobs" in first  # noqa: PT018
    assert "box-a" in first and "box-b" in first  # noqa: PT018
    assert "qwf retry job 3" in last
    assert "qwf retry job --failed --task t --signature 'OSError: disk # full'" in first


def test_the_command_of_a_group_retries_all_of_it_and_nothing_else(
    visit: Visit, db: Db, dsn: str
) -> None:
    by = worker(db, "default")
    group = [fail(db, by, "it's", f"$(touch x) it's {n} `y`") for n in range(5)]
    others = [fail(db, by, "t", "$(touch x) it's 1 `y`"), fail(db, by, "it's", "other")]
    (text,) = [g for g in groups(visit("viewer").text("/failures")) if "5 jobs" in g]
    command = re.search(r"qwf (retry job .*)$", text)
    assert command is not None
    done = CliRunner().invoke(qwf, [*shlex.split(command[1]), "--yes", "--dsn", dsn])
    assert done.output == "retry: 5 jobs\n"
    states = dict(db.execute("select id, status from qwf.jobs").fetchall())
    assert {states[job] for job in group} == {"queued"}
    assert {states[job] for job in others} == {"failed"}


def test_a_group_opens_to_its_jobs(visit: Visit, db: Db) -> None:
    three(db)
    visitor = visit("viewer")
    (link,) = {link for link in links(visitor.text("/failures")) if link.startswith("/jobs?")}
    assert re.findall(r'id="job-(\d+)"', visitor.text(link)) == ["2", "1"]


def test_a_whole_group_is_retried_after_it_was_counted(visit: Visit, db: Db) -> None:
    three(db)
    assert not [link for link in links(visit("viewer").text("/failures")) if "/all/" in link]
    visitor = visit("operator")
    (link,) = {link for link in links(visitor.text("/failures")) if "/all/retry" in link}
    page = visitor.text(link)
    assert "Retry 2 jobs" in page
    assert 'name="jobs" value="2,1"' in page


def test_the_time_is_chosen_in_the_address(visit: Visit, db: Db) -> None:
    three(db)
    db.execute("update qwf.jobs set finished_at = qwf.now() - interval '3 days' where task = 'u'")
    visitor = visit("viewer")
    for since, count in {"": 1, "1h": 1, "24h": 1, "7d": 2, "ever": 2, "x": 1}.items():
        assert len(groups(visitor.text(f"/failures?since={since}"))) == count, since


def test_failures_of_a_box_or_a_workflow_alone(visit: Visit, db: Db) -> None:
    three(db)
    run = start_run(db, {"id": "bad", "queue": "default"})
    by = worker(db, "default", "box-c")
    finish(db, claim(db, "default", by)[0], "fatal", "OSError: disk 9 full")
    visitor = visit("operator")
    page = visitor.text("/failures?host=box-b")
    assert "1 failed job in 1 group" in page
    of_run = visitor.text("/failures?workflow=w")
    (group,) = groups(of_run)
    assert f'href="/runs/{run}"' in of_run
    assert "box-c" in group
    assert f"runs: {run}\nqwf job" in html.unescape(of_run)  # as text for a ticket
    links_of_queue = links(visitor.text("/failures?queue=default&task=t"))
    (link,) = {link for link in links_of_queue if "/all/retry" in link}
    assert "queue=default" in link  # what is retried is what is shown
    assert "No failed job fits the filter" in visitor.text("/failures?queue=none")


def test_no_failure_is_said(visit: Visit) -> None:
    visitor = visit("viewer")
    assert "No job has failed within 24 hours." in visitor.text("/failures")
    assert "No job has failed." in visitor.text("/failures?since=ever")


def test_what_has_failed_since_the_last_look_is_new(visit: Visit, db: Db) -> None:
    three(db)
    db.execute("update qwf.jobs set finished_at = qwf.now() - interval '2 h' where task = 't'")
    visitor = visit("viewer")
    assert [" new " in one for one in groups(visitor.text("/failures"))] == [False, False]
    hour = (datetime.now(timezone.utc) - timedelta(hours=1)).timestamp()
    visitor.client.cookies.set(failures.COOKIE, f"0.{hour:.0f}", domain="127.0.0.1", path="/")
    for _ in range(2):  # it stays new while somebody looks
        assert [" new " in one for one in groups(visitor.text("/failures"))] == [True, False]


@pytest.mark.parametrize(
    ("cookie", "before", "left"),
    [
        (None, None, "0.{now}"),
        ("0.{minute}", None, "0.{now}"),
        ("0.{hour}", "hour", "{hour}.{now}"),
        ("{hour}.{minute}", "hour", "{hour}.{now}"),
        ("{day}.{hour}", "hour", "{hour}.{now}"),
        ("x.y", None, "0.{now}"),
        ("99999999999999.1", None, "0.{now}"),
        ("1.2.3", None, "0.{now}"),
    ],
)
def test_a_look_lasts_until_somebody_stays_away(
    cookie: str | None, before: str | None, left: str
) -> None:
    ago = {"now": 0, "minute": 60, "hour": 3600, "day": 86400}
    times = {name: f"{NOW.timestamp() - seconds:.0f}" for name, seconds in ago.items()}
    given = cookie.format(**times) if cookie else None
    found, kept = failures.looked(given, NOW)
    assert found == (NOW - timedelta(seconds=ago[before]) if before else None)
    assert kept == left.format(**times)


def test_a_group_is_not_called_new_if_older_failures_were_not_read() -> None:
    group = {"first_at": NOW, "searched_to": None}
    assert failures.is_new(group, NOW - timedelta(hours=1))
    assert not failures.is_new(group, NOW + timedelta(hours=1))
    assert not failures.is_new(group, None)
    assert not failures.is_new(group | {"searched_to": NOW}, NOW - timedelta(hours=1))


def test_bars_show_each_hour() -> None:
    bars = failures.spark([0] * 22 + [1, 100])
    assert [bar["height"] for bar in bars[-3:]] == [1, 3, 24]
    assert all(bar["y"] + bar["height"] == 24 for bar in bars)
    assert {bar["height"] for bar in failures.spark([0] * 24)} == {1}


def test_strange_values_stay_text(visit: Visit, db: Db) -> None:
    poison.fill(db)
    page = visit("admin").text("/failures?since=ever")
    assert groups(page)
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_group_is_seen_and_snoozed_for_all_who_look(visit: Visit, db: Db) -> None:
    """Seen groups stand below new ones, snoozed groups are folded away, and a note stays."""
    three(db)
    ada, bob = visit("operator"), visit("viewer")
    disk = {"task": "u", "signature": "OSError: disk # full"}
    assert "the failures of u are marked" in ada.do("mark_failures", **disk, seen="true").text
    first, last = groups(bob.text("/failures"))
    assert "disk 3 full seen" in last
    assert "disk 2 full" in first
    assert "mark_failures" not in bob.text("/failures")
    ada.do("mark_failures", task="t", signature=disk["signature"], until_release="true")
    ada.do("mark_failures", task="t", signature=disk["signature"], note="ada <asks> the vendor")
    page = ada.text("/failures")
    assert "1 snoozed" in page
    assert "snoozed until the next release" in groups(page)[1]
    assert "ada &lt;asks&gt; the vendor" in page
    assert "disk 2 full" not in ada.text("/")
    assert "disk 3 full" in ada.text("/")
    ada.do("mark_failures", task="t", signature=disk["signature"], snooze="0 s")
    assert "snoozed" not in ada.text("/failures")
    ada.do("mark_failures", task="t", signature=disk["signature"], note=" ")
    assert "the vendor" not in ada.text("/failures")
