"""Steps that wait for a signal: how soon all are awake, and what waiting costs everything else.

A thousand runs that wait for one signal, beside an agent, which makes the ticks. Then many waiting
steps: the time of a tick when no signal is new, in turn with an empty database, also while another
transaction holds a snapshot from before a part of them was answered. Then the CPU time of claims
and finishes of one session, in turn with an empty database.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import psutil

from bench.measure import fill, percentiles, until
from bench.processes import agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.children import register
from bench.scenarios.plain import CALLS
from bench.scenarios.snapshot import holding
from bench.server import BenchError, Database, Server

STEPS = 100  # of one run
NODE = {"node": "node", "queue": "default"}
WAITING = "select count(*) from qwf.jobs where status = 'awaiting_input'"
AWAKE = """
    select extract(epoch from max(f.queued_at) - %s::timestamptz),
      extract(epoch from max(f.started_at) - %s::timestamptz), count(*)
    from qwf.jobs f where f.node_id = 'after' and f.status = 'completed'
"""
BEGIN = """
    select count(qwf.enqueue_run('wait', jsonb_build_object('n', n)))
    from generate_series(%s::int, %s::int) n
"""
# Each signal answers one step: its entries in the indexes of those that wait are dead then.
ANSWER = """
    select coalesce(sum(qwf.signal(format('%%s:%%s', r, s))), 0)
    from generate_series(1, %s) r, generate_series(1, %s) s
"""
TICK = "select qwf.tick()"
PARTS = """
    select _qwf.tick_part('answered'), _qwf.tick_part('expired'), _qwf.tick_part('overdue')
"""
BATCHES = (1, 10)


@scenario("waiting", rounds=1)
@click.option("--runs", default=1_000, show_default=True, help="Runs that one signal wakes.")
@click.option("--steps", default=100_000, show_default=True, help="Steps that wait.")
@click.option("--ticks", default=100, show_default=True)
@click.option("--jobs", default=2_000, show_default=True, help="Claimed and finished one by one.")
@click.option("--pause", default=20.0, show_default=True, help="Seconds after the last answer.")
def waiting(
    server: Server, runs: int, steps: int, ticks: int, jobs: int, pause: float
) -> Iterator[Sample]:
    """Waking many runs with one signal, and the cost of many waiting steps for all else."""
    with server.database() as base:
        yield from woken(base, runs)
    with server.database() as empty, server.database() as base:
        ask(base, steps)
        for database in (empty, base):
            database.conn.execute("set synchronous_commit = off")
        yield from ticked(empty, base, f"{steps:,} waiting steps", ticks)
        yield from worked(empty, base, f"{steps:,} waiting steps", jobs)
        with holding(base.dsn):
            answered = int(base.value(ANSWER, max(1, steps // STEPS // 5), STEPS))
            settle(base)
            time.sleep(pause)  # ticks look for late events that long
            what = f"{steps:,} waiting steps, snapshot held, {answered:,} of them answered"
            yield from ticked(empty, base, what, ticks)


def woken(base: Database, runs: int) -> Iterator[Sample]:
    """Seconds from a signal until the step after it is queued, and started, in the last run."""
    wait = {"id": "go", "kind": "input", "signal": "go"}
    register(base, "wait", wait, {"id": "after", **NODE, "depends_on": ["go"]})
    base.value(BEGIN, 1, runs)
    with agents(base.dsn, 1):
        until(lambda: base.value(WAITING) == runs, "the steps to wait")
        time.sleep(1.5)  # at a time between two ticks
        sent_at = base.value("select now() from qwf.signal('go')")

        def awake() -> tuple[float, float, int] | None:
            found = base.conn.execute(AWAKE, (sent_at, sent_at)).fetchone()
            return found if found and found[2] == runs else None

        queued_s, started_s, _ = until(awake, "the runs to wake")
    what = f"signal to {runs:,} runs"
    yield Sample("waiting", f"{what}, last next step queued", float(queued_s), "s")
    yield Sample("waiting", f"{what}, last next step started", float(started_s), "s")


def ask(base: Database, steps: int) -> None:
    """Start runs whose steps all wait, each for a signal of its own and for 30 days."""
    asks = (
        {"id": f"s{step}", "kind": "input", "signal": [{"$from": "n"}, step], "expires": "30 days"}
        for step in range(1, STEPS + 1)
    )
    register(base, "wait", *asks)
    runs = -(-steps // STEPS)
    for first in range(0, runs, 100):  # a commit each
        base.value(BEGIN, first + 1, min(runs, first + 100))
    if base.value(WAITING) != runs * STEPS:
        raise BenchError("not all steps wait")
    base.conn.execute("vacuum analyze")
    settle(base)


def settle(base: Database) -> None:
    """Make ticks until they leave nothing to do."""
    until(lambda: not any_done(base), "a tick that finds nothing")


def any_done(base: Database) -> bool:
    done = base.value("select qwf.tick()")
    if done.get("errors"):
        raise BenchError(f"a tick failed: {done['errors']}")
    return any(value for key, value in done.items() if key not in ("ran", "next_due_s"))


def ticked(empty: Database, base: Database, what: str, ticks: int) -> Iterator[Sample]:
    """CPU time of a tick that finds nothing, and of its parts that look for steps and runs whose
    time is over, in turn with those of an empty database."""
    for statement, figure in ((TICK, "tick"), (PARTS, "its parts for them")):
        spent = {"empty": 0.0, "waiting": 0.0}
        took: dict[str, list[float]] = {"empty": [], "waiting": []}
        for turn in range(ticks + 6):
            for name, database in (("empty", empty), ("waiting", base)):
                process = psutil.Process(database.conn.info.backend_pid)
                if turn == 6:  # the first ones plan
                    spent[name] = -sum(process.cpu_times()[:2])
                    took[name].clear()
                began = time.perf_counter()
                database.conn.execute(statement)
                took[name].append(time.perf_counter() - began)
                if turn == ticks + 5:
                    spent[name] += sum(process.cpu_times()[:2])
        ms = {name: 1000 * seconds / ticks for name, seconds in spent.items()}
        more = {"empty": ms["empty"], "elapsed": percentiles(took["waiting"])["p50"]}
        yield Sample("waiting", f"{figure}, {what}", ms["waiting"], "ms", more=more)


def worked(empty: Database, base: Database, what: str, jobs: int) -> Iterator[Sample]:
    """CPU time of a claim and a finish of one session, in turn with one of an empty database."""
    for database in (empty, base):
        database.conn.execute(CALLS)
    for batch in BATCHES:
        took = dict.fromkeys(("empty", "waiting"), 0.0)
        number = jobs if batch == 1 else 5 * jobs
        for turn in range(5):
            for name, database in (("empty", empty), ("waiting", base)):
                fill(database, number // 4)
                process = psutil.Process(database.conn.info.backend_pid)
                before = sum(process.cpu_times()[:2])
                database.conn.execute(f"call public.calls({batch})")
                took[name] += (sum(process.cpu_times()[:2]) - before) if turn else 0
        if not all(took.values()):
            raise BenchError("too few jobs: CPU time is read in hundredths of a second")
        us = {name: 1e6 * seconds / (number // 4 * 4) for name, seconds in took.items()}
        more = {"empty": us["empty"], "times_empty": us["waiting"] / us["empty"]}
        yield Sample(
            "waiting", f"claim and finish, {what}, batch {batch}", us["waiting"], "us", more=more
        )
