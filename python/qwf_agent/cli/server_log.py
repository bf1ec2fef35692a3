"""Prints the log of a model server: the end of what it has printed, as its agent reports it."""

from __future__ import annotations

import time
from typing import Any

import click

from qwf_agent.cli import errors, known_names
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

POLL_S = 2.0
# The newest agent that has the server, also if it has ended.
LOG = """
select pid, agent, external, state, model, log, printed
from qwf.server_logs where server = %s order by started_at desc limit 1
"""


def show(conn: Connection, name: str, follow: bool, lines: int | None) -> None:
    """Print the last `lines` of the log of the server `BOX/NAME`, or all that is there; then, with
    `follow`, what is new, for good."""
    known_names.check(conn, "server", name, "--server")
    now = connection.many(conn, LOG, (name,))[0]
    if now["external"]:
        errors.fail(
            f"{name} is an address of somebody else: its agent sees none of its output",
            "read its log where it runs",
        )
    if now["printed"] or follow:
        _print(last_lines(_whole_lines(now), lines))
    else:
        click.echo(f"{name} has printed nothing yet", err=True)
    if follow:
        _follow(conn, name, now)


def last_lines(text: str, lines: int | None) -> str:
    """The last lines of a text; all of it for None."""
    return text if lines is None else "".join(text.splitlines(keepends=True)[-lines:])


def _follow(conn: Connection, name: str, shown: dict[str, Any]) -> None:
    """Print what is new until interrupted. What the server does goes to standard error."""
    _tell(name, shown)
    while True:
        time.sleep(POLL_S)
        found = connection.many(conn, LOG, (name,))
        if not found:  # the row of the worker was removed
            continue
        now = found[0]
        _print(_new_part(shown, now))
        if any(now[key] != shown[key] for key in ("state", "model", "agent")):
            _tell(name, now)
        shown = now


def _new_part(shown: dict[str, Any], now: dict[str, Any]) -> str:
    """The output since; says on standard error how much of it the agent has not kept."""
    data: bytes = now["log"].encode()
    same_agent = now["pid"] == shown["pid"] and now["printed"] >= shown["printed"]
    new = now["printed"] - (shown["printed"] if same_agent else 0)
    if new > len(data):
        click.echo(f"... {new - len(data)} bytes left out ...", err=True)
    return data[max(0, len(data) - new) :].decode(errors="ignore")


def _whole_lines(now: dict[str, Any]) -> str:
    """The log without a line whose begin is lost."""
    text: str = now["log"]
    cut = now["printed"] > len(text.encode()) and "\n" in text
    return text.partition("\n")[2] if cut else text


def _print(text: str) -> None:
    """Print a part of the log; a line that overwrites itself becomes several."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    click.echo(draw.visible(plain), nl=False)


def _tell(name: str, now: dict[str, Any]) -> None:
    if now["agent"] is not None:
        does = f"its agent {'has stopped' if now['agent'] == 'stopped' else 'is silent'}"
    else:
        does = f"{now['state']} {now['model'] or ''}".rstrip()
    click.echo(draw.visible(f"── {name}: {does} ──"), err=True)
