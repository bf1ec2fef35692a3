"""The command that lists groups of failures, and says what people have said about them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from qwf_agent.cli import arguments, errors
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.look import connection, draw
from qwf_agent.look import failures as marks
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw import words

COLOURS = {"new": "red", "again": "red", "seen": "bright_black", "snoozed": "bright_black"}
SAID = {"again": "failed again since it was seen", "seen": "seen", "snoozed": "snoozed"}


@click.command("failures")
@click.option(
    "--since", type=arguments.moment, default="24h", show_default=True, metavar="TIME",
    help="Only what failed since: 2h, 7d, or '2030-01-31 06:00'.",
)  # fmt: skip
@click.option("--task", metavar="TASK", help="Only of this task.")
@click.option("--queue", metavar="QUEUE", help="Only of this queue.")
@click.option("--host", metavar="HOST", help="Only what failed on this box.")
@click.option("--workflow", metavar="NAME", help="Only nodes of this workflow.")
@click.option(
    "--mark", type=arguments.ID, metavar="JOB",
    help="Say something about the group of this job, with the options below.",
)  # fmt: skip
@click.option("--seen/--not-seen", default=None, help="It was seen; take that back.")
@click.option(
    "--snooze", type=arguments.moment, metavar="TIME", help="Hide it so long: 1h, 2d; 0s ends it."
)  # fmt: skip
@click.option("--until-release", is_flag=True, help="Hide it until a new version is registered.")
@click.option("--note", metavar="TEXT", help="A note for the others; an empty one deletes it.")
@arguments.limit(50)
@listed
def failures(
    conn: Connection, since: timedelta | datetime | None, as_json: bool, limit: int,
    mark: int | None, seen: bool | None, snooze: timedelta | datetime | None,
    until_release: bool, note: str | None, **only: str | None,
) -> Listing | None:  # fmt: skip
    """List failed jobs in groups of the same task and error.

    New ones come first, then what was seen, then what is snoozed.

    \b
    Example:  qwf failures --since 7d --task resize
              qwf failures --mark 345 --seen --note "the disk was full"
              qwf failures --mark 345 --until-release
    """
    said = {"seen": seen, "snooze": snooze, "until_release": until_release or None, "note": note}
    if mark is None and any(value is not None for value in said.values()):
        raise click.UsageError("name a job of the group with --mark")
    began = arguments.ago(conn, since)
    back = None if began is None else datetime.now(began.tzinfo) - began
    found = connection.many(conn, marks.GROUPS, {"back": back, **only})
    if mark is not None:
        _mark(conn, found, mark, said)
        return None
    return Listing(
        (), found, "nothing has failed", limit=limit, draw_row=_drawn,
        asked={"queue": only["queue"], "task": only["task"]},
    )  # fmt: skip


def _mark(
    conn: Connection, groups: list[dict[str, Any]], job: int, said: Mapping[str, Any]
) -> None:
    """Say it about the group of a job."""
    if all(value is None for value in said.values()):
        raise click.UsageError("say something: --seen, --snooze, --until-release or --note")
    group = next((one for one in groups if job in one["job_ids"]), None)
    if group is None:
        errors.fail(
            f"job {job} is none of the newest three of a group",
            hint="qwf failures lists the groups with their jobs; --since looks further back",
        )
    named = {"task": group["task"], "signature": group["signature"]}
    connection.many(conn, marks.MARK, {**named, **said})
    click.echo(f"marked: {draw.visible(words.gist(group['example'] or 'no error text'))}")


def _drawn(group: Mapping[str, Any]) -> RenderableType:
    """A group in a few lines: how many, its error, where, what was said, what to do."""
    count, jobs = group["count"], ", ".join(map(str, group["job_ids"]))
    times = f"last {draw.moment(group['last_at'])}"
    if count > 1:
        times = f"first {draw.moment(group['first_at'])}, {times}"
    where = f" on {', '.join(group['hosts'])}" if group["hosts"] else ""
    lines = [
        Text.assemble(
            (f"{count} \u00d7 ", f"bold {COLOURS[group['state']]}"),
            (group["task"], "bold"),
            f"{where}, {times}",
        ),
        Text(f"  {words.gist(group['example'] or 'no error text')}", COLOURS[group["state"]]),
    ]
    if group["marked_by"]:
        lines.append(Text(f"  {_said(group)}", "bright_black"))
    many = f" … {count} jobs" if count > len(group["job_ids"]) else ""
    runs = f"  runs {', '.join(map(str, group['run_ids'][:6]))}" if group["run_ids"] else ""
    lines.append(Text(f"  jobs {jobs}{many}{runs}", "bright_black"))
    return Group(*lines)


def _said(group: Mapping[str, Any]) -> str:
    """The mark of a group in words."""
    state = SAID.get(group["state"], "")
    if group["state"] == "snoozed":
        state += f" {marks.snoozed(group, draw.moment(group['snoozed_until']))}"
    parts = [state, group["note"] or ""]
    return f"{': '.join(part for part in parts if part)} ({group['marked_by']})"
