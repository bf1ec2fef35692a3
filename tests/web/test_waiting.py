"""The few words that a list has for why a job waits."""

from __future__ import annotations

import pytest

from qwf_agent.web.waiting import short


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 job is ahead of it in queue cpu", "1 job ahead"),
        ("1000 or more jobs are ahead of it in queue cpu", "1000 or more jobs ahead"),
        ("it is a map: 1 of its 3 elements have not ended", "1 element to go"),
        ("it is a map: 11 of its 30 elements have not ended", "11 elements to go"),
    ],
)
def test_one_is_not_said_as_many(line: str, words: str) -> None:
    assert short([line]) == words
