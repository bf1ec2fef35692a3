"""Runs pgqueuer as its own benchmark (tools/benchmark.py) does: five consumers in one event loop,
with asyncpg and uvloop. The PG* variables say where the database is.

    pgqueuer_peer.py fill JOBS | work BATCH FILE | produce BATCH BEHIND | probe NUMBER
    | listen WORKERS | statement JOBS
"""

import asyncio
import json
import os
import random
import sys
import time

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

CONSUMERS = 5


async def fill(jobs):
    queries = await producer()
    for first in range(0, jobs, 10_000):
        await enqueue(queries, min(10_000, jobs - first))


async def work(batch, path):
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    runs = []
    for _ in range(CONSUMERS):
        pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect()))

        @pgq.entrypoint("noop")
        async def noop(job):
            pass

        @pgq.entrypoint("stamp")
        async def stamp(job):
            os.write(out, b"%.6f\n" % (time.time() - float(job.payload)))

        runs.append(pgq.run(batch_size=batch))
    print("ready", flush=True)
    await asyncio.gather(*runs)


async def produce(batch, behind):
    queries, sent = await producer(), 0
    while True:
        await enqueue(queries, batch)
        sent += batch
        if sent >= behind:
            sent, began = 0, time.monotonic()
            full = f"select from pgqueuer limit 1 offset {behind}"
            while await queries.driver.fetch(full):
                await asyncio.sleep(min(0.5, max(0.02, 20 * (time.monotonic() - began))))
                began = time.monotonic()


async def probe(number):
    queries = await producer()
    for _ in range(number):
        await queries.enqueue("stamp", b"%.6f" % time.time())
        await asyncio.sleep(0.03 + 0.03 * random.random())


async def listen(workers):
    runs = []
    for _ in range(workers):
        pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect()))

        @pgq.entrypoint("other")
        async def other(job):
            pass

        runs.append(pgq.run())
    print("ready", flush=True)
    await asyncio.gather(*runs)


async def statement(number):
    """Print the statement that enqueues this many jobs, and its parameters as texts."""

    class Recorder(AsyncpgDriver):
        async def fetch(self, query, *args):
            lists = [[none if one is None else str(one) for one in arg] for arg in args]
            print(json.dumps([query, ["{" + ",".join(one) + "}" for one in lists]]))
            return []

    none = "NULL"
    await enqueue(Queries(Recorder(None)), number)


async def producer():
    return Queries(AsyncpgDriver(await asyncpg.connect()))


async def enqueue(queries, number):
    await queries.enqueue(["noop"] * number, [b""] * number, [0] * number)


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    verbs = {"fill": fill, "work": work, "produce": produce, "probe": probe,
             "listen": listen, "statement": statement}  # fmt: skip
    uvloop.run(verbs[verb](*(int(one) if one.isdigit() else one for one in rest)))
