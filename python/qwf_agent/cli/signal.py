"""Tells runs that something has happened outside, and lists what they wait for."""

from __future__ import annotations

from typing import Any

import click
from psycopg.types.json import Jsonb

from qwf_agent.cli import addresses, arguments
from qwf_agent.cli.listings import Listing
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection

COLUMNS = ("signal", "state", "run", "step", "project", "since", "until", "payload")
AWAITED = """
select a.signal, case when a.refused then 'waits, the last one did not fit' else 'waits' end
    as state, a.run_id as run, a.node_id as step, a.project, a.since, a.expires_at as until,
  null::jsonb as payload
from qwf.awaited_signals a
where %(project)s::text is null or a.project = %(project)s
order by a.job_id limit %(limit)s
"""
KEPT = """
select k.name as signal, 'kept' as state, null::bigint as run, null as step, k.project,
  k.sent_at as since, k.keep_until as until, k.payload
from qwf.kept_signals k
where %(project)s::text is null or k.project = %(project)s
order by k.keep_until desc limit %(limit)s
"""


@click.command()
@click.argument("name")
@click.argument("payload", required=False, default="{}")
@arguments.project
@click.option(
    "--keep-for",
    type=arguments.long_duration,
    metavar="TIME",
    help="How long it is kept for steps that ask later: 1 day, unless you say otherwise.",
)
@addresses.database
def signal(conn: Connection, name: str, payload: str, project: str, keep_for: Any) -> None:
    """Complete the steps that wait for a signal.

    PAYLOAD is JSON, or plain text if it is not JSON. A text that begins with { [ or " is written
    as JSON: '"{x}"'. A step whose schema it does not fit goes on
    waiting. `qwf inputs --signals` lists what is waited for.

    \b
    Example:  qwf signal paid:4711 '{"status": "ok"}'
    """
    value = Jsonb(arguments.parse_value(payload, "PAYLOAD"))
    given: dict[str, Any] = {"name": name, "payload": value, "project": project}
    given |= {} if keep_for is None else {"keep_for": keep_for}
    count = connection.call(conn, "signal", **given)
    steps = "1 step is" if count == 1 else f"{count or 'no'} steps are"
    click.echo(f"{steps} answered; it is kept for those that ask later")


def listed(conn: Connection, project: str | None, limit: int) -> Listing:
    """Waiting steps, then the signals that are kept."""
    wanted = {"project": project, "limit": limit}
    rows = connection.many(conn, AWAITED, wanted) + connection.many(conn, KEPT, wanted)
    return Listing(COLUMNS, rows, "no step waits for a signal, and none is kept", limit=limit)
