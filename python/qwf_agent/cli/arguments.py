"""Arguments and options shared by several commands, and their parsers."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from qwf_agent.cli import connection
from qwf_agent.cli.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

UNITS = {
    "ms": "milliseconds",
    "s": "seconds",
    "min": "minutes",
    "m": "minutes",
    "h": "hours",
    "d": "days",
}
FORMATS = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d"]

RUN_STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
JOB_STATES = ("blocked", "scheduled", *RUN_STATES, "skipped")
ID = click.IntRange(1, 2**63 - 1)


def duration(text: str) -> timedelta:
    """Parse a length of time: 90 or 90s, 10min, 2h, 1d."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ").strip()
    unit = text[len(number) :].strip() or "s"
    try:
        return timedelta(**{UNITS[unit]: float(number)})
    except (KeyError, ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is not a duration: write 90s, 10min, 2h or 1d"
        ) from None


def moment(text: str) -> timedelta | datetime:
    """Parse a time: a duration before or after now (2h), or a date, local unless it has a zone."""
    for form in FORMATS:
        try:
            when = datetime.strptime(text, form)
        except ValueError:
            continue
        return when if when.tzinfo else when.astimezone()
    try:
        return duration(text)
    except click.BadParameter:
        raise click.BadParameter(
            f"{text!r} is not a time: write 90s, 10min, 2h, 1d, '2030-01-31' or '2030-01-31 06:00'"
        ) from None


def ago(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--since` means, by the database's clock."""
    return _now(conn) - when if isinstance(when, timedelta) else when


def ahead(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--until` means, by the database's clock."""
    return _now(conn) + when if isinstance(when, timedelta) else when


def pair(text: str) -> tuple[str, str]:
    """Parse key=value."""
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise click.BadParameter(f"{text!r}: write key=value")
    return key, value


def run_at(conn: Connection, delay: timedelta | None, at: datetime | None) -> datetime | None:
    """The time that --in or --at means."""
    if delay is not None and at is not None:
        raise click.UsageError("give --in or --at, not both")
    if delay is not None:
        return _now(conn) + delay
    return at and (at if at.tzinfo else at.astimezone())


def _now(conn: Connection) -> datetime:
    now: datetime = connection.call(conn, "now")
    return now


def parse_json(text: str, what: str) -> Any:
    """Parse a JSON argument: the text itself, @file, or - for standard input."""
    source = "the text"
    try:
        if text == "-":
            source, text = "standard input", sys.stdin.read()
        elif text.startswith("@"):
            source = text[1:]
            text = Path(source).expanduser().read_text(encoding="utf-8")
        return json.loads(text, parse_constant=_refuse_constant)
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{what}: cannot read {source}: {error}") from None
    except ValueError as error:
        raise click.UsageError(f"{what}: {source} is not JSON: {error}") from None


def parse_object(text: str, what: str) -> dict[str, Any]:
    """Parse a JSON argument that must be an object."""
    value = parse_json(text, what)
    if not isinstance(value, dict):
        raise click.UsageError(f'{what}: it must be a JSON object, like \'{{"who": "Ada"}}\'')
    return value


def parse_value(text: str) -> Any:
    """The JSON value if the text is JSON, else the text itself."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def login_name() -> str:
    """The name of the user at the terminal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "qwf"


priority = click.option("--priority", type=int, metavar="N", help="Lower runs first. Default: 100.")
key = click.option(
    "--key",
    help="Idempotency key: while another one with this key is unfinished, its id is returned.",
)
once = click.option(
    "--once", is_flag=True, default=None, help="The key stays taken after it has ended."
)
delay = click.option(
    "--in",
    "delay",
    type=duration,
    metavar="TIME",
    help="Start this much later at the earliest: 90s, 10min, 2h.",
)
at = click.option(
    "--at", type=click.DateTime(FORMATS), metavar="TIME",
    help="Earliest start: '2030-01-31 06:00', in local time unless it has a zone.",
)  # fmt: skip
labels = click.option(
    "--label",
    "labels",
    type=pair,
    multiple=True,
    metavar="KEY=VALUE",
    help="A tag; may be repeated.",
)
project = click.option("--project", help="Tenant tag.")
timeout = click.option(
    "--timeout", type=duration, metavar="TIME", help="Time limit of one attempt: 90s, 10min, 2h."
)
of_task = click.option("--task", metavar="TASK", help="Only jobs of this task.")
of_queue = click.option("--queue", metavar="QUEUE", help="Only jobs of this queue.")
of_project = click.option("--project", metavar="TAG", help="Only those with this tenant tag.")
of_workflow = click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
since = click.option(
    "--since", type=moment, metavar="TIME",
    help="Only those created since: 2h, 1d, or '2030-01-31 06:00'.",
)  # fmt: skip
yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run = click.option("--dry-run", is_flag=True, help="Only list what would be changed.")


def of_status(what: str, states: Sequence[str]) -> Callable[[F], F]:
    """Option --status."""
    return click.option(
        "--status", type=click.Choice(states), metavar="STATE",
        help=f"Only {what} in this state: {', '.join(states)}.",
    )  # fmt: skip


def limit(default: int) -> Callable[[F], F]:
    """Option --limit."""
    return click.option(
        "--limit",
        type=click.IntRange(1, 100_000),
        default=default,
        show_default=True,
        metavar="N",
        help="How many to list, newest first.",
    )


def confirm(question: str, yes: bool) -> None:
    """Ask before a bulk change; without a terminal, --yes is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Add --yes: there is no terminal to ask on.")
    click.confirm(question, abort=True, err=True)
