"""Compiled graphs as they are stored. They never change, so they are read once for all who look."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

MOST_KEPT = 30_000  # graphs, nodes and edges together: at most about 20 MB
STORED = "select qwf.stored_graph(%(graph)s::bigint) as graph"

Document = Mapping[str, Any]


class StoredGraphs:
    """The documents of qwf.stored_graph() that were asked for last.

    A document is known by the id of its graph and by the time when that was compiled: a database
    that is made again under the same name has other graphs with the same ids. Invariant: the
    graphs that are kept, their nodes and their edges are at most MOST_KEPT together.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, datetime], Document] = OrderedDict()

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
            self._kept.popitem(last=False)


def _weight(document: Document) -> int:
    return 1 + len(document["nodes"]) + len(document["edges"])
