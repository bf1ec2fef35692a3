"""Workflows the machine runs, as somebody would register them, and what nodes they are made of.

`expand` is the part of the design that says what nodes a definition becomes, for as much of the
definition language as is used here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Json = Any
ENGINE = "qwf.runs"  # the queue of steps that run workflows


@dataclass(frozen=True)
class Node:
    """One node of a run: what the design says decides its fate."""

    name: str
    after: tuple[str, ...]
    inputs: Json = field(default_factory=dict)
    skip_if: Json = None
    question: Json = None
    each: Json = None  # the list of a map
    max_parallel: int | None = None
    min_success: int | str | None = None
    stops: bool = False  # when min_success is reached
    repeat: Json = None  # until, max, every; its turns are the elements of a map
    delay: Json = None  # how long it waits when its turn comes
    on_failure: str = "fail"
    cleans_up: bool = False
    takes_back: tuple[str, ...] = ()  # it compensates these
    workflow: str | None = None  # what it runs
    seconds: float | None = None  # how long that may take
    limit: str | None = None
    model: str | None = None
    vram: int | None = None
    requires: Json = field(default_factory=dict)
    max_attempts: int | None = None
    max_losses: int | None = None
    at_most_once: bool = False
    backoff: Json = None

    @property
    def queue(self) -> str | None:
        """None for a question, which nobody claims."""
        if self.question is not None:
            return None
        return "cpu" if self.workflow is None else ENGINE

    @property
    def context_keys(self) -> set[str]:
        """Keys of the context that its inputs read."""
        return set(keys_read(self.inputs))

    @property
    def looked_at(self) -> bool:
        """True if something has to be decided when its turn comes."""
        parts = (self.skip_if, self.question, self.each, self.delay)
        return bool(self.takes_back) or any(part is not None for part in parts)


def keys_read(value: Json) -> Iterator[str]:
    if isinstance(value, dict) and value.get("$from", [None])[0] == "$context":
        yield value["$from"][1]
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from keys_read(member)


def node(name: str, *after: str, **more: Json) -> Json:
    return {"id": name, "node": "work", "depends_on": list(after), **more}


def undo(name: str, *compensates: str, **more: Json) -> Json:
    return {"id": name, "node": "work", "compensates": list(compensates), **more}


def pipe(name: str, *after: str, nodes: list[Json] | None = None, **more: Json) -> Json:
    """A step with a pipeline of its own; `nodes` is not a key of the definition."""
    return {"id": name, "nodes": nodes or [node("n")], "depends_on": list(after), **more}


def runs(name: str, workflow: str, *after: str, **more: Json) -> Json:
    before = {} if "compensates" in more else {"depends_on": list(after)}
    return {"id": name, "workflow": workflow, **before, **more}


def ask(name: str, *after: str, **more: Json) -> Json:
    spec = {"kind": "input", "widget": "text", "target": "said", "prompt": "What?"}
    return {"id": name, "depends_on": list(after), **spec, **more}


def ref(path: str, **more: Json) -> Json:
    return {"$from": path, **more}


SKIP = ref("skip", **{"$default": False})  # of the run's context
NEVER = ref("skip", **{"$default": 0, "$filter": {"eq:k": 1}})  # not a list: cannot be resolved
RETRY = {"max_attempts": 2, "backoff": [10]}
CLEANUP = {"run_if": "all_done"}
GO_ON, ASK = {"on_failure": "continue"}, {"on_failure": "ask"}
FAST = {"fast": "yes"}
LIST = ref("a.list", **{"$default": [1, 2, 3]})
FIRST = {True: [None]}  # what the first turn of a repeat has as its item

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
    "loose": [pipe("s", nodes=[node("a"), node("b", requires=FAST), node("c", limit_by="one")])],
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
    "asks": [
        ask("q", signal=["go", 1]),
        pipe("s", "q", nodes=[node("a", inputs={"x": ref("q.said")})]),
    ],
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
    "signalled": [
        pipe("s"),
        ask("q", "s", signal=["go", 1]),
        ask("p", "q", signal="stay", expires="20.25 s", default="late"),
        pipe("t", "p", nodes=[node("a", inputs={"x": ref("p.said")})]),
    ],
    "lets_go": [
        pipe(
            "s",
            nodes=[
                node("a", inputs={"z": NEVER}, **GO_ON),
                node("b", "a", inputs={"x": ref("a.y.z")}, **GO_ON),
                node("c", "b", inputs={"x": ref("b.y", **{"$default": 0})}),
            ],
        )
    ],
    "gates": [
        pipe(
            "s",
            nodes=[
                node("a", **ASK),
                node("b", "a", inputs={"z": ref("a.z")}, **ASK),
                node("c", "a"),
                node("d", "b", "c", inputs={"x": ref("b.y", **{"$default": 0})}, **CLEANUP),
            ],
        )
    ],
    "cleans_up": [
        pipe(
            "s",
            nodes=[
                node("a"),
                node("b", "a", retry=RETRY),
                node("tidy", "b", inputs={"x": ref("b.y", **{"$default": 0})}, **CLEANUP),
                node("close", "a", "tidy", **CLEANUP, **ASK),
                node("log", "a", skip_if=SKIP, **CLEANUP, **GO_ON),
                node("end", "close"),
            ],
        ),
        ask("q"),
    ],
    "takes_back": [
        pipe(
            "s",
            nodes=[
                node("a"),
                undo("un_a", "a", inputs={"x": ref("a.y", **{"$default": 0})}),
                node("b", "a", retry=RETRY),
                undo("un_b", "b", retry=RETRY),
                node("c", "b"),
                node("d"),
                undo("un_d", "d", "c", skip_if=SKIP, **GO_ON),
                node("tidy", "c", **CLEANUP),
            ],
        ),
        ask("q"),
    ],
    "takes_back_more": [
        pipe("s", nodes=[node("a"), undo("un_a", "a", **ASK), node("b", "a", **GO_ON)]),
        pipe("t", "s", nodes=[node("m", map=[1, 2], max_parallel=1), undo("un_m", "m")]),
    ],
    "maps": [
        pipe(
            "s",
            nodes=[
                node("a"),
                node(
                    "m",
                    "a",
                    map=LIST,
                    inputs={"x": ref("item"), "n": ref("index"), "y": ref("a.y")},
                    limit_by="two",
                ),
                node("c", "m", inputs={"all": ref("m")}),
            ],
        )
    ],
    "maps_some": [
        pipe("scan", nodes=[node("a", **GO_ON)]),
        pipe(
            "s",
            "scan",
            nodes=[
                node(
                    "m",
                    map=ref("scan.list", **{"$default": [{"p": 1}, {"p": 2}, {}, {"p": 4}]}),
                    inputs={"x": ref("item.p")},
                    max_parallel=2,
                    min_success="50%",
                    retry=RETRY,
                ),
                node("b", "m", **CLEANUP, inputs={"all": ref("m")}),
            ],
        ),
    ],
    "first": [
        pipe(
            "s",
            nodes=[
                node(
                    "m",
                    map=[1, 2, 3, 4],
                    min_success=2,
                    stop_when_reached=True,
                    max_parallel=3,
                    retry=RETRY,
                    **GO_ON,
                ),
                node("b", "m", inputs={"all": ref("m")}),
            ],
        ),
    ],
    "maps_ask": [
        pipe(
            "s",
            nodes=[
                node("m", map=[1, 2], min_success=1, skip_if=SKIP, max_parallel=1, **ASK),
                node("k", "m", map=[], **GO_ON),
                node("l", "k", map=[1, 2, 3], min_success=2, max_parallel=1, **GO_ON),
                node("z", "l", inputs={"x": ref("l"), "k": ref("k")}),
            ],
        )
    ],
    "stuck": [
        pipe("scan"),
        pipe(
            "s",
            "scan",
            nodes=[
                node("a", skip_if=ref("scan.skip"), **ASK),
                node(
                    "m",
                    map=ref("scan.list", **{"$default": [{"p": 1}, {}, {"p": 3}]}),
                    inputs={"x": ref("item.p")},
                    max_parallel=1,
                    min_success=1,
                    **ASK,
                ),
                node("n", map=ref("scan.list"), **ASK),
                node("z", "a", "m", "n", **CLEANUP),
            ],
        ),
    ],
    "repeats": [
        pipe(
            "s",
            nodes=[
                node("a"),
                node(
                    "r",
                    "a",
                    repeat={"until": ref("item.z", **{"$default": 0, "$eq": 1}), "max": 3},
                    inputs={"last": ref("item"), "n": ref("index"), "y": ref("a.y")},
                    retry=RETRY,
                ),
                node("c", "r", inputs={"x": ref("r.y", **{"$default": 0})}, **CLEANUP),
            ],
        ),
        pipe("t", "s", nodes=[node("a", delay="15.5 s")]),
    ],
    "repeats_every": [
        pipe("scan", nodes=[node("a", delay="20.5 s", **GO_ON)]),
        pipe(
            "s",
            "scan",
            nodes=[
                node(
                    "r",
                    repeat={
                        "until": ref("item.skip", **{"$default": 0}),
                        "max": 2,
                        "every": "15.5 s",
                    },
                    delay=ref("scan.list", **{"$default": 5}),
                    skip_if=SKIP,
                    **GO_ON,
                ),
                node(
                    "l",
                    "r",
                    repeat={"until": ref("item.z", **{"$default": 1}), "max": 2},
                    inputs={"x": ref("item.y", **{"$default": 0}), "n": ref("index")},
                    **ASK,
                ),
                node("z", "l", inputs={"x": ref("r"), "l": ref("l")}),
            ],
        ),
        ask("q", delay="5.5 s", expires="20.5 s", default="late"),
    ],
    "inner": [
        pipe(
            "s",
            nodes=[
                node("a", inputs={"x": ref("x", **{"$default": 0})}),
                node("b", "a", inputs={"y": ref("a.y", **{"$default": 0})}, retry=RETRY),
                node("tidy", "a", **CLEANUP),
                node("c", "b", "tidy", inputs={"n": ref("n", **{"$default": None})}),
            ],
        )
    ],
    "parent": [
        pipe("s", nodes=[node("a"), node("b")]),
        runs("r", "inner", "s", inputs={"x": ref("s.y", **{"$default": 1})}, retry=RETRY),
        pipe("t", "r", nodes=[node("a", inputs={"x": ref("r.y")})]),
    ],
    "parent_of_many": [
        runs(
            "m",
            "inner",
            map=[1, 2, 3],
            inputs={"x": ref("item"), "n": ref("index")},
            max_parallel=2,
            min_success=2,
            **GO_ON,
        ),
        pipe("t", "m", nodes=[node("a", inputs={"all": ref("m", **{"$default": None})})]),
    ],
    "parent_of_turns": [
        runs(
            "l",
            "inner",
            repeat={"until": ref("item.z", **{"$default": 0, "$eq": 1}), "max": 2},
            inputs={"x": ref("item.y", **{"$default": 0})},
            delay="5.5 s",
        ),
        pipe("t", "l"),
    ],
    "grandparent": [
        runs("g", "parent", **ASK),
        runs("f", "inner", "g", map=[1, 2, 3], min_success=1, stop_when_reached=True),
        pipe("t", "f", nodes=[node("a", **CLEANUP)]),
        pipe("u"),
    ],
    "inner_late": [
        pipe("s", nodes=[node("a"), node("b", "a", retry=RETRY), node("tidy", "b", **CLEANUP)])
    ],
    "parent_late": [
        runs("r", "inner_late", retry=RETRY, **GO_ON),
        runs("f", "inner", "r", timeout="25.5 s", inputs={"x": ref("r.y", **{"$default": 0})}),
        pipe("t", "f", nodes=[node("a", **CLEANUP)]),
    ],
    "limited": [
        runs("m", "inner", map=[1, 2, 3], inputs={"x": ref("item")}, limit_by="line", **GO_ON),
        runs("r", "inner_late", limit_by="line", retry=RETRY),
        pipe("t", "m", "r"),
    ],
    "inner_takes_back": [
        pipe(
            "s",
            nodes=[
                node("a"),
                undo("un_a", "a", inputs={"x": ref("a.y", **{"$default": 0})}),
                node("b", "a"),
            ],
        )
    ],
    "parent_takes_back": [
        runs("r", "inner_takes_back", retry=RETRY),
        runs("un_r", "inner_late", compensates=["r"]),
        pipe("t", "r", nodes=[node("a"), node("b", "a")]),
    ],
    "expires": [
        ask("q", expires="50.5 s", default=None),
        ask("p", "q", expires="20.5 s", default="maybe"),
        pipe("s", "p", nodes=[node("a", inputs={"x": ref("p.said")})]),
        ask("r", "p", expires="20.5 s"),
        pipe("t", "r", nodes=[node("a", **CLEANUP)]),
    ],
    "late": [
        pipe("s", nodes=[node("a"), node("b", "a"), node("t", "b", **CLEANUP)]),
        ask("q", "s"),
    ],
}
DEADLINES = {"late": 100.5, "fan": 1000.5, "inner_late": 40.5, "parent_late": 90.5}  # seconds


def definitions(workflow: str) -> tuple[list[Json], Json]:
    """The pipelines and the workflow to register."""
    pipelines, steps = [], []
    for step in WORKFLOWS[workflow]:
        if "nodes" in step:
            name = f"{workflow}_{step['id']}"
            pipelines.append({"name": name, "nodes": step["nodes"]})
            step = {**step, "kind": "pipeline", "pipeline": name}
            del step["nodes"]
        elif "workflow" in step:
            step = {**step, "kind": "workflow"}
        steps.append(step)
    definition = {"name": workflow, "steps": steps}
    if workflow in DEADLINES:
        definition["deadline"] = f"{DEADLINES[workflow]} s"
    return pipelines, definition


def expand(workflow: str) -> list[Node]:
    """The nodes of a workflow, each after those it depends on."""
    steps = {step["id"]: step for step in WORKFLOWS[workflow]}
    made: list[Node] = []
    for step in WORKFLOWS[workflow]:
        before = tuple(leaf for name in step.get("depends_on", []) for leaf in leaves(steps[name]))
        condition = point(step.get("skip_if"), steps, None)
        if "workflow" in step:
            made.append(compiled(step["id"], before, condition, step, steps, None))
            continue
        if "nodes" not in step:
            spec = {k: v for k, v in step.items() if k not in ("id", "depends_on", "skip_if")}
            delay = point(spec.pop("delay", None), steps, None)
            question = point(spec, steps, None)
            one = Node(step["id"], before, skip_if=condition, question=question, delay=delay)
            made.append(one)
            continue
        for n in step["nodes"]:
            own = tuple(f"{step['id']}/{name}" for name in n.get("depends_on", [])) or before
            made.append(compiled(f"{step['id']}/{n['id']}", own, condition, n, steps, step))
    return with_compensations(made)


def compiled(
    name: str, after: tuple[str, ...], condition: Json, n: Json, steps: Json, here: Json
) -> Node:
    """A node of a pipeline, which stands in a step, or a step that runs a workflow."""
    retry = n.get("retry", {})
    return Node(
        name,
        after,
        inputs=point(n.get("inputs", {}), steps, here),
        skip_if=point(n["skip_if"], steps, here) if "skip_if" in n else condition,
        each=point(n["map"], steps, here) if "map" in n else FIRST.get("repeat" in n),
        repeat=point(n.get("repeat"), steps, here),
        delay=point(n.get("delay"), steps, here),
        max_parallel=n.get("max_parallel"),
        min_success=n.get("min_success"),
        stops=n.get("stop_when_reached", False),
        on_failure=n.get("on_failure", "fail"),
        cleans_up="run_if" in n or "compensates" in n,
        takes_back=tuple(
            f"{here['id']}/{other}" if here else other for other in n.get("compensates", [])
        ),
        workflow=n.get("workflow"),
        seconds=float(n["timeout"].removesuffix(" s")) if "timeout" in n else None,
        limit=n.get("limit_by"),
        requires=n.get("requires", {}),
        max_attempts=retry.get("max_attempts"),
        max_losses=retry.get("max_losses"),
        backoff=retry.get("backoff"),
    )


def with_compensations(made: list[Node]) -> list[Node]:
    """Compensation nodes come last, each after what it takes back, what follows from that, and the
    compensation nodes of what follows: so those of later nodes come first."""
    plain = [n for n in made if not n.takes_back]
    after: dict[str, set[str]] = {}
    for one in (n for n in made if n.takes_back):
        reached: set[str] = set()
        for n in plain:
            if (reached | set(one.takes_back)) & set(n.after):
                reached.add(n.name)
        others = {o.name for o in made if o.name != one.name and reached & set(o.takes_back)}
        after[one.name] = reached | set(one.takes_back) | others
    left = [n for n in made if n.takes_back]
    while left:
        first = next(n for n in left if not after[n.name] & {o.name for o in left})
        left.remove(first)
        plain.append(replace(first, after=tuple(sorted(after[first.name]))))
    return plain


def leaves(step: Json) -> list[str]:
    """Nodes of a step that none of its own depends on."""
    if "nodes" not in step:
        return [step["id"]]
    nodes = [n for n in step["nodes"] if "compensates" not in n]
    inner = {name for n in nodes for name in n["depends_on"]}
    return [f"{step['id']}/{n['id']}" for n in nodes if n["id"] not in inner]


def point(value: Json, steps: Json, here: Json) -> Json:
    """The value with each reference saying which node, or the context, it reads."""
    if isinstance(value, list):
        return [point(element, steps, here) for element in value]
    if not isinstance(value, dict):
        return value
    if "$from" in value:
        first, *rest = value["$from"].split(".")
        siblings = {n["id"] for n in here["nodes"]} if here else set()
        if first in ("item", "index"):
            path = ["$" + first, *rest]
        elif first in siblings:
            path = [f"{here['id']}/{first}", *rest]
        elif first in steps:
            path = [leaves(steps[first]), *rest]
        else:
            path = ["$context", first, *rest]
        return {**value, "$from": path}
    return {key: point(member, steps, here) for key, member in value.items()}
