"""Plays the histories of covering arrays, and makes what they find short."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

from support.crossings.covering import array
from support.crossings.histories import History, history
from support.crossings.options import Choice
from support.crossings.place import Place, script
from support.crossings.playing import Playing
from support.crossings.questions import Finding
from support.crossings.shrinking import first, shrunk


@dataclass(frozen=True)
class Found:
    """A finding, the short history that has it, and that history as a script."""

    finding: Finding
    history: History
    text: str


def histories(seed: int) -> Iterator[History]:
    """Those of one array. The same seed gives the same ones."""
    for number, choice in enumerate(array(seed)):
        yield history(choice, f"{seed}/{number}")


def with_choice(seed: int, wanted: Choice) -> Iterator[History]:
    """Those of one array in which these options have these values."""
    for one in histories(seed):
        if all(one.choice.get(name) == value for name, value in wanted.items()):
            yield one


def play(place: Place, one: History) -> Finding | None:
    """The findings of a history."""
    return next(iter(Playing(place, one).play()), None)


def shortened(place: Place, one: History, finding: Finding) -> Found:
    """The shortest history that has this finding."""
    small = shrunk(place, one, finding)
    last = first(place, small) or finding
    return Found(last, small, script(place.said))


class Search:
    """Arrays one after the other until the time is over. Of findings that answer the same question
    the first one is made short."""

    def __init__(self, place: Place, seed: int, seconds: float) -> None:
        self.place, self.seed, self.until = place, seed, time.monotonic() + seconds
        self.played = self.arrays = 0
        self.counts: dict[str, int] = {}

    def found(self) -> Iterator[Found]:
        for seed in itertools.count(self.seed):
            for one in histories(seed):
                if time.monotonic() > self.until:
                    return
                self.played += 1
                finding = play(self.place, one)
                if finding is None:
                    continue
                self.counts[finding.question] = self.counts.get(finding.question, 0) + 1
                if self.counts[finding.question] == 1:
                    yield shortened(self.place, one, finding)
            self.arrays += 1
