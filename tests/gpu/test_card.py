"""Tests of the agent that need a real card. The figures that they print (-s) belong in
docs/gpu.md."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from qwf_agent.system import gpu
from support.card import freed, used
from support.harness import Database, StartAgent, alive, until

GIB = 1 << 30


def pid_in(file: Path) -> int:
    return int(until(lambda: file.exists() and file.read_text(), "the body"))


def test_a_model_stays_loaded_across_jobs_until_it_is_idle(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    base.conn.execute("update qwf.settings set model_idle = '3 s'")
    start()
    ids = [base.enqueue("use", {}, queue="gpu", model="net") for _ in range(5)]
    assert {base.ended(job_id)["output"]["sum"] for job_id in ids} == {1000.0}
    loads = "select (stats ->> 'model_loads')::int from qwf.workers"
    until(lambda: base.one(loads) == 1, "the heartbeat after the load")
    assert used(driver) > baseline + 3 * GIB
    first, *rest = (base.attempts(job_id)[0] for job_id in ids)
    took = [(a["finished_at"] - a["started_at"]).total_seconds() for a in (first, *rest)]
    print(f"cold {took[0]:.2f} s, warm {min(took[1:]):.4f} s")
    until(lambda: base.one("select current_model is null from qwf.workers"), "the unloading")
    assert used(driver) < baseline + 2 * GIB, "only the driver context of the process is left"


def test_another_model_takes_its_place(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    start()
    base.ended(base.enqueue("use", {}, queue="gpu", model="net"))
    base.ended(base.enqueue("use", {}, queue="gpu", model="second"))
    assert used(driver) < baseline + 4 * GIB, "4 GiB are freed, 2 GiB are in use"


def test_a_hard_stop_frees_the_memory(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    start()
    base.ended(base.enqueue("use", {}, queue="gpu", model="net"))
    assert used(driver) > baseline + 3 * GIB
    base.conn.execute("select qwf.worker_control('box', 'gpu', 'off')")
    seconds = freed(driver, baseline)
    print(f"back at the baseline {seconds:.2f} s after the order")
    assert seconds < 2


def test_the_watchdogs_leave_a_busy_card_alone(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute(
        "update qwf.settings set stall_timeout = '2 s', gpu_health_window = '3 s',"
        " model_load_grace = '1 s'"
    )
    start()
    args = {"file": str(tmp_path / "pid"), "seconds": 12}
    job_id = base.enqueue("compute", args, queue="gpu")
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1


def test_the_wall_clock_ends_a_kernel_that_spins(
    base: Database, start: StartAgent, tmp_path: Path, driver: gpu.Driver, baseline: int
) -> None:
    file = tmp_path / "pid"
    start()
    job_id = base.enqueue("spin", {"file": str(file)}, queue="gpu", timeout="5 s")
    pid = pid_in(file)
    attempt = base.attempted(job_id)
    assert attempt["reason"] == "timeout"
    until(lambda: not alive(pid), "the death of the body")
    print(f"back at the baseline {freed(driver, baseline):.2f} s after the report")


def test_an_idle_card_trips(base: Database, start: StartAgent, tmp_path: Path) -> None:
    base.conn.execute("update qwf.settings set gpu_health_window = '4 s', model_load_grace = '2 s'")
    start()
    job_id = base.enqueue("idle", {"file": str(tmp_path / "pid")}, queue="gpu")
    attempt = base.attempted(job_id)
    assert attempt["reason"] == "gpu_hung"


@pytest.mark.parametrize(("task", "model"), [("use", "too_large"), ("fill", None)])
def test_out_of_memory_is_a_tempfail_and_leaves_the_card_free(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int, task: str,
    model: str | None,
) -> None:  # fmt: skip
    start()
    attempt = base.attempted(base.enqueue(task, {}, queue="gpu", model=model))
    assert (attempt["outcome"], attempt["reason"]) == ("tempfail", "accelerator")
    print(f"back at the baseline {freed(driver, baseline):.2f} s after the report")


def test_a_broken_card_context_fails_no_other_job(base: Database, start: StartAgent) -> None:
    """CUDA refuses all further work of a process after an assertion in a kernel."""
    start()
    broken = base.enqueue("assertion", {}, queue="gpu", max_attempts=1)
    others = [base.enqueue("use", {}, queue="gpu", model="net") for _ in range(3)]
    assert base.ended(broken)["status"] == "failed"
    assert base.attempts(broken)[0]["reason"] == "accelerator"
    assert [base.ended(job_id)["status"] for job_id in others] == ["completed"] * 3
    assert [len(base.attempts(job_id)) for job_id in others] == [1, 1, 1]


def test_a_loader_that_fails_leaves_the_card_free(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    start()
    attempt = base.attempted(base.enqueue("use", {}, queue="gpu", model="incomplete"))
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "model")
    assert used(driver) < baseline + 2 * GIB, "only the driver context of the process is left"


def test_what_bodies_leave_in_torch_is_freed_when_the_card_is_idle(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    base.conn.execute("update qwf.settings set model_idle = '3 s'")
    start()
    base.ended(base.enqueue("own", {}, queue="gpu"))
    assert used(driver) > baseline + 3 * GIB, "torch keeps it for the next body"
    until(lambda: used(driver) < baseline + 2 * GIB, "the memory of the card")


@pytest.mark.parametrize("victim", ["child", "agent"])
def test_what_is_killed_holds_nothing(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int, victim: str
) -> None:
    agent = start()
    base.ended(base.enqueue("use", {}, queue="gpu", model="large"))
    assert used(driver) > baseline + 18 * GIB
    os.kill(agent.children()[0] if victim == "child" else agent.pid, signal.SIGKILL)
    print(f"20 GB back {freed(driver, baseline):.2f} s after the kill of the {victim}")


def test_the_card_is_free_when_the_agent_has_ended(
    base: Database, start: StartAgent, driver: gpu.Driver, baseline: int
) -> None:
    agent = start()
    base.ended(base.enqueue("use", {}, queue="gpu", model="large"))
    began = time.monotonic()
    assert agent.stop() == 0
    print(f"an agent with 20 GB on its card ended in {time.monotonic() - began:.2f} s")
    assert used(driver) < baseline + GIB


def test_telemetry_agrees_with_nvidia_smi(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set metrics = '0.5 s'")
    start()
    file = tmp_path / "pid"
    base.enqueue("compute", {"file": str(file), "seconds": 60}, queue="gpu")
    pid_in(file)
    look = "select gpus -> 0 from qwf.host_metrics order by sampled_at desc limit 1"
    until(lambda: (base.one(look) or {}).get("use_pct", 0) > 50, "a busy card")
    query = "--query-gpu=utilization.gpu,memory.used,memory.total"
    said = subprocess.run(
        ["nvidia-smi", query, "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()[0]  # fmt: skip
    use, memory, total = (float(word) for word in said.split(","))
    ours = base.one(look)
    print(f"nvidia-smi {use:.0f} %, {memory:.0f} MiB; host_metrics {ours}")
    assert ours["vram_total_mb"] == int(total) or abs(ours["vram_total_mb"] - total) < 1024
    assert abs(ours["vram_used_mb"] - memory) < 1024
    assert use > 50
