"""Commands that read: runs, jobs, questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from qwf_agent import show as drawing
from qwf_agent.cli import session, watching
from qwf_agent.show import Row

RUN_STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
JOB_STATES = ("blocked", "scheduled", *RUN_STATES, "skipped")
JOB_FACTS = (
    *("id", "task", "status", "queue", "priority", "run_id", "node_id", "project", "key"),
    *("attempt", "failures", "losses", "claimed_by", "progress", "progress_message"),
    *("run_at", "created_at", "queued_at", "started_at", "finished_at"),
    *("inputs", "output", "last_error"),
)
RUN_COLUMNS = ("id", "workflow", "status", "nodes", "took", "created", "error")
JOB_COLUMNS = ("id", "run", "what", "queue", "status", "tries", "took", "error")


@click.command()
@click.option("--status", type=click.Choice(RUN_STATES), help="Only runs in this state.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many, newest first.",
)
@session.json_option
@session.database
def runs(conn: session.Connection, status: str | None, limit: int, as_json: bool) -> None:
    """List the newest runs.

    \b
    Example:  qwf runs --status failed
    Then:     qwf show RUN
    """
    query = (
        "select * from qwf.run_overview where %s::text is null or status::text = %s"
        " order by id desc limit %s"
    )
    found = session.many(conn, query, (status, status, limit))
    for row in [] if as_json else found:
        row["workflow"] += f"@{row['version']}"
        row["nodes"] = f"{row['done']}/{row['total']}"
        row |= {"took": row["seconds"], "created": row["created_at"]}
    _list(RUN_COLUMNS, found, as_json, "no runs; start one: qwf run NAME")


@click.command()
@click.argument("run", type=session.ID)
@session.json_option
@session.database
def show(conn: session.Connection, run: int, as_json: bool) -> None:
    """Show the steps and nodes of a RUN.

    States, times, how far running nodes are, errors.

    \b
    Example:  qwf show 12
    Then:     qwf job JOB (its attempts and log)     qwf answer 12 NODE VALUE
    """
    status = session.call(conn, "run_status", run_id=run)
    if as_json:
        session.show_json(status)
        return
    session.show(drawing.run(status))
    for node in status["nodes"]:
        if node["status"] == "failed":
            session.show(
                Text(f"why {node['node_id']} failed: qwf job {node['job_id']}", "bright_black")
            )


@click.command()
@click.option("--status", type=click.Choice(JOB_STATES), help="Only jobs in this state.")
@click.option("--queue", help="Only jobs of this queue.")
@click.option("--run", type=session.ID, metavar="RUN", help="Only the nodes of this run.")
@session.json_option
@session.database
def jobs(
    conn: session.Connection, status: str | None, queue: str | None, run: int | None, as_json: bool
) -> None:
    """List the newest 200 jobs, or all those of one run.

    \b
    Example:  qwf jobs --status running
    Then:     qwf job JOB
    """
    if run is not None:
        status_of_run = session.call(conn, "run_status", run_id=run)
        found = [{"id": node["job_id"], "run_id": run, **node} for node in status_of_run["nodes"]]
    else:
        found = session.many(conn, "select * from qwf.recent_jobs order by id desc")
    wanted = {"status": status, "queue": queue}
    found = [row for row in found if all(v in (None, row[k]) for k, v in wanted.items())]
    for row in [] if as_json else found:
        row |= {"run": row["run_id"], "what": row["node_id"] or row["task"]}
        row |= {"tries": row["attempt"] or None, "took": row["seconds"]}
    _list(JOB_COLUMNS, found, as_json, "no such jobs")


@click.command()
@click.argument("job", type=session.ID)
@session.json_option
@session.database
def job(conn: session.Connection, job: int, as_json: bool) -> None:
    """Show a JOB: its state, attempts, errors, output.

    \b
    Example:  qwf job 345
    """
    found = session.many(conn, "select * from qwf.jobs where id = %s", (job,))
    if not found:
        session.fail(f"no job {job}", "qwf jobs lists the newest")
    attempts = session.many(
        conn, "select * from qwf.job_attempts where job_id = %s order by attempt", (job,)
    )
    if as_json:
        session.show_json({"job": found[0], "attempts": attempts})
        return
    if found[0]["resolved_inputs"] is not None:
        found[0]["inputs"] = found[0]["resolved_inputs"]
    session.show(drawing.facts({**found[0], **_past(found[0], attempts)}, JOB_FACTS))
    for row in attempts:
        row["took"] = row["finished_at"] - row["started_at"] if row["started_at"] else None
        session.show(drawing.attempt(row))


@click.command()
@session.json_option
@session.database
def inputs(conn: session.Connection, as_json: bool) -> None:
    """List the questions that wait for a person.

    \b
    Example:  qwf inputs
    Then:     qwf answer RUN NODE VALUE
    """
    found = session.many(conn, "select * from qwf.pending_inputs order by since")
    if as_json or not found:
        _list([], found, as_json, "nobody is asked anything")
        return
    for row in found:
        session.show(drawing.question(row))


@click.command()
@click.argument("run", type=session.ID)
@click.option("--timeout", type=float, metavar="SECONDS", help="Give up after this time: exit 124.")
@session.database
def wait(conn: session.Connection, run: int, timeout: float | None) -> None:
    """Wait until a RUN is over.

    Exit 0 completed, 1 failed, 2 cancelled.

    \b
    Example:  qwf wait 12 && echo done
    """
    raise SystemExit(watching.wait(conn, run, timeout))


def _past(job: Row, attempts: Sequence[Row]) -> dict[str, None]:
    """Facts that no longer say anything, blanked: old progress, a time reached, an error below."""
    gone = [] if job["status"] == "running" else ["progress", "progress_message"]
    gone += [] if job["status"] == "scheduled" else ["run_at"]
    gone += ["last_error"] if any(attempt["error"] for attempt in attempts) else []
    return dict.fromkeys(gone)


def _list(columns: Sequence[str], found: list[Any], as_json: bool, empty: str) -> None:
    session.show_json(found) if as_json else session.show(drawing.rows(columns, found, empty))
