"""Commands that read: runs, jobs, questions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from psycopg.types.json import Jsonb
from rich.console import RenderableType
from rich.text import Text

from qwf_agent.app.values import moment
from qwf_agent.cli import (
    addresses,
    arguments,
    errors,
    follow,
    left_by_jobs,
    output,
    retry_plan,
    signal,
    usual,
)
from qwf_agent.cli.listings import Listing, listed
from qwf_agent.look import connection, links, query
from qwf_agent.look import draw as drawing
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw import Row

if TYPE_CHECKING:
    from typing_extensions import LiteralString

JOB_FACTS = (
    *("queue", "priority", "run_next", "run", "key", "project", "labels", "required_model"),
    *("light", "vram_mb", "requires", "limit_by", "on_failure", "at_most_once"),
    *("begun", "avoid_host", "expires_at"),
    *("timeout", "claimed_by", "why", "inputs", "checkpoint", "saved", "output", "last_error"),
)
RUN_COLUMNS = ("id", "workflow", "status", "nodes", "took", "created", "error")
JOB_COLUMNS = ("id", "run", "what", "queue", "status", "tries", "took", "error")
LOG_LINES = 20  # of the last attempt, printed by `qwf job`

AS_IS = partial(json.dumps, ensure_ascii=False)  # what is no UTF-8 is found when it is sent
MOST_ROWS = 10_000  # that one search may return

INPUTS = "select * from qwf.find_inputs(%s, max_rows => %s)"
NODES = """
select
  j.id, j.run_id, j.node_id, j.task, j.queue, j.status, j.project, j.priority, j.attempt,
  j.claimed_by as worker, left(split_part(j.last_error, E'\\n', 1), 200) as error,
  j.created_at, j.claimed_at as started_at, j.finished_at, j.seconds, j.released
from qwf.job_details j
where j.run_id = %(run)s
  and (%(status)s::text is null or j.status = %(status)s::qwf.job_status)
  and (%(task)s::text is null or j.task = %(task)s)
  and (%(queue)s::text is null or j.queue = %(queue)s)
  and (%(project)s::text is null or j.project = %(project)s)
  and (%(since)s::timestamptz is null or j.created_at >= %(since)s)
order by j.id limit %(limit)s
"""
JOBS = """
select
  id, run_id, node_id, task, queue, status, project, priority, attempt, worker, error, created_at,
  started_at, finished_at, seconds, released, searched_to
from qwf.find_jobs(%(filter)s, %(before)s, max_rows => %(rows)s)
"""
RUNS = """
select
  id, workflow, version, status, project, done, total, failed, running, asked as waiting, seconds,
  date_trunc('second', created_at) as created_at, deadline_in, error, searched_to
from qwf.find_runs(%(filter)s, %(before)s, max_rows => %(rows)s)
"""


@click.command()
@arguments.of_query
@arguments.of_status("runs", arguments.RUN_STATES)
@arguments.of_workflow
@arguments.of_project
@arguments.since
@click.option("--parent", type=arguments.ID, metavar="RUN", help="Only the runs of its steps.")
@click.option(
    "--all", "children", is_flag=True, default=None, help="Also runs of steps of other runs."
)
@arguments.limit(20)
@listed
def runs(
    conn: Connection, words: tuple[str, ...], since: timedelta | datetime | None, as_json: bool,
    limit: int, **wanted: Any,
) -> Listing:  # fmt: skip
    """List the newest runs, or those that a QUERY finds.

    QUERY has state: workflow: project: key: label: error: since: until:, or a part of the key, the
    context or the error.

    \b
    Example:  qwf runs --status failed --since 1d
              qwf runs state:failed label:customer=acme "card declined"
              qwf runs --parent 12
    Then:     qwf show RUN
    """
    asked = arguments.asked_in(conn, query.RUNS, words, since=since, **wanted)
    found = _search(conn, RUNS, arguments.ago(conn, since), limit, **wanted | asked)
    for row in [] if as_json else found:
        row["workflow"] += f"@{row['version']}"
        row["nodes"] = f"{row['done']}/{row['total']}"
        row |= {"took": row["seconds"], "created": row["created_at"]}
    empty = "no runs; start one: qwf run NAME"
    return Listing(RUN_COLUMNS, found, empty, limit=limit)


@click.command()
@click.argument("run", type=arguments.ID)
@output.json_option
@addresses.database
def show(conn: Connection, run: int, as_json: bool) -> None:
    """Show the steps and nodes of a RUN.

    Prints their states, times, progress and errors, how earlier tries ended, and where files are.

    \b
    Example:  qwf show 12
    Then:     qwf job JOB (its attempts and log)     qwf answer 12 NODE VALUE
    """
    status = connection.call(conn, "run_status", run_id=run)
    if as_json:
        output.show_json(status)
        return
    usual.add(conn, status)
    output.show(drawing.run(drawing.visible_values(status)))
    tries = [{**one, "finished_at": moment(one["finished_at"])} for one in status["tries"]]
    for line in drawing.earlier_tries(drawing.visible_values(tries), status["run"]):
        output.show(line)
    output.show(Text(f"started{drawing.made_by(status['run'])}", "bright_black"))
    retry_plan.show_taken_back(conn, run, status["run"]["status"])
    for node in status["nodes"]:
        if node["status"] == "failed":
            hint = f"why {node['node_id']} failed: qwf job {node['job_id']}"
        elif node["status"] == "completed" and node["attempt"] > 1:
            hint = f"earlier attempts of {node['node_id']}: qwf job {node['job_id']}"
        else:
            continue
        output.show(Text(hint, "bright_black"))
    left_by_jobs.show_tracked(conn, run)
    follow.show_files(conn, run)


@click.command()
@arguments.of_query
@arguments.of_status("jobs", arguments.JOB_STATES)
@arguments.of_queue
@arguments.of_task
@arguments.of_project
@arguments.since
@click.option("--run", type=arguments.ID, metavar="RUN", help="Only the nodes of this run.")
@arguments.limit(50)
@listed
def jobs(
    conn: Connection, words: tuple[str, ...], since: timedelta | datetime | None, as_json: bool,
    limit: int, **wanted: Any,
) -> Listing:  # fmt: skip
    """List the newest jobs, or those that a QUERY finds.

    QUERY has state: queue: task: run: node: worker: host: project: key: label: error: like: since:
    until: args.NAME=VALUE, or a part of the key, the arguments or the error.

    \b
    Example:  qwf jobs --status failed --task send_email --since 1d
              qwf jobs state:failed args.order=7 "card declined"
    Then:     qwf job JOB     qwf why JOB     qwf retry job JOB
    """
    after = arguments.ago(conn, since)
    asked = arguments.asked_in(conn, query.JOBS, words, since=since, run_id=wanted["run"], **wanted)
    if wanted["run"] is not None and not asked:
        found = connection.many(conn, NODES, {**wanted, "since": after, "limit": limit})
    else:
        wanted["run_id"] = wanted.pop("run")
        found = _search(conn, JOBS, after, limit, **wanted | asked)
    for row in [] if as_json else found:
        row |= {"run": row["run_id"], "what": row["node_id"] or row["task"]}
        row |= {"tries": drawing.tries(row["attempt"], row["released"]), "took": row["seconds"]}
    return Listing(
        JOB_COLUMNS, found, "no jobs match", limit=limit, asked={"task": wanted["task"]},
    )  # fmt: skip


@click.command()
@click.argument("job", type=arguments.ID)
@click.option(
    "--attempt",
    type=click.IntRange(1, arguments.MOST),
    metavar="N",
    help="Print the whole error and log of this attempt.",
)
@output.json_option
@addresses.database
def job(conn: Connection, job: int, attempt: int | None, as_json: bool) -> None:
    """Show a JOB: its history, errors, log and files.

    \b
    Example:  qwf job 345
    Then:     qwf logs 345     qwf why 345     qwf retry job 345
    """
    found = connection.many(conn, "select * from qwf.job_details where id = %s", (job,))
    if not found:
        errors.fail(f"no job {job}", "qwf jobs lists the newest")
    past = {
        "attempts": connection.many(
            conn, "select * from qwf.attempt_overview where job_id = %s order by attempt", (job,)
        ),
        "events": connection.many(
            conn, "select * from qwf.event_overview where job_id = %s order by id", (job,)
        ),
        **left_by_jobs.read(conn, job),
    }
    if as_json:
        output.show_json({"job": found[0], **past})
        return
    for row in past["attempts"]:
        row["log_tail"] = row["log_tail"] and drawing.printed(row["log_tail"])
    _show_job(conn, drawing.visible_values(found[0]), drawing.visible_values(past), attempt)


@click.command()
@click.argument("job", type=arguments.ID)
@output.json_option
@addresses.database
def why(conn: Connection, job: int, as_json: bool) -> None:
    """Explain why a JOB is not running.

    \b
    Example:  qwf why 345
    """
    reasons = _reasons(conn, job)
    output.show_json(reasons) if as_json else output.show(Text("\n".join(reasons)))


@click.command()
@arguments.of_project
@click.option(
    "--link", type=arguments.ID, metavar="JOB", help="Print a link to the question of this job."
)
@click.option("--name", help="Who gets the link: its answer is recorded as link:NAME.")
@click.option(
    "--hours",
    type=click.FloatRange(0, links.LONGEST_H, min_open=True),
    default=24.0,
    show_default=True,
    help="How long the link lasts.",
)
@click.option("--url", help="Address of the page, as the browser of NAME reaches it.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ROWS),
    default=1000,
    show_default=True,
    metavar="N",
    help="How many to list, oldest first.",
)
@click.option("--signals", is_flag=True, help="List what steps wait for, and kept signals.")
@listed
def inputs(
    conn: Connection, project: str | None, link: int | None, name: str | None, hours: float,
    url: str | None, limit: int, signals: bool, as_json: bool,
) -> Listing | None:  # fmt: skip
    """List the questions that wait for a person, or awaited signals.

    Anybody with the link answers this one question in a browser, once, without signing in. The
    secret that signs it is the file link-secret in ~/.qwf (or $QWF_HOME), which only the user who
    runs `qwf web` can read: make links as this user, or give both the same QWF_LINK_SECRET.

    \b
    Example:  qwf inputs
              qwf inputs --link 345 --name ada --url https://box-a:5688/
    Then:     qwf answer RUN NODE VALUE     qwf answer --job JOB VALUE
    """
    if link is not None:
        if not name or not url:
            raise click.UsageError("--link needs --name and --url")
        click.echo(_link(conn, link, name, hours, url))
        return None
    if name or url:
        raise click.UsageError("--name and --url belong to --link")
    if signals:
        return signal.listed(conn, project, limit)
    found = connection.many(conn, INPUTS, (project, limit))
    return Listing((), found, "no open questions", limit=limit, draw_row=_question)


def _question(row: Row) -> RenderableType:
    return drawing.question(drawing.visible_values(row))


def _link(conn: Connection, job: int, name: str, hours: float, url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", url):
        raise click.UsageError(f"--url {url!r}: write an address such as https://box-a:5688/")
    query = "select since from qwf.pending_inputs where job_id = %s"
    found = connection.many(conn, query, (job,))
    if not found:
        errors.fail(f"job {job} asks nothing", "qwf inputs lists the questions that wait")
    (row,) = found
    expires = datetime.now(timezone.utc) + timedelta(hours=hours)
    try:
        token = links.sign(links.secret_of_this_user(), job, row["since"], expires, name)
    except ValueError as error:
        raise click.UsageError(f"--name: {error}") from None
    return f"{url.rstrip('/')}/answer/{token}"


def show_list(columns: Sequence[str], found: list[Any], as_json: bool, empty: str) -> None:
    """Print rows for a person, or as JSON for a program."""
    output.show_json(found) if as_json else output.show(drawing.rows(columns, found, empty))


def _search(
    conn: Connection, statement: LiteralString, since: datetime | None, limit: int, /,
    **wanted: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """The newest rows that pass the filter, step by step until there are enough or none are left.

    No step takes long, so a search among millions can be interrupted, and holds no old snapshot.
    """
    filter_keys = {key: value for key, value in wanted.items() if value is not None}
    if since is not None:
        filter_keys["since"] = since.isoformat()
    found: list[dict[str, Any]] = []
    before: int | None = None
    while len(found) < limit:
        rows = min(MOST_ROWS, limit - len(found))
        step = connection.many(
            conn, statement, {"filter": Jsonb(filter_keys, AS_IS), "before": before, "rows": rows}
        )
        before = step[-1]["searched_to"] if step else None
        found += [row for row in step if row["id"] is not None]
        if before is None:
            break
    for row in found:
        del row["searched_to"]
    return found


def _show_job(
    conn: Connection, one: dict[str, Any], past: dict[str, list[Any]], number: int | None
) -> None:
    attempts = past["attempts"]
    output.show(drawing.headline(one))
    one["run"] = f"{one['run_id']}  {one['node_id']}" if one["run_id"] is not None else None
    if one["resolved_inputs"] is not None:
        one["inputs"] = one["resolved_inputs"]
    if one["checkpoint_at"] is not None:
        saved_at = drawing.words.moment(one["checkpoint_at"])
        one["saved"] = f"{saved_at}, by attempt {one['checkpoint_attempt']}"
    if one["status"] not in {*drawing.OVER, "skipped", "running"}:
        one["why"] = "\n".join(_reasons(conn, one["id"]))
    output.show(drawing.facts({**one, **_redundant(one, attempts)}, JOB_FACTS))
    output.show(Text("\ntimeline", "bright_black"))
    output.show(drawing.timeline(one, attempts, past["events"]))
    shown = [row for row in attempts if row["attempt"] == number] if number else attempts[-1:]
    if number and not shown:
        errors.fail(f"job {one['id']} has no finished attempt {number}")
    earlier = [
        row["attempt"]
        for row in attempts
        if row["error"] and row not in shown and (row["log_tail"] or not drawing.is_told(row))
    ]
    if earlier:
        hint = f"the whole error and the log: qwf job {one['id']} --attempt {earlier[0]}"
        output.show(Text(hint, "bright_black"))
    for row in shown:
        if not number and drawing.is_told(row):
            row = {**row, "error": None}
        if row["error"] or row["log_tail"]:
            output.show(drawing.attempt(row, log_lines=None if number else LOG_LINES))
    left_by_jobs.show(past)


def _reasons(conn: Connection, job: int) -> list[str]:
    rows = conn.execute("select * from qwf.why_not(%s) as reason", (job,)).fetchall()
    return [row["reason"] for row in rows]


def _redundant(job: Row, attempts: Sequence[Row]) -> dict[str, None]:
    """Blanks for the facts that have their default, or are printed elsewhere."""
    usual = {"on_failure": "fail", "priority": 100, "run_next": False, "light": False,
             "at_most_once": False, "begun": None}  # fmt: skip
    gone = [name for name, value in usual.items() if job[name] == value]
    gone += [] if job["status"] == "running" else ["claimed_by"]
    gone += [] if job["status"] in {"queued", "scheduled"} else ["avoid_host"]
    gone += ["last_error"] if any(attempt["error"] for attempt in attempts[-1:]) else []
    return dict.fromkeys(gone)
