"""The work that the systems are asked to run, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.peers.bodies import Done

Nodes = list[dict[str, Any]]
STEP = "s"  # the only step of each workflow


@dataclass(frozen=True)
class Work:
    """Workflows of one shape.

    chain: `size` steps, one after the other, each reading from the one before. fan: a step, then
    `size` steps, then one that reads from all of them. loose: `size` steps without dependencies.
    Each body computes fibo(n), or nothing if n is 0.
    """

    shape: str
    size: int
    runs: int = 1
    n: int = 0

    @property
    def steps(self) -> int:
        """How many steps run."""
        return self.runs * (self.size + 2 if self.shape == "fan" else self.size)


@dataclass(frozen=True)
class Answer:
    """Seconds from just before the first call that starts a workflow until the caller has seen the
    last one end; and the sums of what the bodies returned."""

    seconds: float
    done: Done


def nodes(work: Work) -> Nodes:
    """The nodes of qwf's pipeline for a work."""
    if work.shape == "chain":
        return [
            _node("n0", "first", n=work.n),
            *(_node(f"n{i}", "step", f"n{i - 1}", done=_from(f"n{i - 1}.done"), n=work.n)
              for i in range(1, work.size)),
        ]  # fmt: skip
    if work.shape == "fan":
        return [
            _node("begin", "first", n=work.n, elements=work.size),
            {**_node("each", "each", "begin", n=work.n), "map": _from("begin.elements")},
            _node("last", "last", "begin", "each", begun=_from("begin.done"), each=_from("each")),
        ]
    return [_node(f"n{i}", "first", n=work.n) for i in range(work.size)]


def leaves(work: Work) -> list[str]:
    """The nodes whose outputs hold the sums."""
    if work.shape == "loose":
        return [f"{STEP}/{node['id']}" for node in nodes(work)]
    return [f"{STEP}/last" if work.shape == "fan" else f"{STEP}/n{work.size - 1}"]


def marks(steps: int, path: str) -> Nodes:
    """A chain whose bodies write to a file."""
    return [
        _node("n0", "mark", number=0, path=path),
        *(_node(f"n{i}", "mark", f"n{i - 1}", number=_from(f"n{i - 1}.next"), path=path)
          for i in range(1, steps)),
    ]  # fmt: skip


def _node(name: str, task: str, *depends_on: str, **inputs: Any) -> dict[str, Any]:
    return {
        "id": name, "node": task, "queue": "default", "depends_on": list(depends_on),
        "inputs": inputs,
    }  # fmt: skip


def _from(path: str) -> dict[str, str]:
    return {"$from": path}
