"""Lists: rows, and how to print them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
from click.core import ParameterSource
from rich.console import RenderableType

from qwf_agent.cli import addresses, known_names, output
from qwf_agent.look import draw
from qwf_agent.look.connection import dsn_option


@dataclass(frozen=True)
class Listing:
    """The result of a command: rows, and how to print them for a person.

    `limit` is the number of rows to keep. If there are none, `asked` names what may be misspelt.
    """

    columns: Sequence[str]
    rows: list[dict[str, Any]]
    empty: str
    limit: int | None = None
    draw_row: Callable[[dict[str, Any]], RenderableType] | None = None
    asked: Mapping[str, str | None] = field(default_factory=dict)

    def show(self, as_json: bool) -> None:
        """Print for a person, or as JSON for a program."""
        if as_json:
            output.show_json(self.rows)
        elif self.draw_row is None or not self.rows:
            output.show(draw.rows(self.columns, self.rows, self.empty))
        else:
            for row in self.rows:
                output.show(self.draw_row(row))
        if not as_json and self._is_cut():
            click.echo(f"note: these are {self.limit}, there may be more: --limit N", err=True)

    def _is_cut(self) -> bool:
        """Return True if there may be more rows, and nobody has said how many to list."""
        context = click.get_current_context()
        asked = context.get_parameter_source("limit") is not ParameterSource.DEFAULT
        return not asked and len(self.rows) == self.limit


def listed(command: Callable[..., Listing | None]) -> Callable[..., Any]:
    """Let a command that returns a Listing print what it found."""

    @dsn_option
    @output.json_option
    @functools.wraps(command)
    def run(dsn: str | None, as_json: bool, **options: Any) -> None:
        with addresses.connect(dsn) as conn:
            found = addresses.call_command(command, conn, as_json=as_json, **options)
            if found is None:
                return
            if not found.rows:
                known_names.note_unseen(conn, **found.asked)
            found.show(as_json)

    return run
