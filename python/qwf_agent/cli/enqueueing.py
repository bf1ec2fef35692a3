"""Commands that put something in: definitions, jobs, runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from qwf_agent import definitions, show
from qwf_agent.cli import session, watching

UNITS = {
    "ms": "milliseconds",
    "s": "seconds",
    "min": "minutes",
    "m": "minutes",
    "h": "hours",
    "d": "days",
}


def duration(text: str) -> timedelta:
    """A length of time: 90 or 90s, 10min, 2h, 1d."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ").strip()
    unit = text[len(number) :].strip() or "s"
    try:
        return timedelta(**{UNITS[unit]: float(number)})
    except (KeyError, ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is no duration: write 90s, 10min, 2h or 1d") from None


def pair(text: str) -> tuple[str, str]:
    """key=value."""
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise click.BadParameter(f"{text!r}: write key=value")
    return key, value


priority = click.option("--priority", type=int, metavar="N", help="Lower is sooner. Default 100.")
key = click.option(
    "--key",
    help="Idempotency key: while one with this key is not over, its id is returned instead.",
)
once = click.option(
    "--once", is_flag=True, default=None, help="The key stays taken when it is over."
)
delay = click.option(
    "--in",
    "delay",
    type=duration,
    metavar="TIME",
    help="Not before this much later: 90s, 10min, 2h.",
)
at = click.option(
    "--at", type=click.DateTime(["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]),
    metavar="TIME", help="Not before this time, yours unless it names a zone: '2030-01-31 06:00'.",
)  # fmt: skip
labels = click.option(
    "--label",
    "labels",
    type=pair,
    multiple=True,
    metavar="KEY=VALUE",
    help="A tag; may be repeated.",
)
project = click.option("--project", help="Tenant tag.")


@click.command()
@click.argument("place", type=click.Path(exists=True, path_type=Path), metavar="DIR")
@session.json_option
@session.database
def apply(conn: session.Connection, place: Path, as_json: bool) -> None:
    """Register the pipelines and workflows in DIR.

    Reads its JSON and YAML files. A file with "nodes" is a pipeline, one with "steps" a workflow.
    All problems of all files are reported, and nothing is registered if there is one. What has not
    changed keeps its version; runs that are going on keep theirs.

    \b
    Example:  qwf apply examples/streetview/definitions
    Then:     qwf run NAME --context '{...}' --watch
    """
    try:
        registered = definitions.register(conn, definitions.load(place))
    except definitions.DefinitionError as error:
        session.fail(str(error), details=error.problems)
    rows = [
        {"kind": r.kind, "name": r.name, "version": r.version, "change": r.change}
        for r in registered
    ]
    if as_json:
        session.show_json(rows)
    else:
        session.show(show.rows(["kind", "name", "version", "change"], rows, "nothing to register"))


@click.command()
@click.argument("task")
@click.option(
    "--args",
    "arguments",
    default="{}",
    metavar="JSON",
    help="Arguments: a JSON object, @file, or - for stdin.",
)
@click.option("--queue", help="Queue that serves it. Default: default.")
@priority
@delay
@at
@key
@once
@click.option(
    "--max-attempts",
    type=click.IntRange(1),
    metavar="N",
    help="Tries. Default 1; 4 for transient failures.",
)
@click.option(
    "--timeout", type=duration, metavar="TIME", help="Limit of one attempt: 90s, 10min, 2h."
)
@project
@labels
@session.json_option
@session.database
def enqueue(
    conn: session.Connection,
    task: str,
    arguments: str,
    delay: timedelta | None,
    at: datetime | None,
    labels: tuple[tuple[str, str], ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Enqueue one job of TASK and print its id.

    \b
    Example:  qwf enqueue send_email --args '{"to": "ada@example.org"}' --max-attempts 3
    Then:     qwf job ID
    """
    job = session.call(
        conn,
        "enqueue",
        task=task,
        args=session.parse_object(arguments, "--args"),
        run_at=_run_at(conn, delay, at),
        labels=dict(labels),
        **options,
    )
    session.show_json({"job_id": job}) if as_json else click.echo(job)


@click.command()
@click.argument("name")
@click.option(
    "--context",
    default="{}",
    metavar="JSON",
    help="Values the workflow reads: a JSON object, @file, or -.",
)
@click.option("--set", "settings", type=pair, multiple=True, metavar="KEY=VALUE",
              help="One value of the context, JSON or text: --set photo.path=a.jpg.")  # fmt: skip
@priority
@delay
@at
@key
@once
@click.option(
    "--out-dir", metavar="DIR", help="Folder its files go under. Default: the agent's own."
)
@project
@labels
@click.option(
    "--watch",
    is_flag=True,
    help="Show progress until it is over; exit 1 if it failed, 2 if cancelled.",
)
@session.json_option
@session.database
def run(
    conn: session.Connection,
    name: str,
    context: str,
    settings: tuple[tuple[str, str], ...],
    delay: timedelta | None,
    at: datetime | None,
    labels: tuple[tuple[str, str], ...],
    watch: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Start a run of workflow NAME (or NAME@VERSION) and print its id.

    \b
    Example:  qwf run streetview_inspect --set photo.path=/data/street.jpg --watch
    Then:     qwf show ID     qwf inputs     qwf answer ID NODE VALUE
    """
    if options["out_dir"]:
        options["out_dir"] = str(Path(options["out_dir"]).expanduser().absolute())
    run_id = session.call(
        conn,
        "enqueue_run",
        workflow=name,
        context=_with_settings(session.parse_object(context, "--context"), settings),
        run_at=_run_at(conn, delay, at),
        labels=dict(labels),
        **options,
    )
    if watch:
        raise SystemExit(watching.watch(conn, run_id, as_json))
    if as_json:
        session.show_json({"run_id": run_id})
    else:
        click.echo(run_id)
        session.console(stderr=True).print(Text(f"next: qwf show {run_id}", "bright_black"))


def _run_at(
    conn: session.Connection, delay: timedelta | None, at: datetime | None
) -> datetime | None:
    if delay is not None and at is not None:
        raise click.UsageError("give --in or --at, not both")
    if delay is not None:
        now: datetime = session.call(conn, "now")
        return now + delay
    return at and (at if at.tzinfo else at.astimezone())


def _with_settings(
    context: dict[str, Any], settings: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    for path, value in settings:
        *parents, last = path.split(".")
        place = context
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise click.UsageError(f"--set {path}: {parent} is no object")
        place[last] = session.parse_value(value)
    return context
