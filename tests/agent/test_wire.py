"""Messages between agent and child."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qwf_agent.child.messages import (
    OUTCOMES,
    PART_BYTES,
    Garbled,
    Message,
    Unpacker,
    pack_answer,
    pack_jobs,
    pack_message,
    read_jobs,
    read_message,
)

JOBS: list[Message] = [
    (1 << 63, "load", "mödel 😀"),
    (2, None, '{"a": "' + "x" * 300 + '"}'),
    (),
]
OTHERS: list[Message] = [
    ("ready", ["a", "b"], {"m": 8192}, {"a": {"max_attempts": "5"}}, {"a": [True, 200, 0.0, True]}),
    ("progress", 7, 0.5, "half"),
    ("files", ["/a/b.py"]),
    ("model", "mödel 😀", 0.25),
    ("model", None, 0.0),
    ("reused", "m"),
    ("order_done", 1 << 63, None),
]
ANSWERS = [
    (1, "completed", None, 0.5, False, b'{"output": {}}'),
    ((1 << 63) - 1, "lost", "oom", 0.0, True, b""),
]
SENT = [pack_message(message) for message in OTHERS] + [pack_answer(*answer) for answer in ANSWERS]
MAX_BYTES = 1 << 20


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1000])
def test_messages_arrive_whole_wherever_the_stream_is_cut(size: int) -> None:
    data = pack_jobs(JOBS) + pack_jobs(JOBS[:1])
    unpacker, arrived = Unpacker(), []
    for begin in range(0, len(data), size):
        for part in unpacker.feed(data[begin : begin + size]):
            arrived += read_jobs(part)
    assert arrived == JOBS + JOBS[:1]
    assert not unpacker.is_within()


def test_jobs_with_much_data_arrive_one_after_the_other() -> None:
    """A child can begin with the first one before the others are there."""
    jobs: list[Message] = [(ticket, "x" * PART_BYTES) for ticket in range(5)]
    parts = Unpacker().feed(pack_jobs(jobs))
    assert [read_jobs(part) for part in parts] == [[job] for job in jobs]


def test_a_message_arrives_as_soon_as_its_last_byte_does() -> None:
    data, unpacker = pack_jobs(JOBS), Unpacker()
    assert unpacker.feed(data[:-1]) == []
    assert unpacker.is_within()
    assert [read_jobs(part) for part in unpacker.feed(data[-1:])] == [JOBS]


def test_what_a_child_sends_arrives_unchanged() -> None:
    arrived = [read_message(part) for part in Unpacker(MAX_BYTES).feed(b"".join(SENT))]
    assert arrived == OTHERS + [("answer", *answer) for answer in ANSWERS]


def stream() -> st.SearchStrategy[bytes]:
    """Bytes of any kind, and streams of real messages in which some bytes are others."""
    framed = st.binary(max_size=40).map(lambda data: len(data).to_bytes(4, "big") + data)
    value = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=6,
    )
    kind = st.sampled_from(["ready", "files", "model", "reused", "order_done", "answer", ""])
    message = st.tuples(kind, value, value).map(lambda m: pack_message(json.loads(json.dumps(m))))
    real = st.sampled_from(SENT)
    changed = st.tuples(real, st.integers(0, 30), st.integers(0, 255)).map(
        lambda case: case[0][: case[1]] + bytes([case[2]]) + case[0][case[1] + 1 :]
    )
    return st.lists(st.binary() | framed | message | changed | real, max_size=5).map(b"".join)


@given(stream(), st.integers(1, 50))
def test_any_bytes_are_messages_of_a_known_form_or_garbled(data: bytes, size: int) -> None:
    unpacker = Unpacker(MAX_BYTES)
    with contextlib.suppress(Garbled):
        for begin in range(0, len(data), size):
            for part in unpacker.feed(data[begin : begin + size]):
                check(read_message(part))


def check(message: Message) -> None:
    match message:
        case ("answer", int(), str(outcome), str() | None, float(seconds), bool(), bytes()):
            assert outcome in OUTCOMES
            assert 0 <= seconds < float("inf")
        case ("ready", [*names], dict(models), dict(options), dict(shapes)):
            assert all(isinstance(text, str) for one in options.values() for text in one.values())
            assert all(isinstance(name, str) for name in names)
            assert all(isinstance(needed, int) for needed in models.values())
            assert all(type(shape[0]) is bool and shape[1] >= 1 for shape in shapes.values())
        case ("progress", int(), int() | float() as fraction, str()):
            assert 0 <= fraction <= 1
        case ("files", [*files]):
            assert all(isinstance(file, str) for file in files)
        case ("model", str() | None, int() | float()) | ("reused", str()):
            pass
        case ("order_done", int(), str() | None):
            pass
        case _:
            pytest.fail(f"of no known form: {message}")


@pytest.mark.parametrize("data", [b"hello", b"\xff" * 4, (MAX_BYTES + 1).to_bytes(4, "big")])
def test_a_length_beyond_the_limit_is_refused_before_its_bytes_arrive(data: bytes) -> None:
    with pytest.raises(Garbled, match="the limit is 1048576"):
        Unpacker(MAX_BYTES).feed(data)
