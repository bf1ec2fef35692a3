"""Shows what a retry of a run would do, asks, and does it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click
from psycopg.types.json import Jsonb
from rich.text import Text

from qwf_agent.cli import arguments, output
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

PLAN = """
select p.node_id, p.verdict, p.because
from qwf.retry_plan(%(run_id)s, %(from_node)s, %(latest)s, %(context)s::jsonb, %(completed)s) p
"""
TAKEN_BACK = """
select c.takes_back, min(c.node_id) filter (where c.taken_back) as by
from qwf.compensations c
where c.run_id = %(run)s and c.done
group by c.takes_back
order by c.takes_back
"""
RUNS = ("new", "runs again")
NOT_TAKEN_BACK = " has not taken it back"  # what a plan says of a node that is done twice
LISTED = 40  # lines of a plan, for people
COLUMNS = ("node", "what", "why")
Plans = Sequence[Sequence[draw.Row]]


def retry(
    conn: Connection, runs: Sequence[int], given: Mapping[str, Any],
    settings: Sequence[tuple[str, str]], args: str | None, *, dry_run: bool, yes: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the plan of each run, then retry them if somebody says yes. `given` are arguments of
    retry_run; args and settings change the context of each run."""
    calls = [
        {"run_id": run, **given, "context": _context(conn, run, args, settings)} for run in runs
    ]
    plans = _plans(conn, calls)
    if not as_json:
        for call, plan in zip(calls, plans, strict=True):
            _show(call["run_id"], plan)
    if not dry_run and not (as_json and not yes):
        plans = _ask_about_completed(conn, calls, plans, yes)
        if all(_running(plan) for plan in plans):  # else retry_run says that there is nothing
            arguments.confirm(f"Retry run {', '.join(map(str, runs))}?", yes)
        connection.quiet(conn)  # the plan has said it
        done = [connection.call(conn, "retry_run", **call) for call in calls]
        connection.loud(conn)
    else:
        done = [None] * len(calls)
    if as_json:
        output.show_json([
            {"run_id": call["run_id"], "retried": count, "nodes": plan}
            for call, plan, count in zip(calls, plans, done, strict=True)
        ])  # fmt: skip
        return
    for call, count in zip(calls, done, strict=True):
        if count is not None:
            click.echo(f"run {call['run_id']} goes on: {_nodes(count)} to run")


def _ask_about_completed(
    conn: Connection, calls: Sequence[dict[str, Any]], plans: Plans, yes: bool
) -> Plans:
    """Ask at a terminal what becomes of completed nodes that run again and were not taken back; if
    they are to be, print the plans with what runs first. Elsewhere retry_run refuses them."""
    asked = [
        call for call, plan in zip(calls, plans, strict=True)
        if any((row["because"] or "").endswith(NOT_TAKEN_BACK) for row in plan)
    ]  # fmt: skip
    if not asked or yes or not sys.stdin.isatty():
        return plans
    answer = click.prompt(
        "What has completed and was not taken back: compensate it first, or keep it?",
        type=click.Choice(["compensate", "keep"]), err=True,
    )  # fmt: skip
    for call in asked:
        call["completed"] = answer
    plans = _plans(conn, calls)
    for call, plan in zip(calls, plans, strict=True):
        if call in asked and answer == "compensate":
            _show(call["run_id"], plan)
    return plans


def show_taken_back(conn: Connection, run: int, status: str) -> None:
    """Print what compensation nodes have taken back: a retry of the run runs it again; and what a
    run that ended badly has done and nobody took back. A login that may not read it is told
    nothing."""
    for one in connection.readable(conn, TAKEN_BACK, {"run": run}):
        if one["by"] is not None:
            line = f"{one['takes_back']} was taken back by {one['by']}: a retry runs it again"
            output.show(Text(line, "bright_black"))
        elif status in ("failed", "cancelled"):
            output.show(Text(f"{one['takes_back']} was done and is not taken back", "red"))


def _plans(conn: Connection, calls: Sequence[Mapping[str, Any]]) -> Plans:
    return [connection.many(conn, PLAN, _parameters(call)) for call in calls]


def _parameters(call: Mapping[str, Any]) -> dict[str, Any]:
    context = call["context"]
    return {**call, "context": None if context is None else Jsonb(context)}


def _context(
    conn: Connection, run: int, args: str | None, settings: Sequence[tuple[str, str]]
) -> dict[str, Any] | None:
    """The keys of the context that change. A setting like photo.path=x changes a part of the value
    that the run has."""
    if args is None and not settings:
        return None
    now = connection.call(conn, "run_status", run_id=run)["run"]["context"]
    changed = arguments.parse_object(args or "{}", "--args")
    for path, _ in settings:
        first = path.split(".")[0]
        if first in now and "." in path:
            changed.setdefault(first, now[first])
    return arguments.set_in(changed, settings)


def _running(plan: Sequence[draw.Row]) -> int:
    return sum(row["verdict"] in RUNS for row in plan)


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _show(run: int, plan: Sequence[draw.Row]) -> None:
    """The nodes; of many, those that are not reused come first."""
    shown = list(plan)
    if len(shown) > LISTED:
        shown = sorted(shown, key=lambda row: row["verdict"] == "reused")[:LISTED]
    rows = [
        {"node": row["node_id"], "what": _verdict(row["verdict"]), "why": row["because"]}
        for row in shown
    ]
    output.show(draw.rows(COLUMNS, rows, f"run {run} has no nodes"))
    if len(plan) > LISTED:
        output.show(Text(f"and {len(plan) - LISTED} more: --json lists all", "bright_black"))
    counts = Counter(row["verdict"] for row in plan)
    words = [
        f"{counts[one]} {one.replace('runs', 'run')}"
        for one in ("reused", "unchanged", "runs first", *RUNS, "skipped", "removed")
        if counts[one]
    ]
    output.show(Text(f"run {run}: {', '.join(words)}", "bold"))


def _verdict(verdict: str) -> Text:
    colours = {
        "reused": "green", "runs again": "yellow", "runs first": "yellow", "new": "cyan",
        "removed": "red",
    }  # fmt: skip
    return Text(verdict, colours.get(verdict, ""))
