"""Runs Prefect flows in this process, with the server that PREFECT_API_URL names."""

import concurrent.futures
import threading

import asking
import bodies
from prefect import flow, task

AT_ONCE = 4  # flows at the same time; more only wait for SQLite

step = task(name="step")(bodies.step)
first = task(name="first")(bodies.first)
last = task(name="last")(bodies.last)
mark = task(name="mark", persist_result=True)(bodies.mark)


@flow(name="chain")
def chain(size, n):
    done = first(n)
    for _ in range(size - 1):
        done = step(done, n)
    return done


@flow(name="fan")
def fan(size, n):
    begun = first(n)
    middle = [first.submit(n) for _ in range(size)]
    return last([begun, *[one.result() for one in middle]])


@flow(name="marks")
def marks(size, path):
    number = 0
    while number < size:
        number = mark(number, path)


def run(shape, size, runs, n):
    make = chain if shape == "chain" else fan
    if runs == 1:
        return make(size, n)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return bodies.total(list(pool.map(lambda _: make(size, n), range(runs))))


def begin(size, path):
    threading.Thread(target=marks, args=(size, path), daemon=True).start()


if __name__ == "__main__":
    asking.answer(run, begin)
