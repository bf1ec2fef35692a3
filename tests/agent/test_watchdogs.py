"""Every watchdog trips on a body that misbehaves in any way, and ignores one that is only slow."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.harness import DRIVER, Agent, Database, StartAgent, agents, alive, until
from support.servers import Server

GIB = 1 << 30


def pids_in(file: Path) -> list[int]:
    return [int(word) for word in until(lambda: file.exists() and file.read_text()).split()]


def tripped(base: Database, job_id: int, file: Path, reason: str) -> dict[str, Any]:
    """The attempt, which was lost for this reason; all processes of its body have ended."""
    pids = pids_in(file)
    attempt = base.attempted(job_id)
    assert (attempt["outcome"], attempt["reason"]) == ("lost", reason)
    until(lambda: not any(alive(pid) for pid in pids), "the death of all of it")
    query = "select detail -> 'readings' from _qwf.event_log where kind = 'tripped' and job_id = %s"
    assert base.one(query, job_id)["ran_s"] > 0
    return attempt


STUBBORN = ("silent", "holding_the_gil", "ignoring_signals", "stopping_itself", "with_family")


class Together:
    """Bodies that run at once on one agent: their jobs, and the files they write their pids to."""

    def __init__(self, base: Database, home: Path) -> None:
        self.base = base
        self.home = home
        self.jobs: dict[str, int] = {}

    def enqueue(self, task: str, args: dict[str, Any] | None = None, **options: Any) -> None:
        given = {"file": str(self.home / task), **(args or {})}
        self.jobs[task] = self.base.enqueue(task, given, max_losses=1, **options)

    def kill(self, task: str) -> None:
        """End a body that runs, with its programs."""
        for pid in pids_in(self.home / task):
            os.killpg(pid, signal.SIGKILL)
        self.base.ended(self.jobs[task])
        (self.home / task).unlink()

    def tripped(self, task: str, reason: str) -> dict[str, Any]:
        return tripped(self.base, self.jobs[task], self.home / task, reason)


@contextlib.contextmanager
def together(server: Server, template: str, home: Path, settings: str = "") -> Iterator[Together]:
    """A database with an agent that has room for all bodies."""
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        base = Database(dsn)
        with base.conn, agents(dsn, home) as start:
            if settings:
                base.conn.execute(f"update qwf.settings set {settings}")
            start("--app", "bodies", "--slots", "8")
            yield Together(base, home)


@pytest.fixture(scope="module")
def timed(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Together]:
    """All stubborn bodies, each with two seconds."""
    with together(server, template, tmp_path_factory.mktemp("timed")) as bodies:
        for task in (*STUBBORN, "spinning"):
            bodies.enqueue(task, timeout="2 s")
        yield bodies


@pytest.fixture(scope="module")
def stalling(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Together]:
    """All stubborn bodies, which report progress once, and one that never does."""
    home = tmp_path_factory.mktemp("stalling")
    settings = "stall_timeout = '0.5 s', stall_samples = 2"
    with together(server, template, home, settings) as bodies:
        for task in STUBBORN:
            bodies.enqueue(task)
        bodies.enqueue("telling", {"seconds": 3})
        yield bodies


@pytest.mark.parametrize("task", [*STUBBORN, "spinning"])
def test_the_wall_clock_trips(timed: Together, task: str) -> None:
    attempt = timed.tripped(task, "timeout")
    assert attempt["error"].startswith("timeout")
    assert attempt["signal"] in (None, int(signal.SIGKILL))


def test_importing_a_task_does_not_count_as_its_time(base: Database, start: StartAgent) -> None:
    start("--nodes", "steps")
    job_id = base.enqueue("slow_to_import", {}, timeout="1 s")
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1


@pytest.mark.parametrize("task", STUBBORN)
def test_no_progress_trips(stalling: Together, task: str) -> None:
    assert "no progress" in stalling.tripped(task, "stalled")["error"]


@pytest.mark.parametrize("in_program", [False, True], ids=["spinning", "program"])
def test_no_progress_ignores_a_body_that_computes(stalling: Together, in_program: bool) -> None:
    """It or a program of it: however long it is silent."""
    base = stalling.base
    stalling.enqueue("spinning", {"in_program": in_program})
    job_id = stalling.jobs["spinning"]
    suspected = "from _qwf.event_log where kind = 'stall_suspected' and job_id = %s"
    until(lambda: base.one(f"select count(*) {suspected}", job_id) >= 2, "two suspicions")
    most = f"select max((detail -> 'readings' ->> 'most_cpu_percent')::float) {suspected}"
    assert base.one(most, job_id) > 0
    tripped = "from _qwf.event_log where kind = 'tripped' and job_id = %s"
    measured = f"select count(*) {tripped} and detail -> 'readings' ? 'rss_bytes'"
    assert base.one(measured, job_id) == 0  # a sampler that gets no CPU time measures nothing
    stalling.kill("spinning")  # it would compute until the last test of this module


def test_no_progress_ignores_a_body_that_never_reported_any(stalling: Together) -> None:
    job_id = stalling.jobs["telling"]
    assert stalling.base.ended(job_id)["status"] == "completed"
    assert len(stalling.base.attempts(job_id)) == 1


def test_no_progress_ignores_a_body_that_keeps_reporting(base: Database, start: StartAgent) -> None:
    base.conn.execute("update qwf.settings set stall_timeout = '4 s', stall_samples = 1")
    start("--app", "bodies")
    job_id = base.enqueue("slow_but_alive", {"steps": 12, "seconds": 0.4})
    assert base.ended(job_id)["output"] == {"steps": 12}
    assert len(base.attempts(job_id)) == 1


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The state of the only card: percent in use, memory in use, memory."""
    file = tmp_path / "cards.json"
    file.write_text(json.dumps([[0, GIB, 16 * GIB]]))
    return file


def on_card(start: StartAgent, card: Path, *options: str) -> Agent:
    return start(
        "--app", "bodies", "--queue", "gpu", "--gpu", "0", *options,
        FAKE_CARDS=str(card), PYTHONPATH=DRIVER,
    )  # fmt: skip


def test_a_busy_card_counts_as_progress(
    base: Database, start: StartAgent, tmp_path: Path, card: Path
) -> None:
    base.conn.execute("update qwf.settings set stall_timeout = '0.5 s', stall_samples = 2")
    card.write_text(json.dumps([[97, GIB, 16 * GIB]]))
    agent = on_card(start, card)
    file = tmp_path / "pid"
    job_id = base.enqueue("silent", {"file": str(file)}, queue="gpu")
    until(lambda: agent.said().count("still active") >= 2, "two observations")
    assert alive(pids_in(file)[0])
    query = "select detail -> 'readings' from _qwf.event_log where kind = 'stall_suspected'"
    assert base.one(query)["most_gpu_percent"] == 97
    card.write_text(json.dumps([[0, GIB, 16 * GIB]]))
    attempt = tripped(base, job_id, file, "stalled")
    assert attempt["gpu_peak_bytes"] == GIB


def test_an_idle_card_trips_after_grace_and_window(
    base: Database, start: StartAgent, tmp_path: Path, card: Path
) -> None:
    base.conn.execute("update qwf.settings set gpu_health_window = '1 s', model_load_grace = '4 s'")
    on_card(start, card)
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 600}, queue="gpu")
    attempt = tripped(base, job_id, file, "gpu_hung")
    assert "idle" in attempt["error"]


def test_a_report_of_progress_ends_the_grace(
    base: Database, start: StartAgent, tmp_path: Path, card: Path
) -> None:
    base.conn.execute("update qwf.settings set gpu_health_window = '1 s'")
    on_card(start, card)
    file = tmp_path / "pid"
    tripped(base, base.enqueue("silent", {"file": str(file)}, queue="gpu"), file, "gpu_hung")


@pytest.mark.parametrize(
    ("settings", "use"),
    [
        ("gpu_health_window = '0.5 s', model_load_grace = '4 s'", 50),
        ("gpu_health_window = '0.5 s'", 0),  # within the grace
    ],
)
def test_gpu_health_ignores_a_body_that_computes_or_loads(
    base: Database, start: StartAgent, tmp_path: Path, card: Path, settings: str, use: int
) -> None:
    base.conn.execute(f"update qwf.settings set {settings}")
    card.write_text(json.dumps([[use, GIB, 16 * GIB]]))
    on_card(start, card)
    job_id = base.enqueue("telling", {"file": str(tmp_path / "f"), "seconds": 6}, queue="gpu")
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1


def test_gpu_health_ignores_light_jobs_and_jobs_without_a_card(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute(
        "update qwf.settings set gpu_health_window = '0.5 s', model_load_grace = '4 s'"
    )  # without any grace, a child would be killed while it imports its code
    start("--app", "bodies", "--queue", "gpu", "--gpu", "none")
    job_id = base.enqueue("telling", {"file": str(tmp_path / "f"), "seconds": 6}, queue="gpu")
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1


def test_a_hung_driver_delays_no_watchdog(
    base: Database, start: StartAgent, tmp_path: Path, card: Path
) -> None:
    base.conn.execute("update qwf.settings set stall_timeout = '1 s', stall_samples = 2")
    on_card(start, card)
    file = tmp_path / "pid"
    job_id = base.enqueue("silent", {"file": str(file)}, queue="gpu")
    pids_in(file)
    card.write_text(json.dumps([[-1, GIB, 16 * GIB]]))  # from now on the driver never answers
    tripped(base, job_id, file, "stalled")


def test_a_hung_sampler_delays_no_watchdog(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set stall_timeout = '1 s', stall_samples = 2")
    agent = start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("silent", {"file": str(file)})
    for pid in until(lambda: agent.processes("qwf-sampler"), "the sampler"):
        os.kill(pid, signal.SIGSTOP)
    tripped(base, job_id, file, "stalled")


@pytest.mark.parametrize("in_program", [False, True], ids=["itself", "a program it starts"])
def test_memory_beyond_the_limit_trips(
    base: Database, start: StartAgent, tmp_path: Path, in_program: bool
) -> None:
    start("--app", "bodies", "--max-rss", "200M")
    file = tmp_path / "pid"
    args = {"file": str(file), "megabytes": 300, "in_program": in_program}
    attempt = tripped(base, base.enqueue("growing", args), file, "oom")
    assert "--max-rss is 200 MiB" in attempt["error"]


def test_memory_within_the_limit_does_not_trip(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--max-rss", "1G")
    job_id = base.enqueue("telling", {"file": str(tmp_path / "pid"), "seconds": 3})
    assert base.ended(job_id)["status"] == "completed"
    assert len(base.attempts(job_id)) == 1


def test_a_child_that_keeps_too_much_memory_is_replaced(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--max-rss", "200M")
    first = base.ended(base.enqueue("leaking", {"megabytes": 250}))
    second = base.ended(base.enqueue("leaking", {"megabytes": 1}))
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert first["output"] != second["output"]
