"""Results: the table, the file and the picture."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.picture import draw
from bench.samples import HEADINGS, Figure, Sample, figures, rows

RESULTS = Path(__file__).resolve().parent / "results"


def show(found: list[Figure], facts: dict[str, Any]) -> None:
    """Print the table, and below it the machine, server and settings."""
    table = Table(*HEADINGS, box=None, header_style="bold")
    for line in rows(found):
        table.add_row(*line)
    console = Console(highlight=False, width=None if Console().is_terminal else 160)
    console.print(table)
    settings = ", ".join(f"{key} {value}" for key, value in facts["settings"].items())
    console.print(f"{facts['machine']}; PostgreSQL {facts['postgres']} ({facts['server']})")
    console.print(f"{settings}; load before: {facts['load_before']}", soft_wrap=True)


def as_json(samples: list[Sample], facts: dict[str, Any]) -> dict[str, Any]:
    """Facts, figures and samples, ready for JSON."""
    return {
        "taken_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": facts,
        "figures": [asdict(figure) for figure in figures(samples)],
        "samples": [asdict(sample) for sample in samples],
    }


def as_text(result: dict[str, Any]) -> str:
    """JSON with one figure or sample a line, so that a diff shows which of them changed."""
    parts = []
    for key, value in result.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n" + ",\n".join(f"  {json.dumps(one)}" for one in value) + "\n ]"
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def save(name: str, samples: list[Sample], facts: dict[str, Any]) -> Path:
    """Write bench/results/NAME.json and its picture."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(as_text(as_json(samples, facts)), encoding="utf-8")
    draw(figures(samples), facts, path.with_suffix(".png"))
    return path
