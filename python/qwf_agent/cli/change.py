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
@click.option(
    "--next", "run_next", is_flag=True, help="Run it now, before all other jobs of its queue."
)
@click.option(
    "--notify", metavar="RECEIVER",
    help="Who hears when it fails for good or asks; of a node, when its run ends or asks.",
)  # fmt: skip
@click.option("--no-notify", is_flag=True, help="No receiver hears of it any more.")
@addresses.database
def change(
    conn: Connection, ids: tuple[int, ...], priority: int | None, queue: str | None,
    delay: timedelta | None, at: datetime | None, run_next: bool, notify: str | None,
    no_notify: bool,
) -> None:  # fmt: skip
    """Change when and where waiting jobs run, or who hears of jobs.

    Changes all of them, or none if one is refused.

    \b
    Example:  qwf change 345 --priority 10
              qwf change 345 346 --queue cpu --at '2030-01-31 06:00'
              qwf change 345 --next
              qwf change 345 --notify ada
    Then:     qwf why 345
    """
    if notify is not None and no_notify:
        raise click.UsageError("give --notify or --no-notify, not both")
    receiver = "" if no_notify else notify
    others = queue or delay is not None or at or run_next
    if priority is None and receiver is None and not others:
        raise click.UsageError(
            "nothing to change: give --priority, --queue, --in, --at, --next, --notify or"
            " --no-notify"
        )
    run_at = arguments.run_at(conn, delay, at)
    with conn.transaction():
        for job in ids:
            connection.call(
                conn, "change_job", job_id=job, priority=priority, queue=queue, run_at=run_at,
                run_next=run_next or None, notify=receiver,
            )  # fmt: skip
    click.echo(f"changed job {', '.join(map(str, ids))}")
