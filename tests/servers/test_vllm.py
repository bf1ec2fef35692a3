"""vLLM under an agent, with a model of random weights. The tests do not install vLLM: the variable
QWF_VLLM names a Python that has it, and then they take some minutes. -s prints figures."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.system.processes import descendants
from support import harness
from support.harness import TESTS, Agent, Database, StartAgent, alive, name_of, until
from support.served import ask, chats, server, state

PYTHON = os.environ.get("QWF_VLLM", "")
COMMAND = (
    PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", "{path}",
    "--served-model-name", "{model}", "--host", "127.0.0.1", "--port", "{port}",
    "--max-num-seqs", "8", "--max-model-len", "1024", "--dtype", "float32", "--enforce-eager",
)  # fmt: skip
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1",
    "VLLM_NO_USAGE_STATS": "1", "VLLM_RPC_BASE_PATH": "/tmp",
}  # fmt: skip
ENGINE = ("VLLM::EngineCor", "VLLM::Worker")  # the processes that compute
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["bird", "fish"]}},
    "required": ["kind"],
    "additionalProperties": False,
}

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="QWF_VLLM does not name a Python with vLLM: QWF_VLLM=/path/to/bin/python"
)
Vllm = Callable[..., Agent]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts in 30 seconds on a free machine, and in minutes on a busy one."""
    monkeypatch.setattr(harness, "DEADLINE_S", 600.0)


@functools.cache
def model(folder: Path, heads: int) -> Path:
    """A tiny model; vLLM cannot compute with 16 heads, but sees that at the first request."""
    path = folder / f"heads-{heads}"
    words = [PYTHON, TESTS / "support" / "random_llama.py", path, "256", "2", str(heads), "float32"]
    subprocess.run(words, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    return path


@pytest.fixture
def vllm(start: StartAgent, configure: Any, tmp_path_factory: pytest.TempPathFactory) -> Vllm:
    """Starts an agent whose server is vLLM."""

    def serve(heads: int = 4, **keys: Any) -> Agent:
        path = model(tmp_path_factory.getbasetemp(), heads)
        configure("vllm", path=path, command=COMMAND, **keys)
        return start("--slots", "8", **ENVIRONMENT)

    return serve


def ready(base: Database) -> dict[str, Any]:
    return state(base, "ready", "vllm")


def running(port: int) -> int:
    """How many requests it computes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return int(sum(map(float, re.findall(r"^vllm:num_requests_running\{.*\} (\S+)", text, re.M))))


def engine(pid: int) -> list[int]:
    """The processes that compute, of the server with this pid."""
    return [one for one in descendants(pid) if name_of(one) in ENGINE]


def all_gone(pids: list[int]) -> None:
    until(lambda: not any(map(alive, pids)), "all its processes to end")


def in_flight(base: Database, folder: Path, count: int) -> tuple[list[int], int]:
    """Jobs that send requests all the time, and the port that computes all of them."""
    jobs = chats(base, folder, count)
    port = ready(base)["port"]
    until(lambda: running(port) == count, "all requests in flight")
    return jobs, port


def test_jobs_start_and_share_it_and_it_stops_when_it_is_idle(base: Database, vllm: Vllm) -> None:
    vllm(idle="3 s")
    args = {"prompt": "Which?", "schema": SCHEMA, "max_tokens": 200}
    first, second = (base.enqueue("llm", args, queue="llm", model="tiny") for _ in range(2))
    pid = until(lambda: server(base, "vllm")["state"] and server(base, "vllm")["pid"], "a start")
    assert base.ended(first)["output"]["json"]["kind"] in ("bird", "fish")
    pids = [pid, *descendants(pid)]
    assert base.ended(second)["status"] == "completed"
    found = state(base, "off", "vllm")
    print(f"ready {found['load_s']} s after its start")
    assert (found["starts"], found["crashes"]) == (1, 0)
    all_gone(pids)
    assert base.ended(ask(base))["status"] == "completed"
    until(lambda: server(base, "vllm")["starts"] == 2, "its second start")


def test_no_more_requests_run_than_parallel_says(
    base: Database, vllm: Vllm, tmp_path: Path
) -> None:
    """The server itself would take eight."""
    vllm(parallel=4)
    jobs = chats(base, tmp_path / "running", 8)
    port = ready(base)["port"]
    until(lambda: running(port) == 4, "four at once")
    assert max(running(port) for _ in range(50)) == 4
    (tmp_path / "gate").touch()
    assert {base.ended(job)["status"] for job in jobs} == {"completed"}


@pytest.mark.parametrize("victim", ["the server", "its engine"])
def test_requests_whose_server_or_engine_was_killed_run_again(
    base: Database, vllm: Vllm, tmp_path: Path, victim: str
) -> None:
    vllm()
    jobs, _ = in_flight(base, tmp_path / "running", 4)
    found = ready(base)
    pids = [found["pid"], *descendants(found["pid"])]
    os.kill(found["pid"] if victim == "the server" else engine(found["pid"])[0], signal.SIGKILL)
    ends = [base.attempted(job) for job in jobs]
    assert {(end["outcome"], end["reason"]) for end in ends} == {("lost", "server")}
    all_gone(pids)
    (tmp_path / "gate").touch()
    for job in jobs:
        assert base.ended(job)["status"] == "completed", base.attempts(job)
    found = until(lambda: (now := ready(base))["starts"] == 2 and now, "its second start")
    assert found["crashes"] == 1
    print(f"ready again {found['load_s']} s after its second start")


def test_a_killed_agent_leaves_no_process(base: Database, vllm: Vllm, tmp_path: Path) -> None:
    agent = vllm()
    in_flight(base, tmp_path / "running", 4)
    pid = ready(base)["pid"]
    pids = [pid, *descendants(pid)]
    assert len(engine(pid)) == len(ENGINE)
    agent.signal(signal.SIGKILL)
    all_gone(pids)


def test_an_engine_that_hangs_within_answers_is_noticed(
    base: Database, vllm: Vllm, tmp_path: Path
) -> None:
    """Its web server goes on to say that it is healthy."""
    base.conn.execute("update qwf.settings set stall_timeout = '3 s'")
    vllm()
    jobs, port = in_flight(base, tmp_path / "running", 2)
    pid = ready(base)["pid"]
    pids = [pid, *descendants(pid)]
    for one in engine(pid):
        os.kill(one, signal.SIGSTOP)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
        assert answer.status == 200
    for job in jobs:
        assert base.attempted(job)["reason"] in ("stalled", "server")
    (tmp_path / "gate").touch()
    all_gone(pids)
    assert {base.ended(job)["status"] for job in jobs} == {"completed"}
