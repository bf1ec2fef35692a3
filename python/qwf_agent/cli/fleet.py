"""Commands about workers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from qwf_agent import config
from qwf_agent.cli import (
    addresses,
    arguments,
    commands,
    errors,
    follow,
    known_names,
    output,
)
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.system.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from typing_extensions import LiteralString

SAY_EVERY_S = 10.0  # how often to print progress where no line can change

WORKER_COLUMNS = (
    *("host", "queue", "state", "slots", "running", "model", "seen", "why", "version", "worker"),
)

WORKERS = """
select *
from qwf.worker_overview f
where (%(everyone)s or f.state <> 'stopped') and (%(host)s::text is null or f.host = %(host)s)
  and (%(queue)s::text is null or f.queue = %(queue)s)
order by f.host, f.queue, f.started_at
"""
# Open while a worker may still take the request, or the worker that took it is alive.
REQUEST = """
select r.answered_at, r.error, r.progress, r.state in ('waiting', 'under way') as open
from qwf.model_request_overview r
where r.id = %s
"""
SERVED = """
select f.queue, bool_or(f.state not in ('dead', 'stopped')) as live
from qwf.worker_overview f
where f.host = %s
group by f.queue
order by f.queue
"""
# The switches of the whole fleet: those that `qwf worker on --fleet` changes, and the others.
TO_STOP = """
select distinct f.host, f.queue, o.reason, coalesce(o.state = 'off', false) as off
from qwf.worker_overview f
left join qwf.order_overview o on o.host = f.host and o.queue = f.queue
where f.state not in ('dead', 'stopped')
order by f.host, f.queue
"""
TO_START = """
select o.host, o.queue, o.reason,
  %(reason)s::text is not null and o.reason is distinct from %(reason)s as off
from qwf.order_overview o
where o.state = 'off'
order by o.host, o.queue
"""
# Live workers of a host: those that announce a server of the model come first, and have rank 0.
# Without a model, all of them. The queues of one agent have the same pid.
KNOWING: LiteralString = """
select k.queue, k.agent, k.rank
from (
  select w.queue, coalesce(w.pid::text, w.worker) as agent, w.state in ('off', 'draining') as off,
    case
      when %(model)s::text is null or exists (
        select from qwf.server_overview s
        where s.worker = w.worker and %(model)s = any (s.models)) then 0
      when %(model)s = any (w.models) then 1 end as rank
  from qwf.worker_overview w
  where w.host = %(host)s and w.state not in ('dead', 'stopped')
) k
where k.rank is not null
order by k.rank, k.off, k.queue
"""
SERVING: LiteralString = """
select distinct s.queue, s.queue as agent, 0 as rank
from qwf.server_overview s
where s.host = %(host)s
order by s.queue
"""


@click.command()
@click.option(
    "--all",
    "everyone",
    is_flag=True,
    help="Include those that stopped or were replaced in the last day.",
)
@click.option("--host", metavar="HOST", help="Only those on this box.")
@click.option("--queue", metavar="QUEUE", help="Only those of this queue.")
@click.option(
    "--check", is_flag=True, help="Print nothing if one is alive on HOST, or this box; else exit 1."
)
@listed
def workers(
    conn: Connection,
    everyone: bool,
    host: str | None,
    queue: str | None,
    check: bool,
    as_json: bool,
) -> Listing | None:
    """List the workers: where they are and what they do.

    \b
    Example:  qwf workers
              qwf workers --check        (the health check of a container)
    Then:     qwf worker off --host HOST --queue QUEUE --reason 'new card'
              qwf worker forget WORKER   (one that is dead for good)
    """
    if check:  # with the login of an agent, which may read no view
        box = host or config.this_box()
        if not connection.call(conn, "worker_alive", host=box, queue=queue):
            errors.fail(f"no worker of {box}{f' on {queue}' if queue else ''} is alive")
        return None
    if queue is not None:
        known_names.check(conn, "queue", queue, "--queue")
    found = connection.many(conn, WORKERS, {"everyone": everyone, "host": host, "queue": queue})
    for row in [] if as_json else found:
        until = f"until {draw.moment(row['until'])}" if row["until"] else ""
        row |= {"model": row["current_model"], "seen": row["last_seen"]}
        row |= {"why": " ".join(filter(None, (row["reason"], until)))}
    empty = "no workers; start one: qwf agent --queue cpu --nodes PACKAGE"
    return Listing(WORKER_COLUMNS, found, empty, asked={"host": host})


@click.group(cls=commands.Commands)
def worker() -> None:
    """Switch workers on and off, load and unload models.

    A switch survives restarts and takes effect in under a second. --host defaults to this box,
    --queue to the queue it serves if it serves only one.

    \b
    Example:  qwf worker drain --host box-a --queue gpu --until 2h
              qwf worker off --host box-a --all
              qwf worker on --host box-a --queue gpu
              qwf worker drain --fleet --reason 'new disk'
              qwf worker load flux --host box-a
    """


the_queue = click.option(
    "--queue", metavar="QUEUE", help="A queue of its agent. Default: found by what it has."
)
of_host = click.option(
    "--host",
    metavar="HOST",
    help="The box. Default: this one, as its agents call it.",
)
of_queue = click.option(
    "--queue", metavar="QUEUE", help="The queue. Default: the only one that the box serves."
)


def switch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments and options that all switches take."""
    for option in (
        addresses.database,
        click.option(
            "--reason",
            help="Why; it is recorded. on --fleet: only those that are off for this reason.",
        ),
        click.option("--fleet", "fleet", is_flag=True, help="Every queue of every box."),
        click.option("--all", "everywhere", is_flag=True, help="Every queue the box serves."),
        of_queue,
        of_host,
    ):
        command = option(command)
    return command


until = click.option(
    "--until", type=arguments.moment, metavar="TIME",
    help="Switch on again at this time: 2h, or '2030-01-31 06:00'.",
)  # fmt: skip


@worker.command("on")
@switch_options
def on(conn: Connection, **more: Any) -> None:
    """Serve the queue again."""
    _switch(conn, "on", "hard", "on again", **more)


@worker.command("off")
@until
@switch_options
def off(conn: Connection, **more: Any) -> None:
    """Stop at once: kill bodies and release their jobs."""
    _switch(conn, "off", "hard", "off: bodies are killed, their jobs handed back", **more)


@worker.command("drain")
@until
@switch_options
def drain(conn: Connection, **more: Any) -> None:
    """Finish the running jobs, then stop."""
    _switch(conn, "off", "drain", "off when the running jobs are done", **more)


@worker.command("pause")
@until
@switch_options
def pause_worker(conn: Connection, **more: Any) -> None:
    """Claim no more jobs, but keep the model loaded."""
    _switch(conn, "off", "pause", "paused, its model stays loaded", **more)


wait = click.option("--wait", is_flag=True, help="Wait until it is done; exit 1 if it failed.")


@worker.command("load")
@click.argument("model")
@of_host
@the_queue
@wait
@addresses.database
def load(conn: Connection, model: str, **more: Any) -> None:
    """Load MODEL on a box, between two jobs, replacing the one it has.

    An ollama server with pull = true in qwf.toml pulls a missing one first. With
    --wait, how far it is goes to standard error.

    \b
    Example:  qwf worker load gemma3:4b --host box-a --queue llm --wait
    """
    _request(conn, "load", model, **more)


@worker.command("unload")
@click.argument("model", required=False)
@of_host
@the_queue
@wait
@addresses.database
def unload(conn: Connection, model: str | None, **more: Any) -> None:
    """Unload MODEL on a box, or the one it has loaded."""
    _request(conn, "unload", model, **more)


def _request(
    conn: Connection,
    action: str,
    model: str | None,
    host: str | None,
    queue: str | None,
    wait: bool,
) -> None:
    box, name = agent_of(conn, host, queue, KNOWING, model)
    query = "select qwf.request_model(%s, %s, %s, %s) as id"
    (row,) = connection.many(conn, query, (box, name, model, action))
    what = f"{box} {name}: {action} {model or 'the loaded model'}"
    if not wait:
        click.echo(f"{what}, requested")
        return
    try:
        found = _wait_for_answer(conn, row["id"], what)
    except KeyboardInterrupt:
        errors.fail("interrupted; the request stands", "qwf workers", INTERRUPTED)
    if found["answered_at"] is None:
        errors.fail(f"{what}: no worker has done it", "is one alive and switched on? qwf workers")
    if found["error"]:
        errors.fail(f"{what} failed", details=found["error"].splitlines())
    click.echo(f"{what}, done")


def _wait_for_answer(conn: Connection, request: int, what: str) -> dict[str, Any]:
    """The request when it is answered, or nobody will. How far it is goes to standard error: on a
    terminal a line that changes, else a line now and then."""
    said, say_at = None, 0.0
    with output.console(stderr=True).status(Text(draw.visible(what))) as status:
        while (found := connection.many(conn, REQUEST, (request,))[0])["open"]:
            if found["progress"] not in (None, said) and time.monotonic() >= say_at:
                said = found["progress"]
                line = draw.visible(f"{what}, {said}")
                if sys.stderr.isatty():
                    status.update(Text(line))
                else:
                    click.echo(line, err=True)
                    say_at = time.monotonic() + SAY_EVERY_S
            time.sleep(follow.POLL_S)
    return found


def _switch(
    conn: Connection,
    state: str,
    policy: str,
    outcome: str,
    host: str | None,
    queue: str | None,
    everywhere: bool,
    fleet: bool,
    reason: str | None = None,
    until: timedelta | datetime | None = None,
) -> None:
    if fleet and (host or queue or everywhere):
        raise click.UsageError(
            "--fleet is every queue of every box: leave out --host, --queue, --all"
        )
    when = arguments.ahead(conn, until)
    if fleet:
        switches = _of_fleet(conn, state, reason)
    else:
        box, queues = host_and_queues(conn, host, queue, everywhere)
        switches = [(box, name) for name in queues]
    with conn.transaction():
        for box, name in switches:
            connection.call(
                conn, "worker_control", host=box, queue=name, state=state, policy=policy,
                reason=reason, until=when,
            )  # fmt: skip
    for box, name in switches:
        click.echo(f"{box} {name}: {outcome}")


def _of_fleet(conn: Connection, state: str, reason: str | None) -> list[tuple[str, str]]:
    """Host and queue of each switch that an order to the whole fleet changes. What was off before,
    or is off for another reason, is named and stays off."""
    found = connection.many(conn, TO_STOP if state == "off" else TO_START, {"reason": reason})
    for row in found:
        if row["off"]:
            why = f" ({row['reason']})" if row["reason"] else ""
            click.echo(draw.visible(f"{row['host']} {row['queue']}: was off{why}, stays as it is"))
    if not found:
        errors.fail(
            "no worker is alive" if state == "off" else "no worker is switched off", "qwf workers"
        )
    return [(row["host"], row["queue"]) for row in found if not row["off"]]


def host_and_queues(
    conn: Connection, host: str | None, queue: str | None, everywhere: bool = False
) -> tuple[str, list[str]]:
    """The host and the queues that --host, --queue and --all mean."""
    if queue and everywhere:
        raise click.UsageError("give --queue or --all, not both")
    box = host or config.this_box()
    if queue:
        return box, [queue]
    served = _served_by(conn, box)
    if len(served) > 1 and not everywhere:
        raise click.UsageError(f"{box} serves {', '.join(served)}: which one? Add --queue QUEUE")
    return box, served


def agent_of(
    conn: Connection, host: str | None, queue: str | None, wanted: LiteralString,
    model: str | None = None,
) -> tuple[str, str]:  # fmt: skip
    """The host, and a queue of the agent on it that is meant: of the live ones that `wanted` finds
    first. All queues of an agent lead to the same servers and models."""
    box = host or config.this_box()
    if queue:
        return box, queue
    found = connection.many(conn, wanted, {"host": box, "model": model})
    best = [row for row in found if row["rank"] == found[0]["rank"]]
    queues = sorted({row["queue"] for row in best})
    if len(queues) > 1 and len({row["agent"] for row in best}) > 1:
        raise click.UsageError(
            f"{box} has several agents for it, of {', '.join(queues)}: which one? Add --queue QUEUE"
        )
    return box, best[0]["queue"] if best else _served_by(conn, box)[0]


def _served_by(conn: Connection, box: str) -> list[str]:
    """The queues that the box serves now; without a live worker, those that it served before."""
    found = connection.many(conn, SERVED, (box,))
    served = [row["queue"] for row in found if row["live"]] or [row["queue"] for row in found]
    if not served:
        meant = known_names.nearest(conn, "host", box)
        errors.fail(
            f"no worker of {box} has been seen",
            f"did you mean {meant}?" if meant
            else "qwf workers lists the known ones; for one to come, add --queue QUEUE",
        )  # fmt: skip
    return served
