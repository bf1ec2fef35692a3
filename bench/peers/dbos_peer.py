"""Runs DBOS: workflows with their steps in this process, and queued ones in other processes.

dbos_peer.py migrate | drive | work NAME

BENCH_DSN is the address of the database.
"""

import asyncio
import functools
import os
import sys
import threading

import asking
import bodies
from dbos import DBOS, DBOSClient

QUEUE = "bench"
AT_ONCE = 40  # workflows of a process; fewer need more polls, and more time

step = DBOS.step(name="step")(bodies.step)
first = DBOS.step(name="first")(bodies.first)
mark = DBOS.step(name="mark")(bodies.mark)


@DBOS.step(name="each")
async def each(n):
    return bodies.first(n)


@DBOS.step(name="last")
async def last(many):
    return bodies.last(many)


@DBOS.workflow(name="chain")
def chain(size, n):
    done = first(n)
    for _ in range(size - 1):
        done = step(done, n)
    return done


@DBOS.workflow(name="fan")
async def fan(size, n):
    begun = await each(n)
    middle = await asyncio.gather(*[each(n) for _ in range(size)])
    return await last([begun, *middle])


@DBOS.workflow(name="single")
def single(n):
    return first(n)


@DBOS.workflow(name="marks")
def marks(size, path):
    number = 0
    while number < size:
        number = mark(number, path)


def run(shape, size, runs, n):
    if shape == "loose":
        options = {"workflow_name": "single", "queue_name": QUEUE}
        handles = [client().enqueue(options, n) for _ in range(size)]
        return bodies.total([one.get_result(polling_interval_sec=0.01) for one in handles])
    if shape == "fan":
        return asyncio.run(fan(size, n))
    if runs == 1:
        return chain(size, n)
    handles = [DBOS.start_workflow(chain, size, n) for _ in range(runs)]
    return bodies.total([handle.get_result() for handle in handles])


@functools.cache
def client():
    return DBOSClient(system_database_url=os.environ["BENCH_DSN"], application_name="bench")


def begin(size, path):
    DBOS.start_workflow(marks, size, path)


def launch(executor):
    DBOS(
        config={
            "name": "bench",
            "system_database_url": os.environ["BENCH_DSN"],
            "executor_id": executor,
            "application_version": "1",
            "log_level": "ERROR",
        }
    )


def main():
    verb, *rest = sys.argv[1:]
    launch(rest[0] if rest else "local")
    DBOS.listen_queues([QUEUE] if verb == "work" else [])
    DBOS.launch()
    if verb == "migrate":
        DBOS.destroy()
        return
    if verb == "work":
        DBOS.register_queue(QUEUE, worker_concurrency=AT_ONCE)
        asking.say({"ready": True})
        threading.Event().wait()
    asking.answer(run, begin)


if __name__ == "__main__":
    main()
