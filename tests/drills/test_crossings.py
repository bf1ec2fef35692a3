"""Options that are right alone, together: a covering array of short histories, each of which ends,
and ends as the documents say. The long search is part of `make chaos`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from support.crossings.covering import array, groups, value
from support.crossings.histories import setup
from support.crossings.options import Choice, refused_choices
from support.crossings.place import Place, prepare
from support.crossings.searching import histories, play, shortened, with_choice
from support.planted_bugs import CROSSING_BUGS, planted
from support.servers import Server

SEED = 2  # an array in which each planted bug shows
PARTS = 4  # so that several processes share the work


@pytest.fixture(scope="module")
def dsn(server: Server, template: str) -> Iterator[str]:
    """The database of all histories here: a new one compiles each function again."""
    with server.database(server.new_name(), template) as janitor:
        found = server.dsn(janitor.dbname)
        prepare(found)
        yield found


@pytest.fixture(scope="module")
def place(dsn: str) -> Iterator[Place]:
    with contextlib.closing(Place(dsn)) as found:
        yield found


def test_every_two_values_occur_together() -> None:
    """And three of those that several rules are about, in histories of at most eight options."""
    choices = list(array(SEED))
    assert max(map(len, choices)) == 8
    given = [{value(*one) for one in choice.items()} for choice in choices]
    assert [group for group in groups() if not any(group <= one for one in given)] == []


@pytest.mark.parametrize("part", range(PARTS))
def test_every_history_ends_as_the_documents_say(place: Place, part: int) -> None:
    for number, one in enumerate(histories(SEED)):
        if number % PARTS == part and (finding := play(place, one)) is not None:
            found = shortened(place, one, finding)
            pytest.fail(f"{found.finding}\n{found.history.choice}\n{found.text}")


@pytest.mark.parametrize("name", CROSSING_BUGS)
def test_the_array_finds_it_when(dsn: str, place: Place, name: str) -> None:
    bugs, choice = CROSSING_BUGS[name]
    with contextlib.ExitStack() as stack:
        for bug in bugs:
            stack.enter_context(planted(dsn, *bug))
        found = (play(place, one) for one in with_choice(SEED, choice))
        print(next(finding for finding in found if finding is not None))


@pytest.mark.parametrize("choice", refused_choices(), ids=lambda choice: " and ".join(choice))
def test_what_cannot_be_given_together_is_refused(place: Place, choice: Choice) -> None:
    place.as_new()
    for statement in setup(choice):
        place.ask(statement)
    assert [line for line in place.said if "/* QW00" in line] != []
