"""Compiled graphs as they are stored. They never change, so they are read once for all who look."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

MOST_KEPT = 30_000  # graphs, nodes and edges together: at most about 20 MB
STORED = "select qwf.workflow_graph(graph_id => %(graph)s::bigint) as graph"

Document = Mapping[str, Any]
Made = TypeVar("Made")


class StoredGraphs:
    """The documents of qwf.workflow_graph() for stored graphs that were asked for last.

    A document is known by the id of its graph and by the time when that was compiled: a database
    that is made again under the same name has other graphs with the same ids. Invariant: the
    graphs that are kept, their nodes and their edges are at most MOST_KEPT together.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, datetime], Document] = OrderedDict()
        self._made: dict[int, tuple[Document, Any]] = {}  # by the identity of a kept document

    def find(self, graph: int, compiled_at: datetime) -> Document | None:
        """The document, if it is kept."""
        key = (graph, compiled_at)
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, graph: int, compiled_at: datetime, document: Document) -> None:
        """Keep a document, instead of those that nobody has asked for in the longest time."""
        self._kept[graph, compiled_at] = document
        while sum(map(_weight, self._kept.values())) > MOST_KEPT:
            _, dropped = self._kept.popitem(last=False)
            self._made.pop(id(dropped), None)

    def made_of(self, document: Document, make: Callable[[Document], Made]) -> Made:
        """The result of `make` for a document, made once for as long as that is kept. All callers
        pass the same function."""
        made = self._made.get(id(document))
        if made is not None and made[0] is document:
            return cast("Made", made[1])
        result = make(document)
        if any(kept is document for kept in self._kept.values()):
            self._made[id(document)] = (document, result)
        return result


def _weight(document: Document) -> int:
    return 1 + len(document["nodes"]) + len(document["edges"])
