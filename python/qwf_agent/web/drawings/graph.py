"""Which boxes a graph is drawn with, and what state each box is in.

A browser lays out 150 boxes in less than half a second and 1,000 in three seconds, and nobody reads
1,000 boxes. So a graph of more than 150 nodes has one box for each step; opened steps show their
nodes, equal ones as one stack; and if that is still too much, only what is busy, and its
neighbours. Every node is in exactly one box.

A drawing has two parts. The structure says what is laid out: boxes, step frames and edges. It holds
no state, so one layout serves as long as its key stays the same. The states say what each box looks
like now. `Drawing.fixed` is true if the structure depends on the graph and the opened steps alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from qwf_agent.look.draw.visible import visible

MOST_BOXES = 150
MOST_EDGES = 600  # more of them take dagre seconds and hide the boxes
MOST_OPENED = 20
FEWEST_IN_BLOCK = 6
LONGEST_LABEL = 200
ENDED = {"completed", "failed", "cancelled", "skipped"}
# Of a box with several nodes, the first of these that one of its nodes is in.
LOUDEST_FIRST = (
    *("failed", "awaiting_input", "running", "queued", "scheduled"),
    *("blocked", "cancelled", "completed", "skipped"),
)
BUSY = LOUDEST_FIRST[:5]
BAR_ORDER = (
    *("completed", "skipped", "failed", "cancelled", "running"),
    *("awaiting_input", "queued", "scheduled", "blocked"),
)
LETTERS = {
    "blocked": "b",
    "scheduled": "s",
    "queued": "q",
    "running": "r",
    "awaiting_input": "a",
    "completed": "c",
    "failed": "f",
    "cancelled": "x",
    "skipped": "k",
}
UNKNOWN = "."  # the letter of an element that has no row
# The outline of each state's icon in a square of 16 x 16, drawn as a line of width 2.
ICONS = {
    "blocked": "M5 8h6",
    "scheduled": "M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3l2 2",
    "queued": "M8 3a5 5 0 1 0 .01 0",
    "running": "M5.5 3.5v9l7-4.5z",
    "awaiting_input": "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M8 13v.01",
    "completed": "M3 8.5l3.5 3.5L13 5",
    "failed": "M4 4l8 8M12 4l-8 8",
    "cancelled": "M8 2.5a5.5 5.5 0 1 0 .01 0M4.2 4.2l7.6 7.6",
    "skipped": "M2.5 11a5 5 0 0 1 9.5-2M13 5v4.5H8.5",
}
SIZES = {"node": (196, 50), "input": (196, 50), "rest": (228, 50)}
LARGE = (228, 54)  # maps, stacks, steps

Kind = Literal["node", "map", "input", "stack", "step", "rest"]


@dataclass(frozen=True)
class Node:
    """A node of a run, or of a definition that does not run: then it has no status."""

    id: str
    step: str
    task: str
    needs: tuple[str, ...] = ()
    title: str | None = None
    kind: Literal["node", "map", "input"] = "node"
    min_success: str | None = None
    status: str | None = None
    progress: float | None = None
    message: str | None = None
    elements: Mapping[str, int] = field(default_factory=dict)  # of a map: how many in each state
    href: str | None = None

    @property
    def name(self) -> str:
        """What people call it: its title, or its id within its step."""
        return self.title or self.id.removeprefix(f"{self.step}/")

    @property
    def state(self) -> str | None:
        """A map counts as running while its elements run, though its own row is blocked."""
        busy = any(name not in ENDED for name in self.elements)
        return "running" if self.status == "blocked" and busy else self.status


@dataclass(frozen=True)
class Drawing:
    """What a browser gets: two JSON documents with one key. `members` are the nodes of each box."""

    structure: dict[str, Any]
    states: dict[str, Any]
    members: dict[str, list[str]]
    fixed: bool

    @property
    def key(self) -> str:
        """Names the structure: two with the same key are the same."""
        return str(self.structure["key"])


@dataclass(frozen=True)
class _Box:
    id: str
    kind: Kind
    label: str
    nodes: tuple[Node, ...]
    frame: str | None = None


def draw(
    nodes: Sequence[Node],
    opened: Collection[str] = (),
    titles: Mapping[str, str] | None = None,
) -> Drawing:
    """Draws the nodes in at most 150 boxes, in the order of the nodes.

    `opened` names the steps whose nodes are shown; unknown names are ignored. `titles` are those of
    steps.
    """
    graph = _Graph(list({node.id: node for node in nodes}.values()), opened, titles or {})
    boxes = graph.boxes()
    shown = boxes if len(boxes) <= MOST_BOXES else graph.busiest(boxes)
    blocks, edges = _in_blocks(shown, graph.edges(shown))
    structure: dict[str, Any] = {
        "boxes": [_described(box) for box in shown],
        "frames": graph.frames(shown),
        "blocks": blocks,
        "edges": edges[:MOST_EDGES],
        "edges_left_out": max(0, len(edges) - MOST_EDGES),
        "icons": ICONS,
        "summary": graph.summary(shown),
    }
    key = _digest(structure)
    states = {
        "key": key,
        "boxes": {box.id: _state_of(box) for box in shown},
        "summary": _counted(_states(graph.nodes)),
    }
    members = {box.id: [node.id for node in box.nodes] for box in shown}
    return Drawing({"key": key, **structure}, states, members, fixed=shown is boxes)


def nodes_of(document: Mapping[str, Any], link: Callable[[int], str]) -> list[Node]:
    """The nodes of a document of qwf.run_graph() or qwf.preview_graph(), in the order of idx.

    `link` gives the address of a job.
    """
    rows = {row["idx"]: row for row in document["nodes"]}
    needs = needs_of(document)
    return [
        Node(
            id=row["id"],
            step=row["step"],
            task=row["task"],
            needs=tuple(needs[idx]),
            title=row.get("title"),
            kind="map" if row.get("map") else "input" if row.get("asks") else "node",
            min_success=row.get("min_success"),
            **_state_fields(row, link),
        )
        for idx, row in sorted(rows.items())
    ]


def with_states(
    nodes: Sequence[Node], document: Mapping[str, Any], link: Callable[[int], str]
) -> list[Node]:
    """The nodes of a graph with the states of qwf.run_graph(run_id, states_only => true)."""
    rows = {row["idx"]: row for row in document["nodes"]}
    return [
        replace(node, **_state_fields(rows[idx], link)) if idx in rows else node
        for idx, node in enumerate(nodes)
    ]


def needs_of(document: Mapping[str, Any]) -> dict[int, list[str]]:
    """The ids of the nodes that each node of such a document depends on, by its idx."""
    names = {node["idx"]: node["id"] for node in document["nodes"]}
    needs: dict[int, list[str]] = {idx: [] for idx in names}
    for start, end in document["edges"]:
        if start in names and end in names:
            needs[end].append(names[start])
    return needs


def titles_of(document: Mapping[str, Any]) -> dict[str, str]:
    """The titles of the steps of such a document."""
    return {step["id"]: step["title"] for step in document["steps"] if step.get("title")}


def cells(elements: Iterable[tuple[int, str]], count: int) -> str:
    """One letter for each of the `count` elements of a map, from pairs (element, state)."""
    letters = [UNKNOWN] * count
    for element, state in elements:
        if 0 <= element < count:
            letters[element] = LETTERS.get(state, UNKNOWN)
    return "".join(letters)


def cells_document(elements: Iterable[tuple[int, str]], count: int) -> dict[str, Any]:
    """The cells and what their letters mean, as static/cells.js reads them."""
    states = {letter: state for state, letter in LETTERS.items()}
    return {"cells": cells(elements, count), "states": states}


def _state_fields(row: Mapping[str, Any], link: Callable[[int], str]) -> dict[str, Any]:
    """What of a node may change while its run lives."""
    return {
        "status": row.get("status"),
        "progress": row.get("progress"),
        "message": row.get("error") or row.get("message"),
        "elements": row.get("elements") or {},
        "href": link(row["job_id"]) if row.get("job_id") is not None else None,
    }


# Which boxes --------------------------------------------------------------------------------------


class _Graph:
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

    def boxes(self) -> list[_Box]:
        """The boxes of each step, however many there are."""
        found: list[_Box] = []
        for number, (step, nodes) in enumerate(self.steps.items()):
            if len(nodes) == 1:
                found.append(self._single(nodes[0], None))
            elif self.is_small():
                found += [self._single(node, step) for node in nodes]
            elif step in self.opened:
                found += self._stacked(step, nodes)
            else:
                label = self.titles.get(step, step)
                found.append(_Box(f"s{number}", "step", label, tuple(nodes)))
        return found

    def busiest(self, boxes: list[_Box]) -> list[_Box]:
        """The busy boxes and their neighbours, the most urgent first, and one box for the rest of
        each step. If none is busy: the first boxes."""
        owner = _owners(boxes)
        urgency = {box.id: BUSY.index(state) for box in boxes if (state := _loudest(box)) in BUSY}
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
                shown.append(_Box(f"r{number}", "rest", f"and {len(nodes):,} more", nodes, frame))
        return shown

    def edges(self, boxes: list[_Box]) -> list[tuple[str, str]]:
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

    def frames(self, boxes: list[_Box]) -> list[dict[str, Any]]:
        """The steps that are drawn as a frame around their boxes."""
        used = dict.fromkeys(box.frame for box in boxes if box.frame is not None)
        return [
            {
                "id": f"f{number}",
                "step": step,
                "label": _text(self.titles.get(step, step)),
                "opened": not self.is_small(),
            }
            for number, step in enumerate(used)
        ]

    def summary(self, boxes: list[_Box]) -> str:
        """What a screen reader says of the whole drawing."""
        nodes = f"{_number(len(self.nodes), 'node')} in {_number(len(self.steps), 'step')}"
        drawn = f"{nodes}, drawn as {_number(len(boxes), 'box', 'boxes')}"
        return nodes if len(boxes) == len(self.nodes) else drawn

    def _single(self, node: Node, frame: str | None) -> _Box:
        label = node.title or (node.name if frame is not None else node.id)
        return _Box(f"n{self.place[node.id]}", node.kind, label, (node,), frame)

    def _stacked(self, step: str, nodes: list[Node]) -> list[_Box]:
        """The nodes of a step; those with equal task, dependencies and dependants as one box."""
        equal: dict[Any, list[Node]] = {}
        for node in nodes:
            needs, dependants = self.needs[node.id], self.dependants[node.id]
            likeness = (node.kind, node.task, frozenset(needs), frozenset(dependants))
            equal.setdefault(likeness, []).append(node)
        return [
            self._single(group[0], step)
            if len(group) == 1
            else _Box(
                f"k{self.place[group[0].id]}",
                "stack",
                f"{group[0].task} \u00d7 {len(group):,}",
                tuple(group),
                step,
            )
            for group in equal.values()
        ]


def _in_blocks(
    boxes: list[_Box], edges: list[tuple[str, str]]
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


def _owners(boxes: Iterable[_Box]) -> dict[str, str]:
    """The box of each node."""
    return {node.id: box.id for box in boxes for node in box.nodes}


# What a box says ----------------------------------------------------------------------------------


def _described(box: _Box) -> dict[str, Any]:
    """A box without its state."""
    width, height = SIZES.get(box.kind, LARGE)
    one = {
        "id": box.id,
        "kind": box.kind,
        "label": _text(box.label),
        "detail": _text(_detail(box)),
        "width": width,
        "height": height,
    }
    if box.frame is not None:
        one["frame"] = box.frame
    if box.kind == "step":
        one["opens"] = box.nodes[0].step
    return one


def _detail(box: _Box) -> str:
    """The second line of a box that has no state."""
    if box.kind == "step":
        return _number(len(box.nodes), "node")
    if box.kind == "input":
        return "a question"
    if box.kind == "rest":
        return ""
    task = box.nodes[0].task
    needed = box.nodes[0].min_success
    if box.kind == "map":
        return f"{task}, for each" + (f", needs {needed}" if needed else "")
    return "" if box.kind == "stack" or task == box.label else task


def _state_of(box: _Box) -> dict[str, Any]:
    """The state of a box: its name, a line of text, and the shares of its bar."""
    state = _loudest(box)
    if state is None:
        return {}
    node = box.nodes[0]
    single = len(box.nodes) == 1
    counts = _in_order(node.elements) if single else _in_order(_states(box.nodes))
    one: dict[str, Any] = {"state": state, "text": _text(_line(box, state, counts))}
    if counts:
        one["counts"] = counts
    if single and not counts and state == "running" and (progress := _progress(node)) is not None:
        one["progress"] = progress
    if single and counts and (share := _needed_share(node)) is not None:
        one["needs"] = share
    if single and node.message:
        one["title"] = _text(node.message)
    if single and node.href:
        one["href"] = node.href
    return one


def _line(box: _Box, state: str, counts: Mapping[str, int]) -> str:
    """What a box says about its state, in words."""
    word = state.replace("_", " ")
    if not counts:
        progress = _progress(box.nodes[0]) if state == "running" else None
        return word if progress is None else f"{word} {progress:.0%}"
    total = sum(counts.values())
    done = counts.get("completed", 0) + counts.get("skipped", 0)
    if box.kind == "rest":
        return _counted(counts)
    loud = ("failed", "awaiting_input", "running", "cancelled")
    named = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in loud if counts.get(name)]
    if not named and done == total:
        return f"all {total:,} completed"
    return ", ".join([f"{done:,} of {total:,}", *(named[:2] or [word])])


def _loudest(box: _Box) -> str | None:
    """The state of a box; None if it does not run."""
    states = {node.state for node in box.nodes}
    return next((name for name in LOUDEST_FIRST if name in states), None)


def _states(nodes: Iterable[Node]) -> Counter[str]:
    return Counter(node.state for node in nodes if node.state is not None)


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts in the order in which a bar shows them: ended first."""
    return {name: counts[name] for name in BAR_ORDER if counts.get(name)}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{number:,} {name.replace('_', ' ')}" for name, number in _in_order(counts).items()
    )


def _progress(node: Node) -> float | None:
    """The fraction done; None if it is unknown or no fraction, for a body may report NaN."""
    value = node.progress
    return round(value, 4) if value is not None and 0 <= value <= 1 else None


def _needed_share(node: Node) -> float | None:
    """Which share of its elements a map needs; None if it needs all."""
    total = sum(node.elements.values())
    if node.min_success is None or not total:
        return None
    number = int(node.min_success.rstrip("%"))
    share = number / 100 if node.min_success.endswith("%") else number / total
    return round(min(share, 1.0), 4)


def _number(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _text(text: str) -> str:
    """A name of somebody else's as one short line."""
    line = visible(" ".join(text[: 2 * LONGEST_LABEL].split()))
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}\u2026"


def _digest(structure: Mapping[str, Any]) -> str:
    written = json.dumps(structure, sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
