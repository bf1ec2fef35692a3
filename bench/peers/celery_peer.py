"""Runs Celery with Redis as broker and for the results.

celery -A celery_peer worker | celery_peer.py

BENCH_REDIS is the address of Redis. With BENCH_LATE a message is acknowledged after its task, and
one whose worker disappeared is delivered again after that many seconds; else before its task,
which is what Celery does by itself.
"""

import os

import asking
import bodies
from celery import Celery, chain, group
from celery.signals import worker_ready

PLACE = os.environ["BENCH_REDIS"]
LATE = os.environ.get("BENCH_LATE")
ONE = bodies.first(0)
app = Celery("celery_peer", broker=PLACE, backend=PLACE)
app.conf.broker_connection_retry_on_startup = True
if LATE:
    app.conf.task_acks_late = True
    app.conf.task_reject_on_worker_lost = True
    app.conf.broker_transport_options = {
        "visibility_timeout": float(LATE),
        "unacked_restore_interval": 1,  # look each second; otherwise every hundred
        "unacked_restore_throttle": 1,
    }

step = app.task(name="step")(bodies.step)
first = app.task(name="first")(bodies.first)
mark = app.task(name="mark")(bodies.mark)


@app.task(name="each")
def each(_, n):
    return bodies.first(n)


@app.task(name="last")
def last(many):
    return bodies.last([ONE, *many])


@worker_ready.connect
def ready(**_):
    asking.say({"ready": True})


def build(shape, size, n):
    if shape == "chain":
        return chain(first.s(n), *[step.s(n) for _ in range(size - 1)])
    return first.s(n) | group(each.s(n) for _ in range(size)) | last.s()


def run(shape, size, runs, n):
    if shape == "loose":
        return bodies.total(group(first.s(n) for _ in range(size)).apply_async().get())
    started = [build(shape, size, n).apply_async() for _ in range(runs)]
    return bodies.total([one.get(interval=0.005) for one in started])


def begin(size, path):
    chain(mark.s(0, path), *[mark.s(path) for _ in range(size - 1)]).apply_async()


if __name__ == "__main__":
    asking.answer(run, begin)
