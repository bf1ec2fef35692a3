"""Commands about schedules."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click

from qwf_agent.cli import addresses, arguments, commands, known_names, missing_options, output
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

OVERVIEW = "select * from qwf.schedule_overview order by next_at, name"
COLUMNS = ("name", "what", "when", "state", "next", "last", "skipped", "error")


@click.command()
@output.json_option
@addresses.database_to_read()
def schedules(conn: Connection, as_json: bool) -> None:
    """List the schedules, next due first.

    \b
    Example:  qwf schedules
    """
    found = connection.many(conn, OVERVIEW)
    for row in [] if as_json else found:
        zone = row["timezone"]
        row |= {
            "when": _when(row) + (f" {zone}" if zone else ""),
            "state": "on" if row["enabled"] else "disabled",
            "next": row["next_at"] and draw.zoned(row["next_at"]),
            "last": row["last_status"] and draw.state(row["last_status"]).plain,
            "skipped": row["skipped"] or None,
            "error": row["last_error"],
        }
    empty = "no schedules; make one: qwf schedule add NAME --task TASK --cron '0 3 * * *'"
    show_list(COLUMNS, found, as_json, empty)


def _when(row: draw.Row) -> str:
    return f"every {draw.spell(row['every'])}" if row["every"] else str(row["due"])


@click.group(cls=commands.Commands)
def schedule() -> None:
    """Run tasks and workflows on a schedule.

    \b
    Example:  qwf schedule add nightly --workflow report --cron '0 3 * * *'
              qwf schedule add ping --task ping --every 37min
    """


@schedule.command()
@click.argument("name")
@click.option("--task", metavar="TASK", help="Enqueue a job of this task.")
@click.option("--workflow", metavar="NAME", help="Enqueue a run of this workflow.")
@click.option("--cron", metavar="TEXT", help="When: five fields, or @daily and the like.")
@click.option("--minute", type=click.IntRange(0, 59), metavar="N", help="When: at this minute...")
@click.option("--hours", metavar="H,H", help="...of these hours. Default: every hour.")
@click.option(
    "--every", type=arguments.duration, metavar="TIME", help="When: at this interval: 37min, 1d."
)
@click.option(
    "--anchor", type=arguments.moment, metavar="TIME", help="A time that --every counts from."
)
@click.option("--timezone", metavar="ZONE", help="Of --cron and --minute. Default: UTC.")
@arguments.args("Arguments of the job, or context of the run")
@click.option("--queue", help="Queue of the job. Default: default.")
@click.option(
    "--catch-up",
    type=click.Choice(["one", "none", "all"]),
    help="How many missed times to make up for. Default: one.",
)
@click.option(
    "--overlap",
    type=click.Choice(["skip", "allow"]),
    help="What to do if the previous one is not over. Default: skip.",
)
@click.option("--disabled", is_flag=True, help="Do not fire until it is enabled.")
@arguments.priority
@arguments.project
@addresses.database
def add(
    conn: Connection, name: str, hours: str | None, anchor: timedelta | datetime | None,
    args: str | None, settings: tuple[tuple[str, str], ...], disabled: bool, **given: Any,
) -> None:  # fmt: skip
    """Add a schedule, or replace the one with that name."""
    next_at = connection.call(
        conn,
        "create_schedule",
        name=name,
        hours=_hours(hours),
        anchor=arguments.ahead(conn, anchor),
        args=arguments.with_settings(args, settings),
        enabled=False if disabled else None,
        **given,
    )
    click.echo(f"schedule {name}, {f'next at {draw.zoned(next_at)}' if next_at else 'disabled'}")
    if given["task"] is not None:
        known_names.note_unable(conn, given["queue"], task=given["task"])
        missing_options.note(conn, schedule=name)


@schedule.command()
@click.argument("name")
@arguments.yes
@addresses.database
def drop(conn: Connection, name: str, yes: bool) -> None:
    """Remove a schedule; the jobs and runs it enqueued stay."""
    for row in connection.many(conn, OVERVIEW):
        if row["name"] == name:
            arguments.confirm(
                f"Drop schedule {name} ({row['what']}, {_when(row)}, fired {row['fired']} times)? "
                f"To stop it for a while: qwf schedule disable {name}.", yes,
            )  # fmt: skip
    connection.call(conn, "drop_schedule", name=name)
    click.echo(f"schedule {name} is dropped")


@schedule.command()
@click.argument("name")
@addresses.database
def fire(conn: Connection, name: str) -> None:
    """Enqueue the job or run of a schedule now.

    Its next time stays as it is. A schedule that is disabled fires, too.

    \b
    Example:  qwf schedule fire nightly
    """
    started = connection.many(conn, "select * from qwf.fire_schedule(%(name)s)", {"name": name})[0]
    run, job = started["run_id"], started["job_id"]
    click.echo(f"schedule {name} fired: {f'run {run}' if run else f'job {job}'}")


@schedule.command()
@click.argument("name")
@addresses.database
def enable(conn: Connection, name: str) -> None:
    """Let a schedule fire again.

    Times missed while it was disabled do not fire.
    """
    _enable(conn, name, True)


@schedule.command()
@click.argument("name")
@addresses.database
def disable(conn: Connection, name: str) -> None:
    """Stop a schedule from firing."""
    _enable(conn, name, False)


def _enable(conn: Connection, name: str, enabled: bool) -> None:
    next_at = connection.call(conn, "enable_schedule", name=name, enabled=enabled)
    click.echo(f"schedule {name}, {f'next at {draw.zoned(next_at)}' if next_at else 'disabled'}")


def _hours(text: str | None) -> str | None:
    """The hours as an array of Postgres: a list would be sent as JSON."""
    if text is None:
        return None
    try:
        return "{" + ",".join(str(int(part)) for part in text.split(",")) + "}"
    except ValueError:
        raise click.BadParameter(f"--hours {text}: write 8,12,18") from None
