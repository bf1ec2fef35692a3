"""The last runs of a workflow as bars: how long each took, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qwf_agent.look.draw.words import duration

HEIGHT, WIDTH = 40, 10  # of a bar, in units of the drawing
ENOUGH = 10  # completed runs, to call one slow; from so many on the engine learns what is late


@dataclass(frozen=True)
class RunBar:
    """A run: where its bar is, and what it says."""

    x: int
    height: float
    status: str
    slow: bool
    run: int
    said: str


def bars(
    last: Sequence[Mapping[str, Any]], most: int, usual: Mapping[str, Any], say_usual: bool = True
) -> list[RunBar]:
    """The newest `most` of a list of qwf.usual as bars, the oldest first. A bar is as high as the
    run was long; one that took longer than nine of ten do is slow, once ENOUGH have completed.
    With `say_usual`, each says how long a run usually takes."""
    shown = list(reversed(last[:most]))
    longest = max((one["seconds"] or 0 for one in shown), default=0) or 1
    typical = f", usual {duration(usual['p50'])}" if say_usual and usual["p50"] is not None else ""
    return [
        RunBar(
            x=WIDTH * place,
            height=round(max(4, HEIGHT * (one["seconds"] or 0) / longest), 1),
            status=one["status"],
            slow=usual["runs"] >= ENOUGH and (one["seconds"] or 0) > usual["p90"],
            run=one["run"],
            said=f"run {one['run']}, {one['status']}"
            + (f", {duration(one['seconds'])}" if one["seconds"] is not None else "")
            + typical,
        )
        for place, one in enumerate(shown)
    ]


def share(last: Sequence[Mapping[str, Any]], status: str, most: int = 50) -> tuple[int, int] | None:
    """The percentage of the newest `most` that ended with a status, and of how many it is."""
    ended = [one["status"] for one in last[:most]]
    return (round(100 * ended.count(status) / len(ended)), len(ended)) if ended else None
