"""The nodes of a graph to draw, as the functions of the engine return them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ENDED = {"completed", "failed", "cancelled", "skipped"}


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
    takes_back: tuple[str, ...] = ()  # of a compensation node: the nodes it compensates
    repeats: bool = False  # its elements are turns
    status: str | None = None
    progress: float | None = None
    message: str | None = None
    elements: Mapping[str, int] = field(default_factory=dict)  # of a map: how many in each state
    href: str | None = None

    @property
    def name(self) -> str:
        """The name for people: its title, or its id within its step."""
        return self.title or self.id.removeprefix(f"{self.step}/")

    @property
    def state(self) -> str | None:
        """A map counts as running while its elements run, though its own row is blocked."""
        busy = any(name not in ENDED for name in self.elements)
        return "running" if self.status == "blocked" and busy else self.status


def nodes_of(document: Mapping[str, Any], link: Callable[[int], str]) -> list[Node]:
    """The nodes of a document of qwf.run_graph() or qwf.workflow_graph(), in the order of idx.

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
            takes_back=tuple(row.get("compensates") or ()),
            repeats="repeat" in row,
            status=row.get("status"),
            progress=row.get("progress"),
            message=row.get("error") or row.get("message"),
            elements=row.get("elements") or {},
            href=link(row["job_id"]) if row.get("job_id") is not None else None,
        )
        for idx, row in sorted(rows.items())
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
