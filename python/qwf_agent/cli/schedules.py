"""Commands about schedules."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime, timedelta
from typing import Any

import click

from qwf_agent.cli import addresses, arguments, commands, known_names, missing_options, output
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

OVERVIEW = "select * from qwf.schedule_overview order by next_at, name"
COLUMNS = ("name", "what", "when", "state", "next", "last", "skipped", "error")
HISTORY = """
select f.*, extract(epoch from f.ended_at - f.at) as seconds
from qwf.firing_details f
where (%(all)s::text is null or f.of_schedule = %(all)s)
  and (%(one)s::text is null or f.schedule = %(one)s)
order by f.id desc limit %(limit)s
"""
HISTORY_COLUMNS = ("when", "schedule", "for", "status", "job", "run", "took", "why")
PLAN = "select * from qwf.due_times(%(name)s, null, %(since)s, %(until)s, %(again)s)"
VERDICTS = {"fires": "fires", "completed": "left out: completed", "open": "left out: worked on now"}
IN_ITS_ZONE = """
select %(when)s::timestamp at time zone coalesce(s.timezone, 'UTC') as at
from qwf.schedule_overview s where s.name = %(name)s
"""


@click.command()
@output.json_option
@addresses.database
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
            "state": _state(row),
            "next": row["next_at"] and draw.zoned(row["next_at"]),
            "last": row["last_status"] and draw.state(row["last_status"]).plain,
            "skipped": row["skipped"] or None,
            "error": row["last_error"],
        }
    empty = "no schedules; make one: qwf schedule add NAME --task TASK --cron '0 3 * * *'"
    show_list(COLUMNS, found, as_json, empty)


def _state(row: draw.Row) -> str:
    """On or disabled; of a backfill how far it is."""
    if row["backfill_of"] is None:
        return "on" if row["enabled"] else "disabled"
    state = "on" if row["enabled"] else "disabled" if row["resume_at"] else "done"
    counts = (
        (row["open"], "open"),
        (row["completed"], "completed"),
        (row["ended_otherwise"], "not completed"),
    )
    parts = [f"{row['planned'] - row['ahead']} of {row['planned']} times"]
    return ", ".join([state, *parts, *(f"{n} {what}" for n, what in counts if n)])


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
    type=click.Choice(["skip", "allow", "replace"]),
    help="What to do if the previous one is not over. Default: skip.",
)
@click.option(
    "--options",
    metavar="JSON",
    help="Other options of the job or run: '{\"max_attempts\": 3}'.",
)
@click.option(
    "--expect",
    metavar="JSON",
    help='When it is late: \'{"takes": "30 min"}\' without success, \'{"every": "26 h"}\'.',
)
@click.option("--disabled", is_flag=True, help="Do not fire until it is enabled.")
@arguments.priority
@arguments.project
@addresses.database
def add(
    conn: Connection, name: str, hours: str | None, anchor: timedelta | datetime | None,
    args: str | None, settings: tuple[tuple[str, str], ...], options: str | None,
    expect: str | None, disabled: bool, **given: Any,
) -> None:  # fmt: skip
    """Add a schedule, or replace the one with that name."""
    next_at = connection.call(
        conn,
        "create_schedule",
        name=name,
        hours=_hours(hours),
        anchor=arguments.ahead(conn, anchor),
        args=arguments.with_settings(args, settings),
        options=options and arguments.parse_object(options, "--options"),
        expect=expect and arguments.parse_object(expect, "--expect"),
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


class DueTime(known_names.ParamType):
    """A time of a schedule: in the time zone of the schedule unless it says another."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> datetime:
        """The time, without a zone if none is written."""
        if isinstance(value, datetime):
            return value
        for form in arguments.FORMATS:
            with contextlib.suppress(ValueError):
                return datetime.strptime(value, form)
        return self.fail(f"{value}: write 2030-01-31, or '2030-01-31 06:00'", param, ctx)


due_time = DueTime()


def _in_its_zone(conn: Connection, name: str, when: datetime | None) -> datetime | None:
    if when is None or when.tzinfo is not None:
        return when
    found = connection.many(conn, IN_ITS_ZONE, {"when": when, "name": name})
    return found[0]["at"] if found else when  # an unknown schedule is refused by what follows


@schedule.command()
@click.argument("name")
@click.option("--due", type=due_time, metavar="TIME", help="For this time of it, which is past.")
@addresses.database
def fire(conn: Connection, name: str, due: datetime | None) -> None:
    """Enqueue the job or run of a schedule now.

    Its next time stays as it is. A schedule that is disabled fires, too.

    \b
    Example:  qwf schedule fire nightly
              qwf schedule fire nightly --due '2030-01-31 03:00'
    """
    given = {"name": name, "due": _in_its_zone(conn, name, due)}
    started = connection.many(conn, "select * from qwf.fire_schedule(%(name)s, %(due)s)", given)[0]
    run, job = started["run_id"], started["job_id"]
    click.echo(f"schedule {name} fired: {f'run {run}' if run else f'job {job}'}")


@schedule.command()
@click.argument("name")
@click.argument("since", type=due_time)
@click.argument("until", type=due_time)
@click.option(
    "--at-once",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="How many may be unfinished.",
)
@click.option("--again", is_flag=True, help="Also for times that have completed before.")
@click.option("--plan", is_flag=True, help="List the times, and change nothing.")
@output.json_option
@addresses.database
def backfill(
    conn: Connection, name: str, since: datetime, until: datetime, at_once: int, again: bool,
    plan: bool, as_json: bool,
) -> None:  # fmt: skip
    """Fire a schedule for its times in the past, before UNTIL.

    Times that have completed are left out. The backfill is a schedule itself: list, disable and
    drop it like any.

    \b
    Example:  qwf schedule backfill etl 2026-01-01 2026-03-01 --at-once 4 --plan
              qwf schedule backfill etl 2026-01-01 2026-03-01 --at-once 4
              qwf schedule disable etl.backfill.1
    """
    given = {"name": name, "again": again}
    given |= {"since": _in_its_zone(conn, name, since), "until": _in_its_zone(conn, name, until)}
    if plan:
        found = connection.many(conn, PLAN, given)
        for row in [] if as_json else found:
            row |= {"for": draw.zoned(row["due_at"]), "does": VERDICTS[row["verdict"]]}
        show_list(("for", "does"), found, as_json, "no times")
        fires = sum(row["verdict"] == "fires" for row in found)
        click.echo(f"{fires} of {len(found)} times would fire, {at_once} at once", err=True)
        return
    made = connection.call(conn, "backfill", at_once=at_once, **given)
    if as_json:
        output.show_json({"name": made})
        return
    click.echo(f"schedule {made} has begun; how far it is: qwf schedules")


@schedule.command()
@click.argument("name", required=False)
@arguments.limit(50)
@listed
def history(conn: Connection, name: str | None, as_json: bool, limit: int) -> Listing:
    """List what came of the times of schedules, the newest first.

    With NAME, of that schedule and its backfills, or of that backfill alone.

    \b
    Example:  qwf schedule history
              qwf schedule history etl --limit 200
              qwf schedule history etl.backfill.1 --json
    """
    alone = name is not None and re.search(r"\.backfill\.[0-9]+$", name) is not None
    asked = {"one": name if alone else None, "all": None if alone else name, "limit": limit}
    found = connection.many(conn, HISTORY, asked)
    for row in [] if as_json else found:
        row |= {
            "when": draw.moment(row["at"]),
            "for": _due(row),
            "status": draw.state(row["status"]).plain if row["status"] else row["outcome"],
            "job": row["job_id"],
            "run": row["run_id"],
            "took": row["seconds"],
            "why": row["because"],
        }
    empty = "no schedule has been due" if name is None else f"{name} has not been due"
    return Listing(HISTORY_COLUMNS, found, empty, limit=limit)


def _due(row: draw.Row) -> str | None:
    """The time, or how many from when to when."""
    if row["due_at"] is None:
        return "by hand"
    due = draw.moment(row["due_at"])
    return (
        due if row["since"] is None else f"{row['times']} from {draw.moment(row['since'])} to {due}"
    )


@schedule.command()
@click.argument("name")
@addresses.database
def enable(conn: Connection, name: str) -> None:
    """Let a schedule fire again.

    Times missed while it was disabled do not fire. A backfill goes on where it was.
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
