"""Lines that a run prints at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.chaos.faults import KINDS
from support.chaos.run import Result

EXCERPT = 3  # lines of each check that did not hold


def lines(result: Result, log: Path) -> Iterator[str]:
    """The table of faults and checks, and what to look at if one did not hold."""
    yield "faults"
    for kind in KINDS:
        yield f"  {result.struck[kind]:>5}  {kind}"
    yield f"  {result.struck.total():>5}  in all, in {result.seconds:.0f} s, seed {result.seed}"
    yield "work"
    yield from (f"  {text}" for text in _work(result))
    yield "what held"
    for sentence, wrong in result.broken.items():
        yield f"  {'held' if not wrong else 'NO':>5}  {sentence}"
        yield from (f"           {text}" for text in wrong[:EXCERPT])
        if len(wrong) > EXCERPT:
            yield f"           and {len(wrong) - EXCERPT} more"
    if not result.held:
        yield f"something did not hold: seed {result.seed}, every fault and the logs: {log.parent}"


def _work(result: Result) -> Iterator[str]:
    evidence = result.evidence
    outcomes = Counter(row["outcome"] for row in evidence.attempts)
    again = sum(count > 1 for count in Counter(b["job"] for b in evidence.begun()).values())
    yield f"{len(evidence.acknowledged)} enqueues acknowledged, {len(evidence.runs)} runs"
    yield f"{len(evidence.jobs)} jobs and nodes, {again} of them with more than one body"
    yield "attempts: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    yield f"{len(evidence.crashes)} times Postgres stopped, or its disk was full"
    yield f"{evidence.looks} looks at the invariants"
