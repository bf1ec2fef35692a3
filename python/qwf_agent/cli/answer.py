"""Answers questions: of runs, and of failed jobs that ask what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import click
from psycopg.types.json import Jsonb

from qwf_agent import config
from qwf_agent.cli import addresses, arguments
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

NUMBER = re.compile(r"-[0-9.]+([eE][-+]?[0-9]+)?|-")


class Answer(click.Command):
    """A command that takes a negative number for a value, but refuses an unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what begins with a dash, stands before --, and is no option and no number."""
        ctx.ignore_unknown_options = True
        known = [flag for option in self.get_params(ctx) for flag in option.opts]
        for word in args[: args.index("--")] if "--" in args else args:
            flag = word.partition("=")[0]
            if flag.startswith("-") and flag not in known and not NUMBER.fullmatch(word):
                meant = config.close_to(flag, known)
                ctx.fail(
                    f"no such option {flag!r}: "
                    + (f"did you mean {meant!r}?" if meant else "put -- before an answer like that")
                )
        return super().parse_args(ctx, args)


@click.command(cls=Answer)
@click.argument("words", nargs=-1, metavar="[RUN NODE] VALUE")
@click.option("--job", type=arguments.ID, metavar="JOB", help="Id of the job that asks.")
@click.option("--acting-for", metavar="NAME", help="For whom. Default: your name at the terminal.")
@addresses.database
def answer(
    conn: Connection, words: tuple[str, ...], job: int | None, acting_for: str | None
) -> None:
    """Answer the question of a node or a job.

    VALUE is JSON, or plain text if it is not JSON. A text that begins with { [ or " is written as
    JSON: '"[sic]"'. If the question has options, VALUE may be #N,
    with the number that `qwf inputs` prints. A failed node or job that asks takes retry, skip or
    abort.

    \b
    Example:  qwf answer 12 choose_best '#1'
              qwf answer 12 confirm true
              qwf answer --job 345 retry
    """
    if job is not None:
        if len(words) != 1:
            raise click.UsageError(f"write: qwf answer --job {job} VALUE")
        value = parse_answer(_find(conn, job), words[0])
        answer_job(conn, job, value, acting_for)
        click.echo(f"job {job} is answered; see: qwf job {job}")
        return
    if len(words) != 3 or not words[0].isdecimal():
        raise click.UsageError("write: qwf answer RUN NODE VALUE, as qwf inputs prints it")
    run, node = int(words[0]), words[1]
    value = parse_answer(_find(conn, None, run, node), words[2])
    answer_node(conn, run, node, value, acting_for)
    click.echo(f"run {run} continues; see: qwf show {run}")


def answer_node(
    conn: Connection, run: int, node: str, value: Any, acting_for: str | None = None
) -> None:
    """Answer a node's question; raises psycopg.Error, SQLSTATE QW005 if the value is invalid."""
    conn.execute("select qwf.submit_input(%s, %s, %s, %s)", (run, node, Jsonb(value), acting_for))


def answer_question(conn: Connection, question: draw.Row, value: Any) -> None:
    """Answer a row of pending_inputs, which belongs to a node or to a standalone job."""
    if question["run_id"] is not None and question["node_id"] is not None:
        answer_node(conn, question["run_id"], question["node_id"], value)
    else:
        answer_job(conn, question["job_id"], value)


def answer_job(conn: Connection, job: int, value: Any, acting_for: str | None = None) -> None:
    """Answer a job's question; raises psycopg.Error as answer_node does."""
    conn.execute("select qwf.answer_job(%s, %s, %s)", (job, Jsonb(value), acting_for))


def _find(
    conn: Connection, job: int | None, run: int | None = None, node: str | None = None
) -> list[dict[str, Any]]:
    query = "select spec from qwf.pending_inputs where job_id = %s or run_id = %s and node_id = %s"
    return connection.many(conn, query, (job, run, node))


def parse_answer(
    questions: Sequence[draw.Row], text: str, tell: Callable[[str], None] = arguments.note
) -> Any:
    """The value that the text stands for, read as parse_value does. The database checks whether it
    is valid."""
    options = [option for option, _ in draw.options(questions[0]["spec"])] if questions else []
    if text.startswith("#") and options:
        if not text[1:].isdecimal() or not 1 <= int(text[1:]) <= len(options):
            raise click.ClickException(f"no option {text}: choose from #1 to #{len(options)}")
        return options[int(text[1:]) - 1]
    named = [option.get("id") for option in options if isinstance(option, dict)]
    return text if text in [*options, *named] else arguments.parse_value(text, "VALUE", tell)
