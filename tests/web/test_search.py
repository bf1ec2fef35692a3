"""Search: numbers jump, texts are found in keys, labels, tasks and errors."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from support.made_jobs import enqueue, fail, start_run, worker
from support.visitors import TOKEN, Visit

Db = psycopg.Connection[Any]


@pytest.mark.parametrize("query", ["2", "%232", "+2+"])
def test_a_number_jumps_to_its_job(visit: Visit, db: Db, query: str) -> None:
    enqueue(db, "t")
    enqueue(db, "t")
    answer = visit("viewer").get(f"/search?q={query}")
    assert (answer.status_code, answer.url.path) == (200, "/jobs/2")


def test_a_number_of_a_run_alone_jumps_to_the_run(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "a", "node": "t"})
    db.execute("update qwf.jobs set id = default")
    answer = visit("viewer").get("/search?q=1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/1")


def test_a_number_of_both_is_a_choice(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "a", "node": "t"})
    page = visit("viewer").text("/search?q=1")
    assert 'href="/jobs/1"' in page
    assert 'href="/runs/1"' in page


def test_a_jump_stays_below_the_prefix_of_a_proxy(visit: Visit, db: Db) -> None:
    enqueue(db, "t")
    visitor = visit("viewer", trust_proxy=True)
    visitor.client.headers["X-Forwarded-Prefix"] = "/qwf"
    visitor.get("/qwf/", params={"token": TOKEN})  # a cookie belongs to one prefix
    answer = visitor.get("/qwf/search?q=1", follow_redirects=False)
    assert answer.headers["location"] == "/qwf/jobs/1"


@pytest.mark.parametrize("query", ["7", "99999999999999999999", "1e3", "-1"])
def test_a_number_of_nothing_says_so(visit: Visit, db: Db, query: str) -> None:
    enqueue(db, "t")
    page = visit("viewer").text(f"/search?q={query}")
    assert f"There is no job and no run {query}." in page or "Nothing found" in page


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("order-7", "Jobs with this in their key or arguments"),
        ("ada@example.org", "Jobs with this in their key or arguments"),
        ("customer%3Dacme", "Jobs with this label"),
        ("shot%3D7", "Jobs with this label"),
        ("resize", "Jobs of this task"),
        ("disk%20100%25%20full", "Failed jobs with this in their error"),
    ],
)
def test_a_text_is_found(visit: Visit, db: Db, query: str, title: str) -> None:
    if "error" in title:
        error = "Traceback (most recent call last):\n  line\nOSError: disk 100% full"
        job = fail(db, worker(db, "default"), "t", error)
    else:
        job = enqueue(
            db,
            "resize",
            key="order-7",
            labels={"customer": "acme", "shot": 7},
            args={"to": "ada@example.org"},
        )
    enqueue(db, "other", key="k", labels={"customer": "a"})
    page = visit("viewer").text(f"/search?q={query}")
    assert title in page
    assert f'href="/jobs/{job}"' in page
    assert f'href="/jobs/{job + 1}"' not in page
    assert "Traceback" not in page


def test_runs_are_found_by_key_and_label(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "a", "node": "t"})
    db.execute("""update qwf.runs set key = 'k', labels = '{"a": "b"}'""")
    visitor = visit("viewer")
    assert "Runs with this in their key, context or error" in visitor.text("/search?q=k")
    assert "Runs with this label" in visitor.text("/search?q=a%3Db")


def test_names_of_queues_hosts_and_workflows_lead_to_their_pages(visit: Visit, db: Db) -> None:
    start_run(db, {"id": "a", "node": "t"})
    worker(db, "default", "box-a")
    visitor = visit("viewer")
    for name, path in {"cpu": "/queues/cpu", "box-a": "/fleet/box-a", "w": "/workflows/w"}.items():
        assert f'href="{path}"' in visitor.text(f"/search?q={name}"), name


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("run 1", "/runs/1"), ("Job #2", "/jobs/2"),
        ("state:failed disk", "/jobs?q=state%3Afailed+disk"),
        ("workflow:w", "/runs?q=workflow%3Aw"),
    ],
)  # fmt: skip
def test_a_query_goes_to_the_list_that_answers_it(visit: Visit, query: str, path: str) -> None:
    answer = visit("viewer").get("/search", params={"q": query}, follow_redirects=False)
    assert answer.headers["location"] == path


def test_a_limit_is_found_by_its_name(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_limit('payments', 3)")
    assert 'href="/queues"' in visit("viewer").text("/search?q=payments").split("<main")[1]


def test_nothing_found_says_where_else_to_look(visit: Visit, db: Db) -> None:
    page = visit("viewer").text("/search?q=nothing")
    assert "Nothing found among the newest 20,000 jobs and runs." in page
    assert 'href="/jobs?text=nothing"' in page


@pytest.mark.parametrize(
    "query", ["", "%00", "%s", "%25s", "'%20or%201%3D1", "a%3D", "%3Da", "%ED%A0%80",
              "\U0001f600" * 900, "%5Cu0000", "%5C", "%22%7B%7D", "<script>alert(1)</script>"],
)  # fmt: skip
def test_any_text_can_be_searched(visit: Visit, db: Db, query: str) -> None:
    enqueue(db, "t")
    page = visit("viewer").text(f"/search?q={query}")
    assert "<script>alert" not in page
