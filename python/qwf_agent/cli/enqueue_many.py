"""`qwf enqueue-many`: the jobs of a file, a thousand in each transaction."""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, NoReturn

import click
import psycopg

from qwf_agent import config
from qwf_agent.cli import addresses, errors, output
from qwf_agent.look import connection, hints, strict_json
from qwf_agent.look.connection import Connection
from qwf_agent.system.exit_codes import INTERRUPTED, NO_DATABASE

PORTION = 1000  # more gains nothing: see docs/measurements.md
CHARACTERS = 2**24  # of a portion; PostgreSQL takes no list of more than 256 MiB
SHOW_S = 0.2  # between two lines of progress
ITEM = re.compile(r"\[(\d+)\]\.?(?:: )?")  # how enqueue_many begins to name an item
ENQUEUE = "select kept, count(*) as lines from qwf.enqueue_many(%s) group by kept"
MERGED = {
    "old args": "merged into jobs with the same keys, which keep their arguments",
    "new args": "merged into jobs with the same keys, which have the new arguments",
}
EXAMPLE = 'write {"task": "send_email", "args": {"to": "ada@example.org"}}'


def no_constant(name: str) -> NoReturn:
    """Refuse what Python reads as JSON and PostgreSQL does not."""
    raise ValueError(f"{name} is not a value of JSON")


JSON = json.JSONDecoder(
    parse_constant=no_constant, parse_int=str, object_pairs_hook=strict_json.unique
)


@dataclass
class Portion:
    """Lines that are enqueued together, and the number of each."""

    numbers: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    characters: int = 0

    def add(self, number: int, line: str, project: str) -> None:
        inside = line.lstrip()[1:]
        if project and inside.strip() != "}":  # of two members with one name the last counts
            line = f'{{"project": {json.dumps(project)}, {inside}'
        self.numbers.append(number)
        self.lines.append(line)
        self.characters += len(line)

    def full(self) -> bool:
        return len(self.lines) == PORTION or self.characters >= CHARACTERS


@click.command("enqueue-many")
@click.argument("file", type=click.File(encoding="utf-8-sig"), metavar="FILE")
@click.option("--skip", type=click.IntRange(0), default=0, metavar="N",
              help="Leave out the first N lines, as they are enqueued already.")  # fmt: skip
@output.json_option
@addresses.database
def enqueue_many(conn: Connection, file: IO[str], skip: int, as_json: bool) -> None:
    """Enqueue a job for each line of FILE; - is standard input.

    A line is a JSON object with the arguments of qwf.enqueue. Up to a thousand are one transaction.
    If one of them is refused, none of these is enqueued, and you are told with which --skip
    to go on. With a "key" and "once", you can also give all lines again: a job that exists is not
    made a second time. The answer says how many lines were merged into jobs with the same keys.

    \b
    Example:  qwf enqueue-many mails.jsonl
    A line:   {"task": "send_email", "args": {"to": "ada@example.org"},
               "queue": "cpu", "key": "welcome ada", "once": true}
    """
    done, enqueued, began = skip, 0, time.monotonic()
    became: Counter[str] = Counter(new=0, old_args=0, new_args=0)
    shown = began
    for portion in portions(file, skip):
        became.update(enqueue(conn, portion, done))
        if not enqueued:
            connection.quiet(conn)  # a queue that nobody serves is named once
        done, enqueued = portion.numbers[-1], enqueued + len(portion.lines)
        if sys.stderr.isatty() and time.monotonic() > shown + SHOW_S:
            shown = time.monotonic()
            rate = enqueued / (shown - began)
            click.echo(f"\r{done:,} lines, {rate:,.0f} a second ", nl=False, err=True)
    if shown > began:
        click.echo("\r\x1b[K", nl=False, err=True)
    if as_json:
        output.show_json({"enqueued": enqueued, "last_line": done, **became})
    else:
        click.echo(f"enqueued: {enqueued:,} line{'' if enqueued == 1 else 's'}")
        for kept, what in MERGED.items():
            if lines := became[kept.replace(" ", "_")]:
                click.echo(f"  {lines:,} of them {what}")


def portions(file: IO[str], skip: int) -> Iterator[Portion]:
    """The lines of the file after the first `skip`, blank ones left out, as portions."""
    numbered = enumerate(itertools.islice(file, skip, None), skip + 1)
    done, portion, project = skip, Portion(), config.project()
    try:
        for number, line in numbered:
            if line.isspace():
                continue
            if problem := problem_of(line):
                refuse(number, problem, EXAMPLE, done)
            portion.add(number, line, project)
            if portion.full():
                yield portion
                done, portion = number, Portion()
    except UnicodeDecodeError as error:
        errors.fail(f"{file.name} is not UTF-8: {error}", going_on(done))
    if portion.lines:
        yield portion


def problem_of(line: str) -> str | None:
    """Why a line is not a JSON object, or None."""
    try:
        return None if isinstance(JSON.decode(line), dict) else "not a JSON object"
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"


def enqueue(conn: Connection, portion: Portion, done: int) -> dict[str, int]:
    """Enqueue the jobs of a portion and return how many of its lines became what; or say which line
    is refused and exit."""
    try:
        rows = connection.many(conn, ENQUEUE, ["[" + ",".join(portion.lines) + "]"])
        return {row["kept"].replace(" ", "_"): row["lines"] for row in rows}
    except (psycopg.Error, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) or lost(error):
            doubt(error, done, portion.numbers[-1])
        detail = error.diag.message_detail or ""
        named = ITEM.match(detail)
        if named is None:
            click.echo(f"note: {going_on(done)}", err=True)
            raise
        problem = ": ".join(filter(None, (error.diag.message_primary, detail[named.end() :])))
        refuse(portion.numbers[int(named[1])], problem, hints.of(error.diag), done)


def lost(error: psycopg.Error) -> bool:
    """Return True if the connection is lost, so that nobody knows whether the statement was
    committed."""
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))


def doubt(error: BaseException, done: int, last: int) -> NoReturn:
    """Say which lines may be enqueued or not, and how to go on."""
    interrupted = isinstance(error, KeyboardInterrupt)
    said = "interrupted" if interrupted else f"no answer: {str(error).strip().splitlines()[0]}"
    errors.fail(
        said,
        f"lines 1 to {done:,} are enqueued; go on with --skip {done}. If the lines have no keys,"
        " look first whether the doubtful ones are there: qwf jobs",
        code=INTERRUPTED if interrupted else NO_DATABASE,
        details=[f"lines {done + 1:,} to {last:,} may be enqueued or not"],
    )


def refuse(number: int, problem: str, hint: str | None, done: int) -> NoReturn:
    """Say what is wrong with a line, and how to go on."""
    details = [hint] if hint else []
    errors.fail(f"line {number:,}: {problem}", going_on(done), details=details)


def going_on(done: int) -> str:
    """How to enqueue the rest."""
    if not done:
        return "nothing was enqueued; correct it and try again"
    return f"lines 1 to {done:,} are enqueued; correct it and go on with --skip {done}"
