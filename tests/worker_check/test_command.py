"""`qwf worker-check` as people call it, and what docs/clients.md says about it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

from qwf_agent import cli
from qwf_agent.cli.worker_check import CHECKS
from qwf_agent.cli.worker_check.starting import TASKS
from support.checked_workers import checked
from support.processes import with_variable
from support.servers import ROOT

PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
NAMES = [one.name for one in CHECKS]
SLEEPS = [sys.executable, "-c", "print('I only sleep', flush=True); import time; time.sleep(60)"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def qwf(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qwf, ["worker-check", *arguments])


def test_the_list_names_every_check() -> None:
    assert [line.split()[0] for line in qwf("--list").output.splitlines()] == NAMES
    assert [one["check"] for one in json.loads(qwf("--list", "--json").output)] == NAMES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the command that starts the worker"),
        (["--skip", "wake", "--", "true"], "'wake' is not one of"),
        (["--worker-dsn", "dbname=x", "--", "true"], "--worker-dsn needs --dsn"),
    ],
)
def test_wrong_usage_is_refused(arguments: list[str], said: str) -> None:
    done = qwf(*arguments)
    assert (done.exit_code, said in done.output) == (2, True), done.output


def test_a_report_says_what_was_seen_and_what_to_do(dsn: str, tmp_path: Path) -> None:
    where = ["--dsn", dsn, "--only", "completed", "--only", "wakes", "--skip", "completed"]
    done = qwf(*where, "--", *checked("bash", tmp_path))
    assert done.exit_code == 1
    lines = [line.strip() for line in done.output.splitlines()]
    assert lines[0].split(maxsplit=3) == [
        "✗", "wakes", "failed", "It never called sleep, so jobs start up to a poll late."
    ]  # fmt: skip
    assert lines[1] == "→ While it sleeps, it starts a job within 50 ms."
    assert lines[2].endswith("(docs/clients.md: Sleep)")
    assert lines[3].split(maxsplit=3) == ["-", "completed", "skipped", "You left it out."]
    assert lines[4] == "0 passed, 1 failed, 1 skipped"


def test_a_worker_that_does_not_register_is_told_from_one_that_cannot_start(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qwf_agent.cli.worker_check.kit.REGISTERS_WITHIN_S", 2.0)
    done = qwf("--dsn", dsn, "--json", "--", *SLEEPS)
    first, *others = json.loads(done.output)
    assert (done.exit_code, first["result"]) == (1, "failed")
    assert "did not register" in first["seen"]
    assert "I only sleep" in first["seen"]
    assert {one["seen"] for one in others} == {"The worker does not start."}
    first, *_ = json.loads(qwf("--dsn", dsn, "--json", "--", "/no/such/program").output)
    assert first["seen"].startswith("It cannot be started")


def test_a_queue_that_somebody_uses_is_refused(dsn: str, db: psycopg.Connection[Any]) -> None:
    db.execute("select qwf.create_queue('mine')")
    db.execute("select qwf.enqueue('t', queue => 'mine')")
    done = qwf("--dsn", dsn, "--queue", "mine", "--", *SLEEPS)
    assert done.exit_code == 1
    assert "has jobs that have not ended" in done.output
    assert db.execute("select status::text from qwf.jobs").fetchone() == ("queued",)


def test_a_check_that_needs_a_login_of_the_worker_is_skipped_without_one(
    dsn: str, tmp_path: Path
) -> None:
    done = qwf("--dsn", dsn, "--json", "--only", "cut", "--", *checked("bash", tmp_path))
    (one,) = json.loads(done.output)
    assert (done.exit_code, one["result"]) == (0, "skipped")
    assert "--worker-dsn" in one["seen"]


def test_a_check_that_is_ended_leaves_no_worker_and_no_server(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="qwf-"))  # a short path, as the server has a socket in it
    command = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "worker-check"]
    environ = {**os.environ, "MARK_OF_THIS_TEST": str(tmp_path), "TMPDIR": str(folder)}
    process = subprocess.Popen([*command, "--", *SLEEPS], env=environ)
    deadline = time.monotonic() + 60
    while not any(
        "worker-check" not in name for name in ours(tmp_path).values() if "I only" in name
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    assert ours(tmp_path) == {}
    folder.rmdir()  # it is empty


def ours(folder: Path) -> dict[int, str]:
    """The processes of this test that still run."""
    return {
        pid: name for pid, name in with_variable("MARK_OF_THIS_TEST", str(folder)).items() if name
    }


# The page ----------------------------------------------------------------------------------------


def test_a_hint_leads_to_a_paragraph_of_the_page() -> None:
    for one in CHECKS:
        assert re.search(rf"^(?:\*\*|### ){re.escape(one.section)}\b", PAGE, re.M), one.section


def test_the_table_of_a_worker_names_every_check() -> None:
    chapter = PAGE.split("### All that a complete worker does")[1].split("\nWhat comes on")[0]
    cells = [line.split("|")[4] for line in chapter.strip().splitlines()[2:]]
    assert set(re.findall(r"`([\w-]+)`", " ".join(cells))) == set(NAMES)


def test_the_page_has_the_tasks_of_the_checks() -> None:
    assert set(re.findall(r"^\| `(check\.\w+)` \|", PAGE, re.M)) == TASKS
