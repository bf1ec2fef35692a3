"""Which boxes a graph is drawn with.

A browser lays out 150 boxes in less than half a second and 1,000 in three seconds, and nobody reads
1,000 boxes. So a graph of more than 150 nodes has one box for each step; opened steps show their
nodes, equal ones as one stack; and if that is still too much, only what is busy, and its
neighbours. Every node is in exactly one box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from qwf_agent.look.draw.visible import one_line
from qwf_agent.look.draw.words import counted
from qwf_agent.web.drawings.graph_nodes import Node

MOST_BOXES = 150
MOST_EDGES = 600  # more of them take dagre seconds and hide the boxes
MOST_OPENED = 20
FEWEST_IN_BLOCK = 6
LONGEST_LABEL = 200
# Of a box with several nodes, the first of these that one of its nodes is in.
LOUDEST_FIRST = (
    *("failed", "awaiting_input", "running", "queued", "scheduled"),
    *("blocked", "cancelled", "completed", "skipped"),
)
BUSY = LOUDEST_FIRST[:5]

Kind = Literal["node", "map", "input", "stack", "step", "rest"]


@dataclass(frozen=True)
class GraphBox:
    """A part that is drawn as one: a node, a stack of equal nodes, a step, or the rest of one."""

    id: str
    kind: Kind
    label: str
    nodes: tuple[Node, ...]
    frame: str | None = None

    @property
    def state(self) -> str | None:
        """The loudest state of its nodes; None if they do not run."""
        states = {node.state for node in self.nodes}
        return next((name for name in LOUDEST_FIRST if name in states), None)


class BoxedGraph:
    """The nodes with their steps and edges, looked up once. Needs of unknown nodes are dropped."""

    def __init__(
        self, nodes: Sequence[Node], opened: Collection[str], titles: Mapping[str, str]
    ) -> None:
        self.nodes = nodes
        self.titles = titles
        self.place = {node.id: place for place, node in enumerate(nodes)}
        self.needs = {
            node.id: [name for name in dict.fromkeys(node.needs) if name in self.place]
            for node in nodes
        }
        self.dependants: dict[str, list[str]] = {node.id: [] for node in nodes}
        for name, needed in self.needs.items():
            for one in needed:
                self.dependants[one].append(name)
        self.steps: dict[str, list[Node]] = {}
        for node in nodes:
            self.steps.setdefault(node.step, []).append(node)
        self.opened = set(islice((step for step in self.steps if step in opened), MOST_OPENED))

    def is_small(self) -> bool:
        """Every node may have a box of its own."""
        many_edges = sum(map(len, self.needs.values())) > MOST_EDGES
        return len(self.nodes) <= MOST_BOXES and not many_edges

    def boxes(self) -> list[GraphBox]:
        """The boxes of each step, however many there are."""
        found: list[GraphBox] = []
        for number, (step, nodes) in enumerate(self.steps.items()):
            if len(nodes) == 1:
                found.append(self._single(nodes[0], None))
            elif self.is_small():
                found += [self._single(node, step) for node in nodes]
            elif step in self.opened:
                found += self._stacked(step, nodes)
            else:
                label = self.titles.get(step, step)
                found.append(GraphBox(f"s{number}", "step", label, tuple(nodes)))
        return found

    def busiest(self, boxes: list[GraphBox]) -> list[GraphBox]:
        """The busy boxes and their neighbours, the most urgent first, and one box for the rest of
        each step. If none is busy: the first boxes."""
        owner = _owners(boxes)
        urgency = {box.id: BUSY.index(state) for box in boxes if (state := box.state) in BUSY}
        near = {
            owner[name]
            for box in boxes
            if box.id in urgency
            for node in box.nodes
            for name in (*self.needs[node.id], *self.dependants[node.id])
        }
        first = sorted(urgency, key=urgency.__getitem__)  # sorted() keeps the order of equals
        first += [box.id for box in boxes if box.id in near - urgency.keys()]
        if not first:
            first = [box.id for box in boxes]
        frames = {box.frame for box in boxes}
        kept = set(first[: MOST_BOXES - len(frames)])
        shown = [box for box in boxes if box.id in kept]
        for number, frame in enumerate(dict.fromkeys(box.frame for box in boxes)):
            left = [box for box in boxes if box.frame == frame and box.id not in kept]
            if len(left) == 1:
                shown += left
            elif left:
                nodes = tuple(node for box in left for node in box.nodes)
                label = f"and {len(nodes):,} more"
                shown.append(GraphBox(f"r{number}", "rest", label, nodes, frame))
        return shown

    def edges(self, boxes: list[GraphBox]) -> list[tuple[str, str]]:
        """Which box needs which, each pair once. A box for the rest has none: they would cross
        everything and show nothing."""
        owner = _owners(box for box in boxes if box.kind != "rest")
        pairs = (
            (owner[needed], owner[name])
            for name, all_needed in self.needs.items()
            for needed in all_needed
            if name in owner and needed in owner
        )
        return [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]

    def frames(self, boxes: list[GraphBox]) -> list[dict[str, Any]]:
        """The steps that are drawn as a frame around their boxes."""
        used = dict.fromkeys(box.frame for box in boxes if box.frame is not None)
        return [
            {
                "id": f"f{number}",
                "step": step,
                "label": one_line(self.titles.get(step, step), LONGEST_LABEL),
                "opened": not self.is_small(),
            }
            for number, step in enumerate(used)
        ]

    def summary(self, boxes: list[GraphBox]) -> str:
        """Text for screen readers about the whole drawing."""
        nodes = f"{counted(len(self.nodes), 'node')} in {counted(len(self.steps), 'step')}"
        drawn = f"{nodes}, drawn as {len(boxes):,} {'box' if len(boxes) == 1 else 'boxes'}"
        return nodes if len(boxes) == len(self.nodes) else drawn

    def _single(self, node: Node, frame: str | None) -> GraphBox:
        label = node.title or (node.name if frame is not None else node.id)
        return GraphBox(f"n{self.place[node.id]}", node.kind, label, (node,), frame)

    def _stacked(self, step: str, nodes: list[Node]) -> list[GraphBox]:
        """The nodes of a step; those with equal task, dependencies and dependants as one box."""
        equal: dict[Any, list[Node]] = {}
        for node in nodes:
            needs, dependants = self.needs[node.id], self.dependants[node.id]
            likeness = (
                node.kind,
                node.task,
                bool(node.takes_back),
                frozenset(needs),
                frozenset(dependants),
            )
            equal.setdefault(likeness, []).append(node)
        return [
            self._single(group[0], step)
            if len(group) == 1
            else GraphBox(
                f"k{self.place[group[0].id]}",
                "stack",
                f"{group[0].task} \u00d7 {len(group):,}",
                tuple(group),
                step,
            )
            for group in equal.values()
        ]


def in_blocks(
    boxes: list[GraphBox], edges: list[tuple[str, str]]
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Boxes with the same neighbours as blocks, and the edges between what is left.

    Boxes in a row of 100 are too small to read once they fit a screen; in a block of 10 x 10 they
    are not, and one edge stands for the 100 of its boxes.
    """
    before: dict[str, set[str]] = {box.id: set() for box in boxes}
    after: dict[str, set[str]] = {box.id: set() for box in boxes}
    for start, end in edges:
        after[start].add(end)
        before[end].add(start)
    alike: dict[Any, list[str]] = {}
    for box in boxes:
        likeness = (box.frame, frozenset(before[box.id]), frozenset(after[box.id]))
        alike.setdefault(likeness, []).append(box.id)
    frames = {box.id: box.frame for box in boxes}
    blocks = [
        {"id": f"b{number}", "boxes": group, "frame": frames[group[0]]}
        for number, group in enumerate(alike.values())
        if len(group) >= FEWEST_IN_BLOCK
    ]
    end_of = {box.id: box.id for box in boxes}
    end_of |= {name: str(block["id"]) for block in blocks for name in block["boxes"] or ()}
    return blocks, list(dict.fromkeys((end_of[start], end_of[end]) for start, end in edges))


def _owners(boxes: Iterable[GraphBox]) -> dict[str, str]:
    """The box of each node."""
    return {node.id: box.id for box in boxes for node in box.nodes}
