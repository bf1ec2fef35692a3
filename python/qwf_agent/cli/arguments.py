"""Arguments and options that several commands share, and how they are read."""

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
    """A length of time: 90 or 90s, 10min, 2h, 1d."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ").strip()
    unit = text[len(number) :].strip() or "s"
    try:
        return timedelta(**{UNITS[unit]: float(number)})
    except (KeyError, ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is no duration: write 90s, 10min, 2h or 1d") from None


def moment(text: str) -> timedelta | datetime:
    """A time: so long ago or from now (2h), or a date; without a zone it is the reader's."""
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
            f"{text!r} is no time: write 90s, 10min, 2h, 1d, '2030-01-31' or '2030-01-31 06:00'"
        ) from None


def ago(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--since` means, by the database's clock."""
    return _now(conn) - when if isinstance(when, timedelta) else when


def ahead(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--until` means, by the database's clock."""
    return _now(conn) + when if isinstance(when, timedelta) else when


def pair(text: str) -> tuple[str, str]:
    """key=value."""
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
    """A JSON argument: the text itself, @file, or - for standard input."""
    source = what
    try:
        if text == "-":
            source, text = "standard input", sys.stdin.read()
        elif text.startswith("@"):
            source = text[1:]
            text = Path(source).expanduser().read_text(encoding="utf-8")
        return json.loads(text, parse_constant=_no_constant)
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{what}: cannot read {source}: {error}") from None
    except ValueError as error:
        raise click.UsageError(f"{what}: {source} is not JSON: {error}") from None


def parse_object(text: str, what: str) -> dict[str, Any]:
    """A JSON argument that has to be an object."""
    value = parse_json(text, what)
    if not isinstance(value, dict):
        raise click.UsageError(f'{what}: a JSON object is wanted, like \'{{"who": "Ada"}}\'')
    return value


def parse_value(text: str) -> Any:
    """JSON where the text is JSON, else the text itself."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def me() -> str:
    """Who is at the keyboard."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "qwf"


priority = click.option("--priority", type=int, metavar="N", help="Lower is sooner. Default 100.")
key = click.option(
    "--key",
    help="Idempotency key: while one with this key is not over, its id is returned instead.",
)
once = click.option(
    "--once", is_flag=True, default=None, help="The key stays taken when it is over."
)
delay = click.option(
    "--in",
    "delay",
    type=duration,
    metavar="TIME",
    help="Not before this much later: 90s, 10min, 2h.",
)
at = click.option(
    "--at", type=click.DateTime(FORMATS), metavar="TIME",
    help="Not before this time, yours unless it names a zone: '2030-01-31 06:00'.",
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
    "--timeout", type=duration, metavar="TIME", help="Limit of one attempt: 90s, 10min, 2h."
)
of_task = click.option("--task", metavar="TASK", help="Only jobs of this task.")
of_queue = click.option("--queue", metavar="QUEUE", help="Only jobs of this queue.")
of_project = click.option("--project", metavar="TAG", help="Only those with this tenant tag.")
of_workflow = click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
since = click.option(
    "--since", type=moment, metavar="TIME",
    help="Only those made since: 2h, 1d, or '2030-01-31 06:00'.",
)  # fmt: skip
yes = click.option("--yes", is_flag=True, help="Do not ask.")
dry_run = click.option("--dry-run", is_flag=True, help="Only say which ones.")


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
        help="How many, newest first.",
    )


def confirm(question: str, yes: bool) -> None:
    """Ask before something large; without a terminal, --yes has to be said."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Say --yes: there is nobody to ask.")
    click.confirm(question, abort=True, err=True)
