"""`qwf top`: the whole fleet, live, in a terminal."""

from __future__ import annotations

import sys

import click

from qwf_agent import config
from qwf_agent.cli import connection, errors


@click.command()
@connection.dsn_option
@click.option(
    "--every", type=click.FloatRange(0.2, 60), default=1.0, show_default=True, metavar="SECONDS",
    help="How often to look.",
)  # fmt: skip
def top(dsn: str | None, every: float) -> None:
    """Watch queues, boxes, jobs, failures and questions live.

    The keys for what is selected stand at the bottom: switch workers on and off, cancel, retry,
    answer.

    \b
    Example:  qwf top
    """
    address = config.find_dsn(dsn)
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        errors.fail("qwf top needs a terminal", "for programs: qwf queues --json, qwf metrics")
    from qwf_agent.cli.top.app import Top
    from qwf_agent.cli.top.fleet import Fleet

    with Fleet(lambda: connection.connect(address, notices=False)) as fleet:
        fleet.look()  # where there is no database or schema, say so as every command does
        Top(fleet, every).run()
