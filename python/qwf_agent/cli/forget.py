"""Forgets workers that are dead, and boxes that are gone for good."""

from __future__ import annotations

import click

from qwf_agent.cli import addresses, arguments, errors, known_names
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

ALIVE = """
select f.worker from qwf.worker_overview f
where f.host = %(host)s and f.state not in ('dead', 'stopped')
limit 1
"""
DEAD = """
select f.worker, f.running from qwf.worker_overview f
where f.host = %(host)s and not f.live and f.stopped_at is null
order by f.last_seen
"""
ORDERS = """
select o.queue, case when o.state = 'off' then o.policy else 'on' end as state
from qwf.order_overview o
where o.host = %(host)s
order by o.queue
"""
BOUND_TO = """
select count(*)
from qwf.job_details j
where j.finished_at is null and j.requires ->> 'host' = %(host)s
"""


@click.command()
@click.argument("name", metavar="WORKER", required=False)
@click.option("--host", metavar="HOST", help="The box that is gone.")
@click.option("--all", "everything", is_flag=True, help="All its workers and its orders.")
@arguments.yes
@addresses.database
def forget(
    conn: Connection, name: str | None, host: str | None, everything: bool, yes: bool
) -> None:
    """Forget a dead WORKER, or a box, and hand back the jobs they held.

    A box that comes back registers again. Workers that nobody forgets are listed for a day, and
    orders such as `qwf worker off` stay until their box is forgotten.

    \b
    Example:  qwf worker forget box-b:gpu:1a2b3c4d
              qwf worker forget --host box-b --all
    """
    if (name is None) != everything or (host is None) == everything:
        raise click.UsageError("which one? Write: WORKER, or --host HOST --all")
    if host is not None:
        _forget_box(conn, host, yes)
        return
    found = connection.many(
        conn,
        "select running from qwf.worker_overview where worker = %s and "
        "not live and stopped_at is null",
        (name,),
    )
    if not found:
        meant = known_names.nearest(conn, "worker", str(name))
        errors.fail(
            f"worker {name} is not dead"
            if known_names.has(conn, "worker", str(name))
            else f"no worker {name}",
            f"did you mean {meant}?" if meant else "qwf workers --all",
        )
    if found[0]["running"]:
        held = draw.counted(found[0]["running"], "job")
        arguments.confirm(f"Forget {name}, and hand {held} back to the queue?", yes)
    connection.call(conn, "deregister_worker", worker=name)
    click.echo(f"{name} is forgotten")


def _forget_box(conn: Connection, box: str, yes: bool) -> None:
    """Forget the dead workers and the orders of a box. Jobs that require it are named: they wait
    for a box of this name."""
    alive = connection.many(conn, ALIVE, {"host": box})
    if alive:
        errors.fail(
            f"{box} has a live worker: {alive[0]['worker']}",
            "stop its agents first: systemctl stop 'qwf-agent@*'",
        )
    dead = connection.many(conn, DEAD, {"host": box})
    orders = connection.many(conn, ORDERS, {"host": box})
    (needs,) = connection.many(conn, BOUND_TO, {"host": box})
    if not dead and not orders:
        meant = known_names.nearest(conn, "host", box)
        errors.fail(
            f"{box} has no dead worker and no order",
            f"did you mean {meant}?" if meant else "qwf workers --all",
        )
    held = sum(row["running"] for row in dead)
    lost = [
        draw.counted(len(dead), "dead worker"),
        f"{draw.counted(held, 'job')} to hand back",
        *(f"the order {row['queue']} {row['state']}" for row in orders),
    ]
    if needs["count"]:
        click.echo(
            f"note: {draw.counted(needs['count'], 'unfinished job')} can run on {box} alone, and "
            "will wait for a box of this name; qwf cancel job ID, or edit the workflow",
            err=True,
        )
    arguments.confirm(f"Forget {box}: {', '.join(lost)}?", yes)
    connection.call(conn, "forget_host", host=box)
    click.echo(f"{box} is forgotten: {', '.join(lost)}")
