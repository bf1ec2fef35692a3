"""How long work stops after a process was killed without warning."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import psutil

from bench.measure import fill, until
from bench.processes import agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

NAP_S = 4.0
AGAIN = """
    select extract(epoch from claimed_at)::float8 from qwf.jobs
    where id = %s and attempt >= 2 and status = 'running'
"""
ENDED_AFTER = """
    select extract(epoch from min(finished_at))::float8 from qwf.jobs
    where finished_at > to_timestamp(%s)
"""
HOLDER = "select w.pid from qwf.jobs j join qwf.workers w on w.id = j.claimed_by where j.id = %s"


@scenario("recovery", rounds=1)
@click.option("--lease", default=3.0, show_default=True, help="Seconds; the default is 30.")
def recovery(server: Server, lease: float) -> Iterator[Sample]:
    """Seconds from the kill -9 of a child, an agent or the server until work continues."""
    with server.database() as base, agents(base.dsn, 1, "--grace", "0") as started:
        job = nap(base)
        at = kill(child_of(started[0].pid))
        yield Sample("recovery", "child killed", again(base, job) - at, "s")
    with (
        server.database() as base,
        agents(base.dsn, 2, "--grace", "0", "--lease", f"{lease:g}"),
    ):
        job = nap(base)
        at = kill(psutil.Process(base.value(HOLDER, job)))
        figure = f"agent killed, lease {lease:g} s"
        yield Sample("recovery", figure, again(base, job) - at, "s")
    if server.cluster is not None:
        with server.database() as base, agents(base.dsn, 1, "--grace", "0"):
            fill(base, 20_000)
            until(lambda: base.value("select exists (select from qwf.job_attempts)"), "a first end")
            base.conn.close()
            at = time.time()
            server.crash()
            answers_s = time.time() - at
            base.connect()
            ended = float(until(lambda: base.value(ENDED_AFTER, at + answers_s), "an end"))
            more = {"server_up_after": answers_s}
            yield Sample("recovery", "server killed, first end", ended - at, "s", more=more)


def nap(base: Database) -> int:
    """Enqueue a job and wait until it is running."""
    query = "select qwf.enqueue('nap', jsonb_build_object('seconds', %s::float8))"
    job = int(base.value(query, NAP_S))
    running = "select status = 'running' from qwf.jobs where id = %s"
    until(lambda: base.value(running, job), "a start")
    time.sleep(0.2)
    return job


def child_of(agent: int) -> psutil.Process:
    """The process that runs the bodies of an agent."""
    return next(c for c in psutil.Process(agent).children() if c.name() == "qwf-child")


def kill(process: psutil.Process) -> float:
    """Kill a process and return when."""
    at = time.time()
    process.kill()
    return at


def again(base: Database, job: int) -> float:
    """When the job was claimed again."""
    return float(until(lambda: base.value(AGAIN, job), "a second attempt"))
