"""Commands about queues."""

from __future__ import annotations

from typing import Any

import click

from qwf_agent.cli import addresses, arguments, commands, losses
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection

QUEUE_COLUMNS = (
    *("queue", "state", "workers", "slots", "queued", "scheduled", "running", "max"),
    *("first_waits", "held"),
)


@click.command()
@listed
def queues(conn: Connection, as_json: bool) -> Listing:
    """List the queues with their jobs and workers.

    ~ marks an estimate, from 10,000 jobs on. held: tasks that crash, whose jobs are not counted.

    \b
    Example:  qwf queues
    Then:     qwf queue pause QUEUE     qwf jobs --queue QUEUE --status queued
    """
    found = connection.many(conn, "select * from qwf.queue_overview order by queue")
    for row in [] if as_json else found:
        row |= {"first_waits": row["oldest_wait"], "max": row["max_running"]}
        row["held"] = ", ".join(row["held_tasks"]) or None
        row["queued"] = f"~{row['queued']}" if row["estimated"] else row["queued"]
        row["scheduled"] = f"{row['scheduled']}+" if row["more_scheduled"] else row["scheduled"]
    return Listing(QUEUE_COLUMNS, found, "no queues")


QUEUE_SETTINGS = (
    "lease", "timeout", "retention", "max-running", "placement", "keep-completed", "on-failure",
    "expect",
)  # fmt: skip


@click.group(cls=commands.Commands)
def queue() -> None:
    """Create, pause and resume queues.

    \b
    Example:  qwf queue create mail --timeout 5min --max-running 4
              qwf queue pause gpu
    """


@queue.command("create")
@click.argument("name")
@click.option(
    "--lease", type=arguments.duration, metavar="TIME", help="Lease of its jobs: 30s, 5min."
)
@arguments.timeout
@click.option(
    "--retention",
    type=arguments.long_duration,
    metavar="TIME",
    help="How long ended jobs are kept.",
)
@click.option(
    "--max-running",
    type=click.IntRange(1, arguments.MOST),
    metavar="N",
    help="Maximum number of its jobs that run at once.",
)
@click.option(
    "--placement",
    type=click.Choice(["spread", "pack"]),
    help="Who takes a new job: the first to ask, or the best worker with room.",
)
@click.option(
    "--keep-completed/--drop-completed",
    default=None,
    help="Whether a completed job leaves its row and its attempt.",
)
@click.option(
    "--on-failure",
    type=click.Choice(["fail", "ask"]),
    help="Whether its jobs fail, or ask a person, unless they say it themselves.",
)
@click.option(
    "--expect",
    metavar="JSON",
    help='When it waits for too long: \'{"starts_within": "5 min"}\'.',
)
@click.option(
    "--unset",
    type=click.Choice(QUEUE_SETTINGS),
    multiple=True,
    metavar="SETTING",
    help=f"Give a setting its default again: {', '.join(QUEUE_SETTINGS)}. Repeatable.",
)
@arguments.yes
@addresses.database
def create_queue(
    conn: Connection,
    name: str,
    yes: bool,
    unset: tuple[str, ...],
    expect: str | None,
    **given: Any,
) -> None:
    """Create a queue, or change the given settings of an existing one.

    Asks if a shorter retention would delete jobs.
    """
    named = ",".join(setting.replace("-", "_") for setting in unset)
    if given["retention"] is not None or "retention" in unset:
        losses.confirm_queue(conn, name, given["retention"], yes)
    wanted = expect and arguments.parse_object(expect, "--expect")
    connection.call(conn, "create_queue", name=name, **given, expect=wanted, unset=f"{{{named}}}")
    click.echo(f"queue {name} is set up")


@queue.command()
@click.argument("name")
@addresses.database
def pause(conn: Connection, name: str) -> None:
    """Hand out no more jobs; running ones continue."""
    connection.call(conn, "pause_queue", name=name)
    click.echo(f"queue {name} is paused; to resume it: qwf queue resume {name}")


@queue.command()
@click.argument("name")
@click.option("--task", metavar="TASK", help="Only this task, which is held as it crashed.")
@addresses.database
def resume(conn: Connection, name: str, task: str | None) -> None:
    """Hand out jobs again."""
    connection.call(conn, "resume_queue", name=name, **({"task": task} if task else {}))
    if task:
        click.echo(f"one job of {task} runs alone; unless it crashes, the others follow")
    else:
        click.echo(f"queue {name} is resumed")
