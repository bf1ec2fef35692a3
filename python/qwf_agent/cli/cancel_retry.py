"""Commands that cancel or retry jobs and runs, one or many."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
import psycopg
from psycopg.types.json import Jsonb

from qwf_agent.cli import addresses, arguments, commands, errors, known_names, output, retry_plan
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

if TYPE_CHECKING:
    from typing_extensions import LiteralString

OPEN = ("blocked", "scheduled", "queued", "running", "awaiting_input")
MAX_SHOWN = 5  # refusals printed one by one
MAYBE_RUN = """
select j.id from qwf.job_details j
where j.id = any (%(jobs)s) and j.begun and j.status in ('failed', 'cancelled') order by j.id
"""
LISTED = 1000  # most jobs that retry_jobs and cancel_jobs take at once

MATCHING_JOBS = """
select j.id, j.run_id
from qwf.job_details j
where j.status = any (%(states)s::text[]::qwf.job_status[])
  and (%(task)s::text is null or j.task = %(task)s)
  and (%(queue)s::text is null or j.queue = %(queue)s)
  and (%(project)s::text is null or j.project = %(project)s)
  and (%(since)s::timestamptz is null or coalesce(j.finished_at, j.created_at) >= %(since)s)
order by j.id
"""
MATCHING_RUNS = """
select r.id
from qwf.run_details r
where r.status = any (%(states)s::text[]::qwf.run_status[])
  and (%(workflow)s::text is null or r.workflow = %(workflow)s)
  and (%(project)s::text is null or r.project = %(project)s)
  and (%(since)s::timestamptz is null or coalesce(r.finished_at, r.created_at) >= %(since)s)
order by r.id
"""
# What _notice_clean_up begins with, and what it would say of each run.
CLEANED = "clean-up of run"
CLEANED_HINT = "if it has undone what a node did: qwf retry run RUN --from STEP/NODE"
CLEANED_UP = """
select j.run_id, left(string_agg(j.node_id, ', ' order by j.node_idx), 500) as nodes
from qwf.job_details j
where j.run_id = any (%(runs)s::bigint[]) and j.parent_id is null and j.run_if = 'all_done'
  and j.status = 'completed'
group by j.run_id
order by j.run_id
"""
OF_SIGNATURE = """
select f.id, f.run_id, f.finished_at, f.searched_to
from qwf.find_jobs(%(filter)s, %(before)s, max_rows => 1000) f
"""
LISTS: dict[str, LiteralString] = {
    "cancel": "select * from qwf.cancel_jobs(%(jobs)s, %(reason)s)",
    "retry": "select * from qwf.retry_jobs(%(jobs)s)",
}
Since = timedelta | datetime | None
Subject = tuple[str, int]  # ("run" or "job", id)

reason = click.option("--reason", help="Why; it is recorded.")
failed = click.option("--failed", is_flag=True, help="Those that failed; required without ids.")
of_signature = click.option(
    "--signature", metavar="TEXT",
    help="Only those with this error, as the page Failures writes it.",
)  # fmt: skip
of_error = click.option("--error", metavar="TEXT", help="Only those with this text in their error.")
ended_since = click.option(
    "--since", type=arguments.moment, metavar="TIME",
    help="Only those that ended since: 2h, 1d, or '2030-01-31 06:00'.",
)  # fmt: skip


@click.group(cls=commands.RunOrJob)
def cancel() -> None:
    """Cancel runs or jobs.

    Waiting ones are cancelled at once, running ones are told to stop.

    \b
    Example:  qwf cancel run 12 13 --reason 'wrong photo'
              qwf cancel job --task resize --queue cpu
    """


@cancel.command("run")
@click.argument("ids", type=arguments.ID, nargs=-1, metavar="[RUN...]")
@arguments.of_workflow
@arguments.of_project
@arguments.since
@reason
@arguments.dry_run
@arguments.yes
@addresses.database
def cancel_run(
    conn: Connection, ids: tuple[int, ...], reason: str | None, dry_run: bool, yes: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Cancel whole runs: those given, or all unfinished ones that match."""
    if _by_id(ids, wanted):
        _cancel_named(conn, "run", ids, reason)
        return
    states = {"states": ["queued", "running", "awaiting_input"]}
    found = connection.many(conn, MATCHING_RUNS, _filters(conn, wanted) | states)
    _each(conn, "cancel", [("run", row["id"]) for row in found], dry_run, yes, reason=reason)


@cancel.command("job")
@click.argument("ids", type=arguments.ID, nargs=-1, metavar="[JOB...]")
@arguments.of_task
@arguments.of_queue
@arguments.of_status("jobs", OPEN)
@arguments.of_project
@arguments.since
@reason
@arguments.dry_run
@arguments.yes
@addresses.database
def cancel_job(
    conn: Connection, ids: tuple[int, ...], reason: str | None, dry_run: bool, yes: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Cancel jobs: those given, or all unfinished ones that match.

    Cancelling a node cancels its run.
    """
    if _by_id(ids, wanted):
        _cancel_named(conn, "job", ids, reason)
        return
    status = wanted.pop("status")
    states = {"states": [status] if status else list(OPEN)}
    found = _matching_jobs(conn, _filters(conn, wanted) | states)
    _each(conn, "cancel", _subjects(found), dry_run, yes, reason=reason)


@click.group(cls=commands.RunOrJob)
def retry() -> None:
    """Retry runs or jobs that failed or were cancelled.

    They have all their tries again, and their history stays. Completed nodes of a run are kept.

    \b
    Example:  qwf retry run 12
              qwf retry job 345 346
              qwf retry job 345 --args '{"to": "ada@example.org"}'
              qwf retry job --failed --task send_email --since 2h
    """


@retry.command("run")
@click.argument("ids", type=arguments.ID, nargs=-1, metavar="[RUN...]")
@arguments.of_retry
@arguments.args("Keys of the context to change")
@failed
@arguments.of_workflow
@arguments.of_project
@ended_since
@arguments.dry_run
@arguments.yes
@output.json_option
@addresses.database
def retry_run(
    conn: Connection, ids: tuple[int, ...], from_node: str | None, named: tuple[str, ...],
    latest: bool, completed: str | None, args: str | None, settings: tuple[tuple[str, str], ...],
    dry_run: bool, yes: bool, as_json: bool, **wanted: Any,
) -> None:  # fmt: skip
    """Retry runs: those given, or all failed ones that match.

    Prints first what is reused, what runs again, what is new and what is removed, and why; then
    asks. A clean-up node that has completed is named: what it has undone is not done again unless
    --from names the first node to do again. A node that runs at most once and may have run needs
    --named. A node that completed, runs again and was not taken back needs --compensate or --keep.

    \b
    Example:  qwf retry run 12 --latest --set day=2026-11-26
    """
    nodes = ",".join(json.dumps(node) for some in named for node in some.split(","))
    given = {"from_node": from_node, "latest": latest, "completed": completed,
             "named": f"{{{nodes}}}" if named else None}  # fmt: skip
    if _by_id(ids, wanted):
        retry_plan.retry(conn, ids, given, settings, args, dry_run=dry_run, yes=yes,
                         as_json=as_json)  # fmt: skip
        return
    if from_node or named or completed or args is not None or settings or as_json:
        raise click.UsageError("--from, --named, --compensate, --keep, --args, --set and --json "
                               "need the ids of runs")  # fmt: skip
    _require_failed(wanted)
    found = connection.many(conn, MATCHING_RUNS, _filters(conn, wanted) | {"states": ["failed"]})
    _each(conn, "retry", [("run", row["id"]) for row in found], dry_run, yes, latest=latest or None)


@retry.command("job")
@click.argument("ids", type=arguments.ID, nargs=-1, metavar="[JOB...]")
@failed
@arguments.of_task
@of_signature
@of_error
@arguments.of_queue
@arguments.of_project
@ended_since
@click.option(
    "--args", "args", metavar="JSON",
    help="New arguments of one job: a JSON object, @file, or - for stdin.",
)  # fmt: skip
@arguments.dry_run
@arguments.yes
@addresses.database
def retry_job(
    conn: Connection, ids: tuple[int, ...], args: str | None, dry_run: bool, yes: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Retry jobs: those given, or all failed ones that match.

    A node is retried through its run, with everything downstream of it. Asks first if a clean-up
    node of the run has completed. --args replaces the arguments of one job that is no node; its
    event has the old ones.
    """
    by_id = _by_id(ids, wanted)
    if args is not None and (len(ids) != 1 or dry_run):
        raise click.UsageError("--args needs the id of one job" + ", without --dry-run" * dry_run)
    if by_id:
        given = {} if args is None else {"args": arguments.parse_object(args, "--args")}
        _ask_about_begun(conn, ids, yes)
        for job in ids:
            _retry(conn, yes, job_id=job, **given)
            click.echo(f"job {job} is queued again" + " with new arguments" * bool(given))
        return
    _require_failed(wanted)
    wanted = _filters(conn, wanted) | {"states": ["failed"]}
    if wanted["signature"] is not None or wanted["error"] is not None:
        found = _failed_with_error(conn, wanted)
    else:
        found = _matching_jobs(conn, wanted)
    _each(conn, "retry", _subjects(found), dry_run, yes)


def _by_id(ids: Sequence[int], wanted: dict[str, Any]) -> bool:
    """True if ids are given, False if filters. Raises UsageError for both or neither."""
    given = [name for name, value in wanted.items() if value]
    if ids and given:
        raise click.UsageError(f"give ids or filters like --{given[0]}, not both")
    if not ids and not given:
        raise click.UsageError("which ones? Give ids, or filters: see --help")
    return bool(ids)


def _require_failed(wanted: dict[str, Any]) -> None:
    if not wanted.pop("failed"):
        raise click.UsageError("add --failed: without ids, only failed ones are retried")


def _filters(conn: Connection, wanted: dict[str, Any]) -> dict[str, Any]:
    return {**wanted, "since": arguments.ago(conn, wanted["since"])}


def _matching_jobs(conn: Connection, wanted: dict[str, Any]) -> list[Any]:
    """The jobs that match; if there are none, a misspelt task is named."""
    found = connection.many(conn, MATCHING_JOBS, wanted)
    if not found:
        known_names.note_unseen(conn, task=wanted["task"])
    return found


def _failed_with_error(conn: Connection, wanted: dict[str, Any]) -> list[Any]:
    """The failed jobs that match, also by their errors."""
    names = ("task", "queue", "project", "signature", "error")
    asked = {name: wanted[name] for name in names if wanted[name] is not None}
    found: list[Any] = []
    place: dict[str, Any] = {"filter": Jsonb(asked | {"status": "failed"}), "before": None}
    while True:
        rows = connection.many(conn, OF_SIGNATURE, place)
        found += [row for row in rows if row["id"] is not None]
        place["before"] = rows[0]["searched_to"] if rows else None
        if place["before"] is None:
            break
    since = wanted["since"]
    return sorted(
        (row for row in found if since is None or row["finished_at"] >= since),
        key=lambda row: row["id"],
    )


def _subjects(jobs: Sequence[draw.Row]) -> list[Subject]:
    """Standalone jobs as jobs, nodes as their runs, each once."""
    runs = dict.fromkeys(row["run_id"] for row in jobs if row["run_id"] is not None)
    alone = [("job", row["id"]) for row in jobs if row["run_id"] is None]
    return [*alone, *(("run", run) for run in runs)]


def _cancel_named(conn: Connection, what: str, ids: Sequence[int], reason: str | None) -> None:
    with conn.transaction():
        for number in ids:
            _one(conn, "cancel", (what, number), reason=reason)
    click.echo(f"cancelled {what} {', '.join(map(str, ids))}")


def _retry(conn: Connection, yes: bool, **given: Any) -> Any:
    """Retry one job. If it is a node and a clean-up node of its run has completed, ask first; the
    call is rolled back meanwhile, so that nothing waits for a person."""
    told: list[str] = []

    def listen(notice: psycopg.errors.Diagnostic) -> None:
        told.append(notice.message_primary or "")

    conn.add_notice_handler(listen)
    try:
        with conn.transaction():
            value = connection.call(conn, "retry_job", **given)
            if yes or not any(said.startswith(CLEANED) for said in told):
                return value
            raise psycopg.Rollback
    finally:
        conn.remove_notice_handler(listen)
    arguments.confirm("Retry it all the same?", yes)
    connection.quiet(conn)
    try:
        return connection.call(conn, "retry_job", **given)
    finally:
        connection.loud(conn)


def _ask_about_begun(conn: Connection, jobs: Sequence[int], yes: bool) -> None:
    """Name those of these jobs that run at most once and may have run, and ask."""
    try:
        begun = [str(row["id"]) for row in connection.many(conn, MAYBE_RUN, {"jobs": list(jobs)})]
    except psycopg.errors.InsufficientPrivilege:
        click.echo("note: asking about a job that may have run needs qwf_viewer", err=True)
        return
    if begun:
        click.echo(f"note: it may have run: job {', '.join(begun)}", err=True)
        arguments.confirm("Run it again, though it may have run?", yes)


def _tell_clean_up(conn: Connection, runs: Sequence[int]) -> None:
    """Name the clean-up nodes of these runs that have completed."""
    found = connection.many(conn, CLEANED_UP, {"runs": list(runs)})
    for row in found[:MAX_SHOWN]:
        click.echo(f"note: {CLEANED} {row['run_id']} has completed: {row['nodes']}", err=True)
    if len(found) > MAX_SHOWN:
        click.echo(f"note: and of {len(found) - MAX_SHOWN} more runs", err=True)
    if found:
        click.echo(f"hint: {CLEANED_HINT}", err=True)


def _each(
    conn: Connection,
    verb: str,
    subjects: Sequence[Subject],
    dry_run: bool,
    yes: bool,
    **more: Any,
) -> None:
    """Cancel or retry each on its own; a refusal does not stop the rest, but exits with 1."""
    if dry_run or not subjects:
        click.echo(_counted(subjects) if subjects else f"nothing to {verb}")
        for what, number in subjects:
            click.echo(f"  {what} {number}")
        return
    if verb == "retry":
        _tell_clean_up(conn, [number for what, number in subjects if what == "run"])
        connection.quiet(conn)  # they would say it again
    arguments.confirm(f"{verb.capitalize()} {_counted(subjects)}?", yes)
    refused: list[str] = []
    tried = 0
    jobs = [number for what, number in subjects if what == "job"]
    try:
        for start in range(0, len(jobs), LISTED):
            refused += _refused_jobs(conn, verb, jobs[start : start + LISTED], **more)
            tried = min(start + LISTED, len(jobs))
        for run in (number for what, number in subjects if what == "run"):
            refused += _refused_run(conn, verb, run, **more)
            tried += 1
    except psycopg.errors.LockNotAvailable:
        click.echo(f"{verb}: stopped after {tried} of {_counted(subjects)}")
        raise
    done = len(subjects) - len(refused)
    click.echo(
        f"{verb}: {done} of {_counted(subjects)}" if refused else f"{verb}: {_counted(subjects)}"
    )
    if refused:
        rest = len(refused) - MAX_SHOWN
        more_lines = [f"and {rest} more"] if rest > 0 else []
        errors.fail(f"{len(refused)} were refused", details=[*refused[:MAX_SHOWN], *more_lines])


def _refused_jobs(conn: Connection, verb: str, jobs: Sequence[int], **more: Any) -> list[str]:
    """Cancel or retry standalone jobs in one call; a line for each that is refused."""
    verdicts = connection.many(conn, LISTS[verb], {"jobs": list(jobs), **more})
    return [
        f"job {row['job_id']}: {row['message']}" for row in verdicts if row["verdict"] == "refused"
    ]


def _refused_run(conn: Connection, verb: str, run: int, **more: Any) -> list[str]:
    """Cancel or retry a run; a line if it is refused."""
    try:
        _one(conn, verb, ("run", run), **more)
    except psycopg.errors.DatabaseError as error:
        if not (error.sqlstate or "").startswith("QW"):
            raise
        return [f"run {run}: {error.diag.message_primary}"]
    return []


def _one(conn: Connection, verb: str, subject: Subject, **more: Any) -> None:
    what, number = subject
    connection.call(conn, f"{verb}_{what}", **{f"{what}_id": number}, **more)


def _counted(subjects: Sequence[Subject]) -> str:
    counts = {what: sum(kind == what for kind, _ in subjects) for what in ("job", "run")}
    return " and ".join(
        f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items() if count
    )
