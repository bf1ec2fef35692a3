"""Which of several databases a command is for: an id names its cell, and a key belongs to one.

The cells are asked which ones they are, so no list has to be in order. A cell that does not answer
matters only if none of the others is the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click
import psycopg
from psycopg.rows import DictRow

from qwf_agent import config
from qwf_agent.cli import errors
from qwf_agent.exit_codes import NO_DATABASE

Connection = psycopg.Connection[DictRow]
Connect = Callable[[str], Connection]

ID = click.IntRange(1, 2**63 - 1)  # of a job or a run
IDS = "qwf.ids"  # in the meta of a context: ids that a command found in its words itself
CELL: Any = "select c.cell, c.cells from qwf.cell() c"


def ids_of(ctx: click.Context) -> list[int]:
    """The ids of jobs and runs among the arguments and options of a command."""
    given = [ctx.params.get(param.name or "") for param in ctx.command.params if param.type is ID]
    found = [*given, *ctx.meta.get(IDS, ())]
    return [one for each in found for one in (each if isinstance(each, tuple) else [each]) if one]


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


def open_for(
    cells: Mapping[str, str], connect: Connect, ids: Sequence[int], key: str | None
) -> Connection:
    """A connection to the cell of these ids or, for something new, to that of its key."""
    wanted: set[int] = set()
    if ids:
        what = f"the cell of id {ids[0]}"
    elif key is not None:
        from qwf_agent import cell_for  # with what commands that only read do not need

        wanted = {cell_for(key, len(cells))}
        what = f"cell {min(wanted)}, to which the key belongs,"
    else:
        raise click.UsageError(f"there are several cells, so say which: --cell {'|'.join(cells)}")
    down: list[str] = []
    for _, conn, number, count in answering(cells, connect, down):
        wanted = {one % count for one in ids} or wanted
        if wanted == {number}:
            return conn
        conn.close()
        if len(wanted) > 1:
            raise click.UsageError("these ids are of several cells: give one command to each")
    if down:
        errors.fail(f"{what} does not answer", code=NO_DATABASE, details=down)
    return errors.fail(
        f"{what} is not among the cells {', '.join(cells)}",
        "QWF_CELLS has to name every cell in use; they are numbered from 0 without a gap",
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
