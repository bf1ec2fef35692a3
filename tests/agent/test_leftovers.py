"""Processes that a body started end with its child and its agent, even in other sessions. With
control groups, the kernel enforces the memory limit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent.system import cgroup
from qwf_agent.system.cgroup import MOUNTS, OomKills
from support.harness import Agent, Database, StartAgent, alive, until


@pytest.fixture
def folder() -> Iterator[Path]:
    """A control group (v2) for this test."""
    mount = next((mount for mount in MOUNTS if (mount / "cgroup.procs").exists()), None)
    if mount is None or not os.access(mount, os.W_OK):
        pytest.skip("this user may not create control groups (v2)")
    folder = mount / f"qwf-test-{os.getpid()}"
    folder.mkdir()
    yield folder
    for below in folder.iterdir():
        if below.is_dir():
            cgroup.remove(below)
    folder.rmdir()


def options(request: pytest.FixtureRequest, kind: str) -> list[str]:
    return ["--cgroup", str(request.getfixturevalue("folder"))] if kind == "in a group" else []


def left_by(base: Database, task: str, tmp_path: Path, **options: object) -> tuple[int, list[int]]:
    """A running job, and the pids of its processes."""
    file = tmp_path / "pids"
    job_id = base.enqueue(task, {"file": str(file)}, **options)
    pids = [int(word) for word in until(lambda: file.exists() and file.read_text()).split()]
    assert all(alive(pid) for pid in pids)
    return job_id, pids


def gone(pids: list[int]) -> None:
    until(lambda: not any(alive(pid) for pid in pids), "the end of all of it")


WAYS = [
    *(("marked", "with_family"), ("marked", "leaving_a_program")),
    *(("in a group", "leaving_a_program"), ("in a group", "leaving_a_fork")),
]


@pytest.mark.parametrize(("kind", "task"), WAYS)
def test_leftover_processes_end_with_a_killed_agent(
    request: pytest.FixtureRequest, base: Database, start: StartAgent, tmp_path: Path,
    kind: str, task: str,
) -> None:  # fmt: skip
    agent = start("--app", "bodies", *options(request, kind))
    _, pids = left_by(base, task, tmp_path)
    agent.process.kill()
    gone(pids)


@pytest.mark.parametrize(("kind", "task"), WAYS)
def test_leftover_processes_end_with_a_killed_body(
    request: pytest.FixtureRequest, base: Database, start: StartAgent, tmp_path: Path,
    kind: str, task: str,
) -> None:  # fmt: skip
    start("--app", "bodies", *options(request, kind))
    job_id, pids = left_by(base, task, tmp_path, timeout="3 s")
    assert base.attempted(job_id)["reason"] == "timeout"
    gone(pids)


def groups_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_groups_are_removed(base: Database, start: StartAgent, folder: Path) -> None:
    agents: list[Agent] = [
        start("--app", "bodies", "--slots", "2", "--cgroup", str(folder)) for _ in range(2)
    ]
    assert len(groups_in(folder)) == 4
    child = agents[0].children()[0]
    (first,) = folder.glob(f"qwf-{agents[0].pid}-*-1")
    assert str(child) in (first / "cgroup.procs").read_text().split()
    assert agents[0].stop() == 0
    agents[1].process.kill()
    until(lambda: groups_in(folder) == [], "the guardian")


def test_groups_of_dead_agents_are_removed(base: Database, start: StartAgent, folder: Path) -> None:
    (folder / "qwf-99999999-abcd-1").mkdir()
    start("--app", "bodies", "--cgroup", str(folder))
    assert "qwf-99999999-abcd-1" not in groups_in(folder)


def test_an_agent_uses_the_group_that_systemd_delegated_to_it(
    base: Database, start: StartAgent, tmp_path: Path, folder: Path
) -> None:
    try:
        os.setxattr(folder, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"control groups do not accept attributes here: {error}")
    enter = f'echo $$ > {folder}/cgroup.procs; exec "$@"'
    agent = start("--app", "bodies", inside=("sh", "-c", enter, "sh"))
    own, one = groups_in(folder)[::-1]
    assert own.endswith("-agent")
    assert str(agent.pid) in (folder / own / "cgroup.procs").read_text().split()
    _, pids = left_by(base, "leaving_a_fork", tmp_path)
    assert {str(pid) for pid in pids} <= set((folder / one / "cgroup.procs").read_text().split())
    agent.process.kill()
    gone(pids)


def test_an_agent_does_not_start_with_an_unusable_group(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--cgroup", str(tmp_path), ready=False)
    assert agent.ended() == 78
    assert "control group" in agent.said()


@pytest.mark.parametrize("in_program", [False, True], ids=["itself", "a program it starts"])
def test_the_kernel_enforces_the_memory_limit(
    base: Database, start: StartAgent, tmp_path: Path, folder: Path, in_program: bool
) -> None:
    if "memory" not in (folder / "cgroup.controllers").read_text().split():
        pytest.skip("control groups v2 have no memory controller here")
    start("--app", "bodies", "--max-rss", "200M", "--cgroup", str(folder))
    args = {"file": str(tmp_path / "pid"), "megabytes": 300, "in_program": in_program}
    attempt = base.attempted(base.enqueue("growing", args))
    assert (attempt["outcome"], attempt["reason"], attempt["signal"]) == ("lost", "oom", 9)
    assert attempt["error"].startswith("out of memory")


def test_a_kill_by_the_kernel_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\noom 3\noom_kill 1\noom_group_kill 0\n")
    oom = OomKills(tmp_path)
    assert not oom.any_new()
    (tmp_path / "memory.events").write_text("low 0\noom 4\noom_kill 3\noom_group_kill 1\n")
    assert oom.any_new()
    assert not oom.any_new()
