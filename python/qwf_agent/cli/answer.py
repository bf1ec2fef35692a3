"""Answering questions: of runs, and of jobs that ask what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from psycopg.types.json import Jsonb

from qwf_agent.cli import arguments, connection, draw
from qwf_agent.cli.connection import Connection


@click.command(context_settings={"ignore_unknown_options": True})  # -5 is a value
@click.argument("words", nargs=-1, metavar="[RUN NODE] VALUE")
@click.option("--job", type=arguments.ID, metavar="JOB", help="The job that asks, by its id.")
@click.option("--by", help="Who answers. Default: you.")
@connection.database
def answer(conn: Connection, words: tuple[str, ...], job: int | None, by: str | None) -> None:
    """Answer the question at NODE of RUN, or of a JOB, with VALUE.

    VALUE is JSON, else taken as text. Where there are options to choose from, it may also be #N, as
    `qwf inputs` numbers them. A failed node or job that asks takes retry, skip or abort.

    \b
    Example:  qwf answer 12 choose_best '#1'
              qwf answer 12 confirm true
              qwf answer --job 345 retry
    """
    if job is not None:
        if len(words) != 1:
            raise click.UsageError(f"write: qwf answer --job {job} VALUE")
        value = meant(_asked(conn, job), words[0])
        answer_job(conn, job, value, by or arguments.me())
        click.echo(f"job {job} is answered; see: qwf job {job}")
        return
    if len(words) != 3 or not words[0].isdecimal():
        raise click.UsageError("write: qwf answer RUN NODE VALUE, as qwf inputs says it")
    run, node = int(words[0]), words[1]
    value = meant(_asked(conn, None, run, node), words[2])
    submit(conn, run, node, value, by or arguments.me())
    click.echo(f"run {run} goes on; see: qwf show {run}")


def submit(conn: Connection, run: int, node: str, value: Any, by: str) -> None:
    """Give an answer; raises psycopg.Error, SQLSTATE QW005 where it does not fit."""
    conn.execute("select qwf.submit_input(%s, %s, %s, %s)", (run, node, Jsonb(value), by))


def give(conn: Connection, question: draw.Row, value: Any) -> None:
    """Give the answer to a row of pending_inputs, of a run or of a job by itself."""
    if question["run_id"] is not None and question["node_id"] is not None:
        submit(conn, question["run_id"], question["node_id"], value, arguments.me())
    else:
        answer_job(conn, question["job_id"], value, arguments.me())


def answer_job(conn: Connection, job: int, value: Any, by: str) -> None:
    """Give the answer that a job waits for; raises psycopg.Error as submit does."""
    conn.execute("select qwf.answer_job(%s, %s, %s)", (job, Jsonb(value), by))


def _asked(
    conn: Connection, job: int | None, run: int | None = None, node: str | None = None
) -> list[dict[str, Any]]:
    query = "select spec from qwf.pending_inputs where job_id = %s or run_id = %s and node_id = %s"
    return connection.many(conn, query, (job, run, node))


def meant(asked: Sequence[draw.Row], text: str) -> Any:
    """The value that the text stands for; whether it will do is for the database to say."""
    options = [option for option, _ in draw.options(asked[0]["spec"])] if asked else []
    if text.startswith("#") and options:
        if not text[1:].isdecimal() or not 1 <= int(text[1:]) <= len(options):
            raise click.ClickException(f"no option {text}: there are #1 to #{len(options)}")
        return options[int(text[1:]) - 1]
    named = [option.get("id") for option in options if isinstance(option, dict)]
    return text if text in [*options, *named] else arguments.parse_value(text)
