"""Commands about model servers."""

from __future__ import annotations

from datetime import timedelta

import click

from qwf_agent.cli import addresses, arguments, fleet, known_names, output
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

COLUMNS = (
    *("host", "queue", "server", "state", "for", "model", "jobs", "tokens/s", "tokens", "error"),
    *("idle", "vram", "card", "starts", "crashes"),
)
SERVERS = """
select * from qwf.server_overview s
where (%(host)s::text is null or s.host = %(host)s)
  and (%(queue)s::text is null or s.queue = %(queue)s)
order by s.host, s.queue, s.server
"""
SET = """
select o.server, o.parallel, o.server_idle as idle
from qwf.order_overview o where o.host = %s and o.queue = %s
"""


@click.command()
@click.option("--host", metavar="HOST", help="Only those on this box.")
@click.option("--queue", metavar="QUEUE", help="Only those of this queue.")
@output.json_option
@addresses.database
def servers(conn: Connection, host: str | None, queue: str | None, as_json: bool) -> None:
    """List the model servers: what each serves, and what it does.

    \b
    Example:  qwf servers
    Then:     qwf logs --server HOST/NAME -f
              qwf worker load MODEL --host HOST
              qwf worker set --host HOST --parallel 4
    """
    if queue is not None:
        known_names.check(conn, "queue", queue, "--queue")
    found = connection.many(conn, SERVERS, {"host": host, "queue": queue})
    if not found:
        known_names.note_unseen(conn, host=host)
    for row in [] if as_json else found:
        row |= {"for": _length(row["since_s"]), "jobs": f"{row['inflight']}/{row['parallel']}"}
        row["tokens/s"] = row["tokens_per_s"] or None
        row |= {"idle": _idle(row["idle_s"]), "model": draw.served(row)}
        row |= {"vram": f"{row['vram_mb']} MiB" if row["vram_mb"] is not None else None}
        row |= {"error": draw.server_error(row), "state": draw.server_state(row["state"])}
    hosts = {(row["host"], row["server"]) for row in found}
    columns = COLUMNS if len(hosts) == len(found) else (*COLUMNS, "worker")
    empty = "no model servers; add [[server]] to qwf.toml on a box of the queue llm"
    show_list(columns, found, as_json, empty)


@click.command("set")
@click.option(
    "--only", metavar="SERVER",
    help="Use only this server of the box; the others serve no more until --reset.",
)  # fmt: skip
@click.option(
    "--parallel", type=click.IntRange(1, arguments.MOST), metavar="N",
    help="Requests that each server takes at once.",
)  # fmt: skip
@click.option(
    "--idle", type=arguments.duration, metavar="TIME",
    help="Stop each server after this idle time; 0s: never.",
)  # fmt: skip
@click.option("--reset", is_flag=True, help="First set all back to the agent's qwf.toml.")
@fleet.the_queue
@fleet.of_host
@addresses.database
def set_server(
    conn: Connection,
    host: str | None,
    queue: str | None,
    only: str | None,
    parallel: int | None,
    idle: timedelta | None,
    reset: bool,
) -> None:
    """Set the model servers of a box, without a restart of its agent.

    What is set counts for all servers of the box that serve, and stays until it is set again
    or reset, also over restarts. What is not given stays as it is.

    \b
    Example:  qwf worker set --host box-a --parallel 8
              qwf worker set --host box-a --only vllm
              qwf worker set --host box-a --reset
    """
    if not (reset or only or parallel or idle is not None):
        raise click.UsageError("give --only, --parallel, --idle or --reset")
    box, name = fleet.agent_of(conn, host, queue, fleet.SERVING)
    before = [] if reset else connection.many(conn, SET, (box, name))
    given = {"server": only, "parallel": parallel, "idle": idle}
    wanted = {
        key: value if value is not None else (before[0][key] if before else None)
        for key, value in given.items()
    }
    connection.call(conn, "configure_server", host=box, queue=name, **wanted)
    words = {"server": "only", "parallel": "parallel", "idle": "idle"}
    said = [f"{words[key]} {value}" for key, value in wanted.items() if value is not None]
    reset_to = "all its servers serve again, as qwf.toml says"
    click.echo(f"{box} {name}: {', '.join(said) or reset_to}")


def _idle(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return draw.spell(timedelta(seconds=seconds)) if seconds else "never"


def _length(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
