"""`qwf doctor`: checks everything that is known to go wrong, and says what to do."""

from __future__ import annotations

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qwf_agent import config
from qwf_agent.cli import output
from qwf_agent.look import connection
from qwf_agent.look.doctor import checks
from qwf_agent.look.doctor.checks import Result

SIGNS = {
    "fine": ("✓", "green"),
    "note": ("i", "cyan"),
    "unchecked": ("?", "yellow"),
    "problem": ("✗", "red"),
}


@click.command()
@connection.dsn_option
@click.option(
    "--only", type=click.Choice(checks.NAMES), multiple=True, metavar="CHECK",
    help=f"Only this check; may be repeated. One of {', '.join(checks.NAMES)}.",
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
    results: list[Result] = []
    with connection.connect_unchecked(address) as conn:
        for result in checks.make(conn, address, only):
            results.append(result)
            if not as_json:
                output.show(_drawn(result))
    if as_json:
        output.show_json(
            [
                {
                    "check": one.name,
                    "state": one.state,
                    "findings": [vars(finding) for finding in one.findings],
                }
                for one in results
            ]
        )
    problems = checks.count(results, "problem")
    blind = checks.count(results, "unchecked")
    if not as_json:
        output.show(_summary(problems, blind))
    raise SystemExit(1 if problems or blind else 0)


def _summary(problems: int, blind: int) -> Text:
    parts = [f"{problems or 'no'} problem{'' if problems == 1 else 's'}"]
    if blind:
        parts.append(f"{blind} check{'' if blind == 1 else 's'} could not be made")
    return Text(", ".join(parts), "bold red" if problems or blind else "bold green")


def _drawn(result: Result) -> RenderableType:
    sign, colour = SIGNS[result.state]
    lines: list[RenderableType] = [
        Text.assemble((f"{sign} ", colour), (f"{result.name:<10}", "bold"))
        if result.findings
        else Text.assemble(
            (f"{sign} ", colour), f"{result.name:<10} ", (result.about, "bright_black")
        )
    ]
    for finding in result.findings:
        lines.append(Padding(Text(finding.what, SIGNS[finding.level][1]), (0, 0, 0, 2)))
        if finding.advice:
            lines.append(Padding(Text(f"→ {finding.advice}", "default"), (0, 0, 0, 4)))
    return Group(*lines)
