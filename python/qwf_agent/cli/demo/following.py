"""Follows the runs of the demo: shows their progress and asks the user their questions."""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Any

import click
import psycopg
from rich.console import Console
from rich.live import Live
from rich.text import Text

from qwf_agent.cli import connection, draw, output
from qwf_agent.cli.answer import answer_node
from qwf_agent.cli.connection import Connection
from qwf_agent.cli.demo.agents import Agents

POLL_S = 0.2
ENDS = {"completed", "failed", "cancelled", "skipped"}
STUCK_AFTER_S = 300.0  # without any progress

Status = dict[str, Any]


class Stuck(Exception):
    """There is no progress any more. The message says where to look."""


class Board:
    """Shows progress: a live line for each run, or plain lines without a terminal."""

    def __init__(self, names: dict[int, str]) -> None:
        self.console = output.console()
        self._names = names
        self._live: Live | None = None
        self._known: dict[int, Status] = {}

    def show(self, statuses: list[Status]) -> None:
        """Show the new statuses."""
        if not self.console.is_terminal:
            self._print_changes(statuses)
            return
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(draw.board(statuses, self._names), refresh=True)

    def clear(self) -> None:
        """Remove the live lines, to make room for a question."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _print_changes(self, statuses: list[Status]) -> None:
        for status in statuses:
            run = status["run"]["id"]
            for line in draw.changes(self._known.get(run), status, ENDS):
                click.echo(f"{self._names[run]}: {line}")
            self._known[run] = status


def follow(
    conn: Connection, names: dict[int, str], agents: Agents, answer_after: float | None
) -> list[Status]:
    """Show progress and ask questions until all runs are over; returns their last statuses.

    If nobody answers a question within answer_after seconds, its first option is taken; with None,
    nobody is asked. Raises AgentDied and Stuck.
    """
    board = Board(names)
    before: list[tuple[Any, ...]] = []
    changed = time.monotonic()
    try:
        while True:
            statuses = [connection.call(conn, "run_status", run_id=run) for run in names]
            board.show(statuses)
            if all(status["run"]["status"] in draw.OVER for status in statuses):
                return statuses
            agents.check()
            after = _progress(statuses)
            if after != before or _answer_all(conn, names, board, answer_after):
                before, changed = after, time.monotonic()
            elif time.monotonic() - changed > STUCK_AFTER_S:
                raise Stuck(f"no progress for {STUCK_AFTER_S:.0f} s; logs: {agents.logs}")
            time.sleep(POLL_S)
    finally:
        board.clear()


def _progress(statuses: list[Status]) -> list[tuple[Any, ...]]:
    nodes = [node for status in statuses for node in status["nodes"]]
    return [(node["job_id"], node["status"], node["progress"]) for node in nodes]


def _answer_all(
    conn: Connection, names: dict[int, str], board: Board, answer_after: float | None
) -> bool:
    """Have all open questions answered; False if there were none."""
    query = "select * from qwf.pending_inputs where run_id = any(%s) order by run_id"
    questions = connection.many(conn, query, (list(names),))
    for asked in questions:
        board.clear()
        chosen = _choose(names[asked["run_id"]], asked, board.console, answer_after)
        try:
            answer_node(conn, asked["run_id"], asked["node_id"], chosen, "demo")
        except psycopg.DatabaseError as error:
            if error.sqlstate != "QW002":  # QW002: someone else has answered it
                raise
    return bool(questions)


def _choose(name: str, asked: dict[str, Any], console: Console, answer_after: float | None) -> Any:
    options = draw.options(asked["spec"])
    if answer_after is None:
        click.echo(f"{name}: not asking, taking the best: {options[0][1]}")
        return options[0][0]
    console.print(Text.assemble((f"\n{name}  ", "bold"), (asked["prompt"], "magenta")))
    for path in draw.shown(asked["spec"]):
        console.print(Text(f"  {path}", "blue"), soft_wrap=True)  # do not break the path
    for number, (_, text) in enumerate(options, start=1):
        console.print(Text.assemble((f"  {number}  ", "cyan"), text), soft_wrap=True)
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
