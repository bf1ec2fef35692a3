"""Printing, for people and for programs."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import click
from rich.console import Console, RenderableType

from qwf_agent.look.draw.visible import Terminal

WIDE = 200
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


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
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_json))


def _json(value: object) -> object:
    """Times as ISO texts, durations as seconds, decimals as numbers."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else str(value)
