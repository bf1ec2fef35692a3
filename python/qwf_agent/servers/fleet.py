"""All model servers of an agent: which one is started, stopped or switched to another model."""

from __future__ import annotations

import selectors
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.process import ServerProcess
from qwf_agent.servers.server import READY, Demand, ExternalServer, OwnServer, Server
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

NOTHING = Demand()


class Wish(NamedTuple):
    """What operators and settings say. `policy` None: serve; pause: serve, and stop nothing that is
    idle; drain: stop what is idle, start nothing; hard: stop everything now; other: wait."""

    policy: str | None
    affinity_s: float  # how long a model may wait for a server that serves another one
    start_timeout_s: float


class Orders(NamedTuple):
    """What operators set for the servers of a worker; None: as they are configured."""

    server: str | None = None  # only this one serves
    parallel: int | None = None
    idle_s: float | None = None


class Cards:
    """Estimates of the memory that is used on the cards of the box, MiB."""

    def __init__(self, sizes_mb: Mapping[str, int]) -> None:
        self._sizes_mb = sizes_mb

    def fits(self, wanted_mb: int, card: str, used_mb: Mapping[str, int]) -> bool:
        """Whether so much more fits on a card. What is on all cards counts on each. True if the
        size of the card is not known."""
        if card == "none" or not self._sizes_mb:
            return True
        if card == "all":
            return wanted_mb + sum(used_mb.values()) <= sum(self._sizes_mb.values())
        size_mb = self._sizes_mb.get(card)
        used = used_mb.get(card, 0) + used_mb.get("all", 0)
        return size_mb is None or wanted_mb + used <= size_mb


class Fleet:
    """Steps the servers, and decides between them."""

    def __init__(
        self,
        configs: tuple[ServerConfig, ...],
        cards: Cards,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        groups: ControlGroups | None,
    ) -> None:
        self._cards = cards
        self.own: list[OwnServer] = []
        self.servers: list[Server] = []
        for config in configs:
            if config.external:
                self.servers.append(ExternalServer(config, selector))
                continue
            group = None if groups is None else groups.make(limited=False)
            server = OwnServer(config, selector, partial(ServerProcess, selector, guardian, group))
            self.own.append(server)
            self.servers.append(server)

    def apply(self, orders: Orders) -> None:
        """Follow what operators have set."""
        known = any(server.config.name == orders.server for server in self.servers)
        for server in self.servers:
            config = server.config
            server.enabled = orders.server == config.name or not known
            server.parallel = orders.parallel or config.parallel
            server.idle_s = config.idle if orders.idle_s is None else orders.idle_s
            server.changed = True

    def models(self) -> list[str]:
        """The names of the models that can be had now."""
        names = {model.name for server in self.servers for model in server.config.models}
        return sorted(name for name in names if self.choice(name))

    def choice(self, model: str) -> list[Server]:
        """The servers that may serve the model, those that are ready for it first."""
        found = [server for server in self.servers if server.may_serve(model)]
        return sorted(found, key=lambda server: not server.is_ready_for(model))

    def announced(self) -> list[dict[str, Any]]:
        """What a worker registers about them."""
        return [server.config.announced(server.parallel, server.idle_s) for server in self.servers]

    def take_changes(self) -> bool:
        """Whether a server has changed its state since the last call."""
        changed = any(server.changed for server in self.servers)
        for server in self.servers:
            server.changed = False
        return changed

    def step(
        self, now: float, demands: Mapping[str, Demand], wish: Wish, used_mb: Mapping[str, int]
    ) -> None:
        """Let each server do what is due, then start, switch and stop. `used_mb` is what others
        use on each card."""
        for server in self.servers:
            server.step(now, demands.get(server.config.name, NOTHING))
        for server in self.own:
            demand = demands.get(server.config.name, NOTHING)
            server.keep = wish.policy == "pause"
            if wish.policy == "hard":
                server.kill(now)
            elif wish.policy == "drain" or not server.enabled:
                server.drain(now)
            elif wish.policy in (None, "pause"):
                self._serve(server, demand, now, wish, used_mb)

    def _serve(
        self, server: OwnServer, demand: Demand, now: float, wish: Wish, used_mb: Mapping[str, int]
    ) -> None:
        """Start the server for what waits for it, or switch it to another model."""
        wanted = server.wanted(demand)
        if server.due_for_retry(now):
            wanted = next(iter(demand.waiting), server.config.models[0].name)
            if self._has_room(server, wanted, used_mb):
                server.start(wanted, now, wish.start_timeout_s)
        elif wanted is None:
            return
        elif server.may_start:
            patient = now < demand.waiting[wanted] + wish.affinity_s
            if self._make_room(server, wanted, now, used_mb, patient):
                server.start(wanted, now, wish.start_timeout_s)
        elif server.state == READY:
            self._switch(server, demand, now, wish)

    def _switch(self, server: OwnServer, demand: Demand, now: float, wish: Wish) -> None:
        """Let the server end with its model if another one waits and either nobody needs its own,
        or the other has waited long enough."""
        others = {name: at for name, at in demand.waiting.items() if name != server.model}
        if server.model is None or not others:
            return
        longest = min(others, key=lambda name: others[name])
        in_use = demand.inflight or server.model in demand.waiting
        if not in_use or now >= others[longest] + wish.affinity_s:
            server.drain(now, longest)

    def _make_room(
        self, server: OwnServer, model: str, now: float, used_mb: Mapping[str, int], patient: bool
    ) -> bool:
        """Whether the card of the server has room for the model. If it has none, idle servers of
        that card are stopped, those that load fastest first; unless `patient`, busy ones too."""
        if self._has_room(server, model, used_mb):
            return True
        card = server.config.card
        others = [
            other for other in self.own
            if other is not server and other.state == READY and other.vram_mb(other.model)
            and (other.config.card == card or "all" in (card, other.config.card))
        ]  # fmt: skip
        if not any(other.state != READY and other.has_process for other in self.own):
            idle = [other for other in others if not other.busy]
            for other in sorted(
                idle or ([] if patient else others), key=lambda one: one.load_s or 0
            ):
                other.drain(now)
                break
        server.error = f"card {card}: no room for {server.vram_mb(model)} MiB"
        return False

    def _has_room(self, server: OwnServer, model: str, used_mb: Mapping[str, int]) -> bool:
        """Whether the card has room for the model beside all that is on it."""
        used = dict(used_mb)
        for other in self.own:
            if other is not server and other.has_process:
                card = other.config.card
                used[card] = used.get(card, 0) + other.vram_mb(other.model)
        one = model if server.config.one_at_a_time else None
        return self._cards.fits(server.vram_mb(one), server.config.card, used)

    def is_down(self) -> bool:
        """Whether no process is left."""
        return not any(server.has_process for server in self.own)

    def next_at(self) -> float:
        """When a server has something to do."""
        return min((server.next_at() for server in self.servers), default=float("inf"))
