"""The rows of a timeline: a node with its attempts, or with how many went on at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from qwf_agent.look.draw.words import duration
from qwf_agent.web.drawings.timeline_spans import KINDS, AttemptSpan, end_of, is_drawable

TIMES = "\N{MULTIPLICATION SIGN}"


class Slice(NamedTuple):
    """A part of the time of many attempts: how many went on in it, and how many failed in it."""

    start: datetime
    end: datetime
    at_once: int
    failed: int


@dataclass(frozen=True)
class Fold:
    """Many attempts, of one node or of the elements of a map, that are drawn together."""

    whole: AttemptSpan  # from the first start to the last end
    attempts: int
    failed: int
    typical: float
    slowest: float
    slowest_href: str
    at_once: tuple[int, ...]
    failures: tuple[int, ...]

    def slices(self, now: datetime) -> Iterator[Slice]:
        """Equal parts of the time, in order."""
        start = self.whole.started_at
        step = (end_of(self.whole, now) - start) / len(self.at_once)
        for number, (at_once, failed) in enumerate(zip(self.at_once, self.failures, strict=True)):
            yield Slice(start + number * step, start + (number + 1) * step, at_once, failed)

    def busy(self, now: datetime) -> Iterator[AttemptSpan]:
        """The times in which any attempt went on."""
        for is_busy, slices in groupby(self.slices(now), lambda one: bool(one.at_once)):
            parts = list(slices)
            if is_busy:
                yield AttemptSpan(self.whole.name, "completed", parts[0].start, parts[-1].end)


@dataclass(frozen=True)
class Row:
    """A node of a run: its attempts in the order of their starts, or its fold."""

    name: str
    spans: tuple[AttemptSpan, ...]
    fold: Fold | None = None
    href: str | None = None
    depth: int = 0  # 1: a node of the run that a node is
    opener: tuple[str, str] | None = None  # address and text of the link to the rows of its run
    kinds: frozenset[str] = frozenset()  # of a fold

    @property
    def parts(self) -> tuple[AttemptSpan, ...]:
        """The attempts that decide when it ended."""
        return (self.fold.whole,) if self.fold else self.spans

    def ran(self, now: datetime) -> float:
        """Seconds that it ran: of many attempts, from the first start to the last end."""
        parts = (one for one in self.parts if one.kind != "asked")
        return sum(((end_of(one, now) - one.started_at).total_seconds() for one in parts), 0.0)

    def said(self, now: datetime) -> str:
        """How long it took, in a few letters."""
        if self.fold:
            return f"{self.fold.attempts:,} {TIMES} {duration(self.fold.typical)}"
        asked = not any(one.kind != "asked" for one in self.spans)
        return "asked" if asked else duration(self.ran(now))

    def shows(self, kind: str | None) -> Row | None:
        """The row with attempts of this kind only; None if it has none."""
        if kind is None or (self.fold and kind in self.kinds):
            return self
        spans = tuple(one for one in self.spans if one.kind == kind)
        return Row(self.name, spans, None, self.href, self.depth, self.opener) if spans else None


def rows_of_spans(spans: Iterable[AttemptSpan]) -> list[Row]:
    """A row for each job, in the order in which they began to wait."""
    found: dict[str, list[AttemptSpan]] = {}
    for span in sorted(spans, key=lambda span: (span.since, span.started_at)):
        if is_drawable(span):
            found.setdefault(span.name, []).append(span)
    return [Row(name, tuple(every), href=every[-1].href) for name, every in found.items()]


def row_of_node(
    node: Mapping[str, Any], spans: Sequence[AttemptSpan], link: Callable[[int], str],
    href: str, depth: int = 0, opener: tuple[str, str] | None = None,
) -> Row | None:  # fmt: skip
    """The row of a node of view qwf.run_timeline; None if it has nothing to draw. Without spans,
    one bar stands for all attempts."""
    fold = _fold(node, link) if node["at_once"] else None
    spans = spans or [_whole(node, "completed" in node["outcomes"], href)]
    spans = tuple(sorted((one for one in spans if is_drawable(one)), key=lambda one: one.since))
    if not fold and not spans:
        return None
    kinds = frozenset(KINDS.get(outcome, "failed") for outcome in node["outcomes"] or ())
    name = node["node_id"]
    return Row(name, () if fold else spans, fold, href, depth, opener, kinds)


def in_order(rows: Sequence[Row], by_length: bool, now: datetime) -> list[Row]:
    """The rows by their starts, or the longest first."""
    if by_length:
        return sorted(rows, key=lambda row: -row.ran(now))
    return sorted(rows, key=lambda row: (row.parts[0].since, row.parts[0].started_at))


def _whole(node: Mapping[str, Any], completed: bool, href: str | None = None) -> AttemptSpan:
    """From the first start to the last end."""
    going = bool(node["running"])
    outcome = "running" if going else "completed" if completed else "failed"
    said = f"{node['attempts']:,} attempts, {node['failed']:,} failed"
    return AttemptSpan(
        node["node_id"], outcome, node["started_at"], None if going else node["ended_at"],
        node["queued_at"], detail=said, href=href,
    )  # fmt: skip


def _fold(node: Mapping[str, Any], link: Callable[[int], str]) -> Fold | None:
    whole = _whole(node, not node["failed"])
    if not is_drawable(whole) or node["ended_at"] - node["started_at"] < timedelta(0):
        return None
    return Fold(
        whole, node["attempts"], node["failed"], node["typical"], node["slowest"],
        link(node["slowest_job"]), tuple(node["at_once"]), tuple(node["failures"]),
    )  # fmt: skip
