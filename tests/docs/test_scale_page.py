"""docs/scale.md: its commands work, and a queue that moves loses nothing, nor runs in two cells."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from qwf_agent import cell_for, embedded
from support.documents import blocks, chapters, reader
from support.harness import Database, agents, clean_environment
from support.servers import ROOT, Server

CHAPTERS = chapters(ROOT / "docs" / "scale.md")


@pytest.fixture
def cells(server: Server, template: str) -> Iterator[dict[str, str]]:
    """Two databases that have the schema, and are no cells yet."""
    with ExitStack() as stack:
        made = {
            name: stack.enter_context(server.database(server.new_name(), template)).dbname
            for name in ("north", "south")
        }
        yield {name: server.dsn(dbname) for name, dbname in made.items()}


@pytest.fixture
def environment(cells: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Variables that the page exports for its commands."""
    path = [str(ROOT / ".venv" / "bin"), str(embedded.binaries()), os.environ["PATH"]]
    return {
        **clean_environment(tmp_path),
        "PATH": os.pathsep.join(path),
        "NORTH": cells["north"],
        "SOUTH": cells["south"],
        "QWF_CELLS": " ".join(f"{name}={shlex.quote(dsn)}" for name, dsn in cells.items()),
    }


def test_a_queue_is_moved_as_written(
    cells: dict[str, str], environment: dict[str, str], tmp_path: Path
) -> None:
    deploy = CHAPTERS["Several cells"]
    prepare, drain, resume = [b for b in blocks(CHAPTERS["Moving a queue"]) if b.language == "sh"]
    north, south = Database(cells["north"]), Database(cells["south"])
    serving = ("--app", "bodies", "--queue", "mail")
    with (
        north.conn,
        south.conn,
        reader(tmp_path, environment, cells["south"]) as page,
        agents(cells["north"], tmp_path) as start,
    ):
        page.read(deploy)
        north.conn.execute("select qwf.create_queue('mail')")
        old = [north.enqueue("noop", queue="mail") for _ in range(20)]
        page.take(prepare)
        start(*serving, QWF_DSN=cells["south"])
        new = [south.enqueue("noop", queue="mail") for _ in range(20)]
        start(*serving, QWF_DSN=cells["north"])
        page.take(drain)
        assert {north.job(job)["status"] for job in old} == {"completed"}
        assert {south.job(job)["status"] for job in new} == {"queued"}
        page.take(resume)
        for job in new:
            assert south.ended(job)["status"] == "completed"
        assert {job % 16 for job in old} == {0}
        assert {job % 16 for job in new} == {1}
        assert north.invariants() == south.invariants() == []


def test_the_page_computes_the_cell_of_a_key_in_both_languages(
    cells: dict[str, str], environment: dict[str, str], tmp_path: Path
) -> None:
    chapter = blocks(CHAPTERS["Which cell does a job go to?"])
    sql, python = (next(b for b in chapter if b.language == kind) for kind in ("sql", "python"))
    with reader(tmp_path, environment, cells["north"]) as page:
        printed = page.take(sql)
    said = eval(python.text.splitlines()[-1], {"cell_for": cell_for})
    assert printed == f"{said}\n"
