"""Commands about named limits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click

from qwf_agent.cli import addresses, arguments, commands, output
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

KEYS = "select * from qwf.busiest_keys(%(name)s)"
LIMITS = "select * from qwf.limit_overview order by name"
MOST_PLACES = 10_000  # what a limit has if it was created with a rate alone


@click.command()
@click.argument("name", required=False)
@output.json_option
@addresses.database
def limits(conn: Connection, name: str | None, as_json: bool) -> None:
    """List the named limits, and the jobs that hold their slots.

    started: how many have started in the last period of a rate. With the NAME of a limit that
    counts by key: its 20 busiest keys, and what holds each back.

    \b
    Example:  qwf limits
              qwf limits customer
    """
    if name is None:
        _list_limits(conn, as_json)
        return
    columns = ("key", "running", "queued", "waits_since", "opens_at", "held_back")
    keys = connection.many(conn, KEYS, {"name": name})
    show_list(columns, keys, as_json, f"no job of {name} waits or runs")


def _list_limits(conn: Connection, as_json: bool) -> None:
    found = connection.many(conn, LIMITS)
    for row in [] if as_json else found:
        only_a_rate = row["starts"] is not None and row["max_running"] == MOST_PLACES
        row |= {"max": None if only_a_rate else row["max_running"], "limit": row["name"]}
        if row["keyed"]:
            row["limit"] += ":KEY"
        if row["held_until"] or row["held_keys"]:
            keys = draw.counted(row["held_keys"], "key") if row["held_keys"] else None
            until = f"until {draw.moment(row['held_until'])}" if row["held_until"] else None
            by = f"by {row['held_by']}" if row["held_until"] else None
            row["held"] = " ".join(filter(None, (until, by, keys)))
        else:
            row["held"] = None
        if row["starts"] is not None:
            row["rate"] = f"{row['starts']} in {draw.spell(row['per'])}"
    empty = "no limits; make one: qwf limit create NAME N, then enqueue with --limit-by NAME"
    columns = ("limit", "max", "running", "rate", "started", "queued", "keys", "held", "jobs")
    show_list(columns, found, as_json, empty)


@click.group(cls=commands.Commands)
def limit() -> None:
    """Limit how many jobs run at once, or start in a period.

    A job names its limit in limit_by. To limit a queue: qwf queue create gpu --max-running 2

    \b
    Example:  qwf limit create mail 2
              qwf limit create smtp --starts 100 --per 1min
              qwf limit create customer 2 --keyed
              qwf limit hold smtp 10min
              qwf enqueue send_email --limit-by mail
    """


@limit.command("create")
@click.argument("name")
@click.argument(
    "max_running", type=click.IntRange(1, arguments.MOST), metavar="[N]", required=False
)
@click.option(
    "--starts",
    type=click.IntRange(0, arguments.MOST),
    metavar="N",
    help="How many jobs may start in any period. 0: any number.",
)
@click.option(
    "--per",
    type=arguments.duration,
    metavar="TIME",
    help="Length of the period: 1s, 10min. Default: a second.",
)
@click.option(
    "--keyed",
    is_flag=True,
    default=None,
    help="The numbers, 1 to 100, hold for each key: jobs name NAME:KEY.",
)
@addresses.database
def create_limit(conn: Connection, name: str, max_running: int | None, **options: Any) -> None:
    """Create limit NAME of N jobs at once, or change what is given.

    With --starts, no more of its jobs than that start within any period. Running jobs continue.
    With --keyed, each key has these numbers: 2 jobs of customer:acme at once, 2 of customer:bob.
    """
    connection.call(conn, "create_limit", name=name, max_running=max_running, **options)
    click.echo(f"limit {name} is set up; see qwf limits")


@limit.command("hold")
@click.argument("name")
@click.argument("until", type=arguments.moment, metavar="[TIME]", required=False)
@click.option("--key", metavar="KEY", help="Only jobs of this key: acme for customer:acme.")
@click.option("--end", is_flag=True, help="End the hold now.")
@addresses.database
def hold_limit(
    conn: Connection, name: str, until: timedelta | datetime | None, key: str | None, end: bool
) -> None:
    """Let no job of limit NAME start for a TIME, or until then.

    A TIME is 10min, or '2030-01-31 06:00'.

    Running jobs continue. The later of two holds wins; --end ends it.
    """
    if end == (until is not None):
        raise click.UsageError("give a TIME, such as 10min, or --end")
    when = "-infinity" if end else arguments.ahead(conn, until)
    held = connection.call(conn, "hold_limit", name=name, until=when, key=key)
    whose = f"{name}:{key}" if key else name
    click.echo(f"limit {whose} is held until {draw.moment(held)}" if held
               else f"limit {whose} is not held")  # fmt: skip


@limit.command("drop")
@click.argument("name")
@arguments.yes
@addresses.database
def drop_limit(conn: Connection, name: str, yes: bool) -> None:
    """Remove a limit that no unfinished job and no current pipeline names.

    queue:NAME is the limit of a queue.
    """
    for row in connection.many(conn, LIMITS):
        if row["name"] == name:
            rate = f", {row['starts']} starts in {draw.spell(row['per'])}" if row["starts"] else ""
            arguments.confirm(
                f"Drop limit {name} ({row['max_running']} at once{rate})? {row['running']} of its "
                f"jobs run, {draw.counted(row['queued'], 'job')} of it wait.", yes,
            )  # fmt: skip
    connection.call(conn, "drop_limit", name=name)
    click.echo(f"limit {name} is dropped")
