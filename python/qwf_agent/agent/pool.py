"""All slots of an agent: which slot gets which job."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from qwf_agent.agent.batch_size import BATCH_S, BatchSize
from qwf_agent.agent.body_shapes import BodyShapes
from qwf_agent.agent.child_orders import ModelOrder
from qwf_agent.agent.claim import Claim, Claimant
from qwf_agent.agent.slot import Slot

MEASURE_AFTER_S = 1.0
FEW = 16  # jobs
# At the end: how long children may take to end by themselves, and their death when they are killed.
CHILD_END_S, KILL_S = 3.0, 0.5
SOON_S = 0.005  # longest body after which a report is worth waiting for


class Pool:
    """The slots, and the backlog: jobs that are claimed but not handed to a child yet.

    A heavy job goes to a slot with a card, which runs one body at a time. A light job goes to any
    slot, but to one with a card only if no other is free.
    """

    def __init__(self, slots: list[Slot], batch_size: BatchSize) -> None:
        self.slots = slots
        self.backlog: deque[Claim] = deque()
        self.batch_size = batch_size
        self.held = 0  # jobs of the backlog whose model server is not ready
        self.gathering = 0  # jobs of the backlog that wait for others of their batch
        # Whether a job that needs a model may start now. It is asked when there is a slot for it.
        self.admit: Callable[[Claim], bool] | None = None
        # Whether the child of a slot may load the model that a job needs.
        self.may_load: Callable[[Claim, Slot], bool] | None = None
        self.shapes = BodyShapes()
        self._kill_at = float("inf")  # at the end of the agent
        self._nothing_to_do: list[tuple[ModelOrder, str | None]] = []

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.slots)

    def claims(self) -> list[Claim]:
        """All jobs in the backlog and in the slots."""
        in_slots = (claim for slot in self.slots for claim in slot.claims.values())
        return [*self.backlog, *in_slots]

    def free_places(self) -> int:
        """How many more jobs could run at once, besides those that the agent holds."""
        return len(self.slots) * self.shapes.places() - len(self.claims())

    def add(self, claims: list[Claim]) -> None:
        """Put jobs that a claim has brought into the backlog."""
        self.backlog.extend(claims)
        if self.shapes.exist() and claims:
            self.shapes.note(claims)
            self.batch_size.note_claimed([claim.shape for claim in claims])

    def model(self) -> str | None:
        """The model to claim jobs for: a loaded one that is not in use now, else any loaded one."""
        loaded = [slot for slot in self.slots if slot.held.name is not None]
        return min(loaded, key=lambda slot: len(slot.claims)).held.name if loaded else None

    def stats(self) -> dict[str, Any]:
        """The part of a heartbeat about the slots."""
        now = time.monotonic()
        loads = [slot.held.loads for slot in self.slots]
        return {
            "current_model": self.model(),
            "slots": len(self.slots) * self.shapes.places(),
            "busy": sum(len(body.claims) for slot in self.slots for body in slot.bodies()),
            "backlog": len(self.backlog),
            "models": [
                _model_of(slot, now)
                for slot in self.slots
                if slot.heavy or slot.held.name is not None
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

    def has_any_of(self, worker: Claimant) -> bool:
        """Return True if the backlog or a slot has a job of this worker."""
        return any(claim.worker is worker for claim in self.claims())

    def busy(self) -> bool:
        """Return True if there are jobs, or children that are starting."""
        return bool(self.backlog) or any(
            slot.claims or (slot.process is not None and not slot.ready) for slot in self.slots
        )

    def any_long(self, now: float) -> bool:
        """Return True if a body has run long enough to be measured."""
        return any(
            body.seconds(now) > MEASURE_AFTER_S for slot in self.slots for body in slot.bodies()
        )

    def work_s(self) -> float:
        """How long every child is expected to have work; 0 if one runs its last job."""
        return min((s.work_s if len(s.claims) > 1 else 0.0 for s in self.slots), default=0.0)

    def ends_node_soon(self, claims: list[Claim]) -> bool:
        """Return True if these jobs are few, and one is a node that should end within
        milliseconds."""
        return len(claims) <= FEW and any(
            claim.run_id is not None and self.batch_size.expected(claim.task) <= SOON_S
            for claim in claims
        )

    def order(self, order: ModelOrder) -> None:
        """Have the best child load a model, or all children that have it unload it."""
        if order.action == "load":
            chosen = sorted(self.slots, key=lambda slot: _order_cost(slot, order))[:1]
        else:
            loaded = [slot for slot in self.slots if slot.held.name is not None]
            chosen = [slot for slot in loaded if not order.model or order.model == slot.held.name]
        for slot in chosen:
            slot.orders.waiting.append(order)
        if not chosen:
            self._nothing_to_do.append((order, None))

    def take_orders_done(self) -> list[tuple[ModelOrder, str | None]]:
        """The orders that have ended since the last call, each with its error or None."""
        done, self._nothing_to_do = self._nothing_to_do, []
        return done + [answer for slot in self.slots for answer in slot.orders.take_done()]

    def hand_out(self) -> None:
        """Hand jobs of the backlog to the children with the least work, several short ones at a
        time. A heavy job that has to wait does not delay light ones, and one that waits for a model
        server or for memory of a card delays no other."""
        if any(claim.rated for claim in self.backlog):
            self._hand_out_rated()
        if len(self.slots) == 1:  # the usual case, for which there is nothing to choose
            self.slots[0].take_ordinary(self.backlog, self.batch_size.expected, BATCH_S)
        kept: deque[Claim] = deque()
        cards_are_busy, self.gathering = False, 0
        while self.backlog:
            claim = self.backlog.popleft()
            if self.shapes.waits(claim, self.backlog):
                kept.append(claim)
                self.gathering += 1
                continue
            seconds = self.batch_size.expected(claim.task)
            free = [] if claim.heavy and cards_are_busy else self._free_for(claim, seconds)
            slot = self._best_of(free, claim)
            if slot is not None and self._may_start(claim):
                self._assign(slot, claim, seconds, self.backlog)
                continue
            kept.append(claim)
            if free:
                continue
            cards_are_busy = True
            if not claim.heavy:
                break  # if no slot takes a light job, none takes any job
        self.backlog.extendleft(reversed(kept))
        for slot in self.slots:
            slot.flush()

    def _assign(self, slot: Slot, claim: Claim, seconds: float, others: deque[Claim]) -> None:
        """Give the job to the child of the slot, with those of the others that are of its batch."""
        if not claim.is_batched:
            slot.assign(claim, seconds)
            return
        batch = self.shapes.take_batch(claim, others, slot.jobs_left, self._may_start)
        slot.assign_batch(batch, seconds)

    def _hand_out_rated(self) -> None:
        """Hand jobs whose start is counted already to children that begin them now: before all
        others, also before those that such a child has not started."""
        now = time.monotonic()
        first = deque(claim for claim in self.backlog if claim.rated)
        self.backlog = deque(claim for claim in self.backlog if not claim.rated)
        kept = []
        while first:
            claim = first.popleft()
            free = [
                slot
                for slot in self.slots
                if (slot.heavy or not claim.heavy)
                and slot.startable(1, now) > 0
                and slot.jobs.takes_beside(claim) is not False
            ]
            slot = self._best_of(free, claim)
            if slot is None or not self._may_start(claim):
                kept.append(claim)
                continue
            if not claim.is_concurrent:
                self.take_back(slot)
            self._assign(slot, claim, self.batch_size.expected(claim.task), first)
        self.backlog.extendleft(reversed(kept))

    def take_back(self, slot: Slot) -> None:
        """Move the jobs that the child of this slot has not started to the head of the backlog."""
        self.backlog.extendleft(reversed(slot.take_back()))

    def let_end(self, give_up_at: float) -> None:
        """Let the idle children end, which may have spans to send; kill the others, and at last
        also those that have not ended."""
        self._kill_at = min(time.monotonic() + CHILD_END_S, give_up_at - KILL_S)
        for slot in self.slots:
            slot.let_end()

    def have_ended(self) -> bool:
        """Reap the children that `let_end` has told; True if none is left."""
        if time.monotonic() >= self._kill_at:
            for slot in self.slots:
                slot.kill()
        return all(slot.process is None or slot.reap() is not None for slot in self.slots)

    def slot_of(self, claim: Claim) -> Slot | None:
        """The slot whose child has the job."""
        return next((slot for slot in self.slots if slot.claims.get(claim.ticket) is claim), None)

    def find(self, token: str) -> Claim | None:
        """The claim with this token, if the agent holds it."""
        return next((claim for claim in self.claims() if claim.token == token), None)

    def _may_start(self, claim: Claim) -> bool:
        return claim.model is None or self.admit is None or self.admit(claim)

    def _free_for(self, claim: Claim, seconds: float) -> list[Slot]:
        """The slots that can take a job of `seconds` now."""
        return [
            slot
            for slot in self.slots
            if (slot.heavy or not claim.heavy) and slot.has_room(claim, seconds, BATCH_S)
        ]

    def _best_of(self, free: list[Slot], claim: Claim) -> Slot | None:
        """The slot that has the model of the job and the least work, of those that may load it."""
        if self.may_load is not None and claim.heavy and claim.model is not None:
            free = [slot for slot in free if self.may_load(claim, slot)]
        if len(free) > 1:
            return min(free, key=lambda slot: _job_cost(slot, claim))
        return free[0] if free else None


def _model_of(slot: Slot, now: float) -> dict[str, Any]:
    """The model of a slot: for how many seconds it is loaded, and for how many without a job."""
    busy = bool(slot.claims)
    held = slot.held
    stats: dict[str, Any] = {"card": slot.card, "model": held.name, "busy": busy}
    if held.name is not None:
        stats["warm_s"] = round(now - held.since, 1)
        stats["idle_s"] = 0.0 if busy else round(now - held.free_since, 1)
    return stats


def _order_cost(slot: Slot, order: ModelOrder) -> tuple[bool, bool, bool, int]:
    """Reasons against loading the model in this slot, the most important first."""
    model = slot.held.name
    return (not slot.heavy, model != order.model, model is not None, len(slot.claims))


def _job_cost(slot: Slot, claim: Claim) -> tuple[bool, bool, bool, float]:
    """Reasons against running the job in this slot, the most important first."""
    return (
        slot.heavy and not claim.heavy,
        claim.model is not None and slot.held.name != claim.model,
        slot.held.name not in (None, claim.model),
        slot.work_s,
    )
