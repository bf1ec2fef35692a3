"""The nodes that a retry has to reuse, told from two definitions and the states of a run; and the
outputs of a run that has completed, calculated from scratch."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from dataclasses import dataclass
from typing import Any

Node = dict[str, Any]
Nodes = list[Node]
Context = dict[str, Any]

KEYS = ("k0", "k1", "k2")
# What a node may change without giving another result.
FREE = ("depends_on", "timeout", "retry", "max_parallel", "min_success", "queue", "on_failure")
ENDED_WELL = ("completed", "skipped")


@dataclass(frozen=True)
class State:
    """A node or element of a run."""

    status: str
    attempt: int
    finished_at: str | None
    output: Any


def digest(*parts: Any) -> str:
    return hashlib.md5(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def body(task: str, inputs: Any) -> Node:
    """The output of every task: a value that depends on all it was given, and a list."""
    made = digest(task, inputs)
    return {"v": made[:8], "xs": list(range(int(made[0], 16) % 4))}


class Definitions:
    """Random pipelines, and random edits of them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def nodes(self) -> Nodes:
        nodes: Nodes = []
        for place in range(self._chance.randrange(3, 8)):
            nodes.append(self._node(nodes, f"n{place}"))
        return nodes

    def context(self) -> Context:
        return {key: self._chance.randrange(3) for key in KEYS}

    def _node(self, before: Nodes, name: str) -> Node:
        chance = self._chance
        after = chance.sample(before, min(len(before), chance.choice([0, 1, 1, 2])))
        node: Node = {
            "id": name,
            "node": f"t{chance.randrange(4)}",
            "depends_on": [one["id"] for one in after],
            "inputs": {"c": chance.randrange(3)},
        }
        for one in after:
            if chance.random() < 0.7:
                node["inputs"][f"r_{one['id']}"] = _reading(one)
        if chance.random() < 0.4:
            node["inputs"]["context"] = {"$from": chance.choice(KEYS)}
        if chance.random() < 0.15:
            node["skip_if"] = {"$from": chance.choice(KEYS), "$eq": 1}
        if chance.random() < 0.1:
            node["run_if"] = "all_done"
        if chance.random() < 0.1:
            node["on_failure"] = "continue"
        lists = [one["id"] for one in after if "map" not in one]
        if lists and chance.random() < 0.4:
            node["map"] = {"$from": f"{lists[0]}.xs", "$default": []}
            node["inputs"]["e"] = {"$from": "item"}
            if chance.random() < 0.5:
                node["max_parallel"] = 2
        return node

    def edited(self, nodes: Nodes) -> Nodes:
        """The nodes after a change that people make."""
        chance = self._chance
        nodes = copy.deepcopy(nodes)
        node = chance.choice(nodes)
        kind = chance.choice(["add", "remove", "rename", "wait", "input", "task", "free", "none"])
        if kind == "add":
            nodes.append(self._node(nodes, f"a{chance.randrange(1000)}"))
        elif kind == "remove" and not any(node["id"] in str(one.get("map")) for one in nodes):
            nodes.remove(node)
            for one in nodes:
                one["depends_on"] = [name for name in one["depends_on"] if name != node["id"]]
                one["inputs"].pop(f"r_{node['id']}", None)
        elif kind == "rename":
            new, text = f"z{chance.randrange(10**6)}", json.dumps(nodes)
            for old in (f'"{node["id"]}"', f'"{node["id"]}.', f'"r_{node["id"]}"'):
                text = text.replace(old, old.replace(node["id"], new))
            nodes = json.loads(text)
        elif kind == "wait":
            for place, one in enumerate(nodes):
                others = [x["id"] for x in nodes[:place] if x["id"] not in one["depends_on"]]
                if others:
                    one["depends_on"].append(others[0])
                    break
        elif kind == "input":
            node["inputs"]["c"] = chance.randrange(3, 6)
        elif kind == "task":
            node["node"] = f"t{chance.randrange(4, 8)}"
        elif kind == "free":
            node |= {"timeout": chance.randrange(100, 200), "retry": {"max_attempts": 2}}
        return nodes or [self._node([], "n0")]


def _reading(node: Node) -> Node:
    path = node["id"] if "map" in node else f"{node['id']}.v"
    return {"$from": path, "$default": None}


def planned(
    old: Nodes, new: Nodes, was: dict[str, State], changed: set[str], named: str | None
) -> dict[str, str]:
    """The verdict about each node; `resumes` is that of a map that keeps completed elements."""
    before = {node["id"]: node for node in old}
    verdicts: dict[str, str] = {}
    for node in _sorted(new):
        name = node["id"]
        state = was.get(name)
        follows = any(verdicts[one] not in ("reused",) for one in node["depends_on"])
        if state is None or name not in before:
            verdicts[name] = "new"
            continue
        other = (
            name == named
            or _made_by(before[name]) != _made_by(node)
            or any(f'"$from": "{key}"' in json.dumps(node) for key in changed)
        )
        mine = state.status not in ENDED_WELL or (named or "").startswith(f"{name}[")
        elements = [one for key, one in was.items() if key.startswith(f"{name}[")]
        expanded = "map" in before[name] and isinstance(elements, list) and bool(elements)
        if other or follows:
            verdicts[name] = "runs again"
        elif mine:
            verdicts[name] = "resumes" if expanded else "runs again"
        else:
            verdicts[name] = "reused"
    gone = {node["id"] for node in old} - {node["id"] for node in new}
    return verdicts | dict.fromkeys(gone & was.keys(), "removed")


def _made_by(node: Node) -> Node:
    return {key: value for key, value in node.items() if key not in FREE}


def _sorted(nodes: Nodes) -> Nodes:
    done: list[Node] = []
    names: set[str] = set()
    while len(done) < len(nodes):
        for node in nodes:
            if node["id"] not in names and names.issuperset(node["depends_on"]):
                done.append(node)
                names.add(node["id"])
    return done


def outputs(nodes: Nodes, context: Context) -> dict[str, Any]:
    """The output of each node that is not skipped, if none fails."""
    made: dict[str, Any] = {}
    for node in _sorted(nodes):
        if "skip_if" in node and _read(node["skip_if"], made, context, None):
            continue
        if "map" in node:
            elements = _read(node["map"], made, context, None)
            inputs = [_read(node["inputs"], made, context, element) for element in elements]
            made[node["id"]] = [body(node["node"], one) for one in inputs]
        else:
            made[node["id"]] = body(node["node"], _read(node["inputs"], made, context, None))
    return made


def _read(value: Any, made: dict[str, Any], context: Context, element: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "$from" not in value:
        return {key: _read(one, made, context, element) for key, one in value.items()}
    name, *rest = value["$from"].split(".")
    if name == "item":
        return element
    found = context.get(name) if name in KEYS else made.get(name)
    for key in rest:
        found = found.get(key) if isinstance(found, dict) else None
    if "$eq" in value:
        return found == value["$eq"]
    return value.get("$default") if found is None else found
