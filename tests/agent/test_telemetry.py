"""One agent of each host reports how busy the host is, in rows and on a channel."""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import psycopg
import pytest

from qwf_agent.agent import telemetry
from qwf_agent.system import cgroup, gpu, sampler
from support.harness import DRIVER, Database, StartAgent, until

GIB = 1 << 30
# The keys that existing listeners of hw_metrics expect.
PAYLOAD = {
    "sampled_at", "host", "cpu_percent", "cpu_ours_percent", "ram_percent", "ram_used_mb",
    "ram_total_mb", "ram_ours_used_mb", "ram_ours_percent", "swap_used_mb", "gpus",
}  # fmt: skip


@pytest.fixture
def often(base: Database) -> None:
    base.conn.execute("update qwf.settings set metrics = '0.2 s'")


def heard(dsn: str) -> list[dict[str, Any]]:
    """Two samples from the channel."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("listen hw_metrics")
        return [json.loads(note.payload) for note in conn.notifies(timeout=40, stop_after=2)]


def test_the_share_of_the_memory_is_null_if_it_is_unknown(base: Database) -> None:
    samples = (
        {"ram_total_mb": 8000}, {"ram_ours_used_mb": 100},
        {"ram_total_mb": 8000, "ram_ours_used_mb": 2000},
        {"ram_total_mb": 8000, "ram_ours_used_mb": 9000},
    )  # fmt: skip
    with psycopg.connect(base.dsn, autocommit=True) as conn:
        conn.execute("listen hw_metrics")
        for sample in samples:
            conn.execute("select qwf.report_metrics('box', %s)", (json.dumps(sample),))
        heard = [json.loads(n.payload) for n in conn.notifies(timeout=40, stop_after=len(samples))]
    assert [one["ram_ours_percent"] for one in heard] == [None, None, 25.0, 100]


@pytest.mark.usefixtures("often")
def test_a_host_reports_how_busy_it_is(base: Database, start: StartAgent, tmp_path: Path) -> None:
    cards = tmp_path / "cards.json"
    cards.write_text(json.dumps([[42, 3 * GIB, 16 * GIB], [0, 0, 8 * GIB]]))
    start("--app", "bodies", "--host", "box", FAKE_CARDS=str(cards), PYTHONPATH=DRIVER)
    sample = heard(base.dsn)[1]
    assert set(sample) == PAYLOAD
    assert sample["host"] == "box"
    assert 0 <= sample["cpu_percent"] <= 100
    assert 0 < sample["ram_used_mb"] < sample["ram_total_mb"]
    assert sample["gpus"] == [
        {"id": 0, "use_pct": 42, "vram_used_mb": 3072, "vram_total_mb": 16384},
        {"id": 1, "use_pct": 0, "vram_used_mb": 0, "vram_total_mb": 8192},
    ]
    row = base.conn.execute(
        "select * from qwf.host_metrics order by sampled_at desc limit 1"
    ).fetchone()
    assert row is not None
    assert (row["host"], row["gpus"], row["ram_total_mb"]) == (
        "box", sample["gpus"], sample["ram_total_mb"],
    )  # fmt: skip


@pytest.mark.usefixtures("often")
def test_the_ticks_of_an_agent_write_the_minutes_of_its_host_and_queue(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    cards = tmp_path / "cards.json"
    cards.write_text(json.dumps([[42, 3 * GIB, 16 * GIB], [0, 0, 8 * GIB]]))
    start("--app", "bodies", "--host", "box", FAKE_CARDS=str(cards), PYTHONPATH=DRIVER)
    base.ended(base.enqueue("noop"))
    until(lambda: base.one("select count(*) from qwf.host_metrics") >= 2, "samples")
    base.conn.execute("update qwf.host_metrics set sampled_at = sampled_at - interval '1 min'")
    base.conn.execute("delete from qwf.queue_minutes where completed = 0")
    base.conn.execute("update qwf.queue_minutes set queued = null")
    until(lambda: base.one("select count(*) from qwf.host_minutes"), "a minute of the host")
    row = base.conn.execute("select * from qwf.host_minutes order by minute limit 1").fetchone()
    assert row is not None
    assert (row["host"], row["gpu_percent"], row["gpu_percent_max"]) == ("box", 21, 42)
    assert (row["vram_used_mb"], row["vram_total_mb"]) == (3072, 16384 + 8192)
    assert [card["use_pct"] for card in row["gpus"]] == [42, 0]
    assert 0 < row["ram_used_mb"] < row["ram_total_mb"]
    ended = "select sum(completed) from qwf.queue_minutes where queue = 'default'"
    until(lambda: base.one(ended) == 1, "the job counts")


@pytest.mark.usefixtures("often")
def test_one_agent_reports_a_host_and_another_takes_over(base: Database, start: StartAgent) -> None:
    agents = [start("--app", "bodies", "--host", "box") for _ in range(2)]
    until(lambda: base.one("select count(*) from qwf.host_metrics") >= 3, "samples")
    samplers = [agent.processes("qwf-sampler") for agent in agents]
    assert sorted(map(len, samplers)) == [0, 1]
    speaker = agents[0] if samplers[0] else agents[1]
    speaker.signal(signal.SIGKILL)
    speaker.ended()
    before = base.one("select qwf.now()")
    until(lambda: base.one("select max(sampled_at) > %s from qwf.host_metrics", before), "more")


@pytest.mark.usefixtures("often")
def test_a_sampler_that_dies_is_replaced(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    (first,) = until(lambda: agent.processes("qwf-sampler"), "the sampler")
    until(lambda: base.one("select count(*) from qwf.host_metrics") >= 1, "a sample")
    os.kill(first, signal.SIGKILL)
    until(lambda: agent.processes("qwf-sampler") not in ([], [first]), "another sampler")
    before = base.one("select qwf.now()")
    until(lambda: base.one("select max(sampled_at) > %s from qwf.host_metrics", before), "more")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


@pytest.mark.usefixtures("often")
def test_an_agent_exits_even_if_its_sampler_cannot_be_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may block it in the kernel, where no signal reaches it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(telemetry, "EXIT_S", 0.05)
    selector = selectors.DefaultSelector()
    measuring = telemetry.Telemetry(selector, tmp_path)
    others = set(psutil.Process().children())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telemetry.sampler, "serve", lambda *_: signal.pause())
        measuring.step(time.monotonic(), True, 5.0, Mock(is_ours=False))
        (pid,) = set(psutil.Process().children()) - others
        patch.setattr(telemetry.os, "kill", lambda *_: None)
        measuring.close()
        assert pid.is_running()
    pid.kill()
    pid.wait()


def test_a_parked_host_still_reports_how_busy_it_is(base: Database, start: StartAgent) -> None:
    base.conn.execute("select qwf.worker_control('box', 'default', 'off')")
    agent = start("--app", "bodies", "--host", "box")
    until(lambda: "is off" in agent.said(), "the agent to know")
    before = base.one("select qwf.now()")
    until(lambda: base.one("select max(sampled_at) > %s from qwf.host_metrics", before), "more")


def test_heartbeats_report_the_slots(base: Database, start: StartAgent, tmp_path: Path) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    start("--app", "bodies", "--slots", "2")
    base.enqueue("telling", {"file": str(tmp_path / "pid"), "seconds": 600})
    until(lambda: base.one("select stats ->> 'busy' from qwf.workers") == "1", "a busy slot")
    assert base.one("select stats ->> 'slots' from qwf.workers") == "2"


def test_the_output_of_nvidia_smi_is_parsed() -> None:
    text = "0, 37, 1024, 24576, GPU-1\n1, [N/A], 0, 81920\n\nNo devices were found\n"
    assert gpu.read_nvidia_smi(text) == [
        gpu.GpuCard(0, 37.0, GIB, 24 * GIB, "GPU-1"), gpu.GpuCard(1, 0.0, 0, 80 * GIB),
    ]  # fmt: skip


def test_cards_have_the_ids_that_the_environment_gives_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cards = [gpu.GpuCard(n, 0.0, 0, GIB, f"GPU-{n}a") for n in (0, 1)]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for given, ids in (
        ("0", ["GPU-0a", "GPU-1a"]), ("GPU-1", ["GPU-1a"]), ("MIG-7f", ["MIG-7f"]),
    ):  # fmt: skip
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        assert gpu.ids_of(cards) == ids


def test_the_output_of_rocm_smi_is_parsed() -> None:
    card = {
        "GPU use (%)": "99",
        "VRAM Total Memory (B)": str(16 * GIB),
        "VRAM Total Used Memory (B)": str(GIB),
    }
    text = json.dumps({"card0": card, "system": {"Driver version": "6.1"}})
    assert gpu.read_rocm_smi(text) == [gpu.GpuCard(0, 99.0, GIB, 16 * GIB)]


@pytest.mark.parametrize("tool", ["nvidia-smi", "rocm-smi"])
def test_the_tool_of_a_driver_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # as where it is not installed
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu.find_driver() is None
    card = {"GPU use (%)": "5", "VRAM Total Memory (B)": 8 * GIB, "VRAM Total Used Memory (B)": 0}
    said = {"nvidia-smi": "0, 5, 0, 8192", "rocm-smi": json.dumps({"card0": card})}[tool]
    program = tmp_path / tool
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    driver = gpu.find_driver()
    assert driver is not None
    assert driver() == [gpu.GpuCard(0, 5.0, 0, 8 * GIB)]


def made_agent(root: Path, pid: int, group: str, megabytes: int, cpu_s: int) -> None:
    """A guardian of an agent in a control group that uses so much."""
    process, folder = root / "proc" / str(pid), root / "mount" / group.lstrip("/")
    process.mkdir(parents=True, exist_ok=True)
    (process / "comm").write_text("qwf-guardian\n")
    (process / "cgroup").write_text(f"0::{group}\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.current").write_text(f"{megabytes << 20}\n")
    (folder / "cpu.stat").write_text(f"usage_usec {cpu_s * 1_000_000}\nuser_usec 0\n")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A box with two agents: one whose groups systemd has delegated, and one of another unit."""
    monkeypatch.setattr(cgroup, "PROC", tmp_path / "proc")
    monkeypatch.setattr(cgroup, "MOUNTS", (tmp_path / "mount",))
    made_agent(tmp_path, 1, "/a.service/qwf-7-ab12-agent", 10, 1)
    made_agent(tmp_path, 2, "/b.service", 200, 2)
    made_agent(tmp_path, 3, "/b.service/below", 50, 3)
    for name, megabytes, cpu_s in (("a.service", 100, 10), ("", 4000, 1000)):
        folder = tmp_path / "mount" / name
        (folder / "cgroup.procs").write_text("")
        (folder / "memory.current").write_text(f"{megabytes << 20}\n")
        (folder / "cpu.stat").write_text(f"usage_usec {cpu_s * 1_000_000}\n")
    (tmp_path / "mount" / "memory.current").unlink()  # as the root of all groups
    (tmp_path / "proc" / "4").mkdir()
    (tmp_path / "proc" / "4" / "comm").write_text("postgres\n")
    (tmp_path / "proc" / "self").symlink_to("1")
    return tmp_path


def test_all_agents_of_the_box_are_ours(box: Path) -> None:
    host = sampler.Host(psutil)
    assert host.sample()["ram_ours_used_mb"] == 300
    assert host.sample()["cpu_ours_percent"] == 0
    made_agent(box, 2, "/b.service", 250, 1_000_000)
    sample = host.sample()
    assert (sample["ram_ours_used_mb"], sample["cpu_ours_percent"]) == (350, 100)


def test_an_agent_that_has_come_has_used_nothing_before(box: Path) -> None:
    host = sampler.Host(psutil)
    made_agent(box, 5, "/c.service", 1000, 1_000_000)
    sample = host.sample()
    assert (sample["ram_ours_used_mb"], sample["cpu_ours_percent"]) == (1300, 0)


def test_the_share_is_unknown_if_an_agent_has_no_group_of_its_own(box: Path) -> None:
    host = sampler.Host(psutil)
    (box / "proc" / "3" / "cgroup").write_text("0::/\n")
    sample = host.sample()
    assert (sample["ram_ours_used_mb"], sample["cpu_ours_percent"]) == (None, None)
