"""Compiled graphs as they are stored. They never change, so they are read once for all who look."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qwf_agent.web.database import Look

MOST_KEPT = 30_000  # graphs, nodes and edges together: at most about 20 MB
STORED = "select qwf.stored_graph(%(graph)s::bigint) as graph"

Document = Mapping[str, Any]


class StoredGraphs:
    """The documents of qwf.stored_graph() that were asked for last.

    Invariant: the graphs that are kept, their nodes and their edges are at most MOST_KEPT together.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, datetime], Document] = OrderedDict()

    async def read(self, look: Look, graph: int, created_at: datetime) -> Document:
        """The document of a graph. Raises psycopg.Error: QW001 if the graph is gone.

        `created_at` tells it from a graph of a database that was made again under the same name.
        """
        key = (graph, created_at)
        document = self._kept.get(key)
        if document is None:
            document = await look.value(STORED, graph=graph)
            self._keep(key, document)
        else:
            look.has(STORED, graph=graph)
            self._kept.move_to_end(key)
        return document

    def _keep(self, key: tuple[int, datetime], document: Document) -> None:
        self._kept[key] = document
        self._kept.move_to_end(key)
        while sum(map(_weight, self._kept.values())) > MOST_KEPT:
            self._kept.popitem(last=False)


def _weight(document: Document) -> int:
    return 1 + len(document["nodes"]) + len(document["edges"])
