"""Commands that change waiting jobs."""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from qwf_agent.cli import addresses, arguments
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection


@click.command()
@click.argument("ids", type=arguments.ID, nargs=-1, required=True, metavar="JOB...")
@arguments.priority
@click.option("--queue", metavar="QUEUE", help="The new queue.")
@arguments.delay
@arguments.at
@addresses.database
def change(
    conn: Connection, ids: tuple[int, ...], priority: int | None, queue: str | None,
    delay: timedelta | None, at: datetime | None,
) -> None:  # fmt: skip
    """Change the priority, queue or time of waiting jobs.

    Changes all of them, or none if one is refused.

    \b
    Example:  qwf change 345 --priority 10
              qwf change 345 346 --queue cpu --at '2030-01-31 06:00'
    """
    if priority is None and queue is None and delay is None and at is None:
        raise click.UsageError("nothing to change: give --priority, --queue, --in or --at")
    run_at = arguments.run_at(conn, delay, at)
    with conn.transaction():
        for job in ids:
            connection.call(
                conn, "change_job", job_id=job, priority=priority, queue=queue, run_at=run_at
            )
    click.echo(f"changed job {', '.join(map(str, ids))}")


@click.command("run-next")
@click.argument("ids", type=arguments.ID, nargs=-1, required=True, metavar="JOB...")
@addresses.database
def run_next(conn: Connection, ids: tuple[int, ...]) -> None:
    """Put waiting jobs ahead of all others in their queues.

    Changes all of them, or none if one is refused.

    \b
    Example:  qwf run-next 345
              qwf run-next 345 346
    Then:     qwf why 345
    """
    with conn.transaction():
        for job in ids:
            connection.call(conn, "run_next", job_id=job)
    click.echo(f"next: job {', '.join(map(str, ids))}")
