"""Commands about queues, workers and limits."""

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
    losses,
    output,
)
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.system.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from typing_extensions import LiteralString

SAY_EVERY_S = 10.0  # how often to print progress where no line can change

QUEUE_COLUMNS = (
    *("queue", "state", "workers", "slots", "queued", "scheduled", "running", "max", "waited"),
)

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
LIMITS = """
select l.name, l.max_running, count(s.job_id) as running, l.starts, l.per, l.created_at,
  case when l.starts > 0 then (select count(*) from qwf.limit_starts t
    where t.limit_name = l.name and t.used_at > qwf.now() - l.per and t.place <= l.starts)
  end as started,
  array_remove(array_agg(s.job_id order by s.job_id), null) as jobs,
  (select count(*) from qwf.jobs j
    where j.status = 'queued' and l.name in (j.limit_by, 'queue:' || j.queue)) as queued
from qwf.limits l left join qwf.limit_slots s on s.limit_name = l.name
group by l.name
order by l.name
"""
MOST_PLACES = 10_000  # what a limit has if it was created with a rate alone
# Open while a worker may still take the request, or the worker that took it is alive.
REQUEST = """
select r.answered_at, r.error, r.progress, r.answered_at is null and case
  when r.taken_by is null then r.requested_at > qwf.now() - interval '5 min'
  else exists (
    select from qwf.worker_overview f
    where f.worker = r.taken_by and f.state not in ('dead', 'stopped')) end as open
from qwf.model_requests r
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
select distinct f.host, f.queue, c.reason,
  coalesce(c.desired_state = 'off', false) as off
from qwf.worker_overview f
left join qwf.worker_controls c on c.host_label = f.host and c.queue = f.queue
where f.state not in ('dead', 'stopped')
order by f.host, f.queue
"""
TO_START = """
select c.host_label as host, c.queue, c.reason,
  %(reason)s::text is not null and c.reason is distinct from %(reason)s as off
from qwf.worker_controls c
where c.desired_state = 'off'
order by c.host_label, c.queue
"""
# Live workers of a host: those that announce a server of the model come first, and have rank 0.
# Without a model, all of them. The queues of one agent have the same pid.
KNOWING: LiteralString = """
select k.queue, k.agent, k.rank
from (
  select w.queue, coalesce(w.pid::text, w.id) as agent, f.state in ('off', 'draining') as off, case
    when %(model)s::text is null or exists (
      select from jsonb_array_elements(w.servers) s where s -> 'models' ? %(model)s) then 0
    when %(model)s = any (w.models) then 1 end as rank
  from qwf.workers w join qwf.worker_overview f on f.worker = w.id
  where w.host = %(host)s and f.state not in ('dead', 'stopped')
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
@listed()
def queues(conn: Connection, as_json: bool) -> Listing:
    """List the queues with their jobs and workers.

    ~ marks an estimate, from 10,000 jobs on.

    \b
    Example:  qwf queues
    Then:     qwf queue pause QUEUE     qwf jobs --queue QUEUE --status queued
    """
    found = connection.many(conn, "select * from qwf.queue_overview order by queue")
    for row in [] if as_json else found:
        row |= {"state": draw.queue_state(row), "waited": row["oldest_wait"]}
        row["max"] = row["max_running"]
        row["queued"] = f"~{row['queued']}" if row["estimated"] else row["queued"]
        row["scheduled"] = f"{row['scheduled']}+" if row["more_scheduled"] else row["scheduled"]
    return Listing(QUEUE_COLUMNS, found, "no queues", "queue")


QUEUE_SETTINGS = (
    "lease", "timeout", "retention", "max-running", "placement", "keep-completed", "on-failure",
)  # fmt: skip


@click.group(cls=commands.Commands)
def queue() -> None:
    """Create, pause and resume queues.

    \b
    Example:  qwf queue create mail --timeout 5min --max-running 4
              qwf queue pause gpu
    """


@queue.command("create")
@click.argument("name")
@click.option(
    "--lease", type=arguments.duration, metavar="TIME", help="Lease of its jobs: 30s, 5min."
)
@arguments.timeout
@click.option(
    "--retention",
    type=arguments.long_duration,
    metavar="TIME",
    help="How long ended jobs are kept.",
)
@click.option(
    "--max-running",
    type=click.IntRange(1, arguments.MOST),
    metavar="N",
    help="Maximum number of its jobs that run at once.",
)
@click.option(
    "--placement",
    type=click.Choice(["spread", "pack"]),
    help="Who takes a new job: the first to ask, or the best worker with room.",
)
@click.option(
    "--keep-completed/--drop-completed",
    default=None,
    help="Whether a completed job leaves its row and its attempt.",
)
@click.option(
    "--on-failure",
    type=click.Choice(["fail", "ask"]),
    help="Whether its jobs fail, or ask a person, unless they say it themselves.",
)
@click.option(
    "--unset",
    type=click.Choice(QUEUE_SETTINGS),
    multiple=True,
    metavar="SETTING",
    help=f"Give a setting its default again: {', '.join(QUEUE_SETTINGS)}. Repeatable.",
)
@arguments.yes
@addresses.database
def create_queue(
    conn: Connection, name: str, yes: bool, unset: tuple[str, ...], **given: Any
) -> None:
    """Create a queue, or change the given settings of an existing one.

    Asks if a shorter retention would delete jobs.
    """
    named = ",".join(setting.replace("-", "_") for setting in unset)
    if given["retention"] is not None or "retention" in unset:
        losses.confirm_queue(conn, name, given["retention"], yes)
    connection.call(conn, "create_queue", name=name, **given, unset=f"{{{named}}}")
    click.echo(f"queue {name} is set up")


@queue.command()
@click.argument("name")
@addresses.database
def pause(conn: Connection, name: str) -> None:
    """Hand out no more jobs; running ones continue."""
    connection.call(conn, "pause_queue", name=name)
    click.echo(f"queue {name} is paused; to resume it: qwf queue resume {name}")


@queue.command()
@click.argument("name")
@addresses.database
def resume(conn: Connection, name: str) -> None:
    """Hand out jobs again."""
    connection.call(conn, "resume_queue", name=name)
    click.echo(f"queue {name} is resumed")


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
@listed(alone="check")
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
    query = "select qwf.request_model(%s, %s, %s, %s, %s) as id"
    (row,) = connection.many(conn, query, (box, name, model, action, arguments.login_name()))
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


@click.command()
@output.json_option
@addresses.database
def limits(conn: Connection, as_json: bool) -> None:
    """List the named limits, and the jobs that hold their slots.

    started: how many have started in the last period of a rate.

    \b
    Example:  qwf limits
    """
    found = connection.many(conn, LIMITS)
    for row in [] if as_json else found:
        only_a_rate = row["starts"] is not None and row["max_running"] == MOST_PLACES
        row |= {"max": None if only_a_rate else row["max_running"], "limit": row["name"]}
        if row["starts"] is not None:
            row["rate"] = f"{row['starts']} in {draw.spell(row['per'])}"
    empty = "no limits; make one: qwf limit create NAME N, then enqueue with --limit-by NAME"
    columns = ("limit", "max", "running", "rate", "started", "queued", "jobs")
    show_list(columns, found, as_json, empty)


@click.group(cls=commands.Commands)
def limit() -> None:
    """Limit how many jobs run at once, or start in a period.

    A job names its limit in limit_by. To limit a queue: qwf queue create gpu --max-running 2

    \b
    Example:  qwf limit create mail 2
              qwf limit create smtp --starts 100 --per 1min
              qwf enqueue send_email --limit-by mail
    """


@limit.command("create")
@click.argument("name")
@click.argument(
    "max_running", type=click.IntRange(1, arguments.MOST), metavar="[N]", required=False
)
@click.option(
    "--starts",
    type=click.IntRange(0, arguments.MOST),
    metavar="N",
    help="How many jobs may start in any period. 0: any number.",
)
@click.option(
    "--per",
    type=arguments.duration,
    metavar="TIME",
    help="Length of the period: 1s, 10min. Default: a second.",
)
@addresses.database
def create_limit(conn: Connection, name: str, max_running: int | None, **rate: Any) -> None:
    """Create limit NAME of N jobs at once, or change what is given.

    With --starts, no more of its jobs than that start within any period. Running jobs continue.
    """
    connection.call(conn, "create_limit", name=name, max_running=max_running, **rate)
    click.echo(f"limit {name} is set up; see qwf limits")


@limit.command("drop")
@click.argument("name")
@arguments.yes
@addresses.database
def drop_limit(conn: Connection, name: str, yes: bool) -> None:
    """Remove a limit that no unfinished job and no current pipeline names.

    queue:NAME is the limit of a queue.
    """
    for row in connection.many(conn, LIMITS):
        if row["name"] == name:
            rate = f", {row['starts']} starts in {draw.spell(row['per'])}" if row["starts"] else ""
            arguments.confirm(
                f"Drop limit {name} ({row['max_running']} at once{rate})? {row['running']} of its "
                f"jobs run, {draw.counted(row['queued'], 'job')} of it wait.", yes,
            )  # fmt: skip
    connection.call(conn, "drop_limit", name=name)
    click.echo(f"limit {name} is dropped")


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
                by=arguments.login_name(), reason=reason, until=when,
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
