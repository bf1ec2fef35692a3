"""Draws a graph: the boxes that a browser lays out, and what state each box is in.

A drawing has two parts. The structure says what is laid out: boxes, step frames and edges. It holds
no state, so one layout serves as long as its key stays the same. The states say what each box looks
like now. `Drawing.fixed` is true if the structure depends on the graph and the opened steps alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qwf_agent.look.draw.visible import one_line
from qwf_agent.look.draw.words import counted
from qwf_agent.web.drawings.graph_boxes import (
    LONGEST_LABEL,
    MOST_BOXES,
    MOST_EDGES,
    BoxedGraph,
    GraphBox,
    in_blocks,
)
from qwf_agent.web.drawings.graph_nodes import Node

BAR_ORDER = (
    *("completed", "skipped", "failed", "cancelled", "running"),
    *("awaiting_input", "queued", "scheduled", "blocked"),
)
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


@dataclass(frozen=True)
class Drawing:
    """The data for a browser: two JSON documents with one key. `members` are the nodes of each
    box."""

    structure: dict[str, Any]
    states: dict[str, Any]
    members: dict[str, list[str]]
    fixed: bool

    @property
    def key(self) -> str:
        """Names the structure: two with the same key are the same."""
        return str(self.structure["key"])


def draw(
    nodes: Sequence[Node],
    opened: Collection[str] = (),
    titles: Mapping[str, str] | None = None,
) -> Drawing:
    """Draws the nodes in at most 150 boxes, in the order of the nodes.

    `opened` names the steps whose nodes are shown; unknown names are ignored. `titles` are those of
    steps.
    """
    graph = BoxedGraph(list({node.id: node for node in nodes}.values()), opened, titles or {})
    boxes = graph.boxes()
    shown = boxes if len(boxes) <= MOST_BOXES else graph.busiest(boxes)
    blocks, edges = in_blocks(shown, graph.edges(shown))
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


# What a box says ----------------------------------------------------------------------------------


def _described(box: GraphBox) -> dict[str, Any]:
    """A box without its state."""
    width, height = SIZES.get(box.kind, LARGE)
    one = {
        "id": box.id,
        "kind": box.kind,
        "label": one_line(box.label, LONGEST_LABEL),
        "detail": one_line(_detail(box), LONGEST_LABEL),
        "width": width,
        "height": height,
    }
    if box.frame is not None:
        one["frame"] = box.frame
    if all(node.takes_back for node in box.nodes):
        one["takes_back"] = True
    if box.kind == "step":
        one["opens"] = box.nodes[0].step
    return one


def _detail(box: GraphBox) -> str:
    """The second line of a box that has no state."""
    if box.kind == "step":
        return counted(len(box.nodes), "node")
    if box.kind == "input":
        return "a question"
    if box.kind == "rest":
        return ""
    task = box.nodes[0].task
    if len(box.nodes) == 1 and box.nodes[0].takes_back:
        return f"takes back {', '.join(box.nodes[0].takes_back)}"
    needed = box.nodes[0].min_success
    if box.kind == "map" and box.nodes[0].repeats:
        return f"{task}, turn after turn"
    if box.kind == "map":
        return f"{task}, for each" + (f", needs {needed}" if needed else "")
    return "" if box.kind == "stack" or task == box.label else task


def _state_of(box: GraphBox) -> dict[str, Any]:
    """The state of a box: its name, a line of text, and the shares of its bar."""
    state = box.state
    if state is None:
        return {}
    node = box.nodes[0]
    single = len(box.nodes) == 1
    counts = _in_order(node.elements) if single else _in_order(_states(box.nodes))
    one: dict[str, Any] = {
        "state": state,
        "text": one_line(_line(box, state, counts), LONGEST_LABEL),
    }
    if counts:
        one["counts"] = counts
    if single and not counts and state == "running" and (progress := _progress(node)) is not None:
        one["progress"] = progress
    if single and counts and (share := _needed_share(node)) is not None:
        one["needs"] = share
    if single and node.message:
        one["title"] = one_line(node.message, LONGEST_LABEL)
    if single and node.href:
        one["href"] = node.href
    return one


def _line(box: GraphBox, state: str, counts: Mapping[str, int]) -> str:
    """The state of a box, in words."""
    word = state.replace("_", " ")
    if not counts:
        progress = _progress(box.nodes[0]) if state == "running" else None
        return word if progress is None else f"{word} {progress:.0%}"
    if box.kind == "map" and box.nodes[0].message:
        return box.nodes[0].message
    total = sum(counts.values())
    done = counts.get("completed", 0) + counts.get("skipped", 0)
    if box.kind == "rest":
        return _counted(counts)
    loud = ("failed", "awaiting_input", "running", "cancelled")
    named = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in loud if counts.get(name)]
    if not named and done == total:
        return f"all {total:,} completed"
    return ", ".join([f"{done:,} of {total:,}", *(named[:2] or [word])])


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


def _digest(structure: Mapping[str, Any]) -> str:
    written = json.dumps(structure, sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
