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
@click.option("--limit", "limit_by", metavar="NAME", help="The new limit, or LIMIT:KEY.")
@click.option("--no-limit", is_flag=True, help="Take it out of its limit.")
@click.option(
    "--notify", metavar="RECEIVER",
    help="Who hears when it fails for good or asks; of a node, when its run ends or asks.",
)  # fmt: skip
@click.option("--no-notify", is_flag=True, help="No receiver hears of it any more.")
@addresses.database
def change(
    conn: Connection, ids: tuple[int, ...], priority: int | None, queue: str | None,
    delay: timedelta | None, at: datetime | None, run_next: bool,
    limit_by: str | None, no_limit: bool, notify: str | None, no_notify: bool,
) -> None:  # fmt: skip
    """Change when, where and how waiting jobs run, or who hears.

    Changes all of them, or none if one is refused.

    \b
    Example:  qwf change 345 --priority 10
              qwf change 345 346 --queue cpu --at '2030-01-31 06:00'
              qwf change 345 --next
              qwf change 345 346 --limit customer:acme
              qwf change 345 --notify ada
    Then:     qwf why 345
    """
    if limit_by is not None and no_limit:
        raise click.UsageError("--limit and --no-limit exclude each other")
    if notify is not None and no_notify:
        raise click.UsageError("--notify and --no-notify exclude each other")
    limit = "" if no_limit else limit_by or None
    receiver = "" if no_notify else notify
    given = (priority, queue or None, delay, at, run_next or None, limit, receiver)
    if all(one is None for one in given):
        raise click.UsageError(
            "nothing to change: give --priority, --queue, --in, --at, --next, --limit, --no-limit,"
            " --notify or --no-notify"
        )
    run_at = arguments.run_at(conn, delay, at)
    with conn.transaction():
        for job in ids:
            connection.call(
                conn, "change_job", job_id=job, priority=priority, queue=queue, run_at=run_at,
                run_next=run_next or None, limit_by=limit, notify=receiver,
            )  # fmt: skip
    click.echo(f"changed job {', '.join(map(str, ids))}")
