"""`qwf doctor`: checks everything that is known to go wrong, and says what to do."""

from __future__ import annotations

from collections.abc import Iterator

import click
import psycopg
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qwf_agent import config
from qwf_agent.cli import connection, output
from qwf_agent.cli.connection import Connection
from qwf_agent.cli.doctor import checks
from qwf_agent.cli.doctor.findings import Finding, note

STATEMENT_TIMEOUT = "15s"  # so that the checks do not burden a slow server
SIGNS = {"fine": ("✓", "green"), "note": ("i", "cyan"), "problem": ("✗", "red")}


@click.command()
@connection.dsn_option
@click.option(
    "--only", type=click.Choice(list(checks.CHECKS)), multiple=True, metavar="CHECK",
    help=f"Only this check; may be repeated. One of {', '.join(checks.CHECKS)}.",
)  # fmt: skip
@output.json_option
def doctor(dsn: str | None, only: tuple[str, ...], as_json: bool) -> None:
    """Check for known problems, and say what to do.

    It changes nothing. Exit 0 if there is no problem (notes do not count), else 1.

    \b
    Example:  qwf doctor
              qwf doctor --json | jq '.[] | select(.state == "problem")'
    """
    address = config.find_dsn(dsn)
    results: dict[str, list[Finding]] = {}
    with connection.connect(address) as conn:
        conn.execute("select set_config('statement_timeout', %s, false)", (STATEMENT_TIMEOUT,))
        names = only or tuple(checks.CHECKS)
        if conn.execute("select to_regnamespace('qwf') is null as missing").fetchone() == {
            "missing": True
        }:
            names = checks.WITHOUT_SCHEMA
        for name in names:
            results[name] = list(_run_check(conn, address, name))
            if not as_json:
                output.show(_drawn(name, results[name]))
    if as_json:
        output.show_json(
            [
                {"check": name, "state": _state(found), "findings": [vars(one) for one in found]}
                for name, found in results.items()
            ]
        )
    problems = sum(one.level == "problem" for found in results.values() for one in found)
    if not as_json:
        output.show(Text(f"{problems} problems" if problems != 1 else "1 problem", "bold red")
                     if problems else Text("no problems", "bold green"))  # fmt: skip
    raise SystemExit(1 if problems else 0)


def _run_check(conn: Connection, address: str, name: str) -> Iterator[Finding]:
    """Run one check. If it may not read something, the other checks still run."""
    try:
        yield from checks.CHECKS[name](conn, address)
    except psycopg.Error as error:
        if conn.closed:
            raise
        reason = (error.diag.message_primary or str(error)).strip()
        yield note(f"this could not be checked: {reason}", "run it as the owner of the schema")


def _state(findings: list[Finding]) -> str:
    levels = {finding.level for finding in findings}
    return "problem" if "problem" in levels else "note" if levels else "fine"


def _drawn(name: str, findings: list[Finding]) -> RenderableType:
    sign, colour = SIGNS[_state(findings)]
    lines: list[RenderableType] = [
        Text.assemble((f"{sign} ", colour), (f"{name:<10}", "bold"))
        if findings
        else Text.assemble((f"{sign} ", colour), f"{name:<10} ", (_about(name), "bright_black"))
    ]
    for finding in findings:
        lines.append(Padding(Text(finding.what, SIGNS[finding.level][1]), (0, 0, 0, 2)))
        if finding.advice:
            lines.append(Padding(Text(f"→ {finding.advice}", "default"), (0, 0, 0, 4)))
    return Group(*lines)


def _about(name: str) -> str:
    return (checks.CHECKS[name].__doc__ or "").partition("\n")[0]
