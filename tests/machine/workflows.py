"""Workflows the machine runs, as somebody would register them, and what nodes they are made of.

`expand` is the part of the design that says what nodes a definition becomes, for as much of the
definition language as is used here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(frozen=True)
class Node:
    """One node of a run: what the design says decides its fate."""

    name: str
    after: tuple[str, ...]
    inputs: Json = field(default_factory=dict)
    skip_if: Json = None
    question: Json = None
    max_attempts: int | None = None
    max_losses: int | None = None
    backoff: Json = None

    @property
    def looked_at(self) -> bool:
        """Whether something has to be decided when its turn comes."""
        return self.skip_if is not None or self.question is not None


def node(name: str, *after: str, **more: Json) -> Json:
    return {"id": name, "node": "work", "depends_on": list(after), **more}


def pipe(name: str, *after: str, nodes: list[Json] | None = None, **more: Json) -> Json:
    """A step with a pipeline of its own; `nodes` is not a key of the definition."""
    return {"id": name, "nodes": nodes or [node("n")], "depends_on": list(after), **more}


def ask(name: str, *after: str, **more: Json) -> Json:
    spec = {"kind": "input", "widget": "text", "target": "said", "prompt": "What?"}
    return {"id": name, "depends_on": list(after), **spec, **more}


def ref(path: str, **more: Json) -> Json:
    return {"$from": path, **more}


SKIP = ref("skip", **{"$default": False})  # of the run's context
RETRY = {"max_attempts": 2, "backoff": [10]}

WORKFLOWS: dict[str, list[Json]] = {
    "chain": [
        pipe(
            "s",
            nodes=[
                node("a"),
                node("b", "a", inputs={"x": ref("a.y")}, retry=RETRY),
                node("c", "b", inputs={"x": ref("b.y"), "z": ref("a.z", **{"$default": 0})}),
            ],
        )
    ],
    "diamond": [
        pipe(
            "s",
            nodes=[
                node("a"),
                node("b", "a", inputs={"x": ref("a.y")}, retry={"backoff": [0]}),
                node("c", "a", retry={"max_losses": 1}),
                node("d", "b", "c", inputs={"b": ref("b.y"), "c": ref("c")}),
            ],
        )
    ],
    "fan": [
        pipe(
            "s",
            nodes=[
                node("a"),
                *(node(name, "a", retry={"max_attempts": 3}) for name in "bce"),
                node("d", "b", "c", "e"),
            ],
        )
    ],
    "loose": [pipe("s", nodes=[node("a"), node("b"), node("c")])],
    "skips": [
        pipe("first", skip_if=SKIP),
        pipe(
            "then",
            "first",
            skip_if=SKIP,
            nodes=[
                node("a", inputs={"x": ref("first.y", **{"$default": None})}),
                node("b", "a", skip_if=ref("a.skip", **{"$default": False})),
                node("c", "b"),
            ],
        ),
        pipe("last", "then", skip_if=SKIP),
    ],
    "picky": [
        pipe("scan"),
        pipe("use", "scan", nodes=[node("a", inputs={"z": ref("scan.z")}), node("b")]),
        pipe("maybe", "scan", skip_if=ref("scan.z", **{"$eq": 2})),
        pipe("end", "use", "maybe"),
    ],
    "asks": [ask("q"), pipe("s", "q", nodes=[node("a", inputs={"x": ref("q.said")})])],
    "asks_beside": [
        pipe("s", nodes=[node("a"), node("b")]),
        ask("q"),
        ask("p", skip_if=SKIP),
        pipe("t", "s", "q", "p"),
    ],
    "asks_later": [
        pipe("s"),
        ask("q", "s", prompt=ref("s.y")),
        ask("p", "q", skip_if=ref("q.said", **{"$eq": "no"})),
        pipe("t", "p", nodes=[node("a", inputs={"x": ref("p.said", **{"$default": "?"})})]),
    ],
}


def definitions(workflow: str) -> tuple[list[Json], Json]:
    """The pipelines and the workflow to register."""
    pipelines, steps = [], []
    for step in WORKFLOWS[workflow]:
        if "nodes" in step:
            name = f"{workflow}_{step['id']}"
            pipelines.append({"name": name, "nodes": step["nodes"]})
            step = {**step, "kind": "pipeline", "pipeline": name}
            del step["nodes"]
        steps.append(step)
    return pipelines, {"name": workflow, "steps": steps}


def expand(workflow: str) -> list[Node]:
    """The nodes of a workflow, each after those it depends on."""
    steps = {step["id"]: step for step in WORKFLOWS[workflow]}
    made: list[Node] = []
    for step in WORKFLOWS[workflow]:
        before = tuple(leaf for name in step["depends_on"] for leaf in leaves(steps[name]))
        condition = point(step.get("skip_if"), steps, None)
        if "nodes" not in step:
            spec = {k: v for k, v in step.items() if k not in ("id", "depends_on", "skip_if")}
            question = point(spec, steps, None)
            made.append(Node(step["id"], before, skip_if=condition, question=question))
            continue
        for n in step["nodes"]:
            retry = n.get("retry", {})
            made.append(
                Node(
                    f"{step['id']}/{n['id']}",
                    tuple(f"{step['id']}/{name}" for name in n["depends_on"]) or before,
                    inputs=point(n.get("inputs", {}), steps, step),
                    skip_if=point(n["skip_if"], steps, step) if "skip_if" in n else condition,
                    max_attempts=retry.get("max_attempts"),
                    max_losses=retry.get("max_losses"),
                    backoff=retry.get("backoff"),
                )
            )
    return made


def leaves(step: Json) -> list[str]:
    """Nodes of a step that none of its own depends on."""
    if "nodes" not in step:
        return [step["id"]]
    inner = {name for n in step["nodes"] for name in n["depends_on"]}
    return [f"{step['id']}/{n['id']}" for n in step["nodes"] if n["id"] not in inner]


def point(value: Json, steps: Json, here: Json) -> Json:
    """The value with each reference saying which node, or the context, it reads."""
    if isinstance(value, list):
        return [point(element, steps, here) for element in value]
    if not isinstance(value, dict):
        return value
    if "$from" in value:
        first, *rest = value["$from"].split(".")
        siblings = {n["id"] for n in here["nodes"]} if here else set()
        if first in siblings:
            path = [f"{here['id']}/{first}", *rest]
        elif first in steps:
            path = [leaves(steps[first]), *rest]
        else:
            path = ["$context", first, *rest]
        return {**value, "$from": path}
    return {key: point(member, steps, here) for key, member in value.items()}
