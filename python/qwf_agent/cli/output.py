"""Printing, for people and for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import click
from rich.console import Console, RenderableType

from qwf_agent.look import masking
from qwf_agent.look.draw.visible import Terminal

F = TypeVar("F", bound=Callable[..., Any])
WIDE = 200
SHOWS = "qwf_agent.show_secrets"  # of the context of a command
NOTE = "note: texts that may be secret are hidden; --show-secrets shows them"


def _show_secrets(ctx: click.Context, _param: click.Parameter, given: bool) -> None:
    ctx.meta[SHOWS] = given


def json_option(command: F) -> F:
    """Options --json and --show-secrets; the command gets `as_json`."""
    command = click.option(
        "--show-secrets", is_flag=True, expose_value=False, is_eager=True, callback=_show_secrets,
        help="Print also texts below keys like password.",
    )(command)  # fmt: skip
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(
        command
    )


def hide_secrets(words: Iterable[str]) -> None:
    """Print from now on no text below a key with one of these words, unless the command was told
    to."""
    context = click.get_current_context(silent=True)
    shows = context is not None and context.meta.get(SHOWS, False)
    masking.hide_everywhere(() if shows else words)


def console(stderr: bool = False) -> Console:
    """The terminal; if there is none, a wide one, so that pipes get whole lines."""
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
    shown = masking.masked(value)
    if shown != value:
        click.echo(NOTE, err=True)
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False, default=_json))


def _json(value: object) -> object:
    """Times as ISO texts, durations as seconds, decimals as numbers."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else str(value)
