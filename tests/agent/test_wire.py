"""Messages between agent and child."""

from __future__ import annotations

import pytest

from qwf_agent.child.messages import Message, Unpacker, pack

MESSAGES: list[Message] = [
    ("answer", 1, "completed", None, 0.5, False, b'{"output": {}}'),
    (1 << 63, "load", "mödel 😀"),
    (2, None, '{"a": "' + "x" * 300 + '"}'),
    (),
]


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1000])
def test_messages_arrive_whole_wherever_the_stream_is_cut(size: int) -> None:
    data = b"".join(map(pack, MESSAGES))
    unpacker, arrived = Unpacker(), []
    for begin in range(0, len(data), size):
        arrived += unpacker.feed(data[begin : begin + size])
    assert arrived == MESSAGES


def test_a_message_arrives_as_soon_as_its_last_byte_does() -> None:
    data, unpacker = pack(MESSAGES[0]), Unpacker()
    assert unpacker.feed(data[:-1]) == []
    assert unpacker.feed(data[-1:]) == MESSAGES[:1]
