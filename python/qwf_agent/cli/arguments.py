"""Arguments and options shared by several commands, and their parsers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
import psycopg

from qwf_agent import config
from qwf_agent.cli import addresses, known_names
from qwf_agent.look import connection, query, strict_json
from qwf_agent.look.connection import Connection
from qwf_agent.look.values import Length

if TYPE_CHECKING:
    from typing_extensions import LiteralString

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d"]

# In JSON: a NUL that no backslash escapes, or half a pair. Postgres stores neither.
UNSTORABLE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000|[\ud800-\udfff]")

RUN_STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
JOB_STATES = ("blocked", "scheduled", *RUN_STATES, "skipped")
ID = addresses.ID
MOST = 2**31 - 1  # what an int of Postgres holds


@dataclass(frozen=True)
class UnreadLength(addresses.Unread):
    """A length of time as it was typed. Postgres reads it, as it reads those of definitions."""

    text: str
    option: str
    what: str = "is not a duration"
    example: str = "write 90s, 10min, 2 hours or 1 day"
    needs_unit: bool = False

    def read(self, conn: Connection) -> Length:
        """The length of time, of zero or more."""
        if self.needs_unit and re.fullmatch(r"\s*[-+]?[0-9.]+\s*", self.text):
            self._refuse(f"has no unit: {self.example}")
        query = "select %(text)s::interval as length, %(text)s::interval < '0' as negative"
        try:
            (row,) = connection.many(conn, query, {"text": self.text})
        except psycopg.DataError:
            self._refuse(f"{self.what}: {self.example}")
        if row["negative"]:
            self._refuse("is negative: write it without the minus")
        read: timedelta = row["length"]
        length = Length(read.days, read.seconds, read.microseconds)
        length.text = self.text
        return length

    def _refuse(self, why: str) -> NoReturn:
        raise click.BadParameter(f"{self.text!r} {why}", param_hint=self.option)


class Duration(known_names.ParamType):
    """A length of time: whatever Postgres takes for an interval; a number alone is in seconds,
    or refused where it is probably meant as days."""

    name = "duration"

    def __init__(self, needs_unit: bool = False) -> None:
        self._needs_unit = needs_unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """The text, to be read once there is a connection."""
        if not isinstance(value, str):
            return value
        option = param.opts[0] if param else ""
        return UnreadLength(value, option, needs_unit=self._needs_unit)


class Moment(known_names.ParamType):
    """A length of time before or after now (2h), or a date, local unless it has a zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """The date, or the text to be read once there is a connection."""
        if not isinstance(value, str):
            return value
        for form in FORMATS:
            try:
                when = datetime.strptime(value, form)
            except ValueError:
                continue
            return when if when.tzinfo else _local(when)
        return UnreadLength(
            value,
            param.opts[0] if param else "",
            "is not a time",
            "write 90s, 10min, 2 hours, 1 day, '2030-01-31' or '2030-01-31 06:00'",
        )


class At(click.DateTime):
    """A date, with a message for people."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """The date, without a zone if none is given."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a time: write '2030-01-31', '2030-01-31 06:00' or"
                      " '2030-01-31T06:00:00+01:00'", param, ctx)  # fmt: skip


duration, long_duration, moment = Duration(), Duration(needs_unit=True), Moment()


def ago(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--since` means, by the database's clock."""
    query = "select qwf.now() - %s::interval as at"
    return _by_its_clock(conn, query, when) if isinstance(when, timedelta) else when


def ahead(conn: Connection, when: timedelta | datetime | None) -> datetime | None:
    """The time that `--until` means, by the database's clock."""
    query = "select qwf.now() + %s::interval as at"
    return _by_its_clock(conn, query, when) if isinstance(when, timedelta) else when


def asked_in(
    conn: Connection, language: query.Language, words: Sequence[str], **options: object
) -> dict[str, Any]:
    """The filter that the words of a QUERY stand for; `since:2h` counts by the database's clock.

    `options` say the same in another way: what both have is refused.
    """
    if not words:
        return {}
    now = _by_its_clock(conn, "select qwf.now() - %s::interval as at", timedelta())
    try:
        asked = query.as_filter(language.read(query.from_shell(words)), now)
    except query.QueryError as error:
        raise click.BadArgumentUsage(str(error)) from None
    for name in asked:
        if options.get(name) is not None:
            raise click.BadArgumentUsage(f"{name} stands in the query and in an option; give one.")
    return asked


def pair(text: str) -> tuple[str, str]:
    """Parse key=value."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.BadParameter(f"{text!r} is not valid UTF-8") from None
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise click.BadParameter(f"{text!r}: write key=value")
    return key, value


def run_at(conn: Connection, delay: timedelta | None, at: datetime | None) -> datetime | None:
    """The time that --in or --at means."""
    if delay is not None and at is not None:
        raise click.UsageError("give --in or --at, not both")
    if delay is not None:
        return ahead(conn, delay)
    return at and (at if at.tzinfo else _local(at))


def _by_its_clock(conn: Connection, query: LiteralString, length: timedelta) -> datetime:
    try:
        at: datetime = connection.many(conn, query, (length,))[0]["at"]
    except psycopg.DataError as error:
        raise click.UsageError(f"{length}: {error.diag.message_primary}; give less") from None
    return at


def _local(when: datetime) -> datetime:
    try:
        return when.astimezone()
    except (OverflowError, ValueError):  # beside the first or last year of Python
        return when.replace(tzinfo=timezone.utc)


def parse_json(text: str, what: str) -> Any:
    """Parse a JSON argument: the text itself, @file, or - for standard input."""
    source = "the text"
    try:
        if text == "-":
            source, text = "standard input", sys.stdin.read()
        elif text.startswith("@"):
            source = text[1:]
            text = Path(source).expanduser().read_text(encoding="utf-8")
        return _read_json(text, what)
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        raise click.UsageError(f"{what}: cannot read {source}: {error}") from None
    except ValueError as error:
        raise click.UsageError(f"{what}: {source} is not JSON: {error}") from None


def parse_object(text: str, what: str) -> dict[str, Any]:
    """Parse a JSON argument that must be an object."""
    value = parse_json(text, what)
    if not isinstance(value, dict):
        raise click.UsageError(f'{what}: it must be a JSON object, like \'{{"who": "Ada"}}\'')
    return value


def note(text: str) -> None:
    """Tell a person what a value became."""
    click.echo(f"note: {text}", err=True)


def parse_value(text: str, what: str, tell: Callable[[str], None] = note) -> Any:
    """The JSON value if the text is JSON, else the text itself. `tell` is called if a number does
    not print as it was typed. Raises click.UsageError for what begins like JSON and is none."""
    as_text = f"a text is written '{json.dumps(text, ensure_ascii=False)}'"
    try:
        value = _read_json(text, what, lambda _: None)
    except ValueError as error:
        if text.lstrip().startswith(("{", "[", '"')):
            raise click.UsageError(
                f"{what}: {text[:50]!r} begins like JSON and is not JSON: {error}; {as_text}"
            ) from None
        return text
    if type(value) in (int, float) and json.dumps(value) != text.strip():
        tell(f"{what}: {text.strip()} is stored as the number {json.dumps(value)}; {as_text}")
    elif isinstance(value, dict | list):
        _read_json(text, what, tell)
    return value


def with_settings(args: str | None, settings: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """The object that --args and --set mean together; None if neither is given."""
    if args is None and not settings:
        return None
    return set_in(parse_object(args or "{}", "--args"), settings)


def set_in(whole: dict[str, Any], settings: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The object with the values of --set put in."""
    for path, value in settings:
        *parents, last = path.split(".")
        target = whole
        for parent in parents:
            target = target.setdefault(parent, {})
            if not isinstance(target, dict):
                raise click.UsageError(f"--set {path}: {parent} is not an object")
        target[last] = parse_value(value, f"--set {path}")
    return whole


def _read_json(text: str, what: str, tell: Callable[[str], None] = note) -> Any:
    """The JSON value; `tell` is called for each number that loses digits. Raises ValueError for
    what Postgres would refuse or Python would change."""

    def number(digits: str) -> int | float:
        if digits.removeprefix("-").isdecimal():
            return strict_json.whole(digits)
        value = strict_json.finite(digits)
        if Decimal(digits) != Decimal(repr(value)):
            tell(f"{what}: {digits} is stored as the number {value}; a text keeps its digits")
        return value

    value = strict_json.read(text, number)
    if UNSTORABLE.search(json.dumps(value, ensure_ascii=False)):
        raise ValueError("a text in it has a NUL or half a surrogate pair: leave that out")
    return value


priority = click.option(
    "--priority", type=click.IntRange(-MOST, MOST), metavar="N",
    help="Lower runs first. Default: 100.",
)  # fmt: skip
key = click.option(
    "--key",
    help="Says which are the same work: at most one job of a key waits, and one runs; a run is "
    "alone until it has ended.",
)
notify = click.option(
    "--notify", metavar="NAME",
    help="Receiver who hears how it ends, and what it asks: see qwf receivers.",
)  # fmt: skip
key_mode = click.option(
    "--key-mode", type=click.Choice(["keep", "replace", "refuse"]),
    help="If a job with this key waits: keep its arguments (the default), replace them, or refuse.",
)  # fmt: skip
debounce = click.option(
    "--debounce", type=duration, metavar="TIME",
    help="Start this long after the last call with this key.",
)  # fmt: skip
debounce_max = click.option(
    "--debounce-max", type=duration, metavar="TIME",
    help="And at most this long after the first one. Default: ten times --debounce.",
)  # fmt: skip
once = click.option(
    "--once", is_flag=True, default=None, help="The key stays taken after it has ended."
)
at_most_once = click.option(
    "--at-most-once", is_flag=True, default=None,
    help="Nothing tries its body again by itself once it may have begun.",
)  # fmt: skip
delay = click.option(
    "--in",
    "delay",
    type=duration,
    metavar="TIME",
    help="Start this much later at the earliest: 90s, 10min, 2h.",
)
at = click.option(
    "--at", type=At(FORMATS), metavar="TIME",
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
project = click.option(
    "--project", default=config.project,
    help="Project: only its agents take it. Default: QWF_PROJECT, or project in qwf.toml.",
)  # fmt: skip
timeout = click.option(
    "--timeout", type=duration, metavar="TIME", help="Time limit of one attempt: 90s, 10min, 2h."
)
of_task = click.option("--task", metavar="TASK", help="Only jobs of this task.")
of_queue = click.option(
    "--queue", type=known_names.Name("queue"), metavar="QUEUE", help="Only jobs of this queue."
)
of_project = click.option("--project", metavar="TAG", help="Only those with this tenant tag.")
of_workflow = click.option(
    "--workflow", type=known_names.Name("workflow"), metavar="NAME",
    help="Only runs of this workflow.",
)  # fmt: skip
since = click.option(
    "--since", type=moment, metavar="TIME",
    help="Only those created since: 2h, 1d, or '2030-01-31 06:00'.",
)  # fmt: skip
of_query = click.argument("words", nargs=-1, metavar="[QUERY]...")
yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run = click.option("--dry-run", is_flag=True, help="Only list what would be changed.")


def args(what: str, *also: str) -> Callable[[F], F]:
    """Options --args and --set: with_settings makes one object of both."""

    def added(command: F) -> F:
        for option in (
            click.option("--set", "settings", type=pair, multiple=True, metavar="KEY=VALUE",
                         help="One value of --args, JSON or text: --set photo.path=a.jpg, --set "
                         "version='\"1.10\"'."),
            click.option("--args", *also, "args", metavar="JSON",
                         help=f"{what}: a JSON object, @file, or - for stdin."),
        ):  # fmt: skip
            command = option(command)
        return command

    return added


def _completed(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """The argument `completed` of --keep and --compensate, of which one may be given."""
    if value and ctx.params.get("completed"):
        raise click.UsageError("give --keep or --compensate, not both")
    ctx.params["completed"] = param.name if value else ctx.params.get("completed")


def of_retry(command: F) -> F:
    """Options --from, --named, --latest, --compensate and --keep: which nodes of a run are not
    reused, and what becomes of what they have done."""
    for option in (
        click.option("--latest", is_flag=True,
                     help="With the definitions of now; what they do not change is reused."),
        click.option("--from", "from_node", metavar="NODE",
                     help="Rerun this node and all after it, completed or not."),
        click.option("--named", multiple=True, metavar="NODE[,NODE]",
                     help="It has not run, though it may have: nodes that run at most once."),
        click.option("--keep", is_flag=True, expose_value=False, callback=_completed,
                     help="Run completed nodes again, and leave what they did as it is."),
        click.option("--compensate", is_flag=True, expose_value=False, callback=_completed,
                     help="First take back what completed nodes did that run again."),
    ):  # fmt: skip
        command = option(command)
    return command


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
