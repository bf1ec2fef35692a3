"""Commands about model servers."""

from __future__ import annotations

from datetime import timedelta

import click

from qwf_agent.cli import arguments, connection, fleet, known_names, output
from qwf_agent.cli.connection import Connection
from qwf_agent.cli.read import show_list

COLUMNS = (
    *("host", "queue", "server", "state", "for", "model", "jobs", "error", "idle", "vram", "card"),
    *("starts", "crashes"),
)
SERVERS = """
select * from qwf.servers s
where (%(host)s::text is null or s.host = %(host)s)
  and (%(queue)s::text is null or s.queue = %(queue)s)
order by s.host, s.queue, s.server
"""
SET = """
select c.server, c.parallel, c.server_idle as idle
from qwf.worker_controls c where c.host_label = %s and c.queue = %s
"""


@click.command()
@click.option("--host", metavar="HOST", help="Only those on this box.")
@click.option("--queue", metavar="QUEUE", help="Only those of this queue.")
@output.json_option
@connection.database
def servers(conn: Connection, host: str | None, queue: str | None, as_json: bool) -> None:
    """List the model servers: what each serves, and what it does.

    \b
    Example:  qwf servers
    Then:     qwf worker load MODEL --host HOST
              qwf worker set --host HOST --server NAME --parallel 4
    """
    if queue is not None:
        known_names.check(conn, "queue", queue, "--queue")
    found = connection.many(conn, SERVERS, {"host": host, "queue": queue})
    if not found:
        known_names.note_unseen(conn, host=host)
    for row in [] if as_json else found:
        row |= {"for": _length(row["since_s"]), "jobs": f"{row['inflight']}/{row['parallel']}"}
        row |= {"idle": "never" if row["idle_s"] == 0 else _length(row["idle_s"])}
        row |= {"vram": f"{row['vram_mb']} MiB" if row["vram_mb"] is not None else None}
        row["error"] = (row["error"] or "").partition("\n")[0]
    empty = "no model servers; add [[server]] to qwf.toml on a box of the queue llm"
    show_list(COLUMNS, found, as_json, empty)


@fleet.worker.command("set")
@click.option("--server", metavar="NAME", help="The only model server that serves.")
@click.option(
    "--parallel", type=click.IntRange(1, arguments.MOST), metavar="N",
    help="Requests that it takes at once.",
)  # fmt: skip
@click.option(
    "--idle", type=arguments.duration, metavar="TIME",
    help="Stop it after this idle time; 0s: never.",
)  # fmt: skip
@click.option("--reset", is_flag=True, help="First set all back to the agent's qwf.toml.")
@fleet.of_queue
@fleet.of_host
@connection.database
def set_server(
    conn: Connection,
    host: str | None,
    queue: str | None,
    server: str | None,
    parallel: int | None,
    idle: timedelta | None,
    reset: bool,
) -> None:
    """Set the model server of a box, without a restart.

    What is not given stays as it is.

    \b
    Example:  qwf worker set --host box-a --queue llm --server vllm --parallel 4
              qwf worker set --host box-a --queue llm --reset
    """
    if not (reset or server or parallel or idle is not None):
        raise click.UsageError("give --server, --parallel, --idle or --reset")
    box, (name,) = fleet.host_and_queues(conn, host, queue)
    before = [] if reset else connection.many(conn, SET, (box, name))
    given = {"server": server, "parallel": parallel, "idle": idle}
    wanted = {
        key: value if value is not None else (before[0][key] if before else None)
        for key, value in given.items()
    }
    connection.call(
        conn, "configure_server", host=box, queue=name, by=arguments.login_name(), **wanted
    )
    said = [f"{key} {value}" for key, value in wanted.items() if value is not None]
    click.echo(f"{box} {name}: {', '.join(said) or 'as its agent is configured'}")


def _length(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
