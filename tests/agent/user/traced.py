"""Bodies whose spans are looked at."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import psycopg
from opentelemetry import trace

from qwf_agent import FROM_AGENT, App, Call, Job, otel, runs
from qwf_agent.config import find_dsn

app = App()


@app.around
def inner(_job: Job) -> Any:
    """Opens a span of its own, which is inside that of the body."""
    return trace.get_tracer("user").start_as_current_span("inner")


otel.trace(app)
otel.trace(app)


@app.task()
def first(name: str) -> dict[str, int]:
    """Enqueues a job and a run, with a connection of its own."""
    with psycopg.connect(find_dsn()) as conn:
        return {"second": second.enqueue(conn, name), "run": runs.enqueue(conn, "fan", {"n": 2})}


@app.task()
def second(name: str) -> dict[str, str]:
    return {"name": name}


@app.task()
def count(n: int = 0) -> dict[str, list[int]]:
    return {"items": list(range(n))}


@app.task()
def element(item: int) -> None:
    pass


@app.task()
def fail(how: str) -> dict[str, Any] | None:
    if how == "exit":
        raise SystemExit(0)
    if how == "output":
        return {"not": object()}
    if how == "unsendable":
        raise OSError(2, "no file", "a\udcff")
    raise LookupError("nobody is there")


@app.task()
def stay(file: str, job: Job = FROM_AGENT) -> None:
    """Its first attempt stays until it is killed."""
    if job.attempt == 1:
        Path(file).touch()
        time.sleep(600)


@app.task(batch=10)
def judge(calls: list[Call]) -> list[BaseException | None]:
    return [ValueError("bad") if call.args.get("bad") else None for call in calls]


@app.task(concurrency=10)
async def beside(number: int) -> None:
    with trace.get_tracer("user").start_as_current_span(f"part {number}"):
        await asyncio.sleep(0.2)
