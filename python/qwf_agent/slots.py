"""All slots of an agent: how much they can take, and who gets which job."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from qwf_agent.claim import Claim
from qwf_agent.pace import BATCH_S, Pace
from qwf_agent.slot import Slot


class Slots:
    """The slots, and the backlog: jobs claimed but not given to a child yet."""

    def __init__(self, slots: list[Slot], pace: Pace) -> None:
        self.slots = slots
        self.backlog: deque[Claim] = deque()
        self.pace = pace

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.slots)

    def claims(self) -> list[Claim]:
        """Every job that is waiting here or with a child."""
        return [*self.backlog, *(claim for slot in self.slots for claim in slot.claims)]

    def busy(self) -> bool:
        """Whether there is something to look after: jobs, or children that start."""
        return bool(self.backlog) or any(slot.claims or not slot.ready for slot in self.slots)

    def all_have_work(self) -> bool:
        """Whether every child has at least a job behind the one it runs."""
        return all(len(slot.claims) > 1 for slot in self.slots)

    def room(self, now: float) -> int:
        """How many jobs to claim now. While all children have work, only once half of what they
        should hold is done."""
        room = sum(slot.room(self.pace.batch, now) for slot in self.slots) - len(self.backlog)
        hungry = any(slot.ready and not slot.claims for slot in self.slots)
        return room if hungry or 2 * room >= self.pace.batch * len(self.slots) else 0

    def hand_out(self) -> None:
        """Give jobs from the backlog to the children with the least to do, small ones several at
        a time."""
        while self.backlog:
            seconds = self.pace.expected(self.backlog[0].task)
            free = [slot for slot in self.slots if slot.has_room(seconds, BATCH_S)]
            if not free:
                break
            min(free, key=lambda slot: slot.load_s).assign(self.backlog.popleft(), seconds)
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
