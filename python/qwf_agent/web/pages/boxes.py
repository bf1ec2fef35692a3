"""The boxes of the fleet: what their workers and samples say, put together for cards.

Agents send samples and statistics as they like, so every value is checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from qwf_agent.look.draw import words
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import sequence
from qwf_agent.web.reads.listen import number

MIB = 2**20
MOST_DOTS = 16  # slots drawn one by one
MOST_CARDS = 64
HOT = 90  # percent
HOLDING = ("starting", "ready", "draining", "stopping")  # states of a server with a process
ON = ("idle", "busy")  # states of a worker that takes orders
SET = ("only_server", "set_parallel", "set_idle")


@dataclass
class Model:
    """A model that a worker has loaded."""

    name: str
    queues: list[str]  # of its agent, first one whose worker takes orders
    busy: bool
    warm_s: float | None  # since it was loaded
    left_s: float | None  # until it is unloaded, if no job needs it; None while it is in use


@dataclass
class Card:
    """A card, the models in it, and the model servers that hold a part of it."""

    id: str
    use: float | None
    vram_used: float | None  # bytes
    vram_total: float | None
    models: list[Model] = field(default_factory=list)
    servers: Rows = field(default_factory=list)


@dataclass
class Served:
    """The model servers that serve a queue on a box: those in trouble first."""

    queue: str
    servers: Rows

    @property
    def chosen(self) -> dict[str, Any]:
        """What is set for them: only_server, set_parallel and set_idle."""
        return self.servers[0]

    @property
    def is_set(self) -> bool:
        """True if anything is set, so that the agent's configuration does not count."""
        return any(self.chosen[name] is not None for name in SET)


@dataclass
class Box:
    """A box: its last sample, its cards, and its workers that have not stopped."""

    name: str
    sample: dict[str, Any] | None = None
    workers: Rows = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)  # those on no known card
    served: list[Served] = field(default_factory=list)
    loads: int = 0
    load_s: float = 0.0
    avoided: int = 0

    @property
    def agents(self) -> list[Rows]:
        """Its workers by agent: those of one process share its slots, models and servers."""
        found: dict[Any, Rows] = {}
        seen: Counter[Any] = Counter()  # agents in containers may have the same process id
        for worker in self.workers:
            process, queue = worker["pid"] or worker["worker"], worker["queue"]
            found.setdefault((process, seen[process, queue]), []).append(worker)
            seen[process, queue] += 1
        return list(found.values())

    @property
    def slots(self) -> int:
        """Bodies that its agents run at once."""
        return sum(max(int(one["slots"] or 0) for one in agent) for agent in self.agents)

    @property
    def running(self) -> int:
        """Bodies that run."""
        return sum(int(worker["running"] or 0) for worker in self.workers)

    @property
    def servers(self) -> Rows:
        """Its model servers."""
        return [server for served in self.served for server in served.servers]

    def loadable(self, worker: dict[str, Any]) -> list[str]:
        """The models to offer for loading at a worker: those of its servers that somebody can
        start, and the others of its agent once, at the first of its workers that is on."""
        agent = next(one for one in self.agents if worker in one)
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

    @property
    def versions(self) -> list[str]:
        """Versions of its agents."""
        return sorted({str(worker["version"]) for worker in self.workers if worker["version"]})


def boxes(
    workers: Rows, samples: Rows, model_idle_s: float, servers: Sequence[dict[str, Any]] = ()
) -> list[Box]:
    """The boxes with a live worker or a sample of the last minute, by name."""
    found: dict[str, Box] = {}
    for sample in samples:
        box = found.setdefault(sample["host"], Box(sample["host"]))
        box.sample = sample
        box.cards = [_card(card, place) for place, card in enumerate(_dicts(sample["gpus"]))]
    for worker in workers:
        if worker["state"] != "dead":
            box = found.setdefault(worker["host"], Box(worker["host"]))
            box.workers.append(worker)
    for box in found.values():
        for agent in box.agents:
            _add_statistics(box, agent, model_idle_s)
        of_box = [server for server in servers if server["host"] == box.name]
        box.served = _served(of_box)
        for card in box.cards:
            card.servers = [server for server in of_box if _holds(server, card)]
    return [found[name] for name in sorted(found)]


def dots(worker: dict[str, Any]) -> list[bool]:
    """The slots of a worker, true for those in use; empty if there are too many to draw."""
    slots, running = int(worker["slots"] or 0), int(worker["running"] or 0)
    most = max(slots, running)
    return [] if most > MOST_DOTS else [place < running for place in range(most)]


def percent(part: Any, whole: Any) -> float | None:
    """How much of the whole a part is, 0 to 100; None if that makes no sense."""
    part, whole = number(part), number(whole)
    return None if part is None or not whole else max(0.0, min(100.0, 100.0 * part / whole))


def _card(given: dict[str, Any], place: int) -> Card:
    used, total = number(given.get("vram_used_mb")), number(given.get("vram_total_mb"))
    return Card(
        str(given.get("id", place))[:100],
        number(given.get("use_pct")),
        None if used is None else used * MIB,
        None if total is None else total * MIB,
    )


def _add_statistics(box: Box, agent: Rows, model_idle_s: float) -> None:
    """Add what an agent reports. All its workers report the same."""
    worker, *_ = agent = sorted(agent, key=lambda one: one["state"] not in ON)
    queues = [one["queue"] for one in agent]
    statistics = worker["stats"] if isinstance(worker["stats"], dict) else {}
    box.loads += int(number(statistics.get("model_loads")) or 0)
    box.load_s += number(statistics.get("model_load_s")) or 0.0
    box.avoided += int(number(statistics.get("swaps_avoided")) or 0)
    silent_s = worker["last_seen"].total_seconds()
    for held in _dicts(statistics.get("models")):
        if isinstance(held.get("model"), str):
            model = _model(held, queues, silent_s, model_idle_s)
            card = next((one for one in box.cards if one.id == str(held.get("card"))), None)
            (card or box).models.append(model)


def _model(held: dict[str, Any], queues: list[str], silent_s: float, model_idle_s: float) -> Model:
    warm_s, idle_s = number(held.get("warm_s")), number(held.get("idle_s"))
    busy = bool(held.get("busy"))
    return Model(
        held["model"],
        queues,
        busy,
        None if warm_s is None else warm_s + silent_s,
        None if busy or idle_s is None else max(0.0, model_idle_s - idle_s - silent_s),
    )


def _served(of_box: Rows) -> list[Served]:
    """The model servers of a box by queue."""
    queues = sorted({server["queue"] for server in of_box})
    return [
        Served(queue, sorted((s for s in of_box if s["queue"] == queue), key=words.by_trouble))
        for queue in queues
    ]


def _holds(server: dict[str, Any], card: Card) -> bool:
    """Whether a process of the server has memory of the card, as far as it is configured."""
    return server["state"] in HOLDING and server["card"] in (card.id, "all")


def _dicts(given: Any) -> Sequence[dict[str, Any]]:
    return [item for item in sequence(given)[:MOST_CARDS] if isinstance(item, dict)]


def trend(points: Iterable[tuple[float, float | None]], length: int) -> list[float | None]:
    """The values by age in minutes, oldest first; None for a minute that nobody looked at."""
    values: list[float | None] = [None] * length
    for age, value in points:
        if 0 <= age < length:
            values[length - 1 - int(age)] = value
    return values
