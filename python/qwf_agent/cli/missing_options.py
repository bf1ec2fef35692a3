"""Options that a task declares in its code, and that something enqueued without Python lacks."""

from __future__ import annotations

import json
import shlex
from typing import Any

import click
import psycopg

from qwf_agent.look import connection
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

FOUND = "select * from qwf.find_missing_options(%s, %s, %s)"
WHOLE_NUMBERS = ("max_attempts", "max_losses", "vram_mb", "priority")
OBJECTS = ("backoff", "labels", "requires")
OF_SCHEDULES = ("queue", "priority", "project")
OF_RETRIES = ("max_attempts", "max_losses", "backoff")
OF_JOBS_ALONE = ("labels", "expires")  # neither a schedule nor a node has them


def note(
    conn: Connection,
    *,
    job: int | None = None,
    schedule: str | None = None,
    workflow: str | None = None,
) -> None:
    """Say on standard error which options the task of the job, the schedule or each node declares,
    and it lacks. A login that may not read the workers is told nothing."""
    try:
        found = connection.many(conn, FOUND, (job, schedule, workflow))
    except psycopg.errors.InsufficientPrivilege:
        return
    for row in found:
        node = f"node {row['name']}: " if row["kind"] == "node" else ""
        text = f"{node}{declaration(row)}: {advice(row)}"
        click.echo(f"note: {visible(text)}", err=True)


def declaration(row: dict[str, Any]) -> str:
    """What the code declares, in words."""
    return (
        f"task {row['task']!r} declares {row['option']} {row['declared']} in its code, "
        "which counts only for jobs from Python"
    )


def advice(row: dict[str, Any]) -> str:
    """Where to give the option to what lacks it."""
    option, declared = row["option"], row["declared"]
    if row["kind"] == "node":
        return f"give {_in_a_node(option, declared)} in the node"
    if row["kind"] == "job":
        return f"give {_at_the_prompt(option, declared)}, or {_in_sql(option, declared)} in SQL"
    if option in OF_SCHEDULES:
        return f"give {_at_the_prompt(option, declared)}"
    if option in OF_JOBS_ALONE:
        return "a schedule cannot give it"
    return (
        "a schedule cannot give it: schedule a workflow whose node has "
        f"{_in_a_node(option, declared)}"
    )


def _at_the_prompt(option: str, declared: str) -> str:
    if option == "light":
        return "--light"
    if option in ("labels", "requires"):
        flag = "--label" if option == "labels" else "--requires"
        pairs = (f"{key}={value}" for key, value in json.loads(declared).items())
        return " ".join(f"{flag} {shlex.quote(pair)}" for pair in pairs)
    return f"--{option.replace('_', '-')} {shlex.quote(declared)}"


def _in_sql(option: str, declared: str) -> str:
    plain = option in WHOLE_NUMBERS or option == "light"
    return f"{option} => {declared if plain else _quoted(declared)}"


def _in_a_node(option: str, declared: str) -> str:
    plain = option in (*WHOLE_NUMBERS, *OBJECTS) or option == "light"
    text = f"{option}: {declared if plain else json.dumps(declared, ensure_ascii=False)}"
    return f"retry: {{{text}}}" if option in OF_RETRIES else text


def _quoted(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
