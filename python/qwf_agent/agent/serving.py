"""Connects the jobs of an agent with its model servers: which job waits for which server, which may
be handed to a child, and what happens to jobs whose server has ended."""

from __future__ import annotations

import logging
import selectors
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from qwf_agent import db
from qwf_agent.agent.abilities import Abilities, Served
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import SERVER_LOST, Endings
from qwf_agent.agent.link import Link
from qwf_agent.agent.options import SERVED_QUEUE, Options
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.slot import MODEL_ORDER_S, ModelOrder, Slot
from qwf_agent.agent.worker import Worker
from qwf_agent.servers.fleet import Cards, Fleet, Orders, Wish
from qwf_agent.servers.server import BROKEN, FAILED, Demand, OwnServer, Server
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

EXCESS_S = 1.0  # by then it is registered that no more jobs of a model are wanted
LOST_AFTER_S = 2.0  # a body has so long to see by itself that its server has ended
EXTERNAL = "the server is an address of somebody else, it is not stopped from here"
CLOSE_S = 2.0


class Given(NamedTuple):
    """The server that a job in a slot uses, and which of its starts."""

    server: Server
    start: int


class Asked(NamedTuple):
    """An order to load a model that is not done: for which server, and when it came."""

    order: ModelOrder
    server: OwnServer
    at: float


class Serving:
    """Counts the requests in flight and the jobs that wait, and steps the servers.

    Invariant: a job in a slot whose model is served is in `_given`. In flight are exactly these
    jobs, whatever their bodies do.
    """

    def __init__(
        self,
        options: Options,
        abilities: Abilities,
        pool: Pool,
        endings: Endings,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        groups: ControlGroups | None,
    ) -> None:
        self.fleet = Fleet(options.servers, Cards(abilities.cards_mb), selector, guardian, groups)
        self.abilities = abilities
        self._pool = pool
        self._endings = endings
        self._orders_applied = Orders()
        self._asked: list[Asked] = []
        self._done: list[tuple[ModelOrder, str | None]] = []
        self._given: dict[Claim, Given] = {}
        self._waits_since: dict[Claim, float] = {}
        self._ended_at: dict[Given, float] = {}
        self._broken: set[str] = set()
        self._full: set[str] = set()  # models for whose start enough jobs wait
        self._killed = False
        self._names = {model.name for server in options.servers for model in server.models}
        if self._names:
            pool.admit = self.admit
            endings.lost_server = self.has_lost_server

    def step(self, now: float, workers: Iterable[Worker], draining: bool, link: Link) -> bool:
        """Let the servers do what is due; returns whether what can be had has changed."""
        if not self._names:
            return False
        worker = next(one for one in workers if one.queue == SERVED_QUEUE)
        if worker.control.servers != self._orders_applied:
            self._orders_applied = worker.control.servers
            self.fleet.apply(self._orders_applied)
        settings = worker.settings
        policy = "hard" if self._killed else "drain" if draining else worker.control.policy
        wish = Wish(policy, settings.affinity_max_wait, settings.model_load_grace)
        self.fleet.step(now, self._demands(now), wish, self._used_mb())
        self._end_lost(now)
        self._release_withdrawn()
        filled = self._hold_enough(now)
        self._answer_orders(now)
        self._report_broken(worker, link)
        changed = self.fleet.take_changes() or filled
        if changed:
            worker.beat_soon()
        return changed

    def admit(self, claim: Claim) -> bool:
        """Whether the job may be handed to a child now; then it counts as in flight."""
        if claim.model not in self._names:
            return True
        servers = self.fleet.choice(claim.model)
        if not servers:  # the app may have a loader for it
            claim.server = None
            return claim.model in self.abilities.models
        for server in servers:
            if server.is_ready_for(claim.model) and server.inflight < server.parallel:
                server.inflight += 1
                claim.server = server.for_child(claim.model)
                self._given[claim] = Given(server, server.starts)
                return True
        return False

    def job_ended(self, claim: Claim, reason: str | None) -> None:
        """Check a server at once if a body found it gone."""
        if reason == "server" and claim in self._given:
            self._given[claim].server.check_soon()

    def has_lost_server(self, claim: Claim) -> bool:
        """Whether the process of the server that the job used has ended."""
        given = self._given.get(claim)
        return given is not None and given.server.has_ended(given.start)

    def take_order(self, order: ModelOrder, now: float) -> bool:
        """Carry out the order to load or unload a model, if a server serves it."""
        if order.model is None:  # the children unload theirs, too, and answer
            for own in self.fleet.own:
                own.drain(now)
            return False
        if order.model not in self._names:
            return False
        found = [one for one in self.fleet.servers if one.config.model(order.model) is not None]
        server: Server = (self.fleet.choice(str(order.model)) or found)[0]
        if not isinstance(server, OwnServer):
            self._done.append((order, EXTERNAL if order.action != "load" else server.error))
        elif order.action == "load":
            server.retry_soon()
            self._asked.append(Asked(order, server, now))
        else:
            if server.model in (None, order.model):
                server.drain(now)
            self._done.append((order, None))
        return True

    def take_orders_done(self) -> list[tuple[ModelOrder, str | None]]:
        """The orders that have ended since the last call, each with its error or None."""
        done, self._done = self._done, []
        return done

    def served(self) -> Served | None:
        """What the workers register about the servers; None if there are none."""
        if not self._names:
            return None
        models = [name for name in self.fleet.models() if name not in self._full]
        return Served(models, self.fleet.announced())

    def more_requests(self) -> int:
        """How many more requests the servers take at once than they are configured for."""
        servers = self.fleet.servers
        now = sum(server.parallel for server in servers if server.enabled)
        return max(0, now - sum(server.config.parallel for server in servers))

    def stats(self, now: float) -> dict[str, Any]:
        """What a heartbeat reports; nothing without servers."""
        if not self._names:
            return {}
        own = [one for one in self.fleet.own if one.model and one.is_ready_for(one.model)]
        own.sort(key=lambda server: server.inflight - server.parallel)
        model = {"current_model": own[0].model} if own and self._pool.model() is None else {}
        used = Counter(given.server for given in map(self._given.get, self._in_slots()) if given)
        return {
            **model,
            "servers": [
                {**server.stats(now), "inflight": used[server]} for server in self.fleet.servers
            ],
        }

    def kill(self) -> None:
        """Stop all servers now, whatever they do."""
        self._killed = True

    def close(self) -> None:
        """Kill what is left, at the end of the agent."""
        give_up_at = time.monotonic() + CLOSE_S
        while not self.fleet.is_down() and time.monotonic() < give_up_at:
            self.fleet.step(time.monotonic(), {}, Wish("hard", 0.0, 0.0), {})
            time.sleep(0.005)

    def is_down(self) -> bool:
        """Whether no process of a server is left."""
        return self.fleet.is_down()

    def next_at(self) -> float:
        """When a server has something to do."""
        return self.fleet.next_at()

    def _in_slots(self) -> list[Claim]:
        return [claim for slot in self._pool for claim in slot.claims]

    def _demands(self, now: float) -> dict[str, Demand]:
        """What the jobs in slots and in the backlog want of each server."""
        demands = {server.config.name: Demand() for server in self.fleet.servers}
        given, self._given = self._given, {}
        for slot in self._pool:
            for claim in slot.claims:
                if claim in given:
                    self._given[claim] = given[claim]
                    demand = demands[given[claim].server.config.name]
                    demand.inflight += 1
                    demand.progress += _progress(slot)
        since, self._waits_since = self._waits_since, {}
        for claim in self._pool.backlog:
            if claim.model in self._names:
                self._waits_since[claim] = since.get(claim, now)
                self._want(demands, claim.model, self._waits_since[claim])
        for order, server, at in self._asked:
            if not server.is_ready_for(str(order.model)):
                self._want(demands, str(order.model), at, server)
        return demands

    def _want(
        self, demands: dict[str, Demand], model: str | None, since: float,
        server: Server | None = None,
    ) -> None:  # fmt: skip
        """Count a job that waits for the model, at the server that will probably take it."""
        found = [server] if server else self.fleet.choice(str(model))
        if found:
            waiting = demands[found[0].config.name].waiting
            waiting[str(model)] = min(since, waiting.get(str(model), since))

    def _used_mb(self) -> dict[str, int]:
        """Estimates of what the models of the children use on each card."""
        used: dict[str, int] = {}
        for slot in self._pool:
            if slot.card is not None and slot.model is not None:
                card = str(slot.card)
                used[card] = used.get(card, 0) + self.abilities.models.get(slot.model, 0)
        return used

    def _end_lost(self, now: float) -> None:
        """End the jobs whose server has ended, if their bodies do not see it."""
        ended: dict[Given, float] = {}
        for slot in self._pool:
            given = self._given.get(slot.claims[0]) if slot.claims else None
            if given is None or given.server.is_alive(given.start):
                continue
            ended[given] = self._ended_at.get(given, now)
            if len(slot.claims) > 1:
                self._pool.take_back(slot)
            claim = slot.claims[0] if slot.claims else None
            if claim and claim.forced_outcome is None and now >= ended[given] + LOST_AFTER_S:
                self._endings.end(slot, claim, SERVER_LOST)
        self._ended_at = ended

    def _release_withdrawn(self) -> None:
        """Release the jobs that wait for a model that cannot be had any more."""
        if not self._waits_since:
            return
        had = set(self.fleet.models()) | set(self.abilities.models)
        lacking = [claim for claim in self._waits_since if claim.model not in had]
        self._endings.release([claim for claim in lacking if claim in self._pool.backlog])

    def _hold_enough(self, now: float) -> bool:
        """Hold only as many jobs as a server takes at once while it is not ready: the others stay
        in the queue, where another agent may take them, and do not fill the backlog. Returns
        whether the models to register have changed."""
        waiting: dict[str, list[Claim]] = {}
        for claim in self._waits_since:
            waiting.setdefault(str(claim.model), []).append(claim)
        full, self._pool.held = set(), 0
        for model, claims in waiting.items():
            servers = self.fleet.choice(model)
            if any(server.is_ready_for(model) for server in servers):
                continue
            self._pool.held += len(claims)
            enough = sum(server.parallel for server in servers)
            if servers and (model in self._full or len(claims) >= enough):
                full.add(model)
            late = [one for one in claims[enough:] if now >= self._waits_since[one] + EXCESS_S]
            self._endings.release([one for one in late if one in self._pool.backlog])
        changed, self._full = full != self._full, full
        return changed

    def _answer_orders(self, now: float) -> None:
        """Answer the orders to load a model that a server has carried out, or cannot."""
        asked, self._asked = self._asked, []
        for order, server, at in asked:
            if server.is_ready_for(str(order.model)):
                self._done.append((order, None))
            elif server.state in (FAILED, BROKEN) and not server.retries_now:
                self._done.append((order, server.error))
            elif now >= at + MODEL_ORDER_S:
                self._done.append((order, server.error or f"not ready within {MODEL_ORDER_S:g} s"))
            else:
                self._asked.append(Asked(order, server, at))

    def _report_broken(self, worker: Worker, link: Link) -> None:
        """Record it in the database when a server breaks."""
        broken = {server.config.name: server for server in self.fleet.own if server.broken}
        for name in broken.keys() - self._broken:
            link.send(db.report_broken_server(worker.id, name, broken[name].error or ""))
        self._broken = set(broken)


def _progress(slot: Slot) -> int:
    """A number that changes when the running body reports progress or prints."""
    return slot.progress_version() + slot.printed(1)[0]
