"""The cell that a command is for: an id names its cell, and a key belongs to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from qwf_agent.cli import errors
from qwf_agent.look import cells
from qwf_agent.look.cells import Connect
from qwf_agent.look.connection import Connection
from qwf_agent.system.exit_codes import NO_DATABASE

ID = click.IntRange(1, 2**63 - 1)  # of a job or a run
IDS = "qwf.ids"  # in the meta of a context: ids that a command found in its words itself


def ids_of(ctx: click.Context) -> list[int]:
    """The ids of jobs and runs among the arguments and options of a command."""
    given = [ctx.params.get(param.name or "") for param in ctx.command.params if param.type is ID]
    found = [*given, *ctx.meta.get(IDS, ())]
    return [one for each in found for one in (each if isinstance(each, tuple) else [each]) if one]


def open_for(
    known: Mapping[str, str], connect: Connect, ids: Sequence[int], key: str | None
) -> Connection:
    """A connection to the cell of these ids or, for something new, to that of its key."""
    wanted: set[int] = set()
    if ids:
        what = f"the cell of id {ids[0]}"
    elif key is not None:
        from qwf_agent import cell_for  # with what commands that only read do not need

        wanted = {cell_for(key, len(known))}
        what = f"cell {min(wanted)}, to which the key belongs,"
    else:
        raise click.UsageError(f"there are several cells, so say which: --cell {'|'.join(known)}")
    down: list[str] = []
    for _, conn, number, count in cells.answering(known, connect, down):
        wanted = {one % count for one in ids} or wanted
        if wanted == {number}:
            return conn
        conn.close()
        if len(wanted) > 1:
            raise click.UsageError("these ids are of several cells: give one command to each")
    if down:
        errors.fail(f"{what} does not answer", code=NO_DATABASE, details=down)
    return errors.fail(
        f"{what} is not among the cells {', '.join(known)}",
        "QWF_CELLS has to name every cell in use; they are numbered from 0 without a gap",
    )
