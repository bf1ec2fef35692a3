"""Times the counting of jobs in a database with a queue for each customer."""

from __future__ import annotations

from collections.abc import Iterator

import click

from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.scale import timed
from bench.server import Server

QUEUES = "insert into qwf.queues (name) select 'customer-' || g from generate_series(1, %s) g"
JOBS = """
    insert into qwf.jobs (task, queue, status, position, queued_at)
    select 'noop', 'customer-' || g, 'queued', nextval('qwf.job_position'), now()
    from generate_series(1, %s) g
"""


@scenario("queues", rounds=1)
@click.option("--queues", default=10_000, show_default=True)
def queues(server: Server, queues: int) -> Iterator[Sample]:
    """Milliseconds to count the jobs of all queues, of which a tenth and then all have one.

    A tick counts them once in a minute.
    """
    with server.database() as base:
        base.conn.execute(QUEUES, (queues,))
        for busy in (queues // 10, queues):
            base.conn.execute("delete from qwf.jobs")
            base.conn.execute(JOBS, (busy,))
            held = f"{queues:,} queues, {busy:,} with a job"
            view = timed(base, "select count(*) from (select * from qwf.queue_overview offset 0) v")
            yield Sample("queues", f"view queue_overview, {held}", view, "ms")
            minute = timed(base, "select _qwf.record_queues(clock_timestamp(), now())")
            yield Sample("queues", f"a minute of all queues in a tick, {held}", minute, "ms")
