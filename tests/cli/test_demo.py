"""qwf demo, from nothing to pictures."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from qwf_agent import config, embedded
from qwf_agent.cli.demo import photos
from support.welcome import Cli

ROOT = Path(__file__).resolve().parents[2]
DEMO = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "demo"]


@pytest.fixture
def home() -> Iterator[Path]:
    """The QWF_HOME of the test; its server is stopped afterwards."""
    yield config.home()
    embedded.down(config.home())


def agents_of(home: Path) -> list[psutil.Process]:
    """Agents that run with this QWF_HOME."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            mine = process.environ().get("QWF_HOME") == str(home)
            if mine and "--nodes" in process.cmdline() and process.status() != "zombie":
                found.append(process)
    return found


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DEMO, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_makes_pictures_from_photographs_and_can_be_run_again(home: Path) -> None:
    first = demo()
    assert first.returncode == 0, first.stdout + first.stderr
    for photo in photos.shipped():
        assert f"{photo.name}: not asking, taking the best" in first.stdout
    for name in ("sheet.png", "turntable.gif", "relief.glb", "relief.ply"):
        made = list((home / "demo").rglob(name))
        assert len(made) == len(photos.shipped())
        assert all(path.stat().st_size > 1000 for path in made)
    assert "5 of 5 runs completed" in first.stdout
    assert (home / "demo" / "index.html").is_file()
    with psycopg.connect(config.find_dsn()) as conn:
        assert conn.execute("select * from qwf.check_invariants()").fetchall() == []
        states = conn.execute("select distinct status from qwf.runs").fetchall()
        assert states == [("completed",)]
        stopped = conn.execute("select count(*) from qwf.workers where stopped_at is null")
        assert stopped.fetchone() == (0,)
    assert agents_of(home) == []

    again = demo("--limit", "1", "--out", str(home / "elsewhere"))
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(list((home / "elsewhere").rglob("sheet.png"))) == 1


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_cancels_its_runs_and_stops_its_agents(
    dsn: str, home: Path, sent: signal.Signals
) -> None:
    running = subprocess.Popen(
        [*DEMO, "--dsn", dsn],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert running.stdout is not None
    for line in running.stdout:
        if "detect/fetch  completed" in line:
            break
    running.send_signal(sent)
    rest = running.communicate(timeout=60)[0]
    assert running.returncode == 130, rest
    assert "Traceback" not in rest
    assert agents_of(home) == []
    with psycopg.connect(dsn) as conn:
        states = conn.execute("select status::text from qwf.runs").fetchall()
        assert {state for (state,) in states} <= {"cancelled", "completed"}


def test_an_agent_that_dies_is_reported_with_its_log(dsn: str, home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "streetview"
    shutil.copytree(ROOT / "examples" / "streetview" / "definitions", broken / "definitions")
    result = demo("--dsn", dsn, "--example", str(broken))  # a package without any node
    assert result.returncode == 1
    assert "agent exited" in result.stderr
    assert "demo-" in result.stderr
    assert agents_of(home) == []


def test_a_broken_photograph_fails_its_run_and_the_demo(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"no picture")
    result = demo("--dsn", dsn, "--photos", str(tmp_path / "photos"))
    assert result.returncode == 1
    assert "cannot identify image file" in result.stdout


def test_refuses_a_folder_without_photographs(qwf: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = qwf("demo", "--photos", tmp_path / "empty")
    assert result.exit_code == 1
    assert "no photographs" in result.stderr


def test_stops_waiting_for_an_answer_at_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    from qwf_agent.cli.demo import following

    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w") as typed:
        monkeypatch.setattr("sys.stdin", stdin)
        started = time.monotonic()
        assert following._number(3, 0.05) == 1
        assert time.monotonic() - started >= 0.05
        typed.write("7\n")
        typed.flush()
        assert following._number(3, 0.05) == 1  # 7 is refused, then there is no answer
        typed.write("2\n")
        typed.flush()
        assert following._number(3, 5) == 2
