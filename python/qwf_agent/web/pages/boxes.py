"""The boxes of the fleet: rows of views, put together for cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from qwf_agent.look.draw import words
from qwf_agent.web.reads.connections import Rows

MOST_DOTS = 16  # slots drawn one by one
HOLDING = ("starting", "ready", "draining", "stopping")  # states of a server with a process
ON = ("idle", "busy")  # states of a worker that takes orders
SET = ("only_server", "set_parallel", "set_idle")


@dataclass
class QueueServers:
    """The model servers that serve a queue on a box: those in trouble first."""

    queue: str
    servers: Rows

    @property
    def chosen(self) -> dict[str, Any]:
        """Settings of operators: only_server, set_parallel and set_idle."""
        return self.servers[0]

    @property
    def is_set(self) -> bool:
        """True if anything is set, so that the agent's configuration does not count."""
        return any(self.chosen[name] is not None for name in SET)


@dataclass
class Box:
    """A box: its row of box_overview, its workers that are not dead, and its model servers."""

    row: dict[str, Any]
    workers: Rows = field(default_factory=list)
    served: list[QueueServers] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.row["host"])

    @property
    def servers(self) -> Rows:
        """Its model servers."""
        return [server for served in self.served for server in served.servers]

    def models_on(self, card: dict[str, Any] | None) -> Rows:
        """The models that its agents have loaded on a card; None: on no card that is known."""
        known = {one["id"] for one in self.row["cards"]}
        return [
            model
            for model in self.row["models"]
            if (model["card"] == card["id"] if card else model["card"] not in known)
        ]

    def servers_on(self, card: dict[str, Any]) -> Rows:
        """The model servers that have memory of a card, as far as they are configured."""
        return [
            server
            for server in self.servers
            if server["state"] in HOLDING and server["card"] in (card["id"], "all")
        ]

    def loadable(self, worker: dict[str, Any]) -> list[str]:
        """The models to offer for loading at a worker: those of its servers that somebody can
        start, and the others of its agent once, at the first of its workers that is on."""
        agent = [one for one in self.workers if one["agent"] == worker["agent"]]
        ours = {one["worker"] for one in agent}
        servers = [server for server in self.servers if server["worker"] in ours]
        found = {
            model
            for server in servers
            if server["worker"] == worker["worker"] and server["state"] != "not chosen"
            and (not server["external"] or server["kind"] == "ollama")
            for model in server["models"]
        }  # fmt: skip
        if worker is next((one for one in agent if one["state"] in ON), None):
            served = {model for server in servers for model in server["models"]}
            found |= set(worker["models"] or ()) - served
        return sorted(found) if worker["state"] in ON else []


def boxes(rows: Rows, workers: Rows, servers: Sequence[dict[str, Any]] = ()) -> list[Box]:
    """The boxes by name, without those of whose workers none is among the given ones."""
    of_host: defaultdict[str, Rows] = defaultdict(list)
    for worker in workers:
        if worker["live"]:
            of_host[worker["host"]].append(worker)
    return [
        Box(
            row,
            of_host[row["host"]],
            _by_queue([server for server in servers if server["host"] == row["host"]]),
        )
        for row in sorted(rows, key=lambda row: str(row["host"]))
        if row["host"] in of_host or not row["workers"]
    ]


def dots(worker: dict[str, Any]) -> list[bool]:
    """The slots of a worker, true for those in use; empty if there are too many to draw."""
    slots, running = int(worker["slots"] or 0), int(worker["running"] or 0)
    most = max(slots, running)
    return [] if most > MOST_DOTS else [place < running for place in range(most)]


def _by_queue(of_box: Rows) -> list[QueueServers]:
    """The model servers of a box by queue."""
    queues = sorted({server["queue"] for server in of_box})
    return [
        QueueServers(
            queue, sorted((s for s in of_box if s["queue"] == queue), key=words.by_trouble)
        )
        for queue in queues
    ]
