"""The button Undo in the notice of what has just been switched off."""

from __future__ import annotations

import re
from typing import Any

import httpx2 as httpx
import psycopg
import pytest

from support.asking import one
from support.made_jobs import worker
from support.visitors import FORM, Visit, Visitor

Db = psycopg.Connection[Any]


def undo(visitor: Visitor, answer: httpx.Response) -> httpx.Response:
    """Press Undo in the notice of an answer."""
    assert answer.status_code == 200, answer.text
    (where,) = re.findall(r'action="(/do/[a-z_]+)"', answer.text)
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text):
        fields.setdefault(name, []).append(value)
    return visitor.client.post(where, data=fields, headers={**FORM, "HX-Request": "true"})


def test_a_paused_queue_and_a_schedule_go_on(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('gpu')")
    db.execute("select qwf.create_schedule('nightly', task => 't', every => '1 h')")
    admin = visit("admin")
    paused = admin.do("pause_queue", name="gpu")
    assert one(db, "select paused from qwf.queues where name = 'gpu'")
    assert undo(admin, paused).status_code == 200
    assert not one(db, "select paused from qwf.queues where name = 'gpu'")
    off = admin.do("enable_schedule", name="nightly", enabled="false")
    assert not one(db, "select enabled from qwf.schedules")
    assert "Undo" not in undo(admin, off).text
    assert one(db, "select enabled from qwf.schedules")


@pytest.mark.parametrize("policy", ["drain", "hard", "pause"])
def test_of_a_box_only_what_was_on_is_switched_on_again(visit: Visit, db: Db, policy: str) -> None:
    """Somebody else had switched off one of its queues before."""
    for queue in ("cpu", "default", "gpu"):
        db.execute("select qwf.create_queue(%s)", (queue,))
        worker(db, queue, "box-a")
    db.execute("select qwf.worker_control('box-a', 'gpu', 'off', reason => 'no card')")
    queues = ["cpu", "default", "gpu"]
    admin = visit("admin")
    switched = admin.do("worker_control", host="box-a", queue=queues, state="off", policy=policy)
    off = "select array_agg(queue order by queue) from qwf.switched_off"
    assert one(db, off) == queues
    assert undo(admin, switched).status_code == 200
    assert one(db, off) == ["gpu"]


def test_what_changes_nothing_or_was_refused_has_no_undo(visit: Visit, db: Db) -> None:
    db.execute("select qwf.pause_queue('gpu')")
    admin = visit("admin")
    assert "Undo" not in admin.do("pause_queue", name="gpu").text
    assert "Undo" not in admin.do("resume_queue", name="gpu").text
    assert "Undo" not in visit("viewer").do("pause_queue", name="gpu").text


def test_without_a_script_the_next_page_has_the_button(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('gpu')")
    admin = visit("admin")
    fields = {"csrf": admin.csrf(), "name": "gpu", "back": "/queues"}
    page = admin.client.post("/do/pause_queue", data=fields, headers=FORM).text
    notice = page[page.index('id="notices"') : page.index('id="stale"')]
    assert "<button" in notice
    assert 'action="/do/resume_queue"' in notice
    assert 'value="/queues"' in notice
