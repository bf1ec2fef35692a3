"""The agent as a service: notifications to systemd, options in qwf.toml, code that changes."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent.agent.abilities import Abilities, registrations
from qwf_agent.agent.options import AgentOptions
from support.harness import DEADLINE_S, PACKAGE, Database, StartAgent, until
from support.servers import Server


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket that systemd would listen on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(DEADLINE_S)
        yield listener


def receive(listener: socket.socket, word: str) -> str:
    while word not in (said := listener.recv(4096).decode()):
        pass
    return said


def test_systemd_is_told_that_the_agent_is_up_alive_and_stopping(
    base: Database, start: StartAgent, tmp_path: Path, listener: socket.socket
) -> None:
    agent = start("--app", "bodies", NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="300000")
    assert "serving default" in receive(listener, "READY=1")
    for _ in range(3):
        receive(listener, "WATCHDOG=1")
    assert agent.stop() == 0
    receive(listener, "STOPPING=1")


def test_systemd_waits_while_the_agent_waits_for_a_database(
    start: StartAgent, tmp_path: Path, listener: socket.socket
) -> None:
    agent = start(
        "--app", "bodies", "--dsn", "host=127.0.0.1 port=1 dbname=x", log=tmp_path / "log",
        NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="300000",
    )  # fmt: skip
    for _ in range(2):
        assert "READY" not in receive(listener, "EXTEND_TIMEOUT_USEC=")
    assert agent.stop() == 0


def test_bodies_do_not_see_systemd(
    base: Database, start: StartAgent, tmp_path: Path, listener: socket.socket
) -> None:
    (tmp_path / "telltale.py").write_text(
        "import os\nfrom qwf_agent import App\napp = App()\n"
        "@app.task()\ndef tell():\n    return {'there': 'NOTIFY_SOCKET' in os.environ}\n"
    )
    start("--app", "telltale", NOTIFY_SOCKET=str(tmp_path / "notify"))
    assert base.ended(base.enqueue("tell"))["output"] == {"there": False}


def test_qwf_toml_takes_every_option(base: Database, start: StartAgent, tmp_path: Path) -> None:
    (tmp_path / "qwf.toml").write_text(
        "[agent]\n"
        'queue = ["gpu"]\ngpu = "none"\napp = "modelling"\nmax-rss = "8G"\nvram_mb = 4096\n'
        'label = ["disk=ssd", "site=attic"]\nrank = -1\nproject = "p"\nreload = true\n'
    )
    start("--host", "box")
    row = base.conn.execute(
        "select queue, labels, rank, project, vram_mb, models from qwf.workers"
    ).fetchone()
    assert row is not None
    assert sorted(row.pop("models")) == ["clumsy", "greedy", "helped", "missing", "slow"]
    assert row == {
        "queue": "gpu",
        "labels": {"disk": "ssd", "site": "attic", "host": "box"},
        "rank": -1,
        "project": "p",
        "vram_mb": 4096,
    }


def test_an_agent_takes_the_jobs_of_one_project_and_says_of_which(
    base: Database, start: StartAgent
) -> None:
    agents = {
        "jobs without a project": start("--app", "bodies"),
        "project alpha": start("--app", "bodies", QWF_PROJECT="alpha"),
        "project beta": start("--app", "bodies", "--project", "beta", QWF_PROJECT="alpha"),
    }
    for jobs, agent in agents.items():
        until(
            lambda agent=agent, jobs=jobs: f"serving default for {jobs} with" in agent.said(), jobs
        )
    for project in ("", "alpha", "beta"):
        job = base.ended(base.enqueue("enqueue_another", project=project))
        took = "select w.project from qwf.workers w join qwf.job_attempts a on a.worker = w.id"
        assert base.one(f"{took} where a.job_id = %s", job["id"]) == project
        child = base.ended(job["output"]["child"])
        assert child["project"] == project, "what a body enqueues is of the project of its agent"
    other = base.enqueue("noop", project="gamma")
    assert base.one("select string_agg(w, ' ') from qwf.why_not(%s) w", other).startswith(
        "no worker of project gamma serves queue default"
    )
    every = start("--app", "bodies", "--project", "*", QWF_PROJECT="alpha")
    assert base.ended(other)["status"] == "completed"
    assert "serving default for all projects with" in every.said()


def test_any_agent_sends_messages_of_alerts(tmp_path: Path) -> None:
    options = AgentOptions("", ("cpu", "qwf.alerts"), "box", tmp_path, project="alpha")
    announced = registrations(options, Abilities())
    projects = {queue: json.loads(info)["project"] for queue, info in announced.items()}
    assert projects == {"cpu": "alpha", "qwf.alerts": None}


def write(file: Path, version: int) -> None:
    """Write code that returns its version; the version also sets the file's time."""
    file.write_text(f"def run():\n    return {{'version': {version}}}\n")
    os.utime(file, (version, version))


@pytest.mark.parametrize("warm", [True, False], ids=["used before", "not used before"])
def test_changed_code_gets_new_children(
    base: Database, start: StartAgent, tmp_path: Path, warm: bool
) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    write(package / "work.py", 1)
    agent = start("--nodes", "mine", "--reload", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    if warm:
        assert base.ended(base.enqueue("work"))["output"] == {"version": 1}
    write(package / "work.py", 2)
    if warm:  # the children stay until a process of its own has imported the new code
        until(lambda: "has changed" in agent.said(), "the agent to see it")
        until(lambda: base.ended(base.enqueue("work"))["output"] == {"version": 2}, "the new code")
    else:
        assert base.ended(base.enqueue("work"))["output"] == {"version": 2}


def test_a_new_task_is_registered(base: Database, start: StartAgent, tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    write(package / "work.py", 1)
    options = ("--nodes", "mine", "--slots", "2", "--reload")
    start(*options, PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    job_id = base.enqueue("more")
    base.ended(base.enqueue("work"))
    assert base.job(job_id)["status"] == "queued"
    write(package / "more.py", 3)
    assert base.ended(job_id)["output"] == {"version": 3}
    assert base.one("select tasks from qwf.workers") == ["more", "work"]


def test_an_agent_says_that_its_new_tasks_are_refused(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    write(package / "work.py", 1)
    agent = start("--nodes", "mine", "--reload", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    base.ended(base.enqueue("work"))
    for number in range(400):  # more than 64 KiB of names
        write(package / f"{'x' * 180}{number}.py", 1)
    refused = "what default offers now is not registered: value too large"
    until(lambda: refused in agent.said(), "the refusal")
    assert base.ended(base.enqueue("work"))["status"] == "completed"
    worker = base.one("delete from qwf.workers returning id")
    base.conn.execute(f"notify worker_control, '{worker.rpartition(':')[0]}'")
    refused = f"worker {worker} cannot be registered again: value too large"
    until(lambda: refused in agent.said(), "the second refusal")


def test_new_tasks_are_registered_when_the_database_is_back(
    dsn: str, server: Server, start: StartAgent, tmp_path: Path
) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    path = f"{PACKAGE}{os.pathsep}{tmp_path}"
    agent = start("--nodes", "mine", "--reload", PYTHONPATH=path)
    until(agent.children, "its child")
    server.stop_immediate()
    write(package / "more.py", 3)
    until(lambda: "has changed: now more" in agent.said(), "the agent to see it")
    server.start()
    base = Database(dsn)
    with base.conn:
        assert base.ended(base.enqueue("more"))["output"] == {"version": 3}


def test_sighup_registers_the_tasks_of_new_code(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    code = "from qwf_agent import App\napp = App()\n"
    task = "@app.task()\ndef {}():\n    return {{}}\n"
    file = tmp_path / "mine.py"
    file.write_text(code + task.format("old"))
    agent = start("--app", "mine", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    job_id = base.enqueue("newer")
    base.ended(base.enqueue("old"))
    file.write_text(code + task.format("old") + task.format("newer"))
    agent.signal(signal.SIGHUP)
    assert base.ended(job_id)["status"] == "completed"
