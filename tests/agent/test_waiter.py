"""One connection waits for all jobs and runs that the threads or coroutines of a process wait
for."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from bodies import add, noop
from psycopg.types.json import Jsonb

from qwf_agent import NotCompleted, jobs
from qwf_agent.app import wait_list
from qwf_agent.app import waiter as waiting
from support.harness import Database, until

ONE_NODE = {"name": "p", "nodes": [{"id": "n", "node": "noop"}]}
WORKFLOW = {"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}
NAME = "waiter of a test"
LOOKS = "select count(*) from pg_stat_activity where application_name = %s"


def opener(base: Database) -> Callable[[], psycopg.Connection[Any]]:
    """Opens the connections of a waiter, which can be told from others."""
    return lambda: psycopg.connect(base.dsn, autocommit=True, application_name=NAME)


def opener_async(base: Database) -> Callable[[], Any]:
    return lambda: psycopg.AsyncConnection.connect(base.dsn, autocommit=True, application_name=NAME)


def end(base: Database, job_id: int, outcome: str = "completed", output: Any = None) -> None:
    """Claim this job and report it."""
    base.one("select qwf.change_job(%s, run_next => true)", job_id)
    row = base.conn.execute("select * from qwf.claim('default', 'w')").fetchone()
    assert row is not None
    assert row["job_id"] == job_id
    call = "select qwf.finish(%s, %s, %s, %s, %s)"
    base.one(call, job_id, row["token"], outcome, Jsonb(output or {}), "boom")


def kill(base: Database) -> int:
    """Kill the connections of the waiter; how many it had."""
    found = base.one(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = %s",
        NAME,
    )
    return int(found)


def test_threads_that_wait_share_a_connection(base: Database) -> None:
    ids = [noop.enqueue(base.conn) for _ in range(20)]
    ids.append(add.enqueue(base.conn, 1))
    with jobs.Waiter(opener(base)) as waiter, ThreadPoolExecutor(22) as threads:
        found = [threads.submit(waiter.wait_job, job, timeout=60) for job in [*ids, ids[-1]]]
        until(lambda: base.one(LOOKS, NAME) == 1, "the connection")
        for job in ids[:-1]:
            end(base, job)
        assert [future.result().id for future in found[:20]] == ids[:20]
        assert not found[-1].done()
        end(base, ids[-1], "fatal")
        assert [future.result().error for future in found[20:]] == ["boom", "boom"]
        with pytest.raises(NotCompleted):
            found[-1].result().check()
        assert base.one(LOOKS, NAME) == 1
    until(lambda: base.one(LOOKS, NAME) == 0, "the connection to be closed")


def test_coroutines_that_wait_share_a_connection(base: Database) -> None:
    ids = [noop.enqueue(base.conn) for _ in range(20)]

    async def wait() -> None:
        async with jobs.AsyncWaiter(opener_async(base)) as waiter:
            found = [asyncio.create_task(waiter.wait_job(job, timeout=60)) for job in ids]
            await asyncio.to_thread(until, lambda: base.one(LOOKS, NAME) == 1)
            for job in ids:
                end(base, job, output={"n": job})
            ended = await asyncio.gather(*found)
            assert [status.output["n"] for status in ended] == ids
            assert base.one(LOOKS, NAME) == 1

    asyncio.run(wait())


def test_it_waits_for_runs_too(base: Database) -> None:
    base.one("select qwf.register_pipeline(%s)", Jsonb(ONE_NODE))
    base.one("select qwf.register_workflow(%s)", Jsonb(WORKFLOW))
    run = base.one("select qwf.enqueue_run('w')")

    async def wait() -> None:
        async with jobs.AsyncWaiter(opener_async(base)) as waiter:
            found = asyncio.create_task(waiter.wait_run(run, timeout=60))
            await asyncio.sleep(0.1)
            base.one("select qwf.cancel_run(%s)", run)
            status = await found
            assert (status.status, list(status.nodes)) == ("cancelled", ["s/n"])

    asyncio.run(wait())
    with jobs.Waiter(opener(base)) as waiter:
        assert waiter.wait_run(run).workflow == "w"


def test_each_has_its_own_time_out(base: Database) -> None:
    job = noop.enqueue(base.conn)
    with jobs.Waiter(opener(base)) as waiter:
        with pytest.raises(TimeoutError, match=rf"job {job} has not ended after 0\.\d s"):
            waiter.wait_job(job, timeout=0.1)
        threading.Timer(0.2, end, (base, job)).start()
        assert waiter.wait_job(job, timeout=60).status == "completed"

    async def wait() -> None:
        async with jobs.AsyncWaiter(opener_async(base)) as waiter:
            with pytest.raises(TimeoutError, match="has not ended"):
                await waiter.wait_job(noop.enqueue(base.conn), timeout=0.1)

    asyncio.run(wait())


def test_a_job_that_is_not_there_is_said_to_its_waiter_alone(base: Database) -> None:
    job = noop.enqueue(base.conn)
    with jobs.Waiter(opener(base)) as waiter, ThreadPoolExecutor(2) as threads:
        other = threads.submit(waiter.wait_job, job, timeout=60)
        with pytest.raises(LookupError, match="job 9999 is not there"):
            waiter.wait_job(9999, timeout=60)
        end(base, job)
        assert other.result().status == "completed"


def test_a_lost_connection_loses_no_waiter(
    base: Database, caplog: pytest.LogCaptureFixture
) -> None:
    job, other = noop.enqueue(base.conn), noop.enqueue(base.conn)
    with jobs.Waiter(opener(base)) as waiter, ThreadPoolExecutor(2) as threads:
        found = threads.submit(waiter.wait_job, job, timeout=60)
        until(lambda: kill(base) == 1, "the connection")
        end(base, job)
        assert found.result().status == "completed"
        assert "connecting again" in caplog.text
        assert "the database answers again" in caplog.text

    async def wait() -> None:
        async with jobs.AsyncWaiter(opener_async(base)) as waiter:
            found = asyncio.create_task(waiter.wait_job(other, timeout=60))
            await asyncio.to_thread(until, lambda: kill(base))
            end(base, other)
            assert (await found).status == "completed"

    asyncio.run(wait())


def test_who_cannot_ever_be_answered_gets_the_error(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = noop.enqueue(base.conn)
    with (
        jobs.Waiter(lambda: psycopg.connect(base.dsn)) as waiter,
        pytest.raises(ValueError, match="autocommit=True"),
    ):
        waiter.wait_job(job)
    monkeypatch.setattr(wait_list, "GIVE_UP_S", 0.2)
    nowhere = "host=127.0.0.1 port=1 user=x dbname=x"
    with (
        jobs.Waiter(lambda: psycopg.connect(nowhere, autocommit=True)) as waiter,
        pytest.raises(psycopg.OperationalError),
    ):
        waiter.wait_job(job)


def test_a_look_that_hangs_holds_nobody_for_ever(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "HUNG_S", 0.3)
    job = noop.enqueue(base.conn)
    with psycopg.connect(base.dsn) as other, jobs.Waiter(opener(base)) as waiter:
        with ThreadPoolExecutor(1) as threads:
            found = threads.submit(waiter.wait_job, job, timeout=60)
            until(lambda: base.one(LOOKS, NAME) == 1, "the connection")
            other.execute("lock table qwf.jobs in access exclusive mode")
            until(lambda: base.one(LOOKS, NAME) > 1, "another connection")
            with pytest.raises(TimeoutError):
                waiter.wait_job(job, timeout=0.2)
            other.rollback()
            end(base, job)
            assert found.result().status == "completed"
        until(lambda: base.one(LOOKS, NAME) == 1, "those that hung to be closed")


def test_a_forked_process_opens_its_own_connection(base: Database) -> None:
    job, other = noop.enqueue(base.conn), noop.enqueue(base.conn)
    end(base, job)
    with jobs.Waiter(opener(base)) as waiter, ThreadPoolExecutor(1) as threads:
        assert waiter.wait_job(job).status == "completed"
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if waiter.wait_job(job, timeout=30).status == "completed" else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        found = threads.submit(waiter.wait_job, other, timeout=60)
        end(base, other)
        assert found.result().status == "completed"


def test_closing_ends_the_waiting(base: Database) -> None:
    job = noop.enqueue(base.conn)
    waiter = jobs.Waiter(opener(base))
    threading.Timer(0.2, waiter.close).start()
    with pytest.raises(RuntimeError, match="closed"):
        waiter.wait_job(job)
