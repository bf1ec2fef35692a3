"""Commands that add definitions, jobs and runs."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click
import psycopg
from psycopg.types.json import Jsonb
from rich.text import Text

from qwf_agent.app.jobs import Enqueued
from qwf_agent.cli import (
    addresses,
    arguments,
    definition_files,
    errors,
    follow,
    known_names,
    missing_options,
    output,
)
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection


class _Json(known_names.ParamType):
    """Any JSON value."""

    name = "json"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        what = param.opts[0] if param else "value"
        return arguments.parse_json(value, what) if isinstance(value, str) else value


JSON = _Json()
LONGEST_WAIT_S = 60  # for others that register definitions


def _registered(
    conn: Connection, definitions: list[definition_files.DefinitionFile]
) -> list[definition_files.Registered]:
    """Register them; if others do so, too, as all replicas of a program at its start, wait."""
    until = time.monotonic() + LONGEST_WAIT_S
    waits = False
    while True:
        try:
            with connection.notices_at_the_end(conn):
                return definition_files.register(conn, definitions)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if time.monotonic() > until:
                raise
        if not waits:
            click.echo("another session registers definitions, or has locked some: waiting up to"
                       f" {LONGEST_WAIT_S} s", err=True)  # fmt: skip
        waits = True


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path), metavar="DIR")
@output.json_option
@addresses.database
def apply(conn: Connection, folder: Path, as_json: bool) -> None:
    """Register definitions, limits, schedules and alerts of DIR.

    Reads its JSON and YAML files; hidden ones and JSON Schemas are skipped. A file with "nodes" is
    a pipeline, one with "steps" a workflow, one with "limits" has limits, which come first.
    NAME.schedule.json is a schedule, NAME.alert.json the rule of an alert; both may also be YAML.
    If there are problems, all of them in all files are reported and nothing is registered.
    Unchanged definitions keep their version; runs in progress keep theirs. What no file
    gives of a limit stays.

    \b
    Example:  qwf apply examples/streetview/definitions
    Then:     qwf run NAME --set KEY=VALUE --watch
    """
    try:
        definitions = definition_files.load(
            folder, lambda path, why: arguments.note(f"{path} was skipped: {why}")
        )
        registered = _registered(conn, definitions)
    except definition_files.DefinitionError as error:
        errors.fail(str(error), details=error.lines)
    rows = [
        {"kind": r.kind, "name": r.name, "version": r.version, "change": r.change}
        for r in registered
    ]
    if as_json:
        output.show_json(rows)
    else:
        output.show(draw.rows(["kind", "name", "version", "change"], rows, "nothing to register"))
    for one in registered:
        if one.kind == "workflow":
            missing_options.note(conn, workflow=one.name)


@click.command()
def schema() -> None:
    """Print the JSON Schema of definitions, for editors.

    \b
    Example:  qwf schema > definition.schema.json
    In YAML:  # yaml-language-server: $schema=definition.schema.json
    In JSON:  "$schema": "definition.schema.json"
    """
    click.echo(definition_files.schema(), nl=False)


def _job_options(command: arguments.F) -> arguments.F:
    """The options of one job; `_enqueued` takes what they say."""
    for option in reversed((
        click.option("--queue", help="Queue of the job. Default: default."),
        arguments.priority,
        arguments.delay,
        arguments.at,
        arguments.key,
        arguments.key_mode,
        arguments.debounce,
        arguments.debounce_max,
        arguments.once,
        arguments.at_most_once,
        click.option("--max-attempts", type=click.IntRange(1, arguments.MOST), metavar="N",
                     help="Maximum number of attempts. Default: 1, or 4 for transient failures."),
        click.option("--max-losses", type=click.IntRange(1, arguments.MOST), metavar="N",
                     help="Maximum number of losses: timeouts, kills, crashes. Default: 3."),
        arguments.timeout,
        click.option("--backoff", type=JSON, metavar="JSON",
                     help='Seconds between attempts: [5,30], or {"base":1,"factor":2,"max":600}.'),
        click.option("--model", metavar="NAME", help="Model that it needs."),
        click.option("--vram-mb", type=click.IntRange(0, arguments.MOST), metavar="MIB",
                     help="GPU memory it needs."),
        click.option("--light", is_flag=True, default=None,
                     help="It may run beside a job that has the card."),
        click.option("--requires", type=arguments.pair, multiple=True, metavar="LABEL=VALUE",
                     help="Label the worker must have; may be repeated."),
        click.option("--limit-by", metavar="NAME", help="Limit it counts against: see qwf limits."),
        click.option("--on-failure", type=click.Choice(["fail", "ask"]),
                     help="After its last attempt: fail, or ask a person. Default: the queue's."),
        click.option("--expires", type=arguments.duration, metavar="TIME",
                     help="Cancel it unless it has started within this time."),
        arguments.project,
        arguments.labels,
        arguments.notify,
    )):  # fmt: skip
        command = option(command)
    return command


def _enqueued(
    conn: Connection,
    task: str,
    args: dict[str, Any] | None,
    *,
    delay: timedelta | None,
    at: datetime | None,
    requires: tuple[tuple[str, str], ...],
    labels: tuple[tuple[str, str], ...],
    **options: Any,
) -> Enqueued:
    """Enqueue a job with what `_job_options` took, and note if it was merged into another."""
    job: dict[str, Any] = {
        "task": task,
        "args": args,
        "run_at": arguments.run_at(conn, delay, at),
        "requires": dict(requires) or None,
        "labels": dict(labels),
        **options,
    }
    if job["key"] is None:
        return Enqueued(connection.call(conn, "enqueue", **job))
    given = {name: _as_json(value) for name, value in job.items() if value is not None}
    (answer,) = connection.many(conn, "select * from qwf.enqueue_many(%s)", [Jsonb([given])])
    enqueued = Enqueued(*answer.values())
    if enqueued.merged:
        kept = "keeps its own arguments" if enqueued.kept == "old args" else "has the new arguments"
        when = f"; it starts at {draw.moment(enqueued.run_at)}" if enqueued.run_at else ""
        click.echo(
            f"note: merged into job {enqueued}: it has the same key, and {kept}{when}", err=True
        )
    return enqueued


def _as_json(value: Any) -> Any:
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} s"
    return value.isoformat() if isinstance(value, datetime) else value


def _show(job: Enqueued, as_json: bool) -> None:
    if as_json:
        output.show_json(
            {"job_id": job, "merged": job.merged, "kept": job.kept, "run_at": job.run_at}
        )
    else:
        click.echo(job)


@click.command()
@click.argument("task")
@arguments.args("Its arguments")
@_job_options
@output.json_option
@addresses.database
def enqueue(
    conn: Connection,
    task: str,
    args: str | None,
    settings: tuple[tuple[str, str], ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Enqueue one job of TASK and print its id.

    \b
    Example:  qwf enqueue send_email --set to=ada@example.org
              qwf enqueue send_email --args '{"to": "ada@example.org"}' --in 10min
    Then:     qwf job ID
    """
    job = _enqueued(conn, task, arguments.with_settings(args, settings), **options)
    _show(job, as_json)
    known_names.note_unable(conn, options["queue"], model=options["model"])
    missing_options.note(conn, job=job)


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="ARGV...")
@arguments.args("Its standard input")
@_job_options
@click.option("--wait", is_flag=True, help="Wait until it ends and print its log.")
@output.json_option
@addresses.database
def submit(
    conn: Connection,
    argv: tuple[str, ...],
    args: str | None,
    settings: tuple[tuple[str, str], ...],
    wait: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Enqueue a command and print the id of its job.

    An agent started with --allow-commands DIR runs it as an argument list, never through a shell.
    ARGV begins with a program in that folder. With --wait, exit 0 if it completed, 1 if it failed,
    2 if it was cancelled.

    \b
    Example:  qwf submit --queue cpu --wait -- convert.sh --size 800 a.jpg
    """
    whole = {**(arguments.with_settings(args, settings) or {}), "command": list(argv)}
    job = _enqueued(conn, "command", whole, **options)
    known_names.note_unable(conn, options["queue"], model=options["model"])
    if wait:
        raise SystemExit(follow.wait_and_print(conn, job, as_json))
    _show(job, as_json)


@click.command()
@click.argument("name")
@arguments.args("The context: values the workflow reads", "--context")
@arguments.priority
@arguments.delay
@arguments.at
@arguments.key
@arguments.once
@click.option("--out-dir", metavar="DIR", help="Folder for its files. Default: the agent's.")
@arguments.project
@arguments.labels
@click.option("--limit", "limit_by", metavar="NAME", help="Limit under which it waits in line.")
@click.option(
    "--max-attempts",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How often it is tried, each time from the nodes that failed. Default: 1.",
)
@click.option(
    "--backoff", type=JSON, metavar="JSON", help="Seconds between tries, such as [60,600]."
)
@click.option(
    "--watch",
    is_flag=True,
    help="Show progress until it has ended; exit 1 if it failed, 2 if cancelled.",
)
@arguments.notify
@output.json_option
@addresses.database
def run(
    conn: Connection,
    name: str,
    args: str | None,
    settings: tuple[tuple[str, str], ...],
    delay: timedelta | None,
    at: datetime | None,
    labels: tuple[tuple[str, str], ...],
    watch: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Start a run of workflow NAME and print its id.

    NAME@VERSION picks a version other than the current one.

    \b
    Example:  qwf run streetview_inspect --set photo.path=/data/street.jpg --watch
              qwf limit create etl 1 && qwf run etl --limit etl   (one at a time)
    Then:     qwf show ID     qwf inputs     qwf answer ID NODE VALUE
    """
    if options["out_dir"]:
        options["out_dir"] = str(Path(options["out_dir"]).expanduser().absolute())
    context = arguments.with_settings(args, settings)
    run_id = connection.call(
        conn,
        "enqueue_run",
        workflow=name,
        context=context,
        run_at=arguments.run_at(conn, delay, at),
        labels=dict(labels),
        **options,
    )
    if as_json and not watch:
        output.show_json({"run_id": run_id})
    elif not watch:
        click.echo(run_id)
        output.console(stderr=True).print(Text(f"next: qwf show {run_id}", "bright_black"))
    known_names.note_context(conn, run_id, context or {})
    known_names.note_unable_nodes(conn, run_id)
    if watch:
        raise SystemExit(follow.watch(conn, run_id, as_json))
