"""Promises of a fleet with model servers, shown with real agents and real servers: the better box
does the work, and whatever is killed or stopped, every request has an outcome."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.system.log_pipe import last_writing
from support.busy_front import once_busy
from support.harness import PACKAGE, Database, StartAgent, alive, clean_environment, until
from support.llama import COMMAND, SLOW, served, tiny_model
from support.served import ask, busy, chats, state

BOXES = {"best": 8, "better": 4, "worst": 1}
LOAD = 3  # requests in flight: about a third of what the best box takes
HOSTS = """
    select w.host, count(*) as jobs from qwf.job_attempts a join qwf.workers w on w.id = a.worker
    group by w.host
"""


@pytest.fixture(scope="session")
def slow_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a model whose answers take seconds."""
    return tiny_model(tmp_path_factory.mktemp("slow") / "slow.gguf", SLOW)


def answering(base: Database, folder: Path, count: int = 1) -> tuple[list[int], dict[str, Any]]:
    """Jobs that ask until the gate is open, and their server, which works on all of them now."""
    jobs = chats(base, folder, count)
    found = state(base, "ready")
    until(lambda: busy(found["port"]) == count, "the server to work on all")
    return jobs, found


def opened(base: Database, folder: Path, jobs: list[int]) -> None:
    """Open the gate; then all jobs complete."""
    (folder.parent / "gate").touch()
    assert [base.ended(job)["status"] for job in jobs] == ["completed"] * len(jobs)
    assert base.invariants() == []


def test_at_a_third_of_the_load_of_the_best_box_only_its_server_is_started(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    """The patience is long, because a busy machine may be slow."""
    base.conn.execute("update qwf.settings set pack_patience = '30 s'")
    agents = {}
    for box, parallel in BOXES.items():
        configure(parallel=parallel, file=f"{box}.toml")
        agents[box] = start("--host", box, QWF_CONFIG=str(tmp_path / f"{box}.toml"))
    until(lambda: base.one("select count(*) from qwf.sleepers") == len(BOXES), "all to sleep")
    unfinished = "select count(*) from qwf.jobs where finished_at is null"
    jobs = []
    for _ in range(60):
        until(lambda: base.one(unfinished) < LOAD, "the end of a job")
        jobs.append(ask(base))
    assert {base.ended(job)["status"] for job in jobs} == {"completed"}
    assert base.conn.execute(HOSTS).fetchall() == [{"host": "best", "jobs": len(jobs)}]
    starts = {box: agent.said().count("server llama starts") for box, agent in agents.items()}
    assert starts == {"best": 1, "better": 0, "worst": 0}


def test_plain_sql_changes_a_server_while_it_answers(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    """The server itself would take eight requests."""
    configure(command=(*COMMAND[:-2], "8", COMMAND[-1]), parallel=1)
    base.conn.execute(
        "insert into qwf.worker_controls (host_label, queue, parallel) values ('box', 'llm', 2)"
    )
    start()
    folder = tmp_path / "running"
    jobs = chats(base, folder, 5)
    found = state(base, "ready")
    until(lambda: busy(found["port"]) == 2, "two at once")
    base.conn.execute("update qwf.worker_controls set parallel = 4, server_idle = '0.3 s'")
    until(lambda: busy(found["port"]) == 4, "four at once")
    assert max(busy(found["port"]) for _ in range(100)) == 4
    opened(base, folder, jobs)
    assert [len(base.attempts(job)) for job in jobs] == [1] * 5, "no request was cut off"
    until(lambda: not alive(found["pid"]), "the idle server to be stopped")
    assert state(base, "off")["starts"] == 1


def test_a_server_that_stops_within_an_answer_is_killed_and_the_job_completes(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, slow_weights: Path
) -> None:
    base.conn.execute("update qwf.settings set stall_timeout = '3 s', stall_samples = 1")
    configure(path=slow_weights)
    start()
    folder = tmp_path / "running"
    jobs, found = answering(base, folder)
    until(lambda: base.job(jobs[0])["progress"], "a first token")
    os.kill(found["pid"], signal.SIGSTOP)
    attempt = base.attempted(jobs[0])
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "stalled")
    until(lambda: not alive(found["pid"]), "the server to be killed")
    opened(base, folder, jobs)
    assert state(base, "ready")["pid"] != found["pid"]


def test_a_killed_body_gives_its_place_in_the_server_back(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, slow_weights: Path
) -> None:
    configure(path=slow_weights, parallel=1)
    agent = start()
    folder = tmp_path / "running"
    jobs, found = answering(base, folder)
    base.one("select qwf.pause_queue('llm')")
    (mark,) = [pid for pid in agent.children() if asks(pid, found["port"])]
    os.kill(mark, signal.SIGKILL)
    killed_at = time.monotonic()
    until(lambda: busy(found["port"]) == 0, "the free place")
    print(f"the place was free after {time.monotonic() - killed_at:.3f} s")
    assert base.attempted(jobs[0])["outcome"] is not None
    base.one("select qwf.resume_queue('llm')")
    opened(base, folder, jobs)
    assert state(base, "ready")["starts"] == 1, "the server went on"


def asks(pid: int, port: int) -> bool:
    """Return True if the process has a connection to this port of this machine."""
    links = [fd for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()]
    inodes = {str(link.readlink()) for link in links}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in inodes for row in rows)


def test_a_killed_agent_leaves_no_process_and_no_request_without_an_outcome(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure()
    agent = start("--lease", "3")
    folder = tmp_path / "running"
    jobs, found = answering(base, folder, 4)
    left = [*agent.processes(), found["pid"]]
    agent.signal(signal.SIGKILL)
    agent.ended()
    for pid in left:
        until(lambda pid=pid: not alive(pid), "its processes to end")  # type: ignore[misc]
    start("--host", "other")
    assert [base.attempted(job)["outcome"] for job in jobs] == ["lost"] * 4
    opened(base, folder, jobs)
    unknown = "select count(*) from qwf.job_attempts where outcome is null"
    assert base.one(unknown) == 0


def test_a_busy_server_is_asked_again_when_it_says(
    base: Database, start: StartAgent, configure: Any, weights: Path
) -> None:
    with served(weights) as llama, once_busy(llama.port, wait_s=3) as url:
        configure("ours", url=url)
        start()
        args = {"prompt": "the cat", "max_tokens": 4}
        job = base.enqueue("llm", args, queue="llm", model="tiny", backoff="[0.1]")
        refused = base.attempted(job)
        assert (refused["outcome"], "answered 429" in refused["error"]) == ("tempfail", True)
        assert base.ended(job)["status"] == "completed"
    _, second = base.attempts(job)
    assert (second["started_at"] - refused["finished_at"]).total_seconds() >= 3


def test_the_words_of_a_model_are_followed_while_it_answers(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, slow_weights: Path
) -> None:
    configure(path=slow_weights)
    start()
    folder = tmp_path / "running"
    jobs, _ = answering(base, folder)
    printed = tmp_path / "printed"
    command = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "logs", "-f"]
    environment = {**clean_environment(tmp_path), "QWF_DSN": base.dsn, "PYTHONPATH": str(PACKAGE)}
    with printed.open("wb") as out:
        follower = subprocess.Popen(
            [*command, str(jobs[0])], stdout=out, stderr=subprocess.DEVNULL, env=environment
        )
    try:
        sizes = set()
        until(lambda: sizes.add(printed.stat().st_size) or len(sizes) > 3, "some words")
        assert base.job(jobs[0])["status"] == "running"
        opened(base, folder, jobs)
        assert follower.wait(40) == 0
    finally:
        follower.kill()
        follower.wait()
    whole = base.one("select qwf.read_log(%s, 1)", jobs[0])
    assert last_writing(printed.read_bytes(), ended=True).decode().strip() == whole.strip()
