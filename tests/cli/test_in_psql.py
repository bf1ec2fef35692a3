"""The statements of docs/operations.md print in psql what the commands and the page show."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from psycopg.rows import dict_row

from qwf_agent.cli.output import _json
from qwf_agent.look.doctor.checks import IN_PYTHON
from qwf_agent.look.fleet import QUEUES, sums
from qwf_agent.web.reads import snapshot
from support import lively_fleet
from support.servers import ROOT
from support.welcome import Cli

Db = psycopg.Connection[Any]
Rows = list[dict[str, Any]]
OF_THE_CONNECTION = {"qwf_up", "qwf_standby", "qwf_standby_behind_seconds"}
OF_THE_SERVER = {"qwf_table_bytes", "qwf_dead_rows", "qwf_oldest_snapshot_seconds"}


@pytest.fixture
def shown(db: Db) -> dict[str, Rows]:
    """The rows of each of the seven statements by the comment behind it, on a fleet with a dead
    worker where time stands still. A login with qwf_viewer may run them, too."""
    lively_fleet.fill(db)
    db.execute("update qwf.workers set last_seen = last_seen - interval '1 h' where host = 'box-b'")
    db.execute("do $$ begin execute format('create or replace function qwf.now() returns"
               " timestamptz language sql stable as %L', format('select %L::timestamptz',"
               " qwf.now())); end $$")  # fmt: skip
    db.execute("select pg_stat_force_next_flush()")  # else counts of rows change a second later
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sql\n(select \* from qwf\.overview;.*?)```", text, re.DOTALL)
    lines = [line.partition(";") for line in block.splitlines()]
    assert len(lines) == 7
    db.execute("set role qwf_viewer")
    for statement, _, _ in lines:
        db.execute(statement.encode())
    db.execute("reset role")
    with db.cursor(row_factory=dict_row) as cursor:
        return {
            about.strip().removeprefix("-- "): cursor.execute(statement.encode()).fetchall()
            for statement, _, about in lines
        }


def as_json(rows: Rows) -> Rows:
    """The rows as `--json` writes them."""
    return list(json.loads(json.dumps(rows, default=_json)))


def test_they_print_what_the_commands_and_the_page_show(
    on_db: Cli, db: Db, shown: dict[str, Rows]
) -> None:
    for verb in ("queues", "workers", "servers"):
        assert as_json(shown[f"qwf {verb}"]) == json.loads(on_db(verb, "--json").output)
    check_overview(db, shown)
    check_doctor(on_db, shown)
    check_metrics(on_db, shown)


def check_overview(db: Db, shown: dict[str, Rows]) -> None:
    """It counts the queues, workers and boxes."""
    (row,) = shown["the head of the Overview page and of qwf top"]
    with db.cursor(row_factory=dict_row) as cursor:
        queues = cursor.execute(QUEUES).fetchall()
        boxes = cursor.execute(snapshot.BOXES).fetchall()
        workers = cursor.execute(snapshot.WORKERS).fetchall()
    assert row.items() >= sums(queues).items()
    assert row["workers"] == sum(worker["live"] for worker in workers)
    assert row["dead"] == sum(worker["state"] == "dead" for worker in workers) == 1
    assert row["boxes"] == sum(box["workers"] > 0 for box in boxes)
    shown_boxes = shown["the boxes of the Fleet page"]
    assert shown_boxes == sorted(boxes, key=lambda box: str(box["host"]))


def check_doctor(on_db: Cli, shown: dict[str, Rows]) -> None:
    """The findings are the same, besides those about what only Python sees."""
    said = [
        (check["check"], finding["level"], finding["subject"], finding["what"], finding["advice"])
        for check in json.loads(on_db("doctor", "--json").output)
        for finding in check["findings"]
        if check["check"] not in {*IN_PYTHON} - {"roles"}
    ]
    rows = [tuple(row.values()) for row in shown["qwf doctor"] if row["level"] != "fine"]
    assert rows == said
    assert {"problem", "note"} == {row[1] for row in rows}


def check_metrics(on_db: Cli, shown: dict[str, Rows]) -> None:
    """All have the same value, but for those that the reading itself may change."""
    said = {
        (one.name, *sorted(one.labels.items())): one.value
        for family in text_string_to_metric_families(on_db("metrics").stdout)
        for one in family.samples
        if one.name not in OF_THE_CONNECTION
    }
    rows = {
        (row["name"], *sorted(row["labels"].items())): row["value"]
        for row in shown["qwf metrics"]
        if row["value"] is not None
    }
    assert said.keys() == rows.keys()
    differ = {name[0] for name in said if said[name] != rows[name]}
    assert differ <= OF_THE_SERVER
