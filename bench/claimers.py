"""Light claimers: many workers in one process, each with its own connection, that make the calls
of an agent: claim, sleep, wake, finish, heartbeat."""

from __future__ import annotations

import asyncio
import json
import random
import time

import psycopg
from psycopg import sql

from bench.sessions import CLAIM

POLL_S = 1.0
BEAT_S = 10.0
RECHECK_S = 0.005  # after falling asleep: work may have arrived just before


async def serve(dsn: str, number: int, queue: str, *, listen: bool) -> None:
    """Run one claimer. It reports, for each job, the time at which its body would have started.
    Without `listen` it only polls."""
    conn = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
    await conn.execute("set synchronous_commit = off")
    row = await (
        await conn.execute("select qwf.register_worker(%s, %s, '{}')", (f"box-{number}", queue))
    ).fetchone()
    worker = row[0] if row else ""
    if listen:
        channel = await (await conn.execute("select qwf.wake_channel(%s)", (worker,))).fetchone()
        await conn.execute(
            sql.SQL("listen {}").format(sql.Identifier(channel[0] if channel else ""))
        )
    asleep, said_at, beat_at = False, 0.0, time.monotonic() + BEAT_S * random.random()
    while True:
        rows = await (await conn.execute(CLAIM, (queue, worker, 1))).fetchall()
        if rows:
            reports = json.dumps([
                {"job_id": job, "token": str(token), "outcome": "completed", "detail": {},
                 "output": {"started": time.time()}} for job, token, _ in rows
            ])  # fmt: skip
            if asleep:
                asleep = False
                await conn.execute("select qwf.wake(%s)", (worker,))
            async with conn.transaction():
                await conn.execute("set local synchronous_commit = on")
                await conn.execute("select count(*) from qwf.finish_many(%s)", (reports,))
            continue
        now = time.monotonic()
        wait_s = POLL_S * (0.8 + 0.4 * random.random())
        if listen and (not asleep or now >= said_at + 2 * POLL_S):
            wait_s = wait_s if asleep else RECHECK_S
            asleep, said_at = True, now
            await conn.execute("select qwf.sleep(%s, %s)", (worker, queue))
        if now >= beat_at:
            beat_at = now + BEAT_S
            await conn.execute("select count(*) from qwf.heartbeat(%s, '{}')", (worker,))
        async for _ in conn.notifies(timeout=wait_s, stop_after=1):
            pass


def serve_all(
    _index: int, dsn: str, number: int, queue: str = "default", *, listen: bool = True
) -> None:
    """Run `number` claimers in this process until killed."""

    async def together() -> None:
        await asyncio.gather(*(serve(dsn, one, queue, listen=listen) for one in range(number)))

    asyncio.run(together())
