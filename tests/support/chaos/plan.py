"""Which fault comes when: the same seed gives the same list. How far a run comes in it, and which
process a fault hits, depends on the machine."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Faults that stop everybody for a second or more are rarer: work has to go on for others to hit it.
OFTEN = {
    "child killed", "agent drained", "connections cut", "sessions ended", "statements cancelled",
    "late report",
}  # fmt: skip
GAP_S = (0.1, 1.2)


class Planned(NamedTuple):
    """A fault of the plan: `gap_s` after the one before. Its dice come from the seed and number."""

    number: int
    kind: str
    gap_s: float
    dice: random.Random

    def __str__(self) -> str:
        return f"{self.number:>4}  +{self.gap_s:.2f} s  {self.kind}"


def plan(seed: int, kinds: Sequence[str], gap_s: tuple[float, float] = GAP_S) -> Iterator[Planned]:
    """Faults without end. Each kind comes once before any comes again; some come twice."""
    dice, deck = random.Random(f"{seed} plan"), list[str]()
    for number in itertools.count(1):
        if not deck:
            deck = [*kinds, *(kind for kind in kinds if kind in OFTEN)]
            dice.shuffle(deck)
        own = random.Random(f"{seed} fault {number}")
        yield Planned(number, deck.pop(), dice.uniform(*gap_s), own)
