"""Connects the jobs of an agent with its model servers: which job waits for which server, which may
be handed to a child, and what happens to jobs whose server has ended."""

from __future__ import annotations

import json
import logging
import selectors
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from qwf_agent.agent import db
from qwf_agent.agent.abilities import Abilities, ServedModels
from qwf_agent.agent.card_models import CardModels
from qwf_agent.agent.child_orders import ModelOrder
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import SERVER_LOST, Endings
from qwf_agent.agent.model_orders import ModelOrders
from qwf_agent.agent.options import SERVED_QUEUE, AgentOptions
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.surplus import Surplus
from qwf_agent.agent.telemetry import Sample
from qwf_agent.agent.worker import Worker
from qwf_agent.servers.cards import CardMemory, Reading
from qwf_agent.servers.fleet import Orders, ServerFleet, Wish
from qwf_agent.servers.process import SENT_BYTES
from qwf_agent.servers.server import Demand, ModelServer
from qwf_agent.servers.tokens import TokenCount
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.gpu import MIB
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

LOST_AFTER_S = 2.0  # a body has so long to see by itself that its server has ended
CLOSE_S = 2.0
MOST_WAITING = 200  # jobs that a heartbeat names as waiting for a server
LOGS_BYTES = 4 * SENT_BYTES  # of all servers: a heartbeat has at most 64 KiB


class UsedServer(NamedTuple):
    """The server that a job in a slot uses, and which of its starts."""

    server: ModelServer
    start: int


class Serving:
    """Counts the requests in flight and the jobs that wait, and steps the servers.

    Invariant: a job in a slot whose model is served is in `_given`. In flight are exactly these
    jobs, whatever their bodies do.
    """

    def __init__(
        self,
        options: AgentOptions,
        abilities: Abilities,
        pool: Pool,
        endings: Endings,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        groups: ControlGroups | None,
    ) -> None:
        cards = CardMemory(abilities.cards_mb)
        self.fleet = ServerFleet(options.servers, cards, selector, guardian, groups, options.host)
        self._orders = ModelOrders(self.fleet, selector)
        self.abilities = abilities
        self._pool = pool
        self._endings = endings
        self._orders_applied = Orders()
        self._given: dict[Claim, UsedServer] = {}
        self._tokens = {server.config.name: TokenCount() for server in self.fleet.servers}
        self._waits_since: dict[Claim, float] = {}
        self._waiting: dict[str, list[int]] = {}  # ids of the jobs that wait for each server
        self._ended_at: dict[UsedServer, float] = {}
        self._broken: set[str] = set()
        self._surplus = Surplus(self.fleet, pool, endings)
        self._on_cards = CardModels(pool, lambda model: bool(self.fleet.choice(model)))
        self._killed = False
        self._names = {model.name for server in options.servers for model in server.models}
        if self._names:
            pool.admit = self.admit
            endings.lost_server = self.has_lost_server
        if self.fleet.uses_cards():
            pool.may_load = self._on_cards.may_load

    def step(self, now: float, workers: Iterable[Worker], draining: bool, sample: Sample) -> bool:
        """Let the servers do what is due; returns whether what can be had has changed."""
        if not self._names:
            return False
        (worker,) = (one for one in workers if one.queue == SERVED_QUEUE)
        if worker.control.servers != self._orders_applied:
            self._orders_applied = worker.control.servers
            self.fleet.apply(worker.control.servers)
        settings, policy = worker.settings, worker.control.policy
        off = policy in ("drain", "hard") and not (draining or self._killed)
        policy = "hard" if self._killed else "drain" if draining else policy
        wish = Wish(policy, settings.affinity_max_wait, settings.model_load_grace)
        self._step_fleet(now, wish, sample)
        self._end_lost(now)
        self._release_withdrawn()
        filled = self._surplus.step(self._waits_since, settings.affinity_max_wait, now)
        self._orders.step(now, policy in (None, "pause"), off)
        self._report_broken(worker)
        changed = self.fleet.take_changes() or filled
        if changed:
            worker.beat_soon()
        return changed

    def admit(self, claim: Claim) -> bool:
        """Return True if the job may be handed to a child now; then it counts as in flight."""
        if claim.model not in self._names:
            return True
        servers = self.fleet.choice(claim.model)
        if not servers:  # the app may have a loader for it
            claim.server = None
            return claim.model in self.abilities.models
        for server in servers:
            if server.is_ready_for(claim.model) and server.inflight < self._most_for(server):
                server.inflight += 1
                claim.server = server.for_child(claim.model)
                self._given[claim] = UsedServer(server, server.starts)
                return True
        return False

    def _most_for(self, server: ModelServer) -> int:
        """How many requests the server takes at once now."""
        if server.config.minus_one and self._on_cards.is_used(server.config.card):
            return max(1, server.parallel - 1)
        return server.parallel

    def job_ended(self, claim: Claim, reason: str | None, seconds: float, rendered: bytes) -> None:
        """Count the tokens that a job has used, as its outcome says, and tell its server: a body
        may have found it gone, or a watchdog found it silent."""
        given = self._given.get(claim)
        if given is None:
            return
        self._tokens[given.server.config.name].add(_usage(rendered), seconds, time.monotonic())
        given.server.job_ended(reason, claim.stall_timeout)

    def has_lost_server(self, claim: Claim) -> bool:
        """Return True if the process of the server that the job used has ended."""
        given = self._given.get(claim)
        return given is not None and given.server.has_ended(given.start)

    def take_order(self, order: ModelOrder, now: float) -> bool:
        """Carry out the order to load or unload a model, if a server serves it."""
        return self._orders.take(order, now)

    def take_orders_done(self) -> list[tuple[ModelOrder, str | None]]:
        """The orders that have ended since the last call, each with its error or None."""
        return self._orders.take_done()

    def served(self) -> ServedModels | None:
        """The servers, as the workers register them; None if there are none."""
        if not self._names:
            return None
        models = [name for name in self.fleet.models() if name not in self._surplus.full]
        return ServedModels(models, self.fleet.announced())

    def more_requests(self) -> int:
        """How many more requests the servers take at once than they are configured for."""
        servers = self.fleet.servers
        now = sum(server.parallel for server in servers if server.enabled)
        return max(0, now - sum(server.config.parallel for server in servers))

    def stats(self, now: float) -> dict[str, Any]:
        """The part of a heartbeat about them; empty without servers."""
        if not self._names:
            return {}
        own = [one for one in self.fleet.own if one.model and one.is_ready_for(one.model)]
        own.sort(key=lambda server: server.inflight - server.parallel)
        model = {"current_model": own[0].model} if own and self._pool.model() is None else {}
        used = Counter(given.server for given in map(self._given.get, self._in_slots()) if given)
        log_bytes = min(SENT_BYTES, LOGS_BYTES // len(self.fleet.servers))
        return {
            **model,
            "servers": [
                {
                    **server.stats(now, log_bytes), "inflight": used[server],
                    "waiting": self._waiting.get(server.config.name, [])[:MOST_WAITING],
                    **self._tokens[server.config.name].stats(now),
                }
                for server in self.fleet.servers
            ],
        }  # fmt: skip

    def kill(self) -> None:
        """Stop all servers now, whatever they do."""
        self._killed = True

    def close(self) -> None:
        """Kill what is left, at the end of the agent."""
        give_up_at = time.monotonic() + CLOSE_S
        while not self.fleet.is_down() and time.monotonic() < give_up_at:
            self.fleet.step(time.monotonic(), {}, Wish("hard", 0.0, 0.0))
            time.sleep(0.005)

    def is_down(self) -> bool:
        """Return True if no process of a server is left, and no order."""
        return self.fleet.is_down() and self._orders.idle()

    def next_at(self) -> float:
        """When a server has something to do."""
        return self.fleet.next_at()

    def wants_reading(self) -> bool:
        """Return True if a server waits to know what is free on its card."""
        return self.fleet.cards.wants_reading

    def _step_fleet(self, now: float, wish: Wish, sample: Sample) -> None:
        """Let the servers do what is due, and children load models beside them."""
        demands = self._demands(now)
        if not self.fleet.uses_cards():
            self.fleet.step(now, demands, wish)
            return
        used_mb = {str(card): used // MIB for card, (_, used) in sample.cards.items()}
        self.fleet.cards.reading = Reading(sample.cards_at, used_mb)
        self._on_cards.sizes_mb = self.abilities.models
        needs = self._on_cards.needs(now, self.fleet.held_mb)
        met = self.fleet.step(now, demands, wish, self._on_cards.residents(), needs)
        self._on_cards.take_met(met)

    def _in_slots(self) -> list[Claim]:
        return [claim for slot in self._pool for claim in slot.claims.values()]

    def _demands(self, now: float) -> dict[str, Demand]:
        """Demand of the jobs in slots and in the backlog for each server."""
        demands = {server.config.name: Demand() for server in self.fleet.servers}
        given, self._given = self._given, {}
        for slot in self._pool:
            for claim in slot.claims.values():
                if claim in given:
                    self._given[claim] = given[claim]
                    demand = demands[given[claim].server.config.name]
                    demand.inflight += 1
                    demand.taken += 1
                    demand.progress += _progress(slot, claim)
        since, self._waits_since = self._waits_since, {}
        self._waiting = {}
        for claim in self._pool.backlog:
            if claim.model in self._names:
                self._waits_since[claim] = since.get(claim, now)
                server = self._want(demands, claim.model, self._waits_since[claim])
                if server is not None:
                    self._waiting.setdefault(server.config.name, []).append(claim.job_id)
        for model, server, at in self._orders.wanted():
            self._want(demands, model, at, server)
        return demands

    def _want(
        self, demands: dict[str, Demand], model: str | None, since: float,
        server: ModelServer | None = None,
    ) -> ModelServer | None:  # fmt: skip
        """Count a job that waits for the model, at the server that will probably take it; returns
        this server."""
        found = [server] if server else self.fleet.choice(str(model))
        if not found:
            return None
        free = [
            one for one in found
            if demands[one.config.name].taken < one.parallel and one.no_room_since is None
        ]  # fmt: skip
        likely = (free or found)[0]
        demand = demands[likely.config.name]
        demand.taken += 1
        demand.waiting[str(model)] = min(since, demand.waiting.get(str(model), since))
        return likely

    def _end_lost(self, now: float) -> None:
        """End the jobs whose server has ended, if their bodies do not see it."""
        ended: dict[UsedServer, float] = {}
        for slot in self._pool:
            for claim in [claim for body in slot.bodies() for claim in body.claims]:
                given = self._given.get(claim)
                if given is None or given.server.is_alive(given.start):
                    continue
                ended[given] = self._ended_at.get(given, now)
                if len(slot.claims) > len(slot.bodies()[0].claims):
                    self._pool.take_back(slot)
                is_late = now >= ended[given] + LOST_AFTER_S
                if claim.ticket in slot.claims and claim.forced_outcome is None and is_late:
                    self._endings.end(slot, claim, SERVER_LOST)
        self._ended_at = ended

    def _release_withdrawn(self) -> None:
        """Release the jobs that wait for a model that cannot be had any more."""
        if not self._waits_since:
            return
        had = set(self.fleet.models()) | set(self.abilities.models)
        lacking = [claim for claim in self._waits_since if claim.model not in had]
        self._endings.release([claim for claim in lacking if claim in self._pool.backlog])

    def _report_broken(self, worker: Worker) -> None:
        """Record it when a server breaks."""
        broken = {server.config.name: server for server in self.fleet.own if server.failures.broken}
        for name in broken.keys() - self._broken:
            error = broken[name].error or ""
            worker.links.soft.send(db.report_broken_server(worker.id, name, error))
        self._broken = set(broken)


def _progress(slot: Slot, claim: Claim) -> int:
    """A number that changes when the body that runs this job, or another one before it, reports
    progress or prints."""
    bodies = slot.bodies()
    body = next((one for one in bodies if claim in one.claims), bodies[0])
    return body.progress_version() + body.printed(1)[0]


def _usage(rendered: bytes) -> dict[str, Any]:
    """The tokens that a job has used, of its outcome as JSON; nothing if it does not say."""
    try:
        usage = json.loads(rendered)["detail"]["usage"] if b'"usage"' in rendered else {}
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return usage if isinstance(usage, dict) else {}
