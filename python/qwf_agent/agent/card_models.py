"""The models that children of the agent hold on the cards of the box, or have to load there."""

from __future__ import annotations

from collections.abc import Callable

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.slot import Slot
from qwf_agent.servers.cards import Need, Resident, share_memory


class CardModels:
    """Lets children load models on cards when the model servers leave them room.

    Invariant: a child loads a model on a card only for a job in `_met`. Jobs whose model it has
    already follow without asking.
    """

    def __init__(self, pool: Pool, is_served: Callable[[str], bool]) -> None:
        self.sizes_mb: dict[str, int] = {}  # of the models of the app, as far as they are known
        self._pool = pool
        self._is_served = is_served
        self._since: dict[Claim, float] = {}  # jobs of the backlog, and since when they wait
        self._wanted: dict[object, Claim] = {}
        self._met: dict[object, Claim] = {}

    def may_load(self, claim: Claim, slot: Slot) -> bool:
        """Return True if the child of the slot may take the job: it has the model, or may load
        it."""
        if slot.card is None or not self._is_for_child(claim):
            return True
        last = next(reversed(slot.claims.values())).model if slot.claims else None
        return claim.model == (last or slot.held.name) or self._met.get(slot) is claim

    def residents(self) -> list[Resident]:
        """The models that children hold, or are loading."""
        return [self._resident(slot) for slot in self._pool if slot.card is not None]

    def needs(self, now: float, held_mb: Callable[[str], int]) -> list[Need]:
        """Models that idle children have to load for the jobs in the backlog: each job gets a
        child, if possible one that has its model, else the one on whose card servers hold least."""
        idle = [
            slot for slot in self._pool
            if slot.card is not None and slot.ready and not slot.claims and not slot.orders.exist()
        ]  # fmt: skip
        self._wanted, since, self._since = {}, self._since, {}
        found = []
        for claim in self._pool.backlog:
            if not self._is_for_child(claim):
                continue
            self._since[claim] = since.get(claim, now)
            slot = min(idle, key=lambda slot: _cost(slot, claim, held_mb), default=None)
            if slot is None:
                continue
            idle.remove(slot)
            if slot.held.name != claim.model:
                size_mb = self.sizes_mb[str(claim.model)]
                found.append(Need(slot, str(slot.card), size_mb, self._since[claim]))
                self._wanted[slot] = claim
        return found

    def is_used(self, card: str) -> bool:
        """Return True if a child runs a job now that has the card to itself."""
        return any(
            share_memory(card, str(slot.card))
            and any(claim.heavy for claim in slot.claims.values())
            for slot in self._pool
            if slot.card is not None
        )

    def take_met(self, met: set[object]) -> None:
        """Let the children whose needs are met load what they wanted."""
        self._met = {slot: claim for slot, claim in self._wanted.items() if slot in met}

    def _is_for_child(self, claim: Claim) -> bool:
        """Return True if a child loads the model of the job on a card."""
        known = claim.heavy and claim.model in self.sizes_mb
        return known and not self._is_served(str(claim.model))

    def _resident(self, slot: Slot) -> Resident:
        first = slot.jobs.first
        wanted = first.model if first and self._is_for_child(first) else slot.held.name
        return Resident(
            slot, str(slot.card),
            max(self.sizes_mb.get(name or "", 0) for name in (slot.held.name, wanted)),
            first is not None or slot.orders.exist(), slot.held.since,
            slot.held.loads.seconds / max(1, slot.held.loads.count), slot.retire,
            loading=wanted != slot.held.name,
        )  # fmt: skip


def _cost(slot: Slot, claim: Claim, held_mb: Callable[[str], int]) -> tuple[bool, int, bool]:
    """Reasons against loading the model of the job in this slot, the most important first."""
    return slot.held.name != claim.model, held_mb(str(slot.card)), slot.held.name is not None
