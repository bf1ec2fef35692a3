"""Who is to blame for crashes: the task or the box. The table is in docs/watchdogs.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.harness import PACKAGE, Database, StartAgent, clean_environment, until

CODE = """
import os, signal, sys
from qwf_agent import App, Job

app = App()

def die():
    os.kill(os.getpid(), signal.SIGSEGV)

@app.task()
def killer() -> None:
    die()

@app.task()
def other() -> None:
    die()

@app.task()
def picky(job: Job) -> None:
    if os.environ.get("BROKEN"):
        die()

@app.task()
def mended() -> None:
    if not os.path.exists("mended"):
        die()

@app.task()
def fine() -> None: ...
"""
HELD = (
    "select string_agg(task || ' on ' || array_to_string(hosts, ', '), '; ' order by task)"
    " from qwf.held_tasks where until is not null"
)
OFF = "select string_agg(distinct host, ', ') from qwf.switched_off"


@pytest.fixture
def code(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(CODE)
    return f"{PACKAGE}:{tmp_path}"


def boxes(start: StartAgent, code: str, *names: str, **environment: str) -> None:
    for name in names:
        start("--app", "mine", "--host", name, "--slots", "2", PYTHONPATH=code, **environment)


def enqueue(base: Database, task: str, number: int) -> list[int]:
    return [base.enqueue(task) for _ in range(number)]


def all_complete(base: Database, ids: list[int]) -> None:
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}


def test_a_task_that_dies_on_the_only_box_is_held(
    base: Database, start: StartAgent, code: str
) -> None:
    boxes(start, code, "box-a")
    enqueue(base, "killer", 60)
    until(lambda: base.one(HELD) == "killer on box-a", "the hold")
    all_complete(base, enqueue(base, "fine", 20))
    assert base.one(OFF) is None
    assert base.one("select count(*) from qwf.jobs where task = 'killer' and losses > 0") < 40


def test_a_task_that_dies_on_two_boxes_is_held_and_others_go_on(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    boxes(start, code, "box-a", "box-b", "box-c")
    fine = []
    for _ in range(20):
        enqueue(base, "killer", 3)
        fine += enqueue(base, "fine", 3)
    until(lambda: base.one(HELD), "the hold")
    all_complete(base, fine)
    assert base.one(OFF) is None
    assert (
        base.one("select count(*) from qwf.jobs where task = 'killer' and status = 'queued'") > 20
    )
    assert (
        base.one(
            "select count(*) from _qwf.event_log where kind = 'task_held' and subject = 'killer'"
        )
        == 1
    )
    hosts = base.one("select array_to_string(hosts, ', ') from qwf.held_tasks")
    done = subprocess.run(
        [Path(sys.executable).with_name("qwf"), "doctor"], capture_output=True, text=True,
        check=False, env={**clean_environment(tmp_path), "QWF_DSN": base.dsn},
    )  # fmt: skip
    assert f"killer crashed on {hosts}: held until " in done.stdout
    assert "qwf queue resume default --task killer" in done.stdout
    notices: list[str] = []
    base.conn.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    base.enqueue("killer")
    assert notices[0].startswith(f"killer crashed on {hosts}: held until ")


def test_two_tasks_that_die_on_one_box_switch_it_off(
    base: Database, start: StartAgent, code: str
) -> None:
    """It is the only one, so nobody knows better; a hold of each may come first."""
    base.conn.execute('select qwf.change_settings(\'{"crash_hold": "0 s"}\')')
    boxes(start, code, "box-a")
    for _ in range(10):
        base.enqueue("killer")
        base.enqueue("other")
    until(lambda: base.one(OFF) == "box-a", "it to withdraw")
    said = base.one("select says from qwf.doctor('{workers}') where level = 'problem'")
    assert said.startswith("box-a has withdrawn from default: several jobs in a row failed within ")
    assert " killer" in said
    assert " other" in said


def test_a_task_that_dies_on_one_box_and_does_well_on_another_leaves_only_that_box(
    base: Database, start: StartAgent, code: str
) -> None:
    boxes(start, code, "box-b")
    boxes(start, code, "box-a", BROKEN="1")
    ids = enqueue(base, "picky", 60)
    withdrawn = (
        "select string_agg(k, '') from qwf.workers, jsonb_object_keys(stats -> 'withdrawn') k"
    )
    until(lambda: enqueue(base, "picky", 5) and base.one(withdrawn) == "task picky", "its box")
    all_complete(base, ids)
    assert base.one(HELD) is None
    assert base.one(OFF) is None
    all_complete(base, enqueue(base, "fine", 10))


def test_new_code_ends_the_hold_after_one_job(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    boxes(start, code, "box-a", "box-b")
    ids = [base.enqueue("mended", max_losses=100) for _ in range(20)]
    until(lambda: base.one(HELD), "the hold")
    (tmp_path / "mended").touch()
    boxes(start, code, "box-c")
    all_complete(base, ids)
    assert base.one("select count(*) from _qwf.event_log where kind = 'task_back'") == 1
    assert base.one("select count(*) from qwf.held_tasks") == 0
    assert base.invariants() == []
