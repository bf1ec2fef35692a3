"""When an agent ends, all its processes end; when something around it fails, it goes on."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from support.disks import small_disk
from support.harness import PACKAGE, USER, Agent, Database, StartAgent, alive, until
from support.proxy import proxy_to


def pids_in(file: Path) -> list[int]:
    return [int(word) for word in until(lambda: file.exists() and file.read_text()).split()]


def family(agent: Agent) -> list[int]:
    return [agent.pid, *agent.processes()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_killed_agent_leaves_no_process(
    base: Database, start: StartAgent, tmp_path: Path, number: signal.Signals
) -> None:
    agent = start("--app", "bodies", "--slots", "2")
    file = tmp_path / "pids"
    base.enqueue("starting_a_program", {"file": str(file)})
    pids = pids_in(file)
    until(lambda: {"qwf-guardian", "qwf-sampler"} <= names(agent), "all its helpers")
    pids += family(agent)
    agent.signal(number)
    agent.ended()
    until(lambda: not any(alive(pid) for pid in pids), "the end of all of it")


def names(agent: Agent) -> set[str]:
    return {name for name in ("qwf-guardian", "qwf-sampler") if agent.processes(name)}


def test_a_killed_agent_leaves_no_command_running(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    script, file = folder / "long.sh", tmp_path / "pids"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! > {file}\nwait\n")
    script.chmod(0o755)
    agent = start("--allow-commands", str(folder))
    base.enqueue("command", {"command": ["long.sh"]})
    until(lambda: len(file.read_text().split() if file.exists() else []) == 2)
    pids = pids_in(file)
    agent.signal(signal.SIGKILL)
    agent.ended()
    until(lambda: not any(alive(pid) for pid in pids), "the end of all of it")


def test_a_stopped_agent_leaves_no_process_and_no_file(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    base.ended(base.enqueue("noop"))
    pids = family(agent)
    assert agent.stop() == 0
    assert not any(alive(pid) for pid in pids)
    assert list(tmp_path.glob("qwf-*")) == []


def test_an_agent_survives_its_guardian(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", "--fresh")
    for pid in agent.processes("qwf-guardian"):
        os.kill(pid, signal.SIGKILL)
    for _ in range(3):
        assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert agent.stop() == 0


# Dead connections --------------------------------------------------------------------------------

IMPATIENT = """
import qwf_agent.agent.database
qwf_agent.agent.database.SOFT_DEADLINE_S = 3.0  # instead of ten
"""


QUIET = """
    select bool_and(state = 'idle' and state_change < clock_timestamp() - interval '0.2 s')
    from pg_stat_activity
    where starts_with(application_name, 'qwf agent') and datname = current_database()
"""


def impatient(start: StartAgent, folder: Path, *options: str) -> Agent:
    """An agent that gives up after three seconds on a server that does not answer."""
    (folder / "sitecustomize.py").write_text(IMPATIENT)
    return start(*options, PYTHONPATH=os.pathsep.join(map(str, (folder, PACKAGE, USER))))


def test_a_dead_connection_is_noticed(
    base: Database, server: Any, start: StartAgent, tmp_path: Path
) -> None:
    """Packets are dropped without an error: the agent reconnects and reports what has ended; its
    lease has not lapsed."""
    socket = f"{server.host}/.s.PGSQL.{server.port}"
    with proxy_to(socket) as proxy:
        dsn = make_conninfo(base.dsn, host="127.0.0.1", port=proxy.port)
        impatient(start, tmp_path, "--app", "bodies", "--dsn", dsn)
        file = tmp_path / "pid"
        job_id = base.enqueue("telling", {"file": str(file), "seconds": 1})
        until(file.exists)
        assert proxy.freeze() == 2
        assert base.ended(job_id)["status"] == "completed"
        assert len(base.attempts(job_id)) == 1
        assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_an_idle_dead_connection_is_noticed(
    base: Database, server: Any, start: StartAgent, tmp_path: Path
) -> None:
    socket = f"{server.host}/.s.PGSQL.{server.port}"
    with proxy_to(socket) as proxy:
        dsn = make_conninfo(base.dsn, host="127.0.0.1", port=proxy.port)
        impatient(start, tmp_path, "--app", "bodies", "--dsn", dsn)
        base.ended(base.enqueue("noop"))
        until(lambda: base.one(QUIET), "silence: a claim under way would take the job and be lost")
        proxy.freeze()
        assert base.ended(base.enqueue("noop"))["status"] == "completed"


# Disks -------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    with small_disk(tmp_path / "tiny", "64k") as place:
        if place is None:
            pytest.skip("only root may mount a small file system to fill")
        yield place


def test_a_full_disk_is_a_failure_of_the_host(
    base: Database, start: StartAgent, tiny: Path
) -> None:
    agent = start("--app", "bodies", "--out-root", str(tiny))
    attempt = base.attempted(base.enqueue("writing", {"megabytes": 1}))
    assert (attempt["outcome"], attempt["reason"]) == ("tempfail", "disk_full")
    assert "No space left" in attempt["error"]
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert agent.process.poll() is None


def test_an_agent_survives_a_log_on_a_full_disk(
    base: Database, dsn: str, tmp_path: Path, start: StartAgent
) -> None:
    agent = start("--app", "bodies", "-v", log=Path("/dev/full"))
    assert base.ended(base.enqueue("printing", {"what": "much"}))["status"] == "completed"
    crashed = base.attempted(base.enqueue("die", {"number": 9}))
    assert crashed["outcome"] == "lost"
    assert agent.process.poll() is None
    assert agent.stop() == 0


# Clocks ------------------------------------------------------------------------------------------


def test_nothing_depends_on_the_clock_of_the_box() -> None:
    """The database keeps the leases, and all else is measured on the monotonic clock: setting the
    clock of a box changes nothing."""
    rooms = [PACKAGE / "qwf_agent" / room for room in ("agent", "child", "system")]
    files = [file for room in rooms for file in room.glob("*.py")]
    assert files
    for file in files:
        if file.name == "job_context.py":  # the mark of a folder says when it was made, for people
            continue
        assert not re.search(r"\btime\.time\(|datetime\.now|utcnow", file.read_text()), file
