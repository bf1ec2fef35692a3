"""The command that says who did what."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click

from qwf_agent.cli import arguments
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

AUDIT = """
select a.at, a.login, a.acting_for, a.kind, a.subject, a.run_id, a.job_id, a.detail, a.seq, a.id
from qwf.audit a
where (%(login)s::text is null or a.login = %(login)s)
  and (%(kind)s::text is null or a.kind = %(kind)s)
  and (%(subject)s::text is null or a.subject = %(subject)s)
  and (%(run)s::bigint is null or a.run_id = %(run)s)
  and (%(since)s::timestamptz is null or a.at >= %(since)s)
order by a.id desc limit %(limit)s
"""
COLUMNS = ("when", "login", "acting for", "what", "subject", "run", "job", "change")


@click.command()
@click.option("--login", metavar="LOGIN", help="Only what this login of the database did.")
@click.option("--kind", metavar="KIND", help="Only events of this kind, such as queue_changed.")
@click.option(
    "--subject", metavar="NAME", help="Only about this queue, limit, schedule, setting or box."
)
@click.option("--run", type=arguments.ID, metavar="RUN", help="Only about this run and its jobs.")
@click.option(
    "--since", type=arguments.moment, metavar="TIME",
    help="Only what was done since: 2h, 1d, or '2030-01-31 06:00'.",
)  # fmt: skip
@arguments.limit(50)
@listed
def audit(
    conn: Connection, since: timedelta | datetime | None, as_json: bool, limit: int, **wanted: Any
) -> Listing:
    """List who did what, the newest first.

    The database proves the login. Acting for is what the session said: nobody checks it.

    \b
    Example:  qwf audit --subject gpu --since 7d
              qwf audit --login ada --json
    """
    given = {**wanted, "since": arguments.ago(conn, since), "limit": limit}
    found = connection.many(conn, AUDIT, given)
    for row in [] if as_json else found:
        row |= {"when": draw.moment(row["at"]), "acting for": row["acting_for"]}
        row |= {"what": row["kind"].replace("_", " "), "run": row["run_id"], "job": row["job_id"]}
        row["change"] = ", ".join(draw.changed(row["detail"]))
    return Listing(COLUMNS, found, "nobody has done anything like that", limit=limit)
