"""All model servers of an agent: which one is started, stopped or switched to another model."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Iterable, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from qwf_agent.servers.cards import CardMemory, Need, Resident, share_memory
from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.own_server import OwnServer
from qwf_agent.servers.process import ServerProcess
from qwf_agent.servers.server import (
    ASLEEP,
    OFF,
    READY,
    STARTING,
    Demand,
    ExternalServer,
    ModelServer,
)
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

NOTHING = Demand()
Turn = tuple[float, float]  # since when it waits, and when it last made room for others
LATE, LONG_AGO = float("inf"), float("-inf")


class Wish(NamedTuple):
    """Orders of operators and settings. `policy` None: serve; pause: serve, and stop nothing that
    is idle; drain: stop what is idle, start nothing; hard: stop everything now; other: wait."""

    policy: str | None
    affinity_s: float  # how long a model may wait for a server that serves another one
    start_timeout_s: float


class Orders(NamedTuple):
    """Settings that operators made for the servers of a worker; None: as they are configured."""

    server: str | None = None  # only this one serves
    parallel: int | None = None
    idle_s: float | None = None


class ServerFleet:
    """Steps the servers, and decides between them."""

    def __init__(
        self,
        configs: tuple[ServerConfig, ...],
        cards: CardMemory,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        groups: ControlGroups | None,
        box: str,
    ) -> None:
        self.cards = cards
        self._held: dict[object, Resident] = {}  # what children hold on cards
        self._children: dict[object, Resident] = {}  # the same with what they may load now
        self._evicted_at: dict[object, float] = {}  # when a server or a child made room last
        self.own: list[OwnServer] = []
        self.servers: list[ModelServer] = []
        for config in configs:
            if config.url is not None:
                self.servers.append(ExternalServer(config, config.url, selector))
                continue
            group = None if groups is None else groups.make(limited=False)
            server = OwnServer(
                config, selector, partial(ServerProcess, selector, guardian, group),
                partial(ServerProcess, selector, guardian, None),
            )  # fmt: skip
            server.too_big = self._too_big(server)
            self.own.append(server)
            self.servers.append(server)
        for one in self.servers:
            one.box = box

    def _too_big(self, server: OwnServer) -> dict[str, str]:
        """The models of the server that its card can never hold, each with why."""
        config, card = server.config, server.config.card
        if not self.cards.knows(card):
            return {}
        whole_mb = self.cards.free_mb(card, [], None)
        needed_mb = {
            model.name: config.vram_mb(model.name if config.one_at_a_time else None)
            for model in config.models
        }
        return {
            name: f"{name} needs {mb} MiB, and card {card} has {whole_mb} MiB for models: "
                  "correct vram_gb or card in qwf.toml"
            for name, mb in needed_mb.items() if mb > whole_mb
        }  # fmt: skip

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

    def choice(self, model: str) -> list[ModelServer]:
        """The servers that may serve the model: those that are ready for it, then those that only
        have to wake up, then the others."""
        found = [server for server in self.servers if server.may_serve(model)]
        return sorted(found, key=lambda server: (not server.is_ready_for(model),
                                                 not server.is_asleep_with(model)))  # fmt: skip

    def announced(self) -> list[dict[str, Any]]:
        """The servers, as a worker registers them."""
        return [server.config.announced(server.parallel, server.idle_s) for server in self.servers]

    def take_changes(self) -> bool:
        """Return True if a server has changed its state since the last call."""
        changed = any(server.changed for server in self.servers)
        for server in self.servers:
            server.changed = False
        return changed

    def step(
        self, now: float, demands: Mapping[str, Demand], wish: Wish,
        residents: Iterable[Resident] = (), needs: Iterable[Need] = (),
    ) -> set[object]:  # fmt: skip
        """Let each server do what is due, then start, switch and stop. `residents` are the models
        that children of the agent hold on cards, `needs` those that they want to load there;
        returns the keys of the needs that are met."""
        self.cards.wants_reading = False
        self._step_servers(now, demands)
        self._take_residents(residents, now)
        turns: list[tuple[Turn, OwnServer | Need]] = []
        for server in self.own:
            server.keep = wish.policy == "pause"
            if wish.policy == "hard":
                server.kill(now)
            elif wish.policy == "drain" or not server.enabled:
                server.drain(now)
            elif wish.policy in (None, "pause"):
                waiting = demands.get(server.config.name, NOTHING).waiting.values()
                since = now if server.due_for_retry(now) else LATE
                turns.append((self._turn(server, min(waiting, default=since)), server))
        turns += [(self._turn(need.key, need.since), need) for need in needs]
        met = set()
        for (since, _), who in sorted(turns, key=itemgetter(0)):  # what waits longest comes first
            if isinstance(who, OwnServer):
                self._serve(who, demands.get(who.config.name, NOTHING), since, now, wish)
            elif self._why_not(who._replace(since=since), now, wish, with_driver=False) is None:
                met.add(who.key)
                self._children[who.key] = Resident(
                    who.key, who.card, who.mb, True, now, 0.0, lambda: None, loading=True
                )
        return met

    def _step_servers(self, now: float, demands: Mapping[str, Demand]) -> None:
        held_mb = {server: _held_mb(server) for server in self.own}
        for server in self.servers:
            server.step(now, demands.get(server.config.name, NOTHING))
        for own, before_mb in held_mb.items():
            if not _held_mb(own):
                self.cards.note_freed(own.config.card, before_mb, now)

    def _take_residents(self, residents: Iterable[Resident], now: float) -> None:
        """Take in what children hold now, and note what they do not hold any more."""
        before, self._held = self._held, {one.key: one for one in residents}
        for key, one in before.items():
            left_mb = self._held[key].mb if key in self._held else 0
            self.cards.note_freed(one.card, one.mb - left_mb, now)
        self._children = dict(self._held)

    def _turn(self, key: object, since: float) -> Turn:
        """Since when a server or a child waits for its turn. What has made room for others waits
        from then on, and after all others, else it would come back before them."""
        evicted_at = self._evicted_at.get(key, LONG_AGO)
        return max(since, evicted_at), evicted_at

    def _serve(
        self, server: OwnServer, demand: Demand, since: float, now: float, wish: Wish
    ) -> None:
        """Start the server for what waits for it, or switch it to another model."""
        wanted = _wanted(server, demand)
        if server.due_for_retry(now):
            wanted = next(iter(demand.waiting), _model_to_try(server))
        elif wanted is None:
            server.no_room_since = None
            return
        elif server.state == READY:
            self._switch(server, demand, now, wish)
            return
        elif server.state == ASLEEP and not server.is_asleep_with(wanted):
            server.drain(now, wanted)
            return
        elif server.state != ASLEEP and (server.state != OFF or server.program.exists):
            return
        mb = server.config.vram_mb(wanted if server.config.one_at_a_time else None)
        why_not = self._why_not(Need(server, server.config.card, mb, since), now, wish)
        server.no_room_since = (server.no_room_since or now) if why_not else None
        if why_not is None and server.state == ASLEEP:
            server.wake(now, wish.start_timeout_s)
        elif why_not is None:
            server.start(wanted, now, wish.start_timeout_s)
        elif why_not:
            server.error = why_not

    def _switch(self, server: OwnServer, demand: Demand, now: float, wish: Wish) -> None:
        """Let the server end with its model if another one waits and either nobody needs its own,
        or the other has waited long enough and this one has had as long for its jobs."""
        others = {name: at for name, at in demand.waiting.items() if name != server.model}
        if server.model is None or not others:
            return
        longest = min(others, key=lambda name: others[name])
        in_use = demand.inflight or server.model in demand.waiting
        if not in_use or now >= max(others[longest], server.since) + wish.affinity_s:
            server.drain(now, longest)

    def _why_not(self, need: Need, now: float, wish: Wish, with_driver: bool = True) -> str | None:
        """None if what is needed may come to its card now; else why not, empty if it is a matter of
        a moment. If there is no room, something leaves. On each card one model loads at a time.
        What a child has taken of its card before cannot be told from what it takes then, so for a
        child the driver is not asked."""
        if not self.cards.knows(need.card):
            return None
        residents = [one for one in self._residents(need.card, now) if one.key is not need.key]
        if any(one.loading for one in residents):
            return f"card {need.card}: another model is loading"
        if not self.cards.has_settled(need.card, now):
            return ""
        if not need.mb:
            return None
        if with_driver and not self.cards.is_read(now):
            return ""
        free_mb = self.cards.free_mb(need.card, residents, now if with_driver else None)
        if need.mb <= free_mb:
            return None
        self._make_room(need, residents, need.mb - free_mb, now, wish)
        return f"card {need.card}: no room for {need.mb} MiB, {max(0, free_mb)} MiB are free"

    def _make_room(
        self, need: Need, residents: list[Resident], lacking_mb: int, now: float, wish: Wish
    ) -> None:
        """Let one model leave the card: of those that are idle what loads fastest; after
        affinity_max_wait also one that is in use, if it was there as long. None leaves while
        another does. If all of them together are too small, servers that are asleep are stopped:
        the rest of their memory may be what is missing."""
        staying = [one for one in residents if not one.leaving]
        if len(staying) < len(residents) or need.since == LATE:  # nobody waits for it
            return
        impatient = now >= need.since + wish.affinity_s
        if sum(one.mb for one in staying) < lacking_mb:
            for server in self.own if impatient else ():
                if server.state == ASLEEP and share_memory(need.card, server.config.card):
                    server.drain(now)
            return
        may_leave = [
            one for one in staying
            if one.mb and (not one.busy or (impatient and now >= one.since + wish.affinity_s))
        ]  # fmt: skip
        if may_leave:
            chosen = min(may_leave, key=lambda one: (one.busy, one.load_s))
            log.info("card %s: %d MiB leave it, %d MiB are needed",
                     chosen.card, chosen.mb, need.mb)  # fmt: skip
            self._evicted_at[chosen.key] = now
            chosen.evict()

    def _residents(self, card: str, now: float) -> list[Resident]:
        """Loads of the card, or of all of them, with those that are on their way."""
        children = [
            one._replace(leaving=self._evicted_at.get(one.key, LONG_AGO) >= one.since)
            for one in self._children.values()
        ]
        servers = [_resident(server, now) for server in self.own if server.program.exists]
        return [one for one in children + servers if share_memory(card, one.card)]

    def uses_cards(self) -> bool:
        """Return True if a server is on a card whose size is known."""
        return any(self.cards.knows(server.config.card) for server in self.own)

    def held_mb(self, card: str) -> int:
        """The estimates of what servers have of the card now."""
        return sum(_held_mb(one) for one in self.own if share_memory(card, one.config.card))

    def is_down(self) -> bool:
        """Return True if no process is left."""
        return not any(server.program.exists for server in self.own)

    def next_at(self) -> float:
        """When a server has something to do."""
        return min((server.next_at() for server in self.servers), default=float("inf"))


def _wanted(server: OwnServer, demand: Demand) -> str | None:
    """The model that waits longest for the server, of those that it may serve."""
    # One that it lacks is among them only if an operator has ordered that it is pulled.
    waiting = demand.waiting if server.enabled and not server.failures.broken else {}
    if server.next_model in waiting:
        return server.next_model
    return min(waiting, key=lambda name: waiting[name]) if waiting else None


def _model_to_try(server: OwnServer) -> str:
    """The model to see with whether a server is still broken: another one at each start."""
    names = [model.name for model in server.config.models]
    whole = [name for name in names if server.lack(name) is None] or names
    return whole[server.starts % len(whole)]


def _held_mb(server: OwnServer) -> int:
    """The estimate of what the process of the server has of its card now. What is left of one that
    is asleep is some hundred MB, and in no estimate."""
    there = server.program.process is not None and server.awake
    return server.config.vram_mb(server.model) if there else 0


def _resident(server: OwnServer, now: float) -> Resident:
    """The load of the server on its card."""
    return Resident(
        server, server.config.card, _held_mb(server), server.busy, server.since,
        server.load_s or 0.0, partial(server.give_way, now), loading=server.state == STARTING,
        leaving=server.state not in (STARTING, READY, ASLEEP),
    )  # fmt: skip
