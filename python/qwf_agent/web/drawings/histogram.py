"""How times are spread: a bar for each part of the time between the shortest and the longest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qwf_agent.look.draw.words import duration

HEIGHT, WIDTH = 60, 10  # of a bar, in units of the drawing


@dataclass(frozen=True)
class Bar:
    """How many times lie in a part, and where it is drawn."""

    x: int
    height: float
    said: str


def bars(counts: Sequence[int], low: float, high: float) -> list[Bar]:
    """Bars as high as their counts; one that stands for anything can be seen."""
    most, step = max(counts, default=0) or 1, (high - low) / (len(counts) or 1)
    return [
        Bar(
            x=WIDTH * place,
            height=round(max(1.5, HEIGHT * count / most), 1) if count else 0,
            said=f"{count:,} took {duration(low + place * step)} "
            f"to {duration(low + (place + 1) * step)}",
        )
        for place, count in enumerate(counts)
    ]
