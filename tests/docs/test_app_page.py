"""docs/python.md is correct: its programs run, and its tables are complete."""

from __future__ import annotations

import asyncio
import re
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent import App, jobs, runs
from qwf_agent.app.options import KINDS
from qwf_agent.app.parameters import FILLED
from support.drivers import ASYNC, SYNC, Opened, OpenedAsync
from support.harness import agents
from support.servers import ROOT

nowhere = App().task("nowhere", queue="nowhere")(lambda: None)
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")

DRIVERS: dict[str, Callable[[str], AbstractContextManager[Opened]]] = {
    "psycopg": SYNC["psycopg"],
    "psycopg2": SYNC["psycopg2"],
    "SQLAlchemy with psycopg": SYNC["SQLAlchemy, session of psycopg"],
    "SQLAlchemy with psycopg2": SYNC["SQLAlchemy, session of psycopg2"],
    "Django": SYNC["Django"],
}
ASYNC_DRIVERS: dict[str, Callable[[str], AbstractAsyncContextManager[OpenedAsync]]] = {
    "asyncpg": ASYNC["asyncpg"],
    "SQLAlchemy with asyncpg": ASYNC["SQLAlchemy, session of asyncpg"],
}

PIPELINE = {
    "name": "mail",
    "nodes": [
        {
            "id": "send", "node": "send_email", "queue": "default",
            "inputs": {"to": {"$from": "pipeline.email"}},
        },
    ],
}  # fmt: skip
WORKFLOW = {
    "name": "sign_up",
    "steps": [
        {
            "id": "mail", "kind": "pipeline", "pipeline": "mail",
            "inputs": {"email": {"$from": "email"}},
        },
        {
            "id": "ok", "kind": "input", "widget": "confirm", "prompt": "Take them in?",
            "target": "yes", "depends_on": ["mail"],
        },
    ],
}  # fmt: skip


def first_column(heading: str) -> set[str]:
    """The names in the first column of the tables under a heading."""
    chapter = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*)\|", chapter, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_its_programs_run(
    dsn: str, db: psycopg.Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    db.execute("create table orders (email text)")
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shop_jobs = ModuleType("shop.jobs")
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    monkeypatch.setitem(sys.modules, "shop.jobs", shop_jobs)
    exec(programs[0], vars(shop_jobs))
    names = {**vars(shop_jobs), "dsn": dsn, "conn": db}
    db.execute("select qwf.register_pipeline(%s)", [Jsonb(PIPELINE)])
    db.execute("select qwf.register_workflow(%s)", [Jsonb(WORKFLOW)])
    first_to_wait = next(n for n, program in enumerate(programs) if ".wait(" in program)
    for program in programs[1:first_to_wait]:
        exec(program, names)
        names["conn"] = db
    rows = db.execute(
        "select key, inputs ->> 'subject', status::text from qwf.jobs where run_id is null "
        "order by id"
    )
    assert rows.fetchall() == [
        (None, "Thank you", "queued"),
        ("news ada@example.org", "News", "queued"),
        ("news grace@example.org", "News", "queued"),
        ("order 7", None, "scheduled"),
        (None, None, "scheduled"),
    ]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "jobs.py").write_text(programs[0])
    with agents(dsn, tmp_path) as start:
        start("--app", "shop.jobs:app", "--queue", "default")
        for program in programs[first_to_wait:]:
            exec(program, names)
            names["conn"] = db
    rows = db.execute("select workflow, status::text, error from qwf.runs order by id")
    ended = rows.fetchall()
    assert ended[1] == ("sign_up", "completed", None)
    assert ended[2][:2] == ("sign_up", "cancelled")
    assert f"cancelled: {ended[2][2]} cancelled\n" in capsys.readouterr().out


def test_it_lists_every_option() -> None:
    assert first_column("Options") == set(KINDS)


def test_it_lists_every_parameter_that_the_agent_fills() -> None:
    assert first_column("Bodies") == set(FILLED)


def errors_of(driver: str) -> list[str]:
    """The expressions in the table of errors for a driver."""
    row = re.search(rf"^\| {driver} \|(.*)\|$", PAGE, re.MULTILINE)
    assert row, driver
    return re.findall(r"`([^`]+)`", row[1])


def enqueue_nowhere(driver: str, dsn: str) -> None:
    """Enqueue to a queue that does not exist. Outside of an event loop, as Django wants it."""
    if driver in ASYNC_DRIVERS:
        asyncio.run(enqueue_nowhere_async(driver, dsn))
    else:
        with DRIVERS[driver](dsn) as (conn, _):
            nowhere.enqueue(conn)


async def enqueue_nowhere_async(driver: str, dsn: str) -> None:
    async with ASYNC_DRIVERS[driver](dsn) as (conn, _):
        await nowhere.enqueue_async(conn)


@pytest.mark.parametrize("driver", [*DRIVERS, *ASYNC_DRIVERS])
def test_it_says_where_an_error_of_each_driver_has_its_hint(dsn: str, driver: str) -> None:
    with pytest.raises(Exception, match="queue") as raised:
        enqueue_nowhere(driver, dsn)
    told = [eval(expression, {"e": raised.value}) for expression in errors_of(driver)]
    with psycopg.connect(dsn) as conn, pytest.raises(psycopg.Error) as caught:
        nowhere.enqueue(conn)
    diag = caught.value.diag
    assert diag.sqlstate == "QW006"
    assert told == [
        diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint,
    ]  # fmt: skip
    assert all(told)


def test_the_table_of_errors_has_no_other_driver() -> None:
    chapter = PAGE.partition("| driver | SQLSTATE |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (\w[^|]*) \|", chapter, re.MULTILINE)
    assert set(rows) == {*DRIVERS, *ASYNC_DRIVERS}


def test_a_producer_reads_and_answers_a_question_as_its_view_does(
    dsn: str, db: psycopg.Connection[Any]
) -> None:
    view = re.search(r"^  ```python\n(.*?)^  ```$", PAGE, re.MULTILINE | re.DOTALL)
    assert view
    names: dict[str, Any] = {"runs": runs, "jobs": jobs, "datetime": datetime}
    exec(textwrap.dedent(view[1]), names)
    ask = {"id": "ok", "kind": "input", "widget": "choose_one", "prompt": "Who?"}
    workflow = {"name": "w", "steps": [{**ask, "options": ["Ada", "Bob"]}]}
    db.execute("select qwf.register_workflow(%s)", [Jsonb(workflow)])
    db.execute("set role qwf_producer")
    run_id = runs.enqueue(db, "w")
    (question,) = names["read_questions"](db, run_id)
    assert (question["prompt"], question["options"]) == ("Who?", ("Ada", "Bob"))
    names["take_answer"](db, question["job"], question["since"], "Bob", "Ada")
    assert names["read_questions"](db, run_id) == []
    assert runs.status(db, run_id).status == "completed"
