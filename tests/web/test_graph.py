"""Which boxes a graph is drawn with."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwf_agent.web.drawings import graph_nodes, map_cells
from qwf_agent.web.drawings.graph import Drawing, draw
from qwf_agent.web.drawings.graph_boxes import LONGEST_LABEL, MOST_BOXES, MOST_EDGES
from qwf_agent.web.drawings.graph_nodes import Node
from support.poison import STRANGE
from support.thorough import THOROUGH

STATES = list(map_cells.LETTERS)


def chain(count: int, step: str = "a", status: str | None = "completed") -> list[Node]:
    """Nodes of one step, each of which needs the one before it."""
    return [
        Node(f"{step}/n{i}", step, "work", (f"{step}/n{i - 1}",) if i else (), status=status)
        for i in range(count)
    ]


def fan(count: int, step: str = "a") -> list[Node]:
    """One node, `count` equal ones that need it, and one that needs them."""
    first = Node(f"{step}/list", step, "list", status="completed")
    middle = [
        Node(f"{step}/score{i}", step, "score", (first.id,), status="queued") for i in range(count)
    ]
    last = Node(f"{step}/merge", step, "merge", tuple(n.id for n in middle), status="blocked")
    return [first, *middle, last]


def boxes(drawing: Drawing) -> dict[str, Any]:
    return {box["id"]: box for box in drawing.structure["boxes"]}


def box_of(drawing: Drawing, node: str) -> dict[str, Any]:
    """The box that a node is in, with its state."""
    name = next(name for name, members in drawing.members.items() if node in members)
    return {**boxes(drawing)[name], **drawing.states["boxes"][name]}


@st.composite
def graphs(draw_: st.DrawFn) -> list[Node]:
    """Up to 420 nodes in steps of any size, in an order in which each needs only earlier ones."""
    sizes = draw_(st.lists(st.integers(1, 160), min_size=1, max_size=6))
    if draw_(st.booleans()):
        sizes += [1] * draw_(st.integers(0, 170))
    random = Random(draw_(st.integers(0, 1 << 32)))  # draws from hypothesis would be too many
    alike = draw_(st.sampled_from([1, 3, 40]))
    ended = draw_(st.sampled_from([[None], ["completed"], STATES, ["completed", "blocked"]]))
    nodes: list[Node] = []
    for step, size in enumerate(sizes):
        for number in range(size):
            earlier = nodes[-alike * 2 : -alike] or nodes[:1]
            needs = random.sample(earlier, min(len(earlier), random.randrange(4)))
            nodes.append(
                Node(
                    f"s{step}/n{number}",
                    f"s{step}",
                    random.choice(["load", "score"]),
                    tuple(node.id for node in needs),
                    status=random.choice(ended),
                )
            )
    return nodes


@settings(max_examples=150 if THOROUGH else 50)
@given(nodes=graphs(), opened=st.sets(st.sampled_from([f"s{i}" for i in range(8)])))
def test_every_node_is_in_one_of_at_most_150_boxes_that_edges_join(
    nodes: list[Node], opened: set[str]
) -> None:
    drawing = draw(nodes, opened)
    assert len(boxes(drawing)) <= MOST_BOXES
    members = [name for names in drawing.members.values() for name in names]
    assert sorted(members) == sorted(node.id for node in nodes)
    assert set(drawing.members) == set(boxes(drawing)) == set(drawing.states["boxes"])
    json.dumps([drawing.structure, drawing.states], allow_nan=False)
    structure = drawing.structure
    frame_of = {box["id"]: box.get("frame") for box in structure["boxes"]}
    frames = {frame["step"] for frame in structure["frames"]}
    blocked: list[str] = [name for block in structure["blocks"] for name in block["boxes"]]
    assert len(set(blocked)) == len(blocked)
    for block in structure["blocks"]:
        assert {frame_of[name] for name in block["boxes"]} == {block["frame"]}
    ends = (set(frame_of) - set(blocked)) | {block["id"] for block in structure["blocks"]}
    edges = [tuple(edge) for edge in structure["edges"]]
    assert {end for edge in edges for end in edge} <= ends
    assert all(start != end for start, end in edges)
    assert len(set(edges)) == len(edges) <= MOST_EDGES
    assert set(frame_of.values()) - {None} == frames


@settings(max_examples=60)
@given(nodes=graphs(), seed=st.integers(0, 99))
def test_a_status_change_moves_nothing_in_a_fixed_drawing(nodes: list[Node], seed: int) -> None:
    random = Random(seed)
    before = draw(nodes)
    after = draw([replace(node, status=random.choice(STATES)) for node in nodes])
    if before.fixed and after.fixed:
        assert before.structure == after.structure


def test_up_to_150_nodes_each_have_a_box() -> None:
    drawing = draw(chain(MOST_BOXES))
    assert {box["kind"] for box in boxes(drawing).values()} == {"node"}
    assert drawing.structure["frames"][0]["opened"] is False


def test_a_larger_graph_has_a_box_for_each_step_with_its_states() -> None:
    nodes = [*chain(100, "a"), *chain(100, "b", "running"), Node("ask", "ask", "input", ("b/n99",))]
    drawing = draw(nodes)
    assert [box["label"] for box in boxes(drawing).values()] == ["a", "b", "ask"]
    assert box_of(drawing, "a/n5")["opens"] == "a"
    assert box_of(drawing, "b/n5")["counts"] == {"running": 100}
    assert box_of(drawing, "a/n5")["text"] == "all 100 completed"
    assert box_of(draw(chain(200, status="queued")), "a/n5")["text"] == "0 of 200, queued"


def test_an_opened_step_stacks_nodes_with_equal_task_dependencies_and_dependants() -> None:
    drawing = draw([*fan(400), *chain(3, "b")], ["a", "no such step"])
    labels = [box["label"] for box in boxes(drawing).values() if box.get("frame") == "a"]
    assert labels == ["list", "score \u00d7 400", "merge"]
    assert drawing.structure["frames"] == [{"id": "f0", "step": "a", "label": "a", "opened": True}]
    assert box_of(drawing, "a/score7")["counts"] == {"queued": 400}


def test_a_step_without_equal_nodes_shows_what_is_busy_and_its_neighbours() -> None:
    nodes = chain(1000)
    nodes[500] = replace(nodes[500], status="failed")
    nodes[700] = replace(nodes[700], status="running")
    drawing = draw(nodes, ["a"])
    kinds = [box["kind"] for box in boxes(drawing).values()]
    assert kinds == ["node"] * 6 + ["rest"]
    shown = {name for names in drawing.members.values() if len(names) == 1 for name in names}
    assert shown == {f"a/n{i}" for i in (499, 500, 501, 699, 700, 701)}
    assert box_of(drawing, "a/n0")["label"] == "and 994 more"
    assert box_of(drawing, "a/n0")["text"] == "994 completed"
    assert not drawing.fixed
    rest = next(box["id"] for box in boxes(drawing).values() if box["kind"] == "rest")
    assert rest not in {end for edge in drawing.structure["edges"] for end in edge}
    assert len(drawing.structure["edges"]) == 4


def test_the_most_urgent_come_first_if_too_much_is_busy() -> None:
    nodes = chain(1000, status="queued")
    nodes[900] = replace(nodes[900], status="failed")
    drawing = draw(nodes, ["a"])
    assert len(boxes(drawing)) == MOST_BOXES
    assert box_of(drawing, "a/n900")["kind"] == "node"


def test_a_large_step_in_which_nothing_is_busy_shows_its_first_nodes() -> None:
    for status in (None, "completed"):
        drawing = draw(chain(1000, status=status), ["a"])
        assert len(boxes(drawing)) == MOST_BOXES
        assert box_of(drawing, "a/n0")["kind"] == "node"


def test_the_rest_of_more_than_150_steps_is_one_box() -> None:
    nodes = [node for i in range(400) for node in chain(1, f"s{i}", "blocked")]
    drawing = draw(nodes)
    assert len(boxes(drawing)) == MOST_BOXES
    assert box_of(drawing, "s399/n0")["kind"] == "rest"


def test_siblings_with_the_same_neighbours_are_one_block_with_one_edge() -> None:
    drawing = draw(fan(100))
    (block,) = drawing.structure["blocks"]
    assert len(block["boxes"]) == 100
    assert drawing.structure["edges"] == [("n0", block["id"]), (block["id"], "n101")]


def test_a_dense_graph_is_collapsed_though_it_has_few_nodes() -> None:
    left = [Node(f"a/n{i}", "a", f"t{i}") for i in range(40)]
    right = [Node(f"b/n{i}", "b", f"t{i}", tuple(n.id for n in left[i:])) for i in range(40)]
    drawing = draw([*left, *right])
    assert [box["kind"] for box in boxes(drawing).values()] == ["step", "step"]
    opened = draw([*left, *right], ["a", "b"])
    assert len(opened.structure["edges"]) == MOST_EDGES
    assert opened.structure["edges_left_out"] == 820 - MOST_EDGES


def test_a_map_is_one_box_with_counts_and_what_it_needs() -> None:
    counts = {"blocked": 9000, "completed": 862, "failed": 3, "running": 135}
    node = Node("a/m", "a", "score", kind="map", min_success="90%", status="blocked")
    assert draw([node]).structure["boxes"][0]["detail"] == "score, for each, needs 90%"
    box = box_of(draw([replace(node, elements=counts)]), "a/m")
    assert box["state"] == "running"
    assert box["text"] == "862 of 10,000, 3 failed, 135 running"
    assert list(box["counts"]) == ["completed", "failed", "running", "blocked"]
    assert box["needs"] == 0.9
    five = replace(node, elements={"completed": 10}, min_success="5", status="completed")
    assert box_of(draw([five]), "a/m")["needs"] == 0.5
    assert draw([node]).key == draw([replace(node, elements=counts)]).key


@pytest.mark.parametrize("progress", [float("nan"), float("inf"), -1.0, 2.0, None])
def test_a_progress_that_is_no_fraction_is_not_drawn(progress: float | None) -> None:
    node = Node("a", "a", "work", status="running", progress=progress)
    assert draw([node]).states["boxes"]["n0"] == {"state": "running", "text": "running"}
    half = draw([replace(node, progress=0.5)]).states["boxes"]["n0"]
    assert (half["progress"], half["text"]) == (0.5, "running 50%")


def test_a_definition_has_no_states() -> None:
    drawing = draw(chain(3, status=None))
    assert drawing.states["boxes"] == {"n0": {}, "n1": {}, "n2": {}}
    assert drawing.key == draw(chain(3)).key


def test_nothing_to_draw_is_drawn() -> None:
    assert draw([]).structure["boxes"] == []


def test_needs_of_unknown_nodes_and_ids_that_come_twice_do_no_harm() -> None:
    nodes = [Node("a", "a", "x", ("gone", "a")), Node("a", "a", "y"), Node("b", "b", "z", ("a",))]
    drawing = draw(nodes)
    assert drawing.members == {"n0": ["a"], "n1": ["b"]}
    assert drawing.structure["edges"] == [("n0", "n1")]


def test_unseen_characters_are_shown_and_long_names_are_cut() -> None:
    node = Node(f"a/{STRANGE}", "a", "x" * 5000, status="running", message=STRANGE * 9)
    drawing = draw([node, Node("a/b", "a", "b")])
    written = json.dumps([drawing.structure["boxes"], drawing.states], ensure_ascii=False)
    assert not set(written) & {"\x1b", "\u202e", "\u200b", "\x07", "\u2028"}
    assert max(len(box["detail"]) for box in boxes(drawing).values()) == LONGEST_LABEL


def test_the_nodes_are_read_from_the_documents_of_the_database() -> None:
    first = {"idx": 0, "id": "a/b", "step": "a", "task": "t", "title": "Load"}
    asked = {"idx": 1, "id": "ask", "step": "ask", "task": "input", "asks": {"widget": "text"}}
    many = {"idx": 2, "id": "a/m", "step": "a", "task": "t", "map": True, "min_success": "9"}
    document = {"nodes": [many, asked, first], "edges": [[0, 1], [1, 2], [0, 2], [7, 0]]}
    nodes = graph_nodes.nodes_of(document, lambda job: f"/jobs/{job}")
    assert [node.kind for node in nodes] == ["node", "input", "map"]
    assert [node.needs for node in nodes] == [(), ("a/b",), ("ask", "a/b")]
    assert nodes[0] == Node("a/b", "a", "t", title="Load")
    first |= {"job_id": 7, "status": "running", "progress": 0.5, "message": "half"}
    many |= {"job_id": 9, "status": "blocked", "elements": {"queued": 3}}
    told = graph_nodes.nodes_of(document, lambda job: f"/jobs/{job}")
    assert (told[0].status, told[0].message, told[0].href) == ("running", "half", "/jobs/7")
    assert (told[1], told[2].state) == (nodes[1], "running")
    assert draw(nodes).key == draw(told).key


def test_titles_are_shown_in_place_of_ids() -> None:
    document = {"steps": [{"id": "a", "title": "Find houses"}, {"id": "b"}]}
    titles = graph_nodes.titles_of(document)
    nodes = [*chain(100, "a"), *chain(100, "b")]
    nodes[5] = replace(nodes[5], title="Load pictures")
    drawn = draw(nodes, titles=titles)
    assert [box["label"] for box in boxes(drawn).values()] == ["Find houses", "b"]
    assert box_of(drawn, "a/n5")["opens"] == "a"
    opened = draw(nodes, ["a"], titles)
    assert opened.structure["frames"][0]["label"] == "Find houses"
    assert box_of(opened, "a/n5")["label"] == "Load pictures"


def test_cells_are_a_letter_for_each_element() -> None:
    pairs = [(0, "completed"), (3, "awaiting_input"), (9, "failed"), (-1, "failed"), (1, "new")]
    assert map_cells.cells(pairs, 5) == "c..a."
    assert len(map_cells.cells([], 10_000)) == 10_000
    assert len(set(map_cells.LETTERS.values())) == len(map_cells.LETTERS)
    assert map_cells.cells_document(pairs, 1)["states"]["c"] == "completed"
