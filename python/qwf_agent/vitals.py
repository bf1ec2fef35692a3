"""What the watchdogs remember of one running body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Vitals:
    """Times are on the monotonic clock, in seconds; memory in bytes.

    `still`: card use and memory of samples taken since the body fell silent for too long.
    """

    loading: bool = False
    beat: int = 0
    beat_at: float | None = None  # of its last report of progress; None: it has made none
    sampled_at: float = 0.0
    still: list[tuple[float, int]] = field(default_factory=list)
    suspicion: dict[str, Any] | None = None  # a silence that turned out to be none, to be told
    window_at: float | None = None  # begin of the time that is looked at for the card's health
    window_uses: list[float] = field(default_factory=list)
    window_rss: int | None = None
    gpu_peak_bytes: int = 0
