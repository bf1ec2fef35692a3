"""`qwf doctor`: checks everything that is known to go wrong, and says what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click
import psycopg
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qwf_agent import config
from qwf_agent.cli import errors, output
from qwf_agent.cli.doctor import checks
from qwf_agent.cli.doctor.findings import Finding, query_value, unchecked
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection

STATEMENT_TIMEOUT = "15s"  # so that the checks do not burden a slow server
SIGNS = {
    "fine": ("✓", "green"),
    "note": ("i", "cyan"),
    "unchecked": ("?", "yellow"),
    "problem": ("✗", "red"),
}
READER = "run it as a login with qwf_viewer or qwf_admin"


@click.command()
@connection.dsn_option
@click.option(
    "--only", type=click.Choice(list(checks.CHECKS)), multiple=True, metavar="CHECK",
    help=f"Only this check; may be repeated. One of {', '.join(checks.CHECKS)}.",
)  # fmt: skip
@output.json_option
def doctor(dsn: str | None, only: tuple[str, ...], as_json: bool) -> None:
    """Check for known problems, and say what to do.

    It changes nothing. Exit 0 if every check was made and found no problem (notes do not count),
    else 1. A login with qwf_viewer can make every check.

    \b
    Example:  qwf doctor
              qwf doctor --json | jq '.[] | select(.state == "problem")'
    """
    address, source = config.find_address(dsn)
    if not as_json:
        output.show(Text(f"The address of the database is from {source}.", "bright_black"))
    results: dict[str, list[Finding]] = {}
    with _connected(address) as (conn, deployed):
        conn.execute("select set_config('statement_timeout', %s, false)", (STATEMENT_TIMEOUT,))
        possible = checks.CHECKS if deployed else checks.WITHOUT_SCHEMA
        for name in only if only and deployed else possible:
            results[name] = list(_run_check(conn, address, possible[name]))
            if not as_json:
                output.show(_drawn(name, results[name]))
    if as_json:
        output.show_json(
            [
                {"check": name, "state": _state(found), "findings": [vars(one) for one in found]}
                for name, found in results.items()
            ]
        )
    problems = _count(results, "problem")
    blind = _count(results, "unchecked")
    if not as_json:
        output.show(_summary(problems, blind))
    raise SystemExit(1 if problems or blind else 0)


def _count(results: dict[str, list[Finding]], level: str) -> int:
    return sum(one.level == level for found in results.values() for one in found)


def _summary(problems: int, blind: int) -> Text:
    parts = [f"{problems or 'no'} problem{'' if problems == 1 else 's'}"]
    if blind:
        parts.append(f"{blind} check{'' if blind == 1 else 's'} could not be made")
    return Text(", ".join(parts), "bold red" if problems or blind else "bold green")


@contextlib.contextmanager
def _connected(address: str) -> Iterator[tuple[Connection, bool]]:
    """A connection, and whether the database has the schema. Raises ConfigError."""
    with connection.connect_unchecked(address) as conn:
        deployed = query_value(conn, "select to_regnamespace('qwf') is not null")
        if deployed:
            connection.check_owner(conn)
        yield conn, deployed


def _run_check(conn: Connection, address: str, check: checks.Check) -> Iterator[Finding]:
    """Run one check. If it may not read something, the other checks still run."""
    try:
        yield from check(conn, address)
    except psycopg.Error as error:
        if conn.closed:
            raise
        reason = (error.diag.message_primary or str(error)).strip()
        yield unchecked(reason, READER if error.sqlstate == errors.NOT_ALLOWED else "try again")


def _state(findings: list[Finding]) -> str:
    levels = {finding.level for finding in findings}
    return next(level for level in reversed(SIGNS) if level in levels | {"fine"})


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
