"""Commands that change what is there: cancel, answer, tick."""

from __future__ import annotations

import getpass
import time
from typing import Any

import click
from psycopg.types.json import Jsonb

from qwf_agent import show
from qwf_agent.cli import session


@click.group(cls=session.Commands)
def cancel() -> None:
    """Cancel runs or jobs.

    What waits is cancelled at once, what runs is told to stop.

    \b
    Example:  qwf cancel run 12 13 --reason 'wrong photo'
    """


@cancel.command("run")
@click.argument("ids", type=session.ID, nargs=-1, required=True, metavar="ID...")
@click.option("--reason", help="Why; kept with the run.")
@session.database
def cancel_run(conn: session.Connection, ids: tuple[int, ...], reason: str | None) -> None:
    """Cancel whole runs."""
    _cancel(conn, "run", ids, reason)


@cancel.command("job")
@click.argument("ids", type=session.ID, nargs=-1, required=True, metavar="ID...")
@click.option("--reason", help="Why; kept with the job.")
@session.database
def cancel_job(conn: session.Connection, ids: tuple[int, ...], reason: str | None) -> None:
    """Cancel single jobs."""
    _cancel(conn, "job", ids, reason)


@click.command(context_settings={"ignore_unknown_options": True})  # -5 is a value
@click.argument("run", type=session.ID)
@click.argument("node")
@click.argument("value")
@click.option("--by", help="Who answers. Default: you.")
@session.database
def answer(conn: session.Connection, run: int, node: str, value: str, by: str | None) -> None:
    """Answer the question at NODE of RUN with VALUE.

    VALUE is JSON, else taken as text. Where there are options to choose from, it may also be #N, as
    `qwf inputs` numbers them.

    \b
    Example:  qwf answer 12 choose_best '#1'
              qwf answer 12 confirm true
    """
    submit(conn, run, node, _meant(conn, run, node, value), by or _me())
    click.echo(f"run {run} goes on; see: qwf show {run}")


@click.command()
@click.option("--loop", is_flag=True, help="Again and again, until interrupted.")
@session.json_option
@session.database
def tick(conn: session.Connection, loop: bool, as_json: bool) -> None:
    """Do the housekeeping once, as agents do all the time.

    It queues jobs that are due, takes back lapsed leases and applies leftover events.

    \b
    Example:  qwf tick --loop      (on a box where no agent runs)
    """
    while True:
        done: dict[str, Any] = session.call(conn, "tick")
        if as_json:
            session.show_json(done)
        elif not loop:
            session.show(show.facts(done, list(done)))
        if not loop:
            return
        time.sleep(max(0.05, min(1.0, done.get("next_due_s") or 1.0)))


def submit(conn: session.Connection, run: int, node: str, value: Any, by: str) -> None:
    """Give an answer; raises psycopg.Error, SQLSTATE QW005 where it does not fit."""
    conn.execute("select qwf.submit_input(%s, %s, %s, %s)", (run, node, Jsonb(value), by))


def _meant(conn: session.Connection, run: int, node: str, text: str) -> Any:
    """The value that the text stands for; whether it will do is for the database to say."""
    query = "select spec from qwf.pending_inputs where run_id = %s and node_id = %s"
    asked = session.many(conn, query, (run, node))
    options = [option for option, _ in show.options(asked[0]["spec"])] if asked else []
    if text.startswith("#") and options:
        if not text[1:].isdecimal() or not 1 <= int(text[1:]) <= len(options):
            session.fail(f"no option {text}: there are #1 to #{len(options)}", "qwf inputs")
        return options[int(text[1:]) - 1]
    named = [option.get("id") for option in options if isinstance(option, dict)]
    return text if text in [*options, *named] else session.parse_value(text)


def _cancel(conn: session.Connection, what: str, ids: tuple[int, ...], reason: str | None) -> None:
    with conn.transaction():
        for number in ids:
            session.call(conn, f"cancel_{what}", **{f"{what}_id": number, "reason": reason})
    click.echo(f"cancelled {what} {', '.join(map(str, ids))}")


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "qwf"
