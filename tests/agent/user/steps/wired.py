"""A node that returns what it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qwf_agent.app import Job


def run(
    out: Path,
    job: Job,
    inputs: dict[str, Any],
    source: Path,
    other: Path | None = None,
    third: Path | None = None,
    count: int = 7,
    model: object = "none",
    **rest: Any,
) -> dict[str, Any]:
    (out / "deep").mkdir(exist_ok=True)
    (out / "picture.PNG").write_bytes(b"12345")
    (out / "deep" / "points.ply").write_text("ply")
    return {
        "job": [job.id, job.run_id, job.node_id, job.task, job.attempt],
        "inputs": sorted(inputs),
        "types": [type(source).__name__, type(other).__name__, type(third).__name__],
        "count": count,
        "model": model,
        "rest": rest,
        "out": out,
    }
