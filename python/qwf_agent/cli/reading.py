"""Commands that read: runs, jobs, questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from qwf_agent import show as drawing
from qwf_agent.cli import session, watching

RUN_STATES = ("queued", "running", "awaiting_input", "completed", "failed", "cancelled")
JOB_STATES = ("blocked", "scheduled", *RUN_STATES, "skipped")
JOB_FACTS = (
    *("id", "task", "status", "queue", "priority", "run_id", "node_id", "project", "key"),
    *("attempt", "failures", "losses", "claimed_by", "progress", "progress_message"),
    *("run_at", "created_at", "queued_at", "started_at", "finished_at"),
    *("inputs", "resolved_inputs", "output", "last_error"),
)
JOB_COLUMNS = ("id", "run_id", "what", "queue", "status", "attempt", "seconds", "worker", "error")


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
        row["nodes"] = f"{row['done']}/{row['total']}"
    columns = ["id", "workflow", "version", "status", "nodes", "seconds", "created_at", "error"]
    _list(columns, found, as_json, "no runs; start one: qwf run NAME")


@click.command()
@click.argument("run", type=int)
@session.json_option
@session.database
def show(conn: session.Connection, run: int, as_json: bool) -> None:
    """Show the steps and nodes of a RUN: states, times, progress, errors.

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
@click.option("--run", type=int, metavar="RUN", help="Only the nodes of this run.")
@session.json_option
@session.database
def jobs(
    conn: session.Connection, status: str | None, queue: str | None, run: int | None, as_json: bool
) -> None:
    """List the newest 200 jobs, nodes of runs among them; or all the nodes of one run.

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
        row["what"] = row["node_id"] or row["task"]
    _list(JOB_COLUMNS, found, as_json, "no such jobs")


@click.command()
@click.argument("job", type=int)
@session.json_option
@session.database
def job(conn: session.Connection, job: int, as_json: bool) -> None:
    """Show a JOB: its state, its attempts, its last error and what it printed.

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
    session.show(drawing.facts(found[0], JOB_FACTS))
    for row in attempts:
        row["took"] = row["finished_at"] - row["started_at"] if row["started_at"] else None
        session.show(drawing.attempt(row))


@click.command()
@session.json_option
@session.database
def inputs(conn: session.Connection, as_json: bool) -> None:
    """List the questions that wait for a person, oldest first.

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
@click.argument("run", type=int)
@click.option("--timeout", type=float, metavar="SECONDS", help="Give up after this time: exit 124.")
@session.database
def wait(conn: session.Connection, run: int, timeout: float | None) -> None:
    """Wait until a RUN is over: exit 0 completed, 1 failed, 2 cancelled.

    \b
    Example:  qwf wait 12 && echo done
    """
    raise SystemExit(watching.wait(conn, run, timeout))


def _list(columns: Sequence[str], found: list[Any], as_json: bool, empty: str) -> None:
    session.show_json(found) if as_json else session.show(drawing.rows(columns, found, empty))
