"""The bodies of the benchmark as tasks of qwf."""

from __future__ import annotations

from typing import Any

from bench.peers import bodies
from qwf_agent import App

app = App()


@app.task("step")
def step(done: bodies.Done, n: int) -> dict[str, Any]:
    return {"done": bodies.step(done, n)}


@app.task("first")
def first(n: int, elements: int = 0) -> dict[str, Any]:
    return {"done": bodies.first(n), "elements": list(range(elements))}


@app.task("each")
def each(n: int) -> dict[str, Any]:
    return {"done": bodies.first(n)}


@app.task("last")
def last(begun: bodies.Done, each: list[dict[str, bodies.Done]]) -> dict[str, Any]:
    return {"done": bodies.last([begun, *(one["done"] for one in each)])}


@app.task("mark")
def mark(number: int, path: str) -> dict[str, Any]:
    return {"next": bodies.mark(number, path)}
