"""A body streams to those who follow its job, and to nobody else."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent import jobs
from qwf_agent.app import Job
from qwf_agent.child.stream_page import WINDOW, StreamPage
from support.harness import Database, until

FOLLOWED = "select count(*) from qwf.live_logs where job_id = %s"
RUNNING = "select status = 'running' from qwf.jobs where id = %s"


def words(count: int) -> str:
    return "".join(f"wört {number}, " for number in range(count))


def started(base: Database, tmp_path: Path, count: int, **more: Any) -> tuple[int, Path]:
    """A job that streams so many words once the file is there."""
    file = tmp_path / f"go {count}"
    args = {"words": count, "until": str(file), **more}
    job = base.enqueue("streaming", args, backoff="[0]", max_losses=1)
    until(lambda: base.one(RUNNING, job), "the body")
    return job, file


def go(base: Database, job: int, file: Path) -> None:
    """Let the body stream once somebody follows."""
    until(lambda: base.one(FOLLOWED, job), "the follower")
    time.sleep(0.3)  # the agent hears of it
    file.touch()


def test_a_follower_gets_all_of_it_to_the_end(shared: Database, tmp_path: Path) -> None:
    async def follow() -> None:
        job, file = started(shared, tmp_path, 300, pause=0.003)
        parts = []
        async with await psycopg.AsyncConnection.connect(shared.dsn, autocommit=True) as conn:
            going = asyncio.create_task(asyncio.to_thread(go, shared, job, file))
            async for part in jobs.stream_async(conn, job):
                parts.append(part)
            await going
        assert "".join(parts) == words(300)
        assert len(parts) > 1, "it came as it was streamed"
        assert {(part.attempt, part.missed) for part in parts} == {(1, 0)}
        assert shared.ended(job)["status"] == "completed"
        again = list(jobs.stream(shared.conn, job))
        assert "".join(again) == words(300), "what was followed is there for a minute"

    asyncio.run(follow())


def test_it_is_not_in_the_log_and_nothing_is_stored_without_a_follower(shared: Database) -> None:
    job = shared.enqueue("streaming", {"words": 1000})
    assert shared.attempted(job)["log_tail"] == "printed, not streamed\n"
    assert shared.one(FOLLOWED, job) == 0


def followed(base: Database, job: int, file: Path) -> list[jobs.Streamed]:
    """All parts, from a connection of its own."""
    with psycopg.connect(base.dsn, autocommit=True) as conn, ThreadPoolExecutor(1) as threads:
        going = threads.submit(lambda: list(jobs.stream(conn, job)))
        go(base, job, file)
        return going.result()


def test_of_too_much_at_once_the_last_64_kib_come(shared: Database, tmp_path: Path) -> None:
    job, file = started(shared, tmp_path, 20_000)
    parts = followed(shared, job, file)
    text, missed = "".join(parts), sum(part.missed for part in parts)
    assert text
    assert words(20_000).endswith(parts[-1])
    assert missed + len(text.encode()) == len(words(20_000).encode())
    assert missed > 0


def test_another_attempt_begins_anew(shared: Database, tmp_path: Path) -> None:
    job, file = started(shared, tmp_path, 50, pause=0.03, end="error")
    parts = followed(shared, job, file)
    first, second = ("".join(part for part in parts if part.attempt == n) for n in (1, 2))
    assert first
    assert words(50).startswith(first), "its last quarter of a second may be missed"
    assert second == words(50)


def test_of_a_body_that_is_killed_comes_what_it_has_streamed(
    shared: Database, tmp_path: Path
) -> None:
    job, file = started(shared, tmp_path, 40, pause=0.01, end="killed")
    assert "".join(followed(shared, job, file)) == words(40)


def test_only_a_connection_in_autocommit_follows(shared: Database, tmp_path: Path) -> None:
    job, file = started(shared, tmp_path, 1)
    with (
        psycopg.connect(shared.dsn) as conn,
        pytest.raises(RuntimeError, match="not in autocommit"),
    ):
        list(jobs.stream(conn, job))
    file.touch()
    with pytest.raises(TypeError, match="takes a text"):
        Job(1, "t", "q", 1).stream(b"bytes")  # type: ignore[arg-type]


def test_a_fast_writer_is_read_whole_or_not_at_all() -> None:
    page, digits = StreamPage(), "0123456789"
    pid = os.fork()
    if pid == 0:
        sizes = random.Random(1)
        at = 0
        while True:
            size = sizes.randrange(1, 20_000)
            page.write(7, (digits * (size // 10 + 2))[at % 10 : at % 10 + size])
            at += size
    try:
        end, seen = time.monotonic() + 1.0, 0
        while time.monotonic() < end:
            read = page.read(7)
            if read is not None:
                written, text = read
                seen += 1
                assert len(text) == min(written, WINDOW)
                begin = (written - len(text)) % 10
                assert text == (digits * (len(text) // 10 + 2))[begin : begin + len(text)]
        assert seen
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        page.close()
