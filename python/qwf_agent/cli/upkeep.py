"""Housekeeping by hand; agents do it all the time."""

from __future__ import annotations

import time
from typing import Any

import click

from qwf_agent.cli import addresses, arguments, losses, output
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

WINDOW = 10_000  # rows that one prune() scans


@click.command()
@click.option("--loop", is_flag=True, help="Repeat until interrupted.")
@output.json_option
@addresses.database
def tick(conn: Connection, loop: bool, as_json: bool) -> None:
    """Do the housekeeping once, as agents do all the time.

    It queues due jobs, takes back jobs whose lease has expired and applies leftover events.

    \b
    Example:  qwf tick --loop      (on a box where no agent runs)
    """
    while True:
        done: dict[str, Any] = connection.call(conn, "tick")
        if as_json:
            output.show_json(done)
        elif not loop:
            output.show(draw.facts(done, list(done)))
        if not loop:
            return
        time.sleep(max(0.05, min(1.0, done.get("next_due_s") or 1.0)))


@click.command()
@arguments.yes
@output.json_option
@addresses.database
def prune(conn: Connection, yes: bool, as_json: bool) -> None:
    """Delete everything older than its retention at once.

    Ticks do it bit by bit, so this is rarely needed. The retention is a setting (qwf settings
    retention 7d), and a queue may have its own. Asks if jobs or runs are to be deleted.

    \b
    Example:  qwf prune
    """
    lost = losses.ended(conn)
    if lost is not None:
        arguments.confirm(f"Delete {lost}, with their attempts, events and answers?", yes)
    rows = connection.many(
        conn,
        "select (select count(*) from qwf.job_details) as jobs,"
        " (select count(*) from qwf.run_details) as runs",
    )
    gone: dict[str, int] = {}
    # each prune() continues where the last one stopped, and wraps around
    for _ in range(max(rows[0].values()) // WINDOW + 2):
        done: dict[str, int] = connection.call(conn, "prune", max_rows=WINDOW)
        gone = {what: gone.get(what, 0) + count for what, count in done.items()}
    if as_json:
        output.show_json(gone)
    else:
        click.echo("deleted: " + ", ".join(f"{count} {what}" for what, count in gone.items()))
