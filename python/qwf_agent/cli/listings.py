"""Lists from one database or, if QWF_CELLS names several, from all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click
import psycopg
from click.core import ParameterSource
from rich.console import RenderableType

from qwf_agent import config
from qwf_agent.cli import addresses, cell_routing, errors, known_names, output
from qwf_agent.look import cells, connection, draw, standby
from qwf_agent.system.exit_codes import NO_DATABASE


@dataclass(frozen=True)
class Listing:
    """The result of a command: rows, and how to print them for a person.

    Rows of several cells are sorted by `order`, and `limit` is the number of rows to keep. If there
    are none, `asked` names what may be misspelt.
    """

    columns: Sequence[str]
    rows: list[dict[str, Any]]
    empty: str
    order: str | None = None
    newest_first: bool = False
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

    def of_cell(self, name: str) -> Listing:
        """The same, with the name of the cell in each row and line."""
        rows = [{"cell": name, **row} for row in self.rows]
        return replace(self, columns=("cell", *self.columns), rows=rows)


def merged(parts: Sequence[Listing]) -> Listing:
    """The rows of all cells in one order."""
    first, order = parts[0], parts[0].order
    rows = [row for part in parts for row in part.rows]
    if order is not None:
        rows.sort(key=lambda row: row[order], reverse=first.newest_first)
    return replace(first, rows=rows[: first.limit])


def listed(*, alone: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a command that returns a Listing read all cells, and print what it found.

    With an id, or the option `alone`, it is about one cell, and may return nothing. If a cell does
    not answer, the others are shown, and the exit code is 69.
    """

    def decorate(command: Callable[..., Listing | None]) -> Callable[..., Any]:
        @addresses.dsn_to_read_option
        @addresses.cell_option
        @output.json_option
        @functools.wraps(command)
        def run(dsn: str | None, cell: str | None, as_json: bool, **options: Any) -> None:
            options["as_json"] = as_json
            one = cell_routing.ids_of(click.get_current_context()) or (alone and options[alone])
            known = {} if one or dsn is not None or cell is not None else config.find_cells()
            if known:
                _show_all(command, known, options)
                return
            reads = not (alone and options[alone])
            with addresses.connect_to_cell(dsn, cell, None, reads=reads) as conn:
                if reads:
                    standby.warn(conn)
                found = addresses.call_command(command, conn, **options)
                if found is not None and not found.rows:
                    known_names.note_unseen(conn, **found.asked)
                if found is not None:
                    found.show(as_json)

        return run

    return decorate


def _show_all(
    command: Callable[..., Listing | None], known: Mapping[str, str], options: dict[str, Any]
) -> None:
    down: list[str] = []
    unknown: list[click.BadParameter] = []  # a queue, say, that another cell may have
    parts: list[Listing] = []
    secret: set[str] = set()  # the words of all cells
    for name, conn, _, _ in cells.answering(known, connection.connect, down):
        with conn:
            try:
                standby.warn(conn)
                secret.update(connection.secret_words(conn))
                found = addresses.call_command(command, conn, **options)
            except psycopg.OperationalError as error:
                if not conn.broken:
                    raise
                down.append(cells.why_not(name, error))
                continue
            except click.BadParameter as error:
                unknown.append(error)
                continue
        parts += [] if found is None else [found.of_cell(name)]
    if not parts and unknown:
        raise unknown[0]
    if not parts:
        errors.fail("no cell answers", code=NO_DATABASE, details=down)
    output.hide_secrets(secret)
    merged(parts).show(options["as_json"])
    for line in down:
        click.echo(f"missing: cell {draw.visible(line)}", err=True)
    if down:
        raise SystemExit(NO_DATABASE)
