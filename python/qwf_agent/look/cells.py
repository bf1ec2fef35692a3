"""The cells of QWF_CELLS: several databases that are asked which ones they are.

So no list has to be in order. A cell that does not answer matters only if none of the others is the
right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
import psycopg
from psycopg.rows import DictRow

from qwf_agent import config

Connection = psycopg.Connection[DictRow]
Connect = Callable[[str], Connection]
CELL: Any = "select c.cell, c.cells from qwf.cell() c"


def named(cells: Mapping[str, str], name: str) -> str:
    """The address of a cell. Raises click.UsageError."""
    if name in cells:
        return cells[name]
    if not cells:
        raise click.UsageError("--cell: there is one database; QWF_CELLS names several")
    meant = config.close_to(name, cells)
    raise click.UsageError(
        f"no cell {name}: "
        + (f"did you mean {meant}?" if meant else f"QWF_CELLS names {', '.join(cells)}")
    )


def answering(
    cells: Mapping[str, str], connect: Connect, down: list[str]
) -> Iterator[tuple[str, Connection, int, int]]:
    """The name, a connection and the number of each cell that answers, and how many there can be.

    Says in `down` why the others do not. Raises ConfigError for databases that are no such cells.
    """
    seen: dict[tuple[int, int], str] = {}
    for name, dsn in cells.items():
        try:
            conn = connect(dsn)
            (row,) = conn.execute(CELL).fetchall()
        except psycopg.OperationalError as error:
            down.append(why_not(name, error))
            continue
        place = (row["cell"], row["cells"])
        other = next((known for known in seen if known[1] != place[1]), None)
        if place in seen or other is not None or place[1] < len(cells):
            conn.close()
            raise config.ConfigError(
                f"cell {name} is cell {place[0]} of {place[1]}"
                + (f", and so is {seen[place]}" if place in seen else "")
                + (f", but {seen[other]} is one of {other[1]}" if other else "")
                + ": deploy each with --cell and a number of its own"
            )
        seen[place] = name
        yield name, conn, *place


def why_not(name: str, error: psycopg.Error) -> str:
    """The name of a cell that does not answer, and the first line of its error."""
    return f"{name}: {(str(error).strip().splitlines() or ['no answer'])[0]}"
