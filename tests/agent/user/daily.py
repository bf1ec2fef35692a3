"""An ordinary day's work: quick and slow, reliable and not, with a model and without."""

from __future__ import annotations

import time
from typing import Any

from qwf_agent import App, TemporaryError
from qwf_agent.app import Job

app = App()


@app.model("flux", vram_gb=1, device=False)
def flux() -> dict[str, int]:
    return {"used": 0}


@app.task()
def prepare(n: int) -> dict[str, Any]:
    return {"items": [n + place for place in range(8)]}


@app.task()
def part(item: int, seconds: float = 0.02) -> dict[str, int]:
    time.sleep(seconds)
    return {"square": item * item}


@app.task()
def total(parts: list[dict[str, int]]) -> dict[str, int]:
    return {"total": sum(each["square"] for each in parts)}


@app.task()
def draw(model: dict[str, int]) -> dict[str, int]:
    model["used"] += 1
    time.sleep(0.05)
    return {"used": model["used"]}


@app.task()
def doubtful(job: Job) -> None:
    if job.attempt == 1:
        raise TemporaryError("not at the first try")


@app.task()
def hopeless() -> None:
    raise RuntimeError("never")


@app.task()
def tidy() -> None:
    pass
