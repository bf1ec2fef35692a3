"""Every scenario of the benchmark runs, on tiny sizes: what it measures here means nothing."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import IO

import psutil
import pytest

import bench
import bench.server
from bench import page, processes, results
from bench.measure import percentiles
from bench.samples import Sample
from bench.scenario import Scenario, sizes_of, take
from bench.scenarios import ALL
from bench.workflows import compare, killed, systems
from bench.workflows.talk import talking
from bench.workflows.work import Work
from support.harness import nursery
from support.llama import need_llama
from support.servers import Server
from support.thorough import THOROUGH
from support.warm import Forked

AGENT = [sys.executable, "-m", "qwf_agent"]

TINY = {
    "enqueue": "--seconds 0.05 --producers 2 --workers 3",
    "throughput": "--seconds 0.5 --consumers 2",
    "drain": "--jobs 200 --batch 100 --agents 1",
    "latency": "--samples 5 --claimers 3",
    "dag": "--runs 5 --length 5 --width 20 --elements 20 --concurrent 3",
    "scale": "--queued 400 --finished 400 --blocked 10 --scheduled 10 --calls 3",
    "snapshot": "--seconds 0.5 --consumers 2",
    "events": "--rate 100 --seconds 1.5 --runs 10",
    "alerts": "--rules 2 --subjects 3 --events 50 --runs 20 --scrapes 3",
    "fleet": "--agents 2 --seconds 0.5 --settle 0",
    "recovery": "--lease 1",
    "memory": "--jobs 100 --steps 1",
    "pack": "--seconds 0.5 --busy 2 --jobs 10",
    "plain": "--jobs 4000 --batch 10",  # CPU time is read in hundredths of a second
    "hop": "--hops 300 --length 10",
    "serve": "--width 128 --tokens 4 --requests 3 --short 4",
    "horizon": "--seconds 0.4 --rate 50 --producers 1 --consumers 1 --rows 1000",
    "queues": "--queues 100",
    "kept": "--jobs 200",
    "keys": "--keys 100 --unfit 50 --claims 20",
    "calls": "--jobs 300",
    "children": "--elements 50 --batch 10 --maps 1 --runs 20 --nodes 3 --seconds 1",
    "waiting": "--runs 20 --steps 300 --ticks 10 --jobs 300 --pause 0",
    "waiters": "--waiters 300 --seconds 2",
    "retention": "--jobs 1000 --attempts 2 --seconds 1.5",
    "web": "--queued 100 --finished 100 --failed 10 --calls 1 --large 20 --tabs 4 --seconds 0.5",
}

# Figures that are differences, or CPU time in hundredths of a second
MAY_BE_ZERO = ("fleet", "horizon", "pack", "waiters", "web")


@pytest.fixture(autouse=True)
def forked_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents are forked, as those of other tests; with QWF_TEST_ALL=1 each is a new Python."""
    spawn = processes.begin

    def begin(
        command: list[str], log: IO[bytes], environment: dict[str, str]
    ) -> subprocess.Popen[bytes] | Forked:
        if command[:3] == AGENT and nursery().fits(environment, processes.ROOT):
            return nursery().start(command[3:], processes.ROOT, environment, log.fileno())
        return spawn(command, log, environment)

    if not THOROUGH:
        nursery()  # it stays
        monkeypatch.setattr(processes, "begin", begin)


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_scenario_measures(
    command: Scenario, server: Server, template: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if command.name == "serve":
        need_llama()
    place = place_of(server, template)
    before = set(psutil.Process().children(recursive=True))
    _, sizes = sizes_of(command, *TINY[command.name or ""].split())
    samples = take(place, command.measure, 1, sizes, quiet=True)
    assert samples
    for sample in samples:
        assert math.isfinite(sample.value)
        # CPU time is counted in hundredths of a second, so it may be 0 beside an elapsed time.
        used = sample.value or sample.more.get("elapsed", 0)
        assert used > 0 or command.name in MAY_BE_ZERO, sample
    assert set(psutil.Process().children(recursive=True)) <= before, "it left processes behind"

    monkeypatch.setattr(results, "RESULTS", tmp_path)
    written = results.save("tiny", samples, place.facts())
    text = written.read_text()
    assert json.loads(text)["facts"]["settings"]["synchronous_commit"] == "on"
    assert f"\n  {json.dumps(json.loads(text)['figures'][0])}" in text


def place_of(server: Server, template: str) -> bench.server.Server:
    """The server of the tests, for the benchmark."""
    return bench.server.Server(
        server.dsn("postgres"), templates={"qwf_agent.migrate.deploy": template}
    )


def test_workflows_run_on_qwf(server: Server, template: str) -> None:
    place = place_of(server, template)
    samples = list(compare.hops(place, systems.QWF, chains=1, length=4, width=3, runs=4))
    assert [sample.unit for sample in samples] == ["ms", "ms", "steps/s", "steps/s"]
    assert all(sample.value > 0 for sample in samples)
    assert {"commits", "wal_bytes", "server_us", "clients_us"} == set(samples[-1].more)
    samples = list(compare.computing(place, systems.QWF, light=5, heavy=12))
    assert all(0 < share < 100 for sample in samples for share in sample.more.values())


def test_no_step_of_a_chain_is_lost_when_its_agent_is_killed(server: Server, template: str) -> None:
    place = place_of(server, template)
    found = killed.killed(place, systems.QWF, steps=4, kill_at=1, lease=3.0, patience=60.0)
    assert found.value == 0
    assert found.more["twice"] == 1
    assert found.more["resumed_after_s"] > 0


def test_a_program_of_a_peer_is_asked_by_lines(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys; sys.path.insert(0, sys.argv[1]); import asking\n"
        "asking.answer(lambda shape, size, runs, n: [size * runs, 0, n], lambda size, path: "
        "open(path, 'w').write(str(size)) and None)\n"
    )
    peers = str(Path(bench.__file__ or "").parent / "peers")
    with talking([sys.executable, str(program), peers], tmp_path, {}) as talk:
        assert talk.ask(Work("chain", 5, runs=3, n=7)).done == [15, 0, 7]
        talk.begin(20, tmp_path / "marks")
        assert (tmp_path / "marks").read_text() == "20"
    assert talk.process.returncode is not None


def test_systems_stand_side_by_side() -> None:
    samples = [
        Sample("a", "one", 2.0, "ms", "qwf", {"commits": 1.0}),
        Sample("a", "one", 3.0, "ms", "other"),
        Sample("a", "two", 4.0, "s", "other"),
    ]
    facts = {"settings": {}, "machine": "", "postgres": "", "server": "", "load_before": 0}
    text = page.side_by_side(results.as_json(samples, facts))
    assert "|  | qwf | other |" in text
    assert "| one | 2.00 ms | 3.00 ms |\n| and commits | 1.00 |  |\n| two |  | 4.00 s |" in text


def test_the_spread_of_several_rounds_stands_behind_the_median() -> None:
    values = [(1.0, 380.0), (3.0, 384.0), (4.0, 390.0)]
    samples = [Sample("a", "one", value, "ms", "qwf", {"wal_bytes": wal}) for value, wal in values]
    facts = {"settings": {}, "machine": "", "postgres": "", "server": "", "load_before": 0}
    result = results.as_json(samples, facts)
    assert "| a, one | 3.00 ms (1.00 to 4.00) |" in page.medians(result)
    assert "| a | one | 3.00 ms | 1.00 to 4.00 | WAL 384 B |" in page.as_markdown(result)


def test_p95_of_twenty_values_is_not_the_largest() -> None:
    assert percentiles([n / 1000 for n in range(1, 21)]) == {
        "p50": 10, "p95": 19, "p99": 20, "max": 20
    }  # fmt: skip
    assert set(percentiles([0.004]).values()) == {4}
