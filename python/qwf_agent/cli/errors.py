"""Exit codes, and error messages that say what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click
import psycopg

from qwf_agent import config, embedded
from qwf_agent.look import hints
from qwf_agent.look.draw.visible import visible
from qwf_agent.system import streams
from qwf_agent.system.exit_codes import (
    CANNOT_WRITE,
    FAILED,
    INTERRUPTED,
    MISCONFIGURED,
    NO_DATABASE,
)
from qwf_agent.system.versions import NO_SCHEMA

UNSTORABLE = "22P05"  # of a NUL in JSON
NOT_ALLOWED = "42501"
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # disk or output
WRONG_USAGE = 2  # click's exit code
ROLES = (
    "this login may not do that; grant it a role: qwf_viewer reads, qwf_producer enqueues, cancels,"
    " retries and answers, qwf_worker runs jobs, qwf_admin does everything"
)


def fail(
    message: str, hint: str | None = None, code: int = FAILED, details: Sequence[str] = ()
) -> NoReturn:
    """Print what is wrong and what to do about it, and exit."""
    _print_error(message, details, hint)
    sys.exit(code)


def guarded(run: Callable[[], Any]) -> int:
    """Call `run` and return the exit code; an error is printed with what to do about it."""
    code, why = FAILED, None
    try:
        code = _guarded(run)
    except OSError as error:  # the message about an error could not be printed
        why = error
    except SystemExit as asked:
        if isinstance(asked.code, str):
            raise
        code = asked.code or 0
    unwritten = streams.discard_unwritable() or why
    if unwritten is None or isinstance(unwritten, BrokenPipeError):  # as with `| head`
        return code
    with contextlib.suppress(OSError):
        _print_error(f"cannot write: {unwritten.strerror}")
    return CANNOT_WRITE if code in (0, FAILED) else code


def _guarded(run: Callable[[], Any]) -> int:
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
        code = run()
        return code if isinstance(code, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except config.ConfigError as error:
        _print_error(str(error))
        return MISCONFIGURED
    except embedded.EmbeddedError as error:
        _print_error(str(error))
        return NO_DATABASE
    except psycopg.Error as error:
        before = error.__context__
        while before is not None and not isinstance(before, SystemExit):
            before = before.__context__
        if before is not None:  # a signal came while a pipeline was left
            raise before from None
        return _database_error(error)
    except Exception as error:
        if (
            isinstance(error, UnicodeEncodeError)
            and "\udc80" <= error.object[error.start] <= "\udcff"
        ):
            _print_error("an argument is not valid UTF-8", hint="is the terminal's locale UTF-8?")
            return WRONG_USAGE  # so Python reads a byte that is not UTF-8
        if isinstance(error, OSError) and error.errno in UNWRITTEN and error.filename is None:
            raise
        if os.environ.get("QWF_DEBUG"):
            raise
        if isinstance(error.__context__, psycopg.OperationalError):
            return _database_error(error.__context__)
        own = type(error).__module__.startswith("qwf_agent.")  # its message is written for people
        hint = None if own else "this is a bug in qwf; QWF_DEBUG=1 shows where"
        _print_error(str(error) if own else f"{type(error).__name__}: {error}", hint=hint)
        return FAILED


def _database_error(error: psycopg.Error) -> int:
    if error.sqlstate in NO_SCHEMA and "qwf" in str(error):
        _print_error(
            "this database has no qwf schema, or that of another version",
            [_first(error)],
            "run: qwf migrate deploy; if it says that another version deployed this database,"
            " upgrade this box",
        )
        return MISCONFIGURED
    is_refused = isinstance(error, psycopg.DataError) and "NUL" in str(error)  # by psycopg itself
    if is_refused or error.sqlstate == UNSTORABLE:
        _print_error(
            "a text or a name has a NUL character, which Postgres cannot store",
            hint="leave the character out: \\u0000 in JSON, \\0 in YAML",
        )
        return FAILED
    if error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
        _print_error(
            f"no database: {_first(error)}",
            hint="--dsn or QWF_DSN names the database"
            if "FATAL: " in str(error)
            else "is it running? `qwf up` starts your own; --dsn or QWF_DSN names another",
        )
        return NO_DATABASE
    hint = hints.of(error.diag) or (ROLES if error.sqlstate == NOT_ALLOWED else None)
    _print_error(_first(error), (error.diag.message_detail or "").splitlines(), hint)
    return FAILED


def _first(error: psycopg.Error) -> str:
    return (
        error.diag.message_primary or (str(error).strip().splitlines() or [type(error).__name__])[0]
    )


def _print_error(message: str, details: Sequence[str] = (), hint: str | None = None) -> None:
    colours = False if os.environ.get("NO_COLOR") else None  # None: only on a terminal
    click.secho("error: ", fg="red", bold=True, err=True, nl=False, color=colours)
    click.echo(_wrapped(message, "error: "), err=True)
    for line in details:
        click.echo(f"  {_wrapped(line, '  ')}", err=True)
    if hint:
        click.secho("hint: ", fg="cyan", err=True, nl=False, color=colours)
        click.echo(_wrapped(hint, "hint: "), err=True)


def _wrapped(text: str, before: str) -> str:
    """The text in lines that fit the terminal, if there is one, indented by the width of `before`.

    No word is broken, because it may be a command to copy.
    """
    text = visible(text)
    if not sys.stderr.isatty() or "\n" in text:
        return text
    width = os.get_terminal_size(sys.stderr.fileno()).columns - len(before)
    lines = textwrap.wrap(text, max(20, width), break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * len(before)}".join(lines)
