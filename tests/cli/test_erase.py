"""`qwf erase`: what ended jobs have of a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cli.conftest import Cli
from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import FolderMark

Db = psycopg.Connection[Any]
HERS = ("erase", "--label", "person=42")


@pytest.fixture
def hers(on_db: Cli, db: Db) -> Cli:
    """A database with two failed jobs of a person, and one of somebody else."""
    for task, person in (("a", "42"), ("b", "42"), ("c", "7")):
        on_db("enqueue", task, "--label", f"person={person}", "--set", f"who=p{person}")
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'no') from qwf.claim('default', 'w', 9)"
    )
    return on_db


def erased(db: Db) -> str:
    query = "select string_agg(task, '' order by task) from qwf.jobs where erased_parts is not null"
    return str(db.execute(query).fetchall()[0][0] or "")


def test_it_says_how_many_and_erases(hers: Cli, db: Db) -> None:
    assert hers(*HERS, "--dry-run").stdout == "2 jobs would be erased\n"
    asked = hers(*HERS)
    assert (asked.exit_code, "Erase 2 jobs, forever?" in asked.stderr) == (2, True)
    assert erased(db) == ""
    assert hers(*HERS, "--yes").stdout == "2 jobs erased\n"
    assert erased(db) == "ab"
    again = hers(*HERS, "--yes")
    assert (again.exit_code, again.stdout.startswith("nothing to erase")) == (0, True)
    shown = hers("audit", "--kind", "erased").stdout
    assert "jobs 2" in shown


def test_it_takes_keys_ids_and_parts(hers: Cli, db: Db) -> None:
    (job,) = db.execute("select id from qwf.jobs where task = 'c'").fetchone() or (0,)
    assert hers("erase", "--id", job, "--parts", "logs,errors", "--yes").exit_code == 0
    row = db.execute("select erased_parts, inputs from qwf.jobs where task = 'c'").fetchone()
    assert row == (["errors", "logs"], {"who": "p7"})
    assert hers("erase").exit_code == 2
    assert "unknown part" in hers("erase", "--id", job, "--parts", "log", "--yes").stderr
    assert json.loads(hers("erase", "--failed", "--task", "a", "--yes", "--json").stdout) == [
        {"job_id": job - 2, "run_id": None, "host": None, "path": None}
    ]


def test_it_refuses_jobs_that_have_not_ended(hers: Cli) -> None:
    hers("enqueue", "d", "--label", "person=42")
    refused = hers(*HERS, "--yes")
    assert refused.exit_code == 1
    assert "1 job has not ended" in refused.stderr
    assert "cancel them first" in refused.stderr


def leave_file(db: Db, root: Path, task: str, *, marked: bool = True) -> Path:
    """A file that the job has left on this box."""
    query = (
        "select id, created_at::text, (select id::text from qwf.instance) from qwf.jobs"
        " where task = %s"
    )
    (job, created_at, instance) = db.execute(query, (task,)).fetchone() or (0, "", "")
    folder = root / "jobs" / str(job)
    (folder / "in").mkdir(parents=True)
    if marked:
        mark = FolderMark(instance, 1, None, folder_mark.moment(created_at), job)
        (folder / folder_mark.NAME).write_text(mark.text())
    file = folder / "in" / "anna.txt"
    file.write_text("hers")
    db.execute(
        "insert into qwf.run_files (job_id, file_no, rel_path, host, kind, size_bytes)"
        " values (%s, 1, 'in/anna.txt', 'box', 'text', 4)",
        (job,),
    )
    db.execute(
        "insert into qwf.workers (id, host, queue, out_root) values ('w', 'box', 'default', %s)"
        " on conflict do nothing",
        (str(root),),
    )
    return file


def test_it_deletes_the_files_of_this_box(
    hers: Cli, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = leave_file(db, tmp_path / "out", "a")
    assert f"box:{file}" in hers(*HERS, "--dry-run").stdout
    monkeypatch.setenv("QWF_HOST", "other")
    assert hers(*HERS, "--files", "--yes").stdout == "0 files on other\n"
    monkeypatch.setenv("QWF_HOST", "box")
    assert hers(*HERS, "--files", "--dry-run").stdout == "1 file on box\n"
    assert file.exists()
    done = hers(*HERS, "--files", "--yes")
    assert (done.exit_code, done.stdout.startswith("1 file on box\ndeleted")) == (0, True)
    assert not file.exists()
    assert file.parent.parent.joinpath(folder_mark.NAME).exists()
    assert erased(db) == ""
    assert hers(*HERS, "--files", "--yes").exit_code == 0  # it is gone, and that is fine
    assert f"box:{file}" in hers(*HERS, "--yes").stdout
    assert erased(db) == "ab"


@pytest.mark.parametrize("trap", ["no mark", "another's mark", "a link"])
def test_it_deletes_no_file_of_others(
    hers: Cli, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setenv("QWF_HOST", "box")
    file = leave_file(db, tmp_path / "out", "a", marked=trap != "no mark")
    if trap == "another's mark":
        other = leave_file(db, tmp_path / "out", "b")
        mark = file.parent.parent / folder_mark.NAME
        mark.write_text((other.parent.parent / folder_mark.NAME).read_text())
    elif trap == "a link":
        elsewhere = tmp_path / "elsewhere"
        file.parent.rename(elsewhere)
        file.parent.symlink_to(elsewhere)
    done = hers(*HERS, "--files", "--yes")
    assert done.exit_code == 1
    assert f"not deleted: {file}" in done.stderr
    assert file.exists()
