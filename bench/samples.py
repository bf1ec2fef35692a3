"""Samples, their medians, and the rows of the table."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """One measured value of one round."""

    scenario: str
    figure: str
    value: float
    unit: str
    system: str = "qwf"
    more: dict[str, float] = field(default_factory=dict)  # wal_bytes and commits per job, p99, ...


@dataclass(frozen=True)
class Figure:
    """The samples of all rounds, as one row of the table."""

    scenario: str
    figure: str
    system: str
    unit: str
    median: float
    low: float
    high: float
    rounds: int
    more: dict[str, float]


def figures(samples: list[Sample]) -> list[Figure]:
    """Medians, in the order in which their first samples were taken."""
    groups: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.scenario, sample.figure, sample.system), []).append(sample)
    return [
        Figure(
            scenario, figure, system, group[0].unit,
            statistics.median(values := [sample.value for sample in group]),
            min(values), max(values), len(group),
            {key: statistics.median([s.more[key] for s in group if key in s.more])
             for key in dict.fromkeys(key for sample in group for key in sample.more)},
        )
        for (scenario, figure, system), group in groups.items()
    ]  # fmt: skip


def ratio(figure: Figure, others: list[Figure]) -> float | None:
    """The median divided by qwf's for the same figure; None for qwf itself, or if qwf has none."""
    for other in others:
        same = (other.scenario, other.figure) == (figure.scenario, figure.figure)
        if same and other.system == "qwf" != figure.system and other.median:
            return figure.median / other.median
    return None


def rows(found: list[Figure]) -> list[list[str]]:
    """The lines of the table, as text."""
    lines = []
    for one in found:
        times = ratio(one, found)
        lines.append([
            one.scenario,
            one.figure + ("" if one.system == "qwf" else f" · {one.system}"),
            f"{number(one.median)} {one.unit}" + (f" ({times:.2f} x qwf)" if times else ""),
            f"{number(one.low)} to {number(one.high)}" if one.rounds > 1 else "",
            ", ".join(f"{named(key)} {measured(key, value)}" for key, value in one.more.items()),
        ])  # fmt: skip
    return lines


HEADINGS = ["scenario", "what", "median", "spread", "also measured"]
# What else is measured: how a table calls it, and its unit where that of the figure is not meant.
NAMED = {
    "wal_bytes": ("WAL", " B"), "aof_bytes": ("log of Redis", " B"), "commits": ("commits", ""),
    "server_us": ("CPU of the server", " µs"), "clients_us": ("CPU of the workers", " µs"),
    "parents_us": ("CPU of the parents", " µs"), "children_us": ("CPU of the children", " µs"),
    "wal_bytes_per_s": ("WAL in a second", " B"), "commits_per_s": ("commits in a second", ""),
    "times_empty": ("ratio to the empty one", ""), "empty": ("in an empty database", ""),
    "percent_in_bodies": ("time in bodies", " %"), "resumed_after_s": ("resumed after", " s"),
    "percent_of_cpu_in_bodies": ("CPU in bodies", " %"), "twice": ("steps run twice", ""),
    "read_p50": ("read by a bystander p50", " ms"), "read_p99": ("p99", " ms"),
    "change_p50": ("change by a bystander p50", " ms"), "change_p99": ("p99", " ms"),
    "left": ("jobs left", ""), "mib": ("tables of the queue", " MiB"),
    "enqueued_per_s": ("enqueued in a second", ""),
}  # fmt: skip


def named(key: str) -> str:
    """The other measurements, in words."""
    return NAMED[key][0] if key in NAMED else key.replace("_", " ")


def measured(key: str, value: float) -> str:
    """Its value with its unit; without one, it has the unit of the figure, or counts something."""
    return number(value) + (NAMED[key][1] if key in NAMED else "")


def number(value: float) -> str:
    """Format a number with about three digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
