"""Writes the figures of bench/results into docs/performance.md, between its markers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bench.results import RESULTS
from bench.samples import HEADINGS, Figure, rows

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
PLACE = re.compile(r"(<!-- figures:(\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def write() -> list[str]:
    """Fill in all results that exist, and return their names."""
    written: list[str] = []

    def fill(match: re.Match[str]) -> str:
        path = RESULTS / f"{match[2]}.json"
        if not path.exists():
            return match[0]
        written.append(match[2])
        return match[1] + as_markdown(json.loads(path.read_text(encoding="utf-8")))

    PAGE.write_text(PLACE.sub(fill, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return written


def as_markdown(result: dict[str, Any]) -> str:
    """The table, below a description of the machine."""
    facts = result["facts"]
    settings = ", ".join(f"{key} {value}" for key, value in facts["settings"].items())
    lines = rows([Figure(**figure) for figure in result["figures"]])
    return "\n".join([
        f"{facts['machine']}; PostgreSQL {facts['postgres']} ({facts['server']}); {settings};",
        f"load before: {facts['load_before']}; {result['taken_at'][:10]}.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        "|---" * len(HEADINGS) + "|",
        *(f"| {' | '.join(line)} |" for line in lines),
        "",
    ])  # fmt: skip
