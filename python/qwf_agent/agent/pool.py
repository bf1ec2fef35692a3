"""All slots of an agent: how much they can take, and who gets which job."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from qwf_agent.agent.batch_size import BATCH_S, BatchSize
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.slot import ModelOrder, Slot

MEASURE_AFTER_S = 1.0
AHEAD_S = 0.01  # work that a child has left when the next claim is due; behind it a job may wait


class Room(NamedTuple):
    """How many more jobs could be taken: in all, and of those that need a card."""

    total: int
    heavy: int


NO_ROOM = Room(0, 0)


class Pool:
    """The slots, and the backlog: jobs claimed but not given to a child yet.

    A heavy job goes to a slot that has a card, which runs one body at a time; a light one goes to
    any, but takes a card's slot only when no other is free.
    """

    def __init__(self, slots: list[Slot], batch_size: BatchSize) -> None:
        self.slots = slots
        self.backlog: deque[Claim] = deque()
        self.batch_size = batch_size
        self._nothing_to_do: list[tuple[ModelOrder, str | None]] = []

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.slots)

    def claims(self) -> list[Claim]:
        """Every job that is waiting here or with a child."""
        return [*self.backlog, *(claim for slot in self.slots for claim in slot.claims)]

    def model(self) -> str | None:
        """The model to claim for: one that a child has and does not use just now, else any that
        is loaded."""
        loaded = [slot for slot in self.slots if slot.model is not None]
        return min(loaded, key=lambda slot: len(slot.claims)).model if loaded else None

    def stats(self) -> dict[str, Any]:
        """What a heartbeat says about them."""
        loads = [slot.loads for slot in self.slots]
        return {
            "current_model": self.model(),
            "slots": len(self.slots),
            "busy": sum(1 for slot in self.slots if slot.claims),
            "backlog": len(self.backlog),
            "models": [
                {"card": slot.card, "model": slot.model, "busy": bool(slot.claims)}
                for slot in self.slots
                if slot.heavy or slot.model is not None
            ],
            "model_loads": sum(load.count for load in loads),
            "model_load_s": round(sum(load.seconds for load in loads), 3),
            "swaps_avoided": sum(load.avoided for load in loads),
        }

    def describe(self) -> str:
        """For the log: `3 slots, one for card 0`."""
        cards = [f"card {slot.card}" for slot in self.slots if slot.card is not None]
        lanes = sum(1 for slot in self.slots if slot.heavy)
        kinds = f", one for {' and '.join(cards)}" if cards else ", one lane without a card" * lanes
        return f"{len(self.slots)} slot{'s' * (len(self.slots) > 1)}{kinds}"

    def has_any_of(self, queue: str) -> bool:
        """Whether a job of this queue is here."""
        return any(claim.queue == queue for claim in self.backlog) or any(
            claim.queue == queue for slot in self.slots for claim in slot.claims
        )

    def busy(self) -> bool:
        """Whether there is something to look after: jobs, or children that start."""
        return bool(self.backlog) or any(
            slot.claims or (slot.process is not None and not slot.ready) for slot in self.slots
        )

    def any_long(self, now: float) -> bool:
        """Whether a body has run so long that it is worth measuring."""
        return any(slot.claims and slot.running_for(now) > MEASURE_AFTER_S for slot in self.slots)

    def work_s(self) -> float:
        """How long every child has work, as far as that is known: 0 where one runs its last job."""
        return min((s.load_s if len(s.claims) > 1 else 0.0 for s in self.slots), default=0.0)

    def room(self, now: float, more: bool) -> Room:
        """How many jobs to claim now. Unless there are `more` in the queues than were asked for,
        none that would have to wait here while another agent may be idle."""
        total = self._room(self.slots, len(self.backlog), now, more)
        heavy = [slot for slot in self.slots if slot.heavy]
        if not heavy:
            return Room(total, 0)
        waiting = sum(1 for claim in self.backlog if claim.heavy)
        return Room(total, self._room(heavy, waiting, now, more))

    def order(self, order: ModelOrder) -> None:
        """Have a model loaded by the child that is best for it, or unloaded by all that have
        it."""
        if order.action == "load":
            best = sorted(self.slots, key=lambda slot: _unfitness(slot, order))[:1]
        else:
            best = [slot for slot in self.slots if slot.model in (order.model or slot.model,)]
            best = [slot for slot in best if slot.model is not None]
        for slot in best:
            slot.orders.append(order)
        if not best:
            self._nothing_to_do.append((order, None))

    def take_orders_done(self) -> list[tuple[ModelOrder, str | None]]:
        """Orders that have ended since last asked, each with what went wrong, if anything."""
        done, self._nothing_to_do = self._nothing_to_do, []
        return done + [answer for slot in self.slots for answer in slot.take_orders_done()]

    def hand_out(self) -> None:
        """Give jobs from the backlog to the children with the least to do, small ones several at
        a time. A heavy job that has to wait holds up no light one."""
        kept: deque[Claim] = deque()
        cards_are_busy = False
        while self.backlog:
            claim = self.backlog.popleft()
            seconds = self.batch_size.expected(claim.task)
            slot = None if claim.heavy and cards_are_busy else self._slot_for(claim, seconds)
            if slot is not None:
                slot.assign(claim, seconds)
                continue
            kept.append(claim)
            cards_are_busy = True
            if not claim.heavy:
                break  # then no slot takes any job
        self.backlog.extendleft(reversed(kept))
        for slot in self.slots:
            slot.flush()

    def take_back(self, slot: Slot) -> None:
        """Put what the child of this slot has not started back to the head of the backlog."""
        self.backlog.extendleft(reversed(slot.take_back()))

    def slot_of(self, claim: Claim) -> Slot | None:
        """The slot whose child has the job."""
        return next((slot for slot in self.slots if claim in slot.claims), None)

    def find(self, token: str) -> Claim | None:
        """The claim with this token, if it is here."""
        return next((claim for claim in self.claims() if claim.token == token), None)

    def _room(self, slots: list[Slot], waiting: int, now: float, more: bool) -> int:
        """Room of these slots. While all their children have work, only once half of what they
        should hold is done; and where no more waits, only for one that will soon have none."""
        if not more and waiting >= sum(slot.ready and slot.load_s <= AHEAD_S for slot in slots):
            return 0
        room = sum(slot.room(self.batch_size.hold, now) for slot in slots) - waiting
        hungry = any(slot.ready and not slot.claims for slot in slots)
        enough = hungry or 2 * room >= self.batch_size.hold * len(slots)
        return max(0, min(room, self.batch_size.batch * len(slots))) if enough else 0

    def _slot_for(self, claim: Claim, seconds: float) -> Slot | None:
        """The best slot that could take a job of so many seconds now: one that has its model, and
        the least to do."""
        free = [
            slot
            for slot in self.slots
            if (slot.heavy or not claim.heavy) and slot.has_room(seconds, BATCH_S)
        ]
        if len(free) > 1:
            return min(free, key=lambda slot: _reluctance(slot, claim))
        return free[0] if free else None


def _unfitness(slot: Slot, order: ModelOrder) -> tuple[bool, bool, bool, int]:
    """What speaks against loading a model here, the weightiest first."""
    return (not slot.heavy, slot.model != order.model, slot.model is not None, len(slot.claims))


def _reluctance(slot: Slot, claim: Claim) -> tuple[bool, bool, bool, float]:
    """What speaks against this slot, the weightiest first."""
    return (
        slot.heavy and not claim.heavy,
        claim.model is not None and slot.model != claim.model,
        slot.model not in (None, claim.model),
        slot.load_s,
    )
