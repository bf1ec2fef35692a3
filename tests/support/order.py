"""Order of the tests when several processes share them (`-n 4 --dist loadgroup`).

Long tests start first, so that none is left alone at the end. Tests of a module that share a
fixture, such as an agent or a server, stay in one process, which makes it once. The others go to
the processes ten at a time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

LONG = Path(__file__).with_name("long_tests.txt")
TOGETHER = 10


def sort(items: list[pytest.Item]) -> None:
    """Put those first that long_tests.txt names, in its order, and group the tests."""
    names = long_tests()
    ranks = {item: rank(item, names) for item in items}
    items.sort(key=ranks.__getitem__)
    counts: dict[str, int] = {}
    for item in items:
        module = item.nodeid.partition("::")[0]
        if item.get_closest_marker("xdist_group"):
            continue
        if shares(item):
            item.add_marker(pytest.mark.xdist_group(module))
        elif ranks[item] == len(names):
            counts[module] = counts.get(module, -1) + 1
            item.add_marker(pytest.mark.xdist_group(f"{module}-{counts[module] // TOGETHER}"))


def long_tests() -> list[str]:
    """Beginnings of the ids of long tests, the longest first."""
    lines = LONG.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def rank(item: pytest.Item, names: list[str]) -> int:
    """Position of the first name in the list that fits; behind all of them if none does."""
    found = (number for number, name in enumerate(names) if item.nodeid.startswith(name))
    return next(found, len(names))


def shares(item: pytest.Item) -> bool:
    """Return True if the test takes a fixture that others of its module take too."""
    if not isinstance(item, pytest.Function):
        return False
    taken = item._fixtureinfo.name2fixturedefs.values()
    return any(found[-1].scope in ("class", "module", "package") for found in taken)
