"""How many jobs an agent holds, and which it releases."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from qwf_agent.agent.batch_size import BATCH_S, BatchSize
from support.harness import Database, StartAgent, until


def test_a_job_does_not_wait_behind_a_long_body(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies", "--slots", "2")
    for _ in range(3):  # short bodies: the agent takes many at a time
        base.ended([base.enqueue("noop") for _ in range(60)][-1])
    file = tmp_path / "pid"
    long_one = base.enqueue("telling", {"file": str(file), "seconds": 600})
    ids = [base.enqueue("noop") for _ in range(60)]
    until(file.exists)
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert base.job(long_one)["status"] == "running"


def test_a_job_is_reported_while_a_long_body_runs_behind_it(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    for _ in range(3):
        base.ended([base.enqueue("noop") for _ in range(60)][-1])
    file = tmp_path / "pid"
    with base.conn.transaction():  # one batch
        ids = [base.enqueue("noop") for _ in range(10)]
        long_one = base.enqueue("telling", {"file": str(file), "seconds": 600})
    until(file.exists)
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert base.job(long_one)["status"] == "running"


def test_jobs_it_cannot_start_soon_go_to_another_agent(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    for _ in range(3):
        base.ended([base.enqueue("noop") for _ in range(60)][-1])
    file = tmp_path / "pid"
    base.enqueue("telling", {"file": str(file), "seconds": 600}, priority=1)
    ids = [base.enqueue("noop") for _ in range(60)]
    until(file.exists)
    start("--app", "bodies")
    for job_id in ids:
        job = base.ended(job_id)
        assert (job["status"], job["losses"], job["failures"]) == ("completed", 0, 0)


def test_a_job_is_not_claimed_while_it_would_wait(base: Database, start: StartAgent) -> None:
    start("--app", "bodies")
    base.ended([base.enqueue("noop") for _ in range(60)][-1])  # it takes many at a time
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1)
    first = base.enqueue("sleeping", {"seconds": 0.15})
    until(lambda: base.job(first)["started_at"])
    second = base.ended(base.enqueue("noop"))
    assert second["started_at"] - base.job(first)["started_at"] >= timedelta(seconds=0.15)


def test_long_jobs_are_claimed_one_at_a_time(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--slots", "2")
    ids = [base.enqueue("sleeping", {"seconds": 1}) for _ in range(8)]
    seen = 0
    while any(base.job(job_id)["status"] != "completed" for job_id in ids):
        running = base.one("select count(*) from qwf.jobs where status = 'running'")
        seen = max(seen, running)
        assert running <= 4, "two that run, and two that are being reported"
    assert seen >= 2


def test_batches_grow_while_bodies_are_short_and_shrink_at_once() -> None:
    batch_size = BatchSize(500)
    assert batch_size.batch == batch_size.hold == 1, "no job waits behind one that may be long"
    sizes = []
    for _ in range(3000):
        batch_size.record("t", 0.0001)
        sizes.append(batch_size.batch)
    assert sizes[-1] == 500
    assert batch_size.hold == 1000, "the next batch is claimed while one runs"
    assert all(later <= 2 * earlier for earlier, later in pairwise(sizes))
    batch_size.record("t", 60)
    assert batch_size.batch == 1


@pytest.mark.parametrize(
    ("most", "seconds", "hold"),
    [
        (10, 0.000_005, 210),  # 200 of them last as long as a claim takes
        (10, 0.000_09, 98),
        (10, 0.001, 20),
        (100, 0.000_005, 300),
        (1, 0.000_005, 1),  # one at a time, as the operator says
    ],
)
def test_a_slot_holds_so_many_short_jobs_that_a_claim_comes_in_time(
    most: int, seconds: float, hold: int
) -> None:
    batch_size = BatchSize(most)
    for _ in range(3000):
        batch_size.record("t", seconds)
    assert (batch_size.batch, batch_size.hold) == (most, hold)


def test_an_unknown_task_counts_as_long() -> None:
    batch_size = BatchSize(500)
    batch_size.record("short", 0.001)
    assert batch_size.expected("short") < BATCH_S
    assert batch_size.expected("new") == BATCH_S
