"""The page of the doctor."""

from __future__ import annotations

from typing import Any

import psycopg

from qwf_agent.cli.doctor.checks import CHECKS
from support.visitors import Visit

Db = psycopg.Connection[Any]


def test_it_makes_every_check_and_says_what_to_do(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue('t')")
    db.execute("update qwf.jobs set queued_at = now() - interval '1 h'")
    page = visit("viewer").text("/doctor")
    assert all(name in page for name in CHECKS)
    assert "queue default: 1 job waits" in page
    assert "qwf agent --queue default" in page


def test_a_broken_promise_is_named(visit: Visit, db: Db) -> None:
    assert "all kept" in visit("viewer").text("/doctor")
    db.execute("select qwf.enqueue('t')")
    db.execute("set session_replication_role = replica")
    db.execute("update qwf.jobs set status = 'running', claimed_by = 'gone', claimed_at = now()")
    assert "all kept" not in visit("viewer").text("/doctor")


def test_an_operator_ticks_by_hand(visit: Visit, db: Db) -> None:
    answer = visit("admin").do("tick")
    assert "ticked" in answer.text
