"""Options that a task declares in its code, and that something enqueued without Python lacks."""

from __future__ import annotations

import click

from qwf_agent.look import connection
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

FOUND = "select * from qwf.find_missing_options(%s, %s, %s)"


def note(
    conn: Connection,
    *,
    job: int | None = None,
    schedule: str | None = None,
    workflow: str | None = None,
) -> None:
    """Say on standard error which options the task of the job, the schedule or each node declares,
    and it lacks. A login that may not read the workers is told nothing."""
    for row in connection.readable(conn, FOUND, (job, schedule, workflow)):
        node = f"node {row['name']}: " if row["kind"] == "node" else ""
        text = f"{node}{row['says']}: {row['hint']}"
        click.echo(f"note: {visible(text)}", err=True)
