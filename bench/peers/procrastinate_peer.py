"""Runs procrastinate with an asynchronous worker, 20 jobs at once. Reads the PG* variables.

procrastinate_peer.py install | fill JOBS | work BATCH FILE | probe NUMBER | listen WORKERS
"""

import asyncio
import os
import random
import sys
import time

from procrastinate import App, PsycopgConnector

CONCURRENCY = 20
app = App(connector=PsycopgConnector())
out = 2  # descriptor of the file that the stamp jobs write to


@app.task(name="noop")
async def noop():
    pass


@app.task(name="stamp")
async def stamp(asked):
    os.write(out, b"%.6f\n" % (time.time() - asked))


async def install():
    await app.schema_manager.apply_schema_async()


async def fill(jobs):
    for first in range(0, jobs, 1_000):
        await noop.batch_defer_async(*[{}] * min(1_000, jobs - first))


async def work(_batch, path):
    global out
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    print("ready", flush=True)
    await app.run_worker_async(concurrency=CONCURRENCY, install_signal_handlers=False)


async def listen(workers):
    print("ready", flush=True)
    await app.run_worker_async(queues=["other"], concurrency=workers, install_signal_handlers=False)


async def probe(number):
    for _ in range(number):
        await stamp.defer_async(asked=time.time())
        await asyncio.sleep(0.03 + 0.03 * random.random())


async def main():
    verb, *rest = sys.argv[1:]
    verbs = {"install": install, "fill": fill, "work": work, "probe": probe, "listen": listen}
    async with app.open_async():
        await verbs[verb](*(int(one) if one.isdigit() else one for one in rest))


if __name__ == "__main__":
    asyncio.run(main())
