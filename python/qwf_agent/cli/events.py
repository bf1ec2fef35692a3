"""`qwf events`: what happened, and what happens now."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click
from rich.text import Text

from qwf_agent.app.events import Event, EventsMissed, follow
from qwf_agent.cli import addresses, arguments, output
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.events import line
from qwf_agent.system.exit_codes import INTERRUPTED

# No index by kind: a rare one is found among a million events in 0.4 s, and an index would cost a
# write for each event.
NEWEST = """
select * from qwf.events e
where %(kinds)s::text[] is null or e.kind = any (%(kinds)s)
order by e.seq desc limit %(limit)s
"""
LATER = """
select * from qwf.events e
where e.seq > %(after)s and (%(kinds)s::text[] is null or e.kind = any (%(kinds)s))
order by e.seq limit %(limit)s
"""


@click.command()
@click.option("-f", "--follow", "follows", is_flag=True, help="Go on with what happens from now.")
@click.option(
    "--after", type=click.IntRange(0, 2**63 - 1), metavar="SEQ",
    help="Those after this number, the oldest first.",
)  # fmt: skip
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only of this kind; repeatable."
)
@arguments.limit(20)
@output.json_option
@addresses.database
def events(
    conn: Connection, follows: bool, after: int | None, kinds: tuple[str, ...], limit: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the newest events, or those after a number.

    With -f, go on until Ctrl-C: after --after, else from now on. With --json, that is one line for
    each. If events are missing between, as those that were deleted, a warning says how many.

    \b
    Example:  qwf events
              qwf events -f --kind run_ended --kind job_failed
              qwf events --after 41 --limit 100 --json
    """
    if follows:
        _follow(conn, after, kinds, as_json)
        return
    wanted = {"kinds": list(kinds) or None, "after": after, "limit": limit}
    found = connection.many(conn, NEWEST if after is None else LATER, wanted)
    if after is None:
        found.reverse()
    if as_json:
        output.show_json(found)
        return
    for row in found:
        output.show(line(draw.visible_values(row)))
    if not found:
        output.show(Text("no events", "bright_black"))


def _follow(conn: Connection, after: int | None, kinds: tuple[str, ...], as_json: bool) -> None:
    """Print events as they come. A gap is told, and no reason to stop."""
    try:
        while True:
            try:
                for event in follow(conn, after):
                    after = event.seq
                    if not kinds or event.kind in kinds:
                        _print(event, as_json)
            except EventsMissed as missed:
                click.echo(f"warning: {missed}", err=True)
                after = missed.go_on_after
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _print(event: Event, as_json: bool) -> None:
    row: dict[str, Any] = asdict(event)
    if as_json:
        row["at"] = event.at.isoformat()
        click.echo(json.dumps(row, ensure_ascii=False))
    else:
        output.show(line(draw.visible_values(row)))
