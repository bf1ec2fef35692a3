"""`qwf top`: the whole fleet, live, in a terminal."""

from __future__ import annotations

import sys

import click

from qwf_agent import config
from qwf_agent.cli import errors
from qwf_agent.look import connection


@click.command()
@connection.dsn_option
@click.option(
    "--every", type=click.FloatRange(0.2, 60), default=1.0, show_default=True, metavar="SECONDS",
    help="Time between updates.",
)  # fmt: skip
def top(dsn: str | None, every: float) -> None:
    """Watch queues, boxes, jobs, failures and questions live.

    The keys for the selected row are shown at the bottom: cancel, retry, answer, switch workers on
    and off.

    \b
    Example:  qwf top
    """
    address = config.find_dsn(dsn)
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        errors.fail("qwf top needs a terminal", "for programs: qwf queues --json, qwf metrics")
    from qwf_agent.cli.top.app import Top
    from qwf_agent.cli.top.fleet import FleetConnection

    with FleetConnection(
        lambda: connection.connect(address, notices=False),
        lambda: connection.connect(dsn, notices=False),
    ) as fleet:
        fleet.look()  # without a database or schema, fail as every command does
        Top(fleet, every).run()
