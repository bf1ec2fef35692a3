"""Makes a history that has a finding as short as it can be and still have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from support.crossings.histories import History, setup
from support.crossings.options import TABLE
from support.crossings.place import Place
from support.crossings.playing import Playing
from support.crossings.questions import Finding


def first(place: Place, history: History) -> Finding | None:
    """The first finding of a history, looked at closely."""
    return next(iter(Playing(place, history, closely=True).play()), None)


def shrunk(place: Place, history: History, finding: Finding) -> History:
    """With the fewest options, then statements and acts, that still give this finding."""

    def still(candidate: History) -> bool:
        found = first(place, candidate)
        return found is not None and found.question == finding.question

    history = settled(history, without_an_option, still)
    history = settled(history, without_a_statement, still)
    return settled(history, without_acts, still)


def settled(
    history: History, shorter: Callable[[History], Iterator[History]],
    still: Callable[[History], bool],
) -> History:  # fmt: skip
    """Take what is shorter and still finds it, until there is none."""
    while found := next((one for one in shorter(history) if still(one)), None):
        history = found
    return history


def without_an_option(history: History) -> Iterator[History]:
    """The same acts with one option less, and what needs it."""
    for name in history.choice:
        choice = {
            other: value for other, value in history.choice.items()
            if other != name and name not in TABLE[other].needs
        }  # fmt: skip
        yield replace(history, choice=choice, setup=tuple(setup(choice)))


def without_a_statement(history: History) -> Iterator[History]:
    for index in reversed(range(len(history.setup))):
        yield replace(history, setup=history.setup[:index] + history.setup[index + 1 :])


def without_acts(history: History) -> Iterator[History]:
    """Without a half of the acts, a quarter, …, one."""
    size = len(history.acts) // 2
    while size:
        for index in range(0, len(history.acts), size):
            yield replace(history, acts=history.acts[:index] + history.acts[index + size :])
        size //= 2
