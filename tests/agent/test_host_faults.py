"""A box that cannot load a model, import a task or write files gives the jobs to other boxes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.system.writable import why_unwritable
from support.disks import small_disk
from support.harness import PACKAGE, Database, StartAgent, clean_environment, until

CODE = """
import os
from pathlib import Path
from qwf_agent import App

app = App()

@app.model()
def weights():
    if os.environ.get("NO_WEIGHTS"):
        raise FileNotFoundError("no weights")
    return "weights"

@app.task()
def write(out: Path) -> None:
    (out / "file").write_text("x")

@app.task()
def infer(model) -> dict:
    return {"model": model}

@app.task()
def plain() -> None: ...
"""
PROBLEMS = "select string_agg(says, '') from qwf.doctor('{workers}') where level = 'problem'"
STEP = """
import os
if os.environ.get("NO_STEP"):
    raise ImportError("no numpy")
def run(): ...
"""


@pytest.fixture
def code(tmp_path: Path) -> str:
    """The PYTHONPATH of an app and of its nodes."""
    home = tmp_path / "code"
    (home / "nodes").mkdir(parents=True)
    (home / "mine.py").write_text(CODE)
    (home / "nodes" / "__init__.py").touch()
    (home / "nodes" / "step.py").write_text(STEP)
    return f"{PACKAGE}:{home}"


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that nobody can write, root neither, and why: a disk that is read-only, or where
    this user cannot mount one, a folder below a file."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(tmp_path / "disk", "1M"))
        if disk is not None:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            yield disk / "out", "Read-only file system"
        else:
            (tmp_path / "file").touch()
            yield tmp_path / "file" / "out", "Not a directory"


def options(host: str, **more: str) -> list[str]:
    return ["--app", "mine", "--host", host, "--slots", "2", *(
        word for name, value in more.items() for word in (f"--{name.replace('_', '-')}", value)
    )]  # fmt: skip


def doctor(dsn: str, home: Path) -> tuple[int, str]:
    done = subprocess.run(
        [Path(sys.executable).with_name("qwf"), "doctor"], capture_output=True, text=True,
        check=False, env={**clean_environment(home), "QWF_DSN": dsn},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_box_that_cannot_write_files_withdraws(
    base: Database, start: StartAgent, code: str, tmp_path: Path, read_only: tuple[Path, str]
) -> None:
    """From its start on: 60 of 60 jobs are done elsewhere, and doctor names the box."""
    folder, why = read_only
    assert why_unwritable(folder) == f"cannot write {folder} ({why})"
    ids = [base.enqueue("write") for _ in range(60)]
    start(*options("box-b", out_root=str(folder)), PYTHONPATH=code)
    until(lambda: base.one("select count(*) from qwf.switched_off") == 1, "it to withdraw")
    assert base.one("select count(*) from qwf.jobs where attempt > 0") == 0
    start(*options("box-a"), PYTHONPATH=code)
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert base.one("select sum(losses) from qwf.jobs") == 0
    elsewhere = "select count(*) from qwf.job_attempts where worker like %s and outcome = %s"
    assert base.one(elsewhere, "box-a%", "completed") == 60
    said = base.one(
        "select string_agg(says, '') from qwf.doctor('{workers}') where level='problem'"
    )
    assert said == f"box-b has withdrawn from default: cannot write {folder} ({why})"
    exit_code, printed = doctor(base.dsn, tmp_path)
    assert exit_code == 1, printed
    assert "box-b has withdrawn from default: cannot write" in printed
    assert base.invariants() == []


def test_a_disk_that_becomes_read_only_makes_the_box_withdraw(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    """One job for each slot is lost, and avoids the box."""
    with small_disk(tmp_path / "disk", "1M") as disk:
        if disk is None:
            pytest.skip("this user may not mount a disk")
        start(*options("box-b", out_root=str(disk / "out")), PYTHONPATH=code)
        assert base.ended(base.enqueue("write"))["status"] == "completed"
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ids = [base.enqueue("write") for _ in range(60)]
        until(lambda: base.one("select count(*) from qwf.switched_off") == 1, "it to withdraw")
        lost = base.one("select array_agg(id) from qwf.jobs where losses > 0")
        assert 1 <= len(lost) <= 2
        attempt = base.attempts(lost[0])[0]
        assert (attempt["outcome"], attempt["reason"]) == ("lost", "out_root")
        assert attempt["error"].startswith(f"cannot write {disk}/out (Read-only file system)\n")
        assert base.job(lost[0])["avoid_host"] == "box-b"
        start(*options("box-a"), PYTHONPATH=code)
        assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
        assert base.one("select max(losses) from qwf.jobs") == 1


def test_a_folder_that_only_one_run_wants_is_no_fault_of_the_box(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    start(*options("box-a", nodes="nodes", queue="cpu"), PYTHONPATH=code)
    (tmp_path / "file").touch()
    base.one("""select qwf.register_pipeline('{"name": "p", "nodes": [
        {"id": "n", "node": "write"}]}')""")
    base.one("""select qwf.register_workflow('{"name": "w", "steps": [
        {"id": "s", "kind": "pipeline", "pipeline": "p"}]}')""")
    base.one("select qwf.enqueue_run('w', out_dir => %s)", str(tmp_path / "file" / "out"))
    job = base.ended(base.one("select max(id) from qwf.jobs"))
    assert job["status"] == "failed"
    assert base.attempts(job["id"])[0]["outcome"] == "error"
    assert base.one("select count(*) from qwf.switched_off") == 0


@pytest.mark.parametrize(
    ("fault", "task", "given", "reason", "thing"),
    [
        ("NO_WEIGHTS", "infer", {"model": "weights"}, "model", "model weights"),
        ("NO_STEP", "step", {}, "import", "task step"),
    ],
)
def test_a_box_withdraws_what_it_cannot_load(
    base: Database, start: StartAgent, code: str, fault: str, task: str, given: dict[str, Any],
    reason: str, thing: str,
) -> None:  # fmt: skip
    environment = {fault: "1", "PYTHONPATH": code}
    start(*options("box-b", nodes="nodes", gpu="none"), **environment)
    first = base.enqueue(task, **given)
    attempt = base.attempted(first)
    assert (attempt["outcome"], attempt["reason"]) == ("lost", reason)
    why = f"select stats -> 'withdrawn' ->> '{thing}' from qwf.workers where host = 'box-b'"
    error = until(lambda: base.one(why), "its heartbeat")
    assert ("no weights" if reason == "model" else "no numpy") in error
    rest = [base.enqueue(task, **given) for _ in range(20)]
    assert base.ended(base.enqueue("plain"))["status"] == "completed", "it takes other jobs"
    assert base.one("select count(*) from qwf.job_attempts where outcome = 'lost'") == 1
    said = base.one(
        "select string_agg(says, '') from qwf.doctor('{workers}') where level='problem'"
    )
    assert f"takes no jobs of {thing}: " in said
    start(*options("box-a", nodes="nodes", gpu="none"), PYTHONPATH=code)
    assert {base.ended(job_id)["status"] for job_id in (first, *rest)} == {"completed"}
    assert base.job(first)["losses"] == 1
    assert base.one("select max(losses) from qwf.jobs where id <> %s", first) == 0


def test_mended_code_is_offered_again_at_once(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    step = tmp_path / "code" / "nodes" / "step.py"
    step.write_text("import no_such_module\n")
    start(*options("box-b", nodes="nodes"), "--reload", PYTHONPATH=code)
    job_id = base.enqueue("step")
    assert base.attempted(job_id)["reason"] == "import"
    until(lambda: not base.one("select 'step' = any (tasks) from qwf.workers"), "the withdrawal")
    step.write_text("def run():\n    return {'mended': True}\n")
    assert base.ended(job_id)["output"] == {"mended": True}


def test_the_losses_of_a_lone_box_are_bounded(base: Database, start: StartAgent, code: str) -> None:
    start(*options("box-b", nodes="nodes"), PYTHONPATH=code, NO_STEP="1")
    job = base.ended(base.enqueue("step", max_losses=1))
    assert job["status"] == "failed"
    assert job["last_error"].startswith("lost once, given up: ImportError: no numpy")
