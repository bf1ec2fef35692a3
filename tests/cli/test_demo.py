"""qwf demo, from nothing to pictures."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent import config, embedded
from qwf_agent.cli.demo import following, page, photos
from qwf_agent.look import connection
from support.servers import Server
from support.thorough import THOROUGH, thorough
from support.welcome import OPTIONS, Cli

ROOT = Path(__file__).resolve().parents[2]
DEMO = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "demo"]


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    """The QWF_HOME of the test; its page and its server are stopped afterwards."""
    yield config.home()
    page.stop(config.home())
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


def pages_of(home: Path) -> list[psutil.Process]:
    """Pages that run with this QWF_HOME."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            mine = process.environ().get("QWF_HOME") == str(home)
            if mine and "web" in process.cmdline() and process.status() != "zombie":
                found.append(process)
    return found


def title(link: str) -> str:
    """Title of the page that a browser shows when it follows the link."""
    with httpx.Client(follow_redirects=True, timeout=60) as client:
        answer = client.get(link)
        assert answer.status_code == 200, answer.text[:300]
        return answer.text.partition("<title>")[2].partition("</title>")[0]


def pictures(link: str) -> int:
    """How many pictures of the newest run the page serves."""
    with (
        httpx.Client(follow_redirects=True, timeout=60) as client,
        psycopg.connect(config.find_dsn()) as conn,
    ):
        client.get(link)
        (run,) = conn.execute("select max(id) from qwf.runs").fetchone() or (0,)
        base = link.partition("?")[0].rstrip("/")
        shown = client.get(f"{base}/runs/{run}?show=files").text
        paths = set(re.findall(r'"(/files/[^"]+)"', shown))
        kinds = [client.get(base + path).headers["content-type"] for path in paths]
        return sum(kind.startswith("image/") for kind in kinds)


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DEMO, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_makes_pictures_from_photographs_and_can_be_run_again(
    home: Path, qwf: Cli, tmp_path: Path
) -> None:
    """The second time from a pair of photographs, beside one that is broken: its run fails, and so
    does the demo."""
    shown = photos.shipped() if THOROUGH else photos.shipped()[:1]
    first = demo(*(() if THOROUGH else ("--limit", "1")))
    assert first.returncode == 0, first.stdout + first.stderr
    for photo in shown:
        assert f"{photo.name}: not asking, taking the best" in first.stdout
    for name in ("sheet.png", "turntable.gif", "relief.glb", "relief.ply"):
        made = list((home / "demo").rglob(name))
        assert len(made) == len(shown)
        assert all(path.stat().st_size > 1000 for path in made)
    assert f"{len(shown)} of {len(shown)} runs completed" in first.stdout
    assert (home / "demo" / "index.html").is_file()
    links = re.findall(r"^http://127\.0\.0\.1:\d+/\?token=\S+$", first.stdout, re.MULTILINE)
    assert len(links) == 2
    assert links[0] == links[1]
    assert "qwf" in title(links[0])
    assert pictures(links[0]) > 0
    with psycopg.connect(config.find_dsn()) as conn:
        assert conn.execute("select * from qwf.check_invariants()").fetchall() == []
        states = conn.execute("select distinct status from qwf.runs").fetchall()
        assert states == [("completed",)]
        stopped = conn.execute("select count(*) from qwf.workers where stopped_at is null")
        assert stopped.fetchone() == (0,)
    assert agents_of(home) == []

    (pair,) = (photo for photo in photos.shipped() if photo.right)
    (tmp_path / "photos").mkdir()
    for side, file in (("left", pair.path), ("right", pair.right)):
        shutil.copy(str(file), tmp_path / "photos" / f"own_{side}.png")
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"no picture")
    again = demo("--photos", str(tmp_path / "photos"), "--out", str(home / "elsewhere"))
    assert again.returncode == 1, again.stdout + again.stderr
    assert "cannot identify image file" in again.stdout
    assert "1 of 2 runs completed" in again.stdout
    assert len(list((home / "elsewhere").rglob("sheet.png"))) == 1
    assert links[0] not in again.stdout  # a page that shows the files of the other folder
    assert len(pages_of(home)) == 1
    assert stat.S_IMODE((home / "logs" / "demo-web.log").stat().st_mode) == 0o600
    assert qwf("down").stdout == "stopped\n"
    assert pages_of(home) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=thorough)])
def test_an_interrupted_demo_cancels_its_runs_and_stops_its_agents(
    dsn: str, home: Path, sent: signal.Signals
) -> None:
    running = subprocess.Popen(
        [*DEMO, "--dsn", dsn, "--no-page", "--limit", "3"],
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
    rest = running.communicate(timeout=120)[0]
    assert running.returncode == 130, rest
    assert "Traceback" not in rest
    assert agents_of(home) == []
    with psycopg.connect(dsn) as conn:
        states = conn.execute("select status::text from qwf.runs").fetchall()
        assert {state for (state,) in states} <= {"cancelled", "completed"}


def test_an_agent_that_dies_is_reported_with_its_log(dsn: str, home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "streetview"
    shutil.copytree(ROOT / "examples" / "streetview" / "definitions", broken / "definitions")
    result = demo("--dsn", dsn, "--no-page", "--example", str(broken))  # a package without any node
    assert result.returncode == 1
    assert "agent exited" in result.stderr
    assert "demo-" in result.stderr
    assert agents_of(home) == []


def test_refuses_a_folder_without_photographs(qwf: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = qwf("demo", "--photos", tmp_path / "empty")
    assert result.exit_code == 1
    assert "no photographs" in result.stderr


def test_there_is_one_page_and_it_is_started_and_stopped_whatever_happens(
    dsn: str, template: str, server: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three calls at once start one page. A page that was killed is started again, a page for
    another database replaces it, and a page that hangs is killed."""
    with ThreadPoolExecutor() as pool:
        (first,) = set(pool.map(lambda _: page.start(home, dsn, home), range(3)))
    (process,) = pages_of(home)
    assert page.start(home, dsn, home) == first
    assert pages_of(home) == [process]

    process.kill()
    process.wait()
    second = page.start(home, dsn, home)
    assert second != first
    (process,) = pages_of(home)

    with server.database(server.new_name(), template) as other:
        third = page.start(home, server.dsn(other.dbname), home)
        assert third != second
        assert process not in pages_of(home)
        (process,) = pages_of(home)
        assert "qwf" in title(third)

        monkeypatch.setattr(page, "STOP_S", 0.2)
        process.suspend()
        assert page.stop(home)
        assert pages_of(home) == []
        assert not page.stop(home)


def test_a_page_whose_port_is_taken_meanwhile_gets_another(
    dsn: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(page, "_free_port", lambda: port)
        link = page.start(home, dsn, home)
    assert f":{port}/" not in link
    assert "qwf" in title(link)
    assert len(pages_of(home)) == 1


def test_without_its_packages_there_is_no_page_and_the_demo_says_how_to_get_it(
    dsn: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "raise ModuleNotFoundError(\"No module named 'uvicorn'\", name='uvicorn')"
    (tmp_path / "uvicorn.py").write_text(missing)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
    with pytest.raises(page.PageFailed, match=r"pip install 'qwf-agent\[web\]'"):
        page.start(home, dsn, home)
    assert pages_of(home) == []


def test_a_question_that_somebody_answers_elsewhere_is_not_asked_any_longer(
    applied: Cli, work: Callable[..., list[str]], db: psycopg.Connection[Any], dsn: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    applied("run", "welcome")
    work()
    question = db.execute("select run_id, node_id from qwf.pending_inputs").fetchone()
    assert question is not None
    run, node = question
    reading, writing = os.pipe()
    with (
        os.fdopen(reading) as stdin, os.fdopen(writing, "w"), connection.connect(dsn) as conn,
        ThreadPoolExecutor() as pool,
    ):  # fmt: skip
        monkeypatch.setattr("sys.stdin", stdin)
        asker = following.Asker(conn, {run: "a photo"}, 60, True)
        asked = pool.submit(asker.ask_all, following.Board({run: "a photo"}))
        until_looks(db, "pending_inputs where job_id")
        db.execute("select qwf.submit_input(%s, %s, %s, 'ada')", (run, node, Jsonb(OPTIONS[1])))
        assert asked.result(timeout=60) is True
    said = capsys.readouterr().out
    assert "Which one?" in said
    assert ", acting for ada: " in said
    assert "bye" in said.partition(", acting for ada")[2]
    assert "no answer" not in said


def until_looks(db: psycopg.Connection[Any], statement: str) -> None:
    """Wait until a session of this database has asked that."""
    query = (
        "select exists (select from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid() and query like %s)"
    )
    deadline = time.monotonic() + 60
    while db.execute(query, (f"%{statement}%",)).fetchone() != (True,):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_stops_waiting_for_an_answer_at_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w") as typed:
        monkeypatch.setattr("sys.stdin", stdin)
        started = time.monotonic()
        assert following._number(3, 0.05, lambda: True) == 1
        assert time.monotonic() - started >= 0.05
        typed.write("7\n")
        typed.flush()
        assert (
            following._number(3, 0.05, lambda: True) == 1
        )  # 7 is refused, then there is no answer
        typed.write("2\n")
        typed.flush()
        assert following._number(3, 5, lambda: True) == 2
