"""What every command shares: a connection, printing, JSON arguments, errors one can act on."""

from __future__ import annotations

import functools
import getpass
import json
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.rows import DictRow, dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import Jsonb
from rich.console import Console, RenderableType

from qwf_agent import config, embedded
from qwf_agent.cli.draw.visible import Terminal, visible
from qwf_agent.cli.draw.words import ENDLESS

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Connection = psycopg.Connection[DictRow]

FAILED, UNREACHABLE, MISCONFIGURED, INTERRUPTED = 1, 69, 78, 130
NO_SCHEMA = {"3F000", "42P01", "42883"}
NOT_ALLOWED = "42501"
ROLES = (
    "this login may not; grant it a role: qwf_viewer looks, qwf_producer enqueues, cancels, retries"
    " and answers, qwf_worker works, qwf_admin does everything"
)
WIDE = 200
ID = click.IntRange(1, 2**63 - 1)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
dsn_option = click.option(
    "--dsn",
    metavar="URL",
    help="Database. Default: QWF_DSN, DATABASE_URL, PG*, or what `qwf up` started.",
)


class Commands(click.Group):
    """A group that lists its commands in the order they were added and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order of use, not of the alphabet."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit: see the table of exit codes in `qwf --help`."""
        extra["standalone_mode"] = False
        sys.exit(_guarded(lambda: super(Commands, self).main(*args, **extra)))


class RunOrJob(Commands):
    """A verb for runs and for jobs; their ids are numbers of the same kind, so one says which."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named; a bare number is refused with the way out."""
        if args[0].isdecimal():
            verb, number = ctx.command_path, args[0]
            ctx.fail(f"a run or a job? Write: {verb} run {number}, or: {verb} job {number}")
        return super().resolve_command(ctx, args)


class Moments(TimestamptzLoader):
    """Times, infinity among them: that of a job that waits for ever."""

    def load(self, data: Buffer) -> datetime:
        """The time that the server has sent."""
        return ENDLESS.get(bytes(data).decode()) or super().load(data)


def connect(dsn: str | None, *, notices: bool = True) -> Connection:
    """A connection in autocommit; what the server notes goes to standard error."""
    conn = psycopg.connect(
        config.find_dsn(dsn),
        autocommit=True,
        row_factory=dict_row,
        application_name="qwf",
        connect_timeout=10,
        prepare_threshold=None,  # a prepared statement belongs to one server behind PgBouncer
    )
    conn.adapters.register_loader("timestamptz", Moments)
    if notices:
        conn.add_notice_handler(_notice)
    return conn


def database(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command a connection as its first argument, and the option --dsn."""

    @dsn_option
    @functools.wraps(command)
    def connected(*args: Any, dsn: str | None, **options: Any) -> Any:
        with connect(dsn) as conn:
            return command(conn, *args, **options)

    return connected


def call(conn: Connection, function: str, **arguments: Any) -> Any:
    """The value of qwf.function(...); None leaves an argument to its default, dicts go as JSON."""
    given = {name: value for name, value in arguments.items() if value is not None}
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(n), sql.Placeholder()) for n in given
    )
    query = sql.SQL("select qwf.{}({})").format(sql.Identifier(function), named)
    values = [Jsonb(value) if isinstance(value, dict | list) else value for value in given.values()]
    row = conn.execute(query, values).fetchone()
    return next(iter(row.values())) if row else None


def many(
    conn: Connection, query: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[DictRow]:
    """The rows a query returns."""
    return conn.execute(query, parameters).fetchall()


def console(stderr: bool = False) -> Console:
    """The terminal as it is; wide where there is none, so that pipes get whole lines."""
    to_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if to_terminal or os.environ.get("COLUMNS") else WIDE
    return Terminal(stderr=stderr, highlight=False, width=width)


def show(content: RenderableType) -> None:
    """Print for a person."""
    terminal = console()
    if terminal.is_terminal:
        terminal.print(content)
        return
    with terminal.capture() as drawn:
        terminal.print(content)
    click.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def show_json(value: Any) -> None:
    """Print for a program."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_json))


def fail(
    message: str, hint: str | None = None, code: int = FAILED, details: Sequence[str] = ()
) -> NoReturn:
    """Say what is wrong and what to do about it, and leave."""
    _complain(message, details, hint)
    sys.exit(code)


def me() -> str:
    """Who is at the keyboard."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "qwf"


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


def _guarded(run: Callable[[], Any]) -> int:
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
        code = run()
        return code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except config.ConfigError as error:
        _complain(str(error))
        return MISCONFIGURED
    except embedded.EmbeddedError as error:
        _complain(str(error))
        return UNREACHABLE
    except psycopg.Error as error:
        return _database_error(error)
    except Exception as error:
        if os.environ.get("QWF_DEBUG"):
            raise
        if isinstance(error.__context__, psycopg.OperationalError):
            return _database_error(error.__context__)
        own = type(error).__module__.startswith("qwf_agent.")  # its message is meant for people
        hint = None if own else "this is a defect of qwf; QWF_DEBUG=1 shows where"
        _complain(str(error) if own else f"{type(error).__name__}: {error}", hint=hint)
        return FAILED


def _database_error(error: psycopg.Error) -> int:
    if error.sqlstate in NO_SCHEMA and "qwf" in str(error):
        _complain(
            "this database has no qwf schema, or an older one",
            [_first(error)],
            "run: qwf migrate deploy",
        )
        return MISCONFIGURED
    if error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
        _complain(
            f"no database: {_first(error)}",
            hint="is it running? `qwf up` starts one of your own; --dsn or QWF_DSN names another",
        )
        return UNREACHABLE
    hint = error.diag.message_hint or (ROLES if error.sqlstate == NOT_ALLOWED else None)
    _complain(_first(error), (error.diag.message_detail or "").splitlines(), hint)
    return FAILED


def _first(error: psycopg.Error) -> str:
    return (
        error.diag.message_primary or (str(error).strip().splitlines() or [type(error).__name__])[0]
    )


def _complain(message: str, details: Sequence[str] = (), hint: str | None = None) -> None:
    colours = False if os.environ.get("NO_COLOR") else None  # None: where there is a terminal
    click.secho("error: ", fg="red", bold=True, err=True, nl=False, color=colours)
    click.echo(_broken(message, "error: "), err=True)
    for line in details:
        click.echo(f"  {_broken(line, '  ')}", err=True)
    if hint:
        click.secho("hint: ", fg="cyan", err=True, nl=False, color=colours)
        click.echo(_broken(hint, "hint: "), err=True)


def _broken(text: str, before: str) -> str:
    """A text in lines that fit the terminal, where there is one, below each other after what
    stands `before` it; no word is broken, for it may be a command to copy."""
    text = visible(text)
    if not sys.stderr.isatty() or "\n" in text:
        return text
    width = os.get_terminal_size(sys.stderr.fileno()).columns - len(before)
    lines = textwrap.wrap(text, max(20, width), break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * len(before)}".join(lines)


def _json(value: object) -> object:
    """Times as ISO texts, lengths of time as seconds, numerics as numbers."""
    if isinstance(value, datetime):
        return next((name for name, when in ENDLESS.items() if when == value), value.isoformat())
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else str(value)


def _notice(notice: psycopg.errors.Diagnostic) -> None:
    click.echo(f"note: {notice.message_primary}", err=True)
    if notice.message_hint:
        click.echo(f"hint: {notice.message_hint}", err=True)
