"""How long many HTTP calls take in one child, and how much memory it needs."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import click
import psutil

from bench.calls import serve
from bench.cpu import Cpu
from bench.measure import until
from bench.processes import agents, forked
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import BenchError, Database, Server

MIB = 2**20
FILL = """
select count(qwf.enqueue('call', jsonb_build_object('port', %s::int)))
from generate_series(1, %s::int)
"""
HANGS = "select qwf.enqueue('call', %s, timeout => %s::interval, max_losses => 1)"
LEFT = "select count(*) from qwf.jobs where finished_at is null"
COUNT = "select count(*) from qwf.jobs where status = %s"


@scenario("calls")
@click.option("--jobs", default=10_000, show_default=True, help="Two of them get no answer.")
@click.option("--wait", "seconds", default=0.02, show_default=True, help="Seconds of an answer.")
def calls(server: Server, jobs: int, seconds: float) -> Iterator[Sample]:
    """Many HTTP calls in one child, 200 at once; of two without an answer, one is cancelled, and
    one reaches its timeout."""
    with server.database() as base, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1000)
        port = listening.getsockname()[1]
        never = json.dumps({"port": port, "path": "/never"})
        with forked(1, serve, listening, seconds):
            base.value(HANGS, never, "2 s")
            cancelled = base.value(HANGS, never, "1 h")
            base.value(FILL, port, jobs - 2)
            with agents(base.dsn, 1, "--app", "bench.calls") as started:
                cpu, began = Cpu(server, started, split=True), time.monotonic()
                largest = watched(base, psutil.Process(started[0].pid), cancelled)
                took = time.monotonic() - began
                more = cpu.per_job(jobs)
        check(base, jobs)
    more |= {"jobs_per_s": jobs / took, "child_mib": largest}
    yield Sample("calls", f"{jobs:,} calls, 200 at once", took, "s", more=more)


def watched(base: Database, agent: psutil.Process, cancelled: int) -> float:
    """Cancel the job once it runs, and wait for the end of all; the most memory of the child."""
    largest = [0.0]

    def is_over() -> bool:
        children = [child for child in agent.children() if child.name() == "qwf-child"]
        largest[0] = max([largest[0], *(child.memory_info().rss / MIB for child in children)])
        if len(children) > 1:
            raise BenchError("there is more than one child")
        return not base.value(LEFT)

    runs = "select status = 'running' from qwf.jobs where id = %s"
    until(lambda: base.value(runs, cancelled), "the job to cancel")
    base.value("select qwf.cancel_job(%s)", cancelled)
    until(is_over, "the end of all jobs", 600)
    return largest[0]


def check(base: Database, jobs: int) -> None:
    """Raise BenchError unless one was cancelled, one failed, and all others are done."""
    found = [base.value(COUNT, status) for status in ("cancelled", "failed", "completed")]
    if found != [1, 1, jobs - 2]:
        raise BenchError(f"cancelled, failed and completed: {found}")
