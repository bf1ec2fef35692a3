"""Writes the figures of bench/results into pages of docs, between their markers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bench.results import RESULTS
from bench.samples import HEADINGS, Figure, measured, named, number, rows

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = (DOCS / "performance.md", DOCS / "measurements.md")
IN_SECTIONS = ("pack", "serve", "web")  # scenarios with a section of their own, written by hand
PLACE = re.compile(r"(<!-- (figures|compared|medians):(\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def write() -> list[str]:
    """Fill in all results that exist, and return their names."""
    written: list[str] = []

    def fill(match: re.Match[str]) -> str:
        path = RESULTS / f"{match[3]}.json"
        if not path.exists():
            return match[0]
        written.append(match[3])
        return match[1] + TABLES[match[2]](json.loads(path.read_text(encoding="utf-8")))

    for page in PAGES:
        page.write_text(PLACE.sub(fill, page.read_text(encoding="utf-8")), encoding="utf-8")
    return list(dict.fromkeys(written))


def as_markdown(result: dict[str, Any]) -> str:
    """The table, below a description of the machine."""
    found = [Figure(**figure) for figure in result["figures"]]
    lines = rows([one for one in found if one.scenario not in IN_SECTIONS])
    return "\n".join([*machine(result), "", *table(HEADINGS, lines), ""])


def side_by_side(result: dict[str, Any], spread: bool = False) -> str:
    """A column for each system, and a row for each figure and for whatever else was measured; with
    `spread`, the lowest and highest round stand behind the median."""
    found = [Figure(**figure) for figure in result["figures"]]
    systems = list(dict.fromkeys(one.system for one in found))
    groups: dict[str, dict[str, Figure]] = {}
    for one in found:
        groups.setdefault(one.figure, {})[one.system] = one
    lines = []
    for what, group in groups.items():
        cells = {name: cell(one, spread) for name, one in group.items()}
        lines.append([what, *(cells.get(name, "") for name in systems)])
        for key in dict.fromkeys(key for one in group.values() for key in one.more):
            cells = {
                name: measured(key, one.more[key]) for name, one in group.items() if key in one.more
            }
            lines.append([f"and {named(key)}", *(cells.get(name, "") for name in systems)])
    return "\n".join([*machine(result), "", *table(["", *systems], lines), ""])


def cell(one: Figure, spread: bool) -> str:
    """The median with its unit, and the lowest and highest round if asked for."""
    rounds = f" ({number(one.low)} to {number(one.high)})" if spread and one.rounds > 1 else ""
    return f"{number(one.median)} {one.unit}{rounds}"


def medians(result: dict[str, Any]) -> str:
    """A column for each system, and a row for each figure: median, lowest and highest round."""
    figures = [{**figure, "more": {}} for figure in result["figures"]]
    for figure in figures:
        figure["figure"] = f"{figure['scenario']}, {figure['figure']}"
    return side_by_side({**result, "figures": figures}, spread=True)


TABLES = {"figures": as_markdown, "compared": side_by_side, "medians": medians}


def machine(result: dict[str, Any]) -> list[str]:
    """The machine, the server and its settings."""
    facts = result["facts"]
    settings = ", ".join(f"{key} {value}" for key, value in facts["settings"].items())
    return [
        f"{facts['machine']}; PostgreSQL {facts['postgres']} ({facts['server']}); {settings};",
        f"load before: {facts['load_before']}; {result['taken_at'][:10]}.",
    ]


def table(headings: list[str], lines: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(headings)} |",
        "|---" * len(headings) + "|",
        *(f"| {' | '.join(line)} |" for line in lines),
    ]
