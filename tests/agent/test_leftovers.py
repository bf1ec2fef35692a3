"""What a body has started ends with its child and with its agent, wherever it has gone; and memory
has a limit that the kernel holds, where control groups are at hand."""

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
    """A control group (v2) of the test's own."""
    mount = next((mount for mount in MOUNTS if (mount / "cgroup.procs").exists()), None)
    if mount is None or not os.access(mount, os.W_OK):
        pytest.skip("no control groups (v2) that this user may make groups in")
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
    """A job that runs, its process, and the one it has left behind."""
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
def test_it_ends_with_an_agent_that_is_killed(
    request: pytest.FixtureRequest, base: Database, start: StartAgent, tmp_path: Path,
    kind: str, task: str,
) -> None:  # fmt: skip
    agent = start("--app", "bodies", *options(request, kind))
    _, pids = left_by(base, task, tmp_path)
    agent.process.kill()
    gone(pids)


@pytest.mark.parametrize(("kind", "task"), WAYS)
def test_it_ends_with_a_body_that_is_killed(
    request: pytest.FixtureRequest, base: Database, start: StartAgent, tmp_path: Path,
    kind: str, task: str,
) -> None:  # fmt: skip
    start("--app", "bodies", *options(request, kind))
    job_id, pids = left_by(base, task, tmp_path, timeout="0.5 s")
    assert base.attempted(job_id)["reason"] == "timeout"
    gone(pids)


def groups_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_groups_are_given_back(base: Database, start: StartAgent, folder: Path) -> None:
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


def test_what_dead_agents_have_left_is_given_back(
    base: Database, start: StartAgent, folder: Path
) -> None:
    (folder / "qwf-99999999-abcd-1").mkdir()
    start("--app", "bodies", "--cgroup", str(folder))
    assert "qwf-99999999-abcd-1" not in groups_in(folder)


def test_an_agent_uses_the_group_that_systemd_has_left_to_it(
    base: Database, start: StartAgent, tmp_path: Path, folder: Path
) -> None:
    try:
        os.setxattr(folder, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"control groups take no attributes here: {error}")
    enter = f'echo $$ > {folder}/cgroup.procs; exec "$@"'
    agent = start("--app", "bodies", inside=("sh", "-c", enter, "sh"))
    own, one = groups_in(folder)[::-1]
    assert own.endswith("-agent")
    assert str(agent.pid) in (folder / own / "cgroup.procs").read_text().split()
    _, pids = left_by(base, "leaving_a_fork", tmp_path)
    assert {str(pid) for pid in pids} <= set((folder / one / "cgroup.procs").read_text().split())
    agent.process.kill()
    gone(pids)


def test_a_group_that_cannot_be_used_is_a_reason_not_to_start(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--cgroup", str(tmp_path), ready=False)
    assert agent.ended() == 78
    assert "control group" in agent.said()


@pytest.mark.parametrize("in_program", [False, True], ids=["itself", "a program it starts"])
def test_the_kernel_holds_the_limit_on_memory(
    base: Database, start: StartAgent, tmp_path: Path, folder: Path, in_program: bool
) -> None:
    if "memory" not in (folder / "cgroup.controllers").read_text().split():
        pytest.skip("the memory controller is not with control groups v2 here")
    start("--app", "bodies", "--max-rss", "200M", "--cgroup", str(folder))
    args = {"file": str(tmp_path / "pid"), "megabytes": 300, "in_program": in_program}
    attempt = base.attempted(base.enqueue("growing", args))
    assert (attempt["outcome"], attempt["reason"], attempt["signal"]) == ("lost", "oom", 9)
    assert attempt["error"].startswith("out of memory")


def test_a_kill_of_the_kernel_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\noom 3\noom_kill 1\noom_group_kill 0\n")
    oom = OomKills(tmp_path)
    assert not oom.any_new()
    (tmp_path / "memory.events").write_text("low 0\noom 4\noom_kill 3\noom_group_kill 1\n")
    assert oom.any_new()
    assert not oom.any_new()
