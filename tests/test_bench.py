"""Every scenario of the benchmark runs, on tiny sizes: what it measures here means nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import psutil
import pytest

import bench.server
from bench import results
from bench.measure import percentiles
from bench.scenario import Scenario, sizes_of, take
from bench.scenarios import ALL
from support.servers import Server

TINY = {
    "enqueue": "--seconds 1 --producers 2 --workers 3",
    "throughput": "--seconds 0.5 --consumers 2",
    "drain": "--jobs 300 --batch 100 --agents 1",
    "latency": "--samples 5 --claimers 3",
    "dag": "--runs 10 --length 5 --width 20 --elements 20 --concurrent 5",
    "scale": "--queued 400 --finished 400 --blocked 10 --scheduled 10 --calls 3",
    "snapshot": "--seconds 0.5 --consumers 2",
    "fleet": "--agents 2 --seconds 0.5 --settle 0",
    "recovery": "--lease 1",
    "memory": "--jobs 100 --steps 1",
    "pack": "--seconds 1 --busy 2 --jobs 20",
    "web": "--queued 100 --finished 100 --failed 10 --calls 1 --tabs 4 --seconds 1",
}


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_scenario_measures(
    command: Scenario, server: Server, template: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    place = bench.server.Server(
        server.dsn("postgres"), templates={"qwf_agent.migrate.deploy": template}
    )
    before = set(psutil.Process().children())
    _, sizes = sizes_of(command, *TINY[command.name or ""].split())
    samples = take(place, command.measure, 1, sizes, quiet=True)
    assert samples
    for sample in samples:
        assert math.isfinite(sample.value)
        assert sample.value > 0 or command.name in ("fleet", "pack", "web"), sample
    assert set(psutil.Process().children()) <= before, "it left processes behind"

    monkeypatch.setattr(results, "RESULTS", tmp_path)
    written = results.save("tiny", samples, place.facts())
    assert json.loads(written.read_text())["facts"]["settings"]["synchronous_commit"] == "on"


def test_p95_of_twenty_values_is_not_the_largest() -> None:
    assert percentiles([n / 1000 for n in range(1, 21)]) == {
        "p50": 10, "p95": 19, "p99": 20, "max": 20
    }  # fmt: skip
    assert set(percentiles([0.004]).values()) == {4}
