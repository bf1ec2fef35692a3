"""The order in which several processes run the tests."""

from __future__ import annotations

import pytest

from support import order
from support.servers import ROOT


class One:
    """A test, as the order sees it."""

    def __init__(self, nodeid: str, group: str | None = None) -> None:
        self.nodeid = nodeid
        self.marks = [pytest.mark.xdist_group(group)] if group else []

    def get_closest_marker(self, name: str) -> object:
        return self.marks[0] if self.marks else None

    def add_marker(self, mark: object) -> None:
        self.marks.append(mark)


def test_every_name_of_the_list_is_one_of_a_test() -> None:
    assert order.long_tests()
    for name in order.long_tests():
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), name
        if test:
            assert f"\ndef {test.partition('[')[0]}" in (ROOT / file).read_text("utf-8"), name


def test_long_ones_come_first_and_alone_and_the_others_ten_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "long_tests", lambda: ["b.py::slow", "a.py::slow"])
    items = [One(f"a.py::quick{n}") for n in range(11)]
    items += [One("a.py::slow"), One("b.py::slow"), One("b.py::taken", "node")]
    order.sort(items)  # type: ignore[arg-type]
    groups = [(item.nodeid, [mark.args[0] for mark in item.marks]) for item in items]
    assert groups[:2] == [("b.py::slow", []), ("a.py::slow", [])]
    assert groups[2] == ("a.py::quick0", ["a.py-0"])
    assert groups[11:] == [
        ("a.py::quick9", ["a.py-0"]), ("a.py::quick10", ["a.py-1"]), ("b.py::taken", ["node"]),
    ]  # fmt: skip
