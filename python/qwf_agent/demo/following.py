"""Follows the runs of the demo: shows how far they are and puts their questions to a person."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator
from typing import Any

import click
import psycopg
from rich.console import Console
from rich.live import Live
from rich.markup import escape

from qwf_agent import show
from qwf_agent.cli import session
from qwf_agent.cli.acting import submit
from qwf_agent.demo.agents import Agents

EVERY = 0.2  # seconds between looks
ENDS = {"completed", "failed", "cancelled", "skipped"}
STUCK_AFTER = 300.0  # seconds without any change

Status = dict[str, Any]


class Stuck(Exception):
    """Nothing moves any more. The message says where to look."""


def follow(
    conn: session.Connection, names: dict[int, str], agents: Agents, answer_after: float | None
) -> list[Status]:
    """Show progress and get questions answered until all runs are over; returns how they ended.

    A question that nobody answers for answer_after seconds takes its first option; None does not
    ask at all. Raises AgentDied and Stuck.
    """
    console = session.console()
    live = (
        Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    )
    before: list[Status] = []
    changed = time.monotonic()
    with live or contextlib.nullcontext():
        while True:
            after = [session.call(conn, "run_status", run_id=run) for run in names]
            _tell(live, names, before, after)
            if all(status["run"]["status"] in show.OVER for status in after):
                return after
            agents.check()
            if _standing(after) != _standing(before):
                changed = time.monotonic()
            elif time.monotonic() - changed > STUCK_AFTER:
                raise Stuck(f"nothing has moved for {STUCK_AFTER:.0f} s; logs: {agents.logs}")
            before = after
            if _answer_all(conn, names, live, console, answer_after):
                changed = time.monotonic()
            time.sleep(EVERY)


def _tell(
    live: Live | None, names: dict[int, str], before: list[Status], after: list[Status]
) -> None:
    if live:
        live.update(show.board(after, names), refresh=True)
        return
    known = {status["run"]["id"]: status for status in before}
    for status in after:
        for line in show.changes(known.get(status["run"]["id"]), status, ENDS):
            click.echo(f"{names[status['run']['id']]}: {line}")


def _standing(statuses: list[Status]) -> list[tuple[Any, ...]]:
    nodes = [node for status in statuses for node in status["nodes"]]
    return [(node["job_id"], node["status"], node["progress"]) for node in nodes]


def _answer_all(
    conn: session.Connection,
    names: dict[int, str],
    live: Live | None,
    console: Console,
    answer_after: float | None,
) -> bool:
    query = "select * from qwf.pending_inputs where run_id = any(%s) order by run_id"
    questions = session.many(conn, query, (list(names),))
    if questions:
        with _paused(live):
            for asked in questions:
                name = names[asked["run_id"]]
                chosen = _choose(name, asked, console, answer_after)
                try:
                    submit(conn, asked["run_id"], asked["node_id"], chosen, "demo")
                except psycopg.DatabaseError as error:
                    if error.sqlstate != "QW002":  # QW002: somebody else answered meanwhile
                        raise
    return bool(questions)


@contextlib.contextmanager
def _paused(live: Live | None) -> Iterator[None]:
    if live:
        live.stop()
    yield
    if live:
        live.start()


def _choose(name: str, asked: dict[str, Any], console: Console, answer_after: float | None) -> Any:
    options = show.options(asked["spec"])
    if answer_after is None:
        console.print(f"{escape(name)}: nobody to ask, taking the best: {escape(options[0][1])}")
        return options[0][0]
    question = f"[bold]{escape(name)}[/bold]  [magenta]{escape(asked['prompt'])}[/magenta]"
    console.print(question, soft_wrap=True)  # a path in it stays whole
    for number, (_, text) in enumerate(options, start=1):
        console.print(f"  [cyan]{number}[/cyan]  {escape(text)}")
    return options[_number(len(options), answer_after) - 1][0]


def _number(count: int, seconds: float) -> int:
    """A number from the terminal; 1 for Enter, for the end of input, and when nobody answers."""
    while True:
        click.echo(f"Which one? 1-{count}, Enter takes 1: ", nl=False)
        if not select.select([sys.stdin], [], [], seconds)[0]:
            click.echo(f"\nno answer for {seconds:.0f} s, taking 1")
            return 1
        line = os.read(sys.stdin.fileno(), 1024).decode(errors="replace").strip()
        if not line:
            return 1
        if line.isdecimal() and 1 <= int(line) <= count:
            return int(line)
        click.echo(f"{line!r} is not a number from 1 to {count}")
