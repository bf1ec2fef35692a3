"""The last firings of a schedule as bars: how each ended, and how long its work took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qwf_agent.look.draw.words import duration, state_name

HEIGHT, WIDTH = 40, 10  # of a bar, in units of the drawing


@dataclass(frozen=True)
class FiringBar:
    """A firing: where its bar is, where it leads, and what it says."""

    x: int
    height: float
    status: str
    path: str | None
    said: str


def bars(firings: Sequence[Mapping[str, Any]]) -> list[FiringBar]:
    """Bars of firings that come the newest first, drawn the oldest first. A bar is as high as its
    work was long; what was left out has a low one."""
    longest = max((one["seconds"] or 0 for one in firings), default=0) or 1
    return [_bar(place, one, longest) for place, one in enumerate(reversed(firings))]


def _bar(place: int, one: Mapping[str, Any], longest: float) -> FiringBar:
    status = one["status"] or one["outcome"]
    what, path = "left out", None
    if one["run_id"] is not None:
        what, path = f"run {one['run_id']}", f"/runs/{one['run_id']}"
    elif one["job_id"] is not None:
        what, path = f"job {one['job_id']}", f"/jobs/{one['job_id']}"
    took = f", {duration(one['seconds'])}" if one["seconds"] is not None else ""
    because = f", {one['because']}" if one["because"] else ""
    height = round(max(4, HEIGHT * max(0, one["seconds"] or 0) / longest), 1)
    return FiringBar(
        WIDTH * place, height, status, path, f"{what}, {state_name(status)}{took}{because}"
    )
