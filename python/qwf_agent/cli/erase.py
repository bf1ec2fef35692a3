"""Erases what ended jobs have of a person."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from qwf_agent import config
from qwf_agent.cli import addresses, arguments, cancel_retry, erased_files, errors, output
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

MOST = 2_147_483_647
AT_ONCE = 1000
ERASE = """
select e.job_id, e.run_id, e.host, e.path
from qwf.erase(%(filter)s, %(parts)s, max_rows => %(rows)s, dry_run => %(dry)s) e
"""
LISTED = """
select f.job_id, f.run_id, f.rel_path, f.instance, f.created_at::text as created_at
from qwf.file_overview f
where f.job_id = any (%(jobs)s::bigint[]) and f.host = %(host)s
"""


@click.command()
@arguments.labels
@click.option("--key", metavar="KEY", help="Only jobs and runs of this key.")
@click.option(
    "--id",
    "ids",
    type=arguments.ID,
    multiple=True,
    metavar="JOB",
    help="This job; may be repeated.",
)
@click.option("--run", type=arguments.ID, metavar="RUN", help="Only this run.")
@click.option("--failed", is_flag=True, help="Only jobs that have failed.")
@cancel_retry.of_signature
@cancel_retry.of_error
@arguments.of_task
@arguments.of_queue
@arguments.of_project
@arguments.since
@click.option(
    "--parts",
    metavar="PART,…",
    help="Only these parts: args, output, context, errors, "
    "logs, events, answers, questions, labels, key, acting_for.",
)
@arguments.dry_run
@click.option(
    "--files", is_flag=True, help="Delete their files on this box, and leave the database as it is."
)
@arguments.yes
@output.json_option
@addresses.database
def erase(
    conn: Connection, parts: str | None, dry_run: bool, files: bool, yes: bool, as_json: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Erase what ended jobs have of a person, or discard failures.

    Arguments, outputs, errors, logs, answers, labels and keys are overwritten. Ids, times and
    outcomes stay, and who has acted. A node is erased with its whole run. Files are on the boxes:
    delete them first, on each box, with --files.

    \b
    Example:  qwf erase --label person=42 --dry-run
              qwf erase --label person=42 --files
              qwf erase --label person=42
              qwf erase --failed --task send --error "no such address" --dry-run
    """
    given = {
        "filter": Jsonb(_filter(conn, **wanted)),
        "parts": None if parts is None else [part.strip() for part in parts.split(",")],
    }
    found = connection.many(conn, ERASE, {**given, "rows": MOST, "dry": True})
    if files:
        _delete_files(conn, found, dry_run, yes)
        return
    if found and not dry_run:
        arguments.confirm(f"Erase {_counted(found)}, forever?", yes)
        found = _erase_all(conn, given)
    if as_json:
        output.show_json(found)
        return
    if not found:
        click.echo("nothing to erase: no job matches that is not erased")
        return
    click.echo(f"{_counted(found)} {'would be erased' if dry_run else 'erased'}")
    _list_files([row for row in found if row["path"] is not None], dry_run)


def _filter(
    conn: Connection, labels: tuple[tuple[str, str], ...], ids: tuple[int, ...], failed: bool,
    run: int | None, since: timedelta | datetime | None, **texts: str | None,
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {name: text for name, text in texts.items() if text is not None}
    if labels:
        found["label"] = dict(labels)
    if ids:
        found["ids"] = list(ids)
    if failed:
        found["status"] = "failed"
    if run is not None:
        found["run_id"] = run
    when = arguments.ago(conn, since)
    if when is not None:
        found["since"] = when.isoformat()
    if not found:
        raise click.UsageError("which jobs? Write: --label KEY=VALUE, --key KEY or --id JOB")
    return found


def _erase_all(conn: Connection, given: dict[str, Any]) -> list[DictRow]:
    """Erase until no job is left; each thousand is a transaction of its own."""
    found: list[DictRow] = []
    while connection.many(conn, ERASE, {**given, "rows": 1, "dry": True}):
        found += connection.many(conn, ERASE, {**given, "rows": AT_ONCE, "dry": False})
    return found


def _counted(found: list[DictRow]) -> str:
    runs = {row["run_id"] for row in found} - {None}
    of = f" (with all of {draw.counted(len(runs), 'run')})" if runs else ""
    return draw.counted(len({row["job_id"] for row in found}), "job") + of


def _list_files(files: list[DictRow], dry_run: bool) -> None:
    if not files:
        return
    click.echo(
        f"{draw.counted(len(files), 'file')} may be left on boxes; "
        + ("delete them first, on each box: qwf erase … --files" if dry_run else "delete them:")
    )
    for row in files:
        click.echo(f"  {visible(row['host'] or 'unknown box')}:{visible(row['path'])}")


def _delete_files(conn: Connection, found: list[DictRow], dry_run: bool, yes: bool) -> None:
    box = config.this_box()
    rows = connection.many(
        conn, LISTED, {"jobs": sorted({row["job_id"] for row in found}), "host": box}
    )
    listed = {(row["job_id"], row["rel_path"]): row for row in rows}
    todo = [
        (row["path"], file)
        for row in found
        if row["host"] == box
        for (job, rel_path), file in listed.items()
        if job == row["job_id"] and row["path"].endswith(f"/{rel_path}")
    ]
    click.echo(f"{draw.counted(len(todo), 'file')} on {box}")
    if dry_run or not todo:
        return
    arguments.confirm(f"Delete {draw.counted(len(todo), 'file')} on {box}?", yes)
    refused = [(path, why) for path, file in todo if (why := erased_files.delete(path, file))]
    for path, why in refused:
        click.echo(f"not deleted: {visible(path)}: {why}", err=True)
    if refused:
        errors.fail(f"{draw.counted(len(refused), 'file')} left", "delete them by hand")
    click.echo("deleted; when all boxes are done: qwf erase, with the same options")
