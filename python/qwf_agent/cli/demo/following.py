"""Follows the runs of the demo: shows their progress and asks the user their questions."""

from __future__ import annotations

import json
import os
import select
import sys
import termios
import time
from collections.abc import Callable
from typing import Any

import click
import psycopg
from rich.console import Console
from rich.live import Live
from rich.text import Text

from qwf_agent.cli import output
from qwf_agent.cli.answer import answer_node
from qwf_agent.cli.demo.agents import Agents
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

POLL_S = 0.2
LOOK_S = 0.5  # how often a prompt looks whether somebody else has answered
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
    conn: Connection, names: dict[int, str], agents: Agents, answer_after: float | None,
    has_page: bool,
) -> list[Status]:  # fmt: skip
    """Show progress and ask questions until all runs are over; returns their last statuses.

    If nobody answers a question within answer_after seconds, here or elsewhere, its first option
    is taken; with None, nobody is asked. Raises AgentDied and Stuck.
    """
    asker = Asker(conn, names, answer_after, has_page)
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
            if after != before or asker.ask_all(board):
                before, changed = after, time.monotonic()
            elif time.monotonic() - changed > STUCK_AFTER_S:
                raise Stuck(f"no progress for {STUCK_AFTER_S:.0f} s; logs: {agents.logs}")
            time.sleep(POLL_S)
    finally:
        board.clear()


def _progress(statuses: list[Status]) -> list[tuple[Any, ...]]:
    nodes = [node for status in statuses for node in status["nodes"]]
    return [(node["job_id"], node["status"], node["progress"]) for node in nodes]


class Asker:
    """Has the questions of runs answered, at the prompt or elsewhere: the first answer counts."""

    def __init__(
        self, conn: Connection, names: dict[int, str], answer_after: float | None, has_page: bool
    ) -> None:
        self._conn, self._names = conn, names
        self._answer_after, self._has_page = answer_after, has_page

    def ask_all(self, board: Board) -> bool:
        """Have all open questions answered; False if there were none."""
        query = "select * from qwf.pending_inputs where run_id = any(%s) order by run_id"
        questions = connection.many(self._conn, query, (list(self._names),))
        for asked in questions:
            board.clear()
            self._ask(asked, board.console)
        return bool(questions)

    def _ask(self, asked: dict[str, Any], console: Console) -> None:
        chosen = self._choose(asked, console) if self._is_open(asked) else None
        try:
            if chosen is not None:
                answer_node(self._conn, asked["run_id"], asked["node_id"], chosen, "demo")
                return
        except psycopg.DatabaseError as error:
            if error.sqlstate != "QW002":  # QW002: someone else has answered it
                raise
        click.echo(f"{self._names[asked['run_id']]}: {self._what_happened(asked)}")

    def _choose(self, asked: dict[str, Any], console: Console) -> Any:
        """The option that is chosen here, or None if the question is closed before."""
        name, options = self._names[asked["run_id"]], draw.options(asked["spec"])
        if self._answer_after is None:
            click.echo(f"{name}: not asking, taking the best: {options[0][1]}")
            return options[0][0]
        console.print(Text.assemble((f"\n{name}  ", "bold"), (asked["prompt"], "magenta")))
        for path in draw.shown(asked["spec"]):
            console.print(Text(f"  {path}", "blue"), soft_wrap=True)  # do not break the path
        for number, (_, text) in enumerate(options, start=1):
            console.print(Text.assemble((f"  {number}  ", "cyan"), text), soft_wrap=True)
        if self._has_page:
            console.print(Text("  answer here or on the page", "dim"))
        number_chosen = _number(len(options), self._answer_after, lambda: self._is_open(asked))
        return None if number_chosen is None else options[number_chosen - 1][0]

    def _is_open(self, asked: dict[str, Any]) -> bool:
        query = "select 1 from qwf.pending_inputs where job_id = %s and since = %s"
        return bool(connection.many(self._conn, query, (asked["job_id"], asked["since"])))

    def _what_happened(self, asked: dict[str, Any]) -> str:
        """How a question was closed, if not by us."""
        query = (
            "select login, acting_for, value from qwf.answer_overview where job_id = %s"
            " order by id desc limit 1"
        )
        answers = connection.many(self._conn, query, (asked["job_id"],))
        if not answers:
            return "the question is closed"
        value = answers[0]["value"]
        known = (text for option, text in draw.options(asked["spec"]) if option == value)
        what = next(known, json.dumps(value, ensure_ascii=False))
        by = draw.words.who(answers[0]["login"], answers[0]["acting_for"])
        return visible(f"answered by {by}: {what}")


def _number(count: int, seconds: float, is_open: Callable[[], bool]) -> int | None:
    """A number from the terminal; 1 for Enter, for the end of input, and when nobody answers.

    None if the question is no longer open.
    """
    while True:
        click.echo(f"Which one? 1-{count}, Enter takes 1: ", nl=False)
        deadline = time.monotonic() + seconds
        while not select.select([sys.stdin], [], [], min(LOOK_S, seconds))[0]:
            if not is_open():
                click.echo()
                if sys.stdin.isatty():  # half a line that was typed is no answer to the next one
                    termios.tcflush(sys.stdin, termios.TCIFLUSH)
                return None
            if time.monotonic() > deadline:
                click.echo(f"\nno answer for {seconds:.0f} s, taking 1")
                return 1
        line = os.read(sys.stdin.fileno(), 1024).decode(errors="replace").strip()
        if not line:
            return 1
        if line.isdecimal() and 1 <= int(line) <= count:
            return int(line)
        click.echo(f"{line!r} is not a number from 1 to {count}")
