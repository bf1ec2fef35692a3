"""A covering array: choices of up to eight options in which every two values occur together."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from support.crossings.options import (
    TABLE,
    TOGETHER,
    Choice,
    is_refused,
    needed,
    refused_choices,
)

MOST = 8  # options of a history
Value = tuple[str, str]  # an option, and its value as JSON
Group = frozenset[Value]


def value(name: str, given: Any) -> Value:
    return name, json.dumps(given, sort_keys=True)


VALUES_OF = {
    name: [json.dumps(given, sort_keys=True) for given in option.values]
    for name, option in TABLE.items()
}
VALUES = [(name, text) for name, texts in VALUES_OF.items() for text in texts]


def fit(given: dict[str, str]) -> bool:
    """True if no two of these values, as JSON, are refused together."""
    return not is_refused({name: json.loads(text) for name, text in given.items()})


def groups() -> set[Group]:
    """The combinations that have to occur: any two values, and three that belong together."""
    core = [value(name, given) for name, values in TOGETHER.items() for given in values]
    wanted = [*itertools.combinations(VALUES, 2), *itertools.combinations(core, 3)]
    found = set()
    for group in wanted:
        names = {name for name, _ in group}
        needs = {need: VALUES_OF[need][0] for name in names for need in needed(name)}
        if len(names) == len(group) and fit({**needs, **dict(group)}):
            found.add(frozenset(group))
    return found


class Drawing:
    """One choice in the making, and what it covers."""

    def __init__(self, dice: random.Random, open_groups: dict[Value, set[Group]]) -> None:
        self.dice, self.open = dice, open_groups
        self.given: dict[str, str] = {}

    def covers(self, one: Value) -> int:
        """How many open groups this value would complete."""
        given = set(self.given.items()) | {one}
        return sum(group <= given for group in self.open[one])

    def add(self, one: Value) -> bool:
        """Give this value and what it needs; False if that cannot be."""
        given = {**self.given, one[0]: one[1]}
        for need in needed(one[0]):
            if need not in given:
                given[need] = max(
                    VALUES_OF[need],
                    key=lambda text: (self.covers((need, text)), self.dice.random()),
                )
        if one[0] in self.given or len(given) > MOST or not fit(given):
            return False
        self.given = given
        return True


def array(seed: int) -> Iterator[Choice]:
    """Choices that cover every group, and those that are refused. The same seed gives the same."""
    dice = random.Random(seed)
    ordered = sorted(groups(), key=sorted)
    left = dict.fromkeys(ordered)
    by_value: dict[Value, set[Group]] = {one: set() for one in VALUES}
    for group in ordered:
        for one in group:
            by_value[one].add(group)
    while left:
        drawing = Drawing(dice, by_value)
        first = dice.choice(sorted(next(iter(left))))  # the group that has waited longest
        for one in [first, *sorted(next(iter(left)))]:
            drawing.add(one)
        while len(drawing.given) < MOST:
            best = sorted(VALUES, key=lambda v: (-drawing.covers(v), dice.random()))
            if not any(drawing.add(one) for one in best[:12]):
                break
        given = set(drawing.given.items())
        done = [group for group in left if group <= given]
        for group in done:
            del left[group]
            for one in group:
                by_value[one].discard(group)
        yield {name: json.loads(text) for name, text in drawing.given.items()}
    yield from refused_choices()
