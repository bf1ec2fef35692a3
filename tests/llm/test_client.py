"""The handle of a served model, with a real server of llama.cpp."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.child.cancel import CancelEvent
from qwf_agent.llm.client import ServedModel
from qwf_agent.llm.errors import Cancelled, CutOff, Refused, ServerLost
from support import llama
from support.harness import until
from support.llama import LlamaServer

SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "animal": {"enum": ["cat", "dog"]}},
    "required": ["count", "animal"],
    "additionalProperties": False,
}
LONG = {"max_tokens": 1900, "ignore_eos": True}


def handle(running: LlamaServer, **options: Any) -> ServedModel:
    return ServedModel(running.model, running.url, **options)


def in_thread(call: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """Call it in a thread; the list gets the result or the exception."""
    ends: list[object] = []

    def run() -> None:
        try:
            ends.append(call())
        except Exception as error:
            ends.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, ends


def test_a_prompt_has_an_answer_and_its_figures(
    tiny: LlamaServer, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = handle(tiny).chat("the cat", max_tokens=20, ignore_eos=True)
    assert reply.text
    assert (reply.json, reply.finish_reason) == (None, "length")
    assert reply.usage["completion_tokens"] == 20
    assert reply.seconds > 0
    assert reply.tokens_per_s > 0
    assert capsys.readouterr().out == reply.text + "\n"


def test_messages_and_sampling_reach_the_server(tiny: LlamaServer) -> None:
    model = handle(tiny)
    turns = [
        {"role": "system", "content": "the dog"},
        {"role": "user", "content": "the cat"},
    ]
    replies = {model.chat(turns, max_tokens=20, seed=3, temperature=1).text for _ in range(3)}
    short = model.chat("the cat", max_tokens=20, seed=3, temperature=1)
    assert len(replies) == 1
    assert replies != {short.text}


def test_the_answer_is_a_stream(slow: LlamaServer) -> None:
    """The first words are reported long before the last token."""
    reports: list[tuple[float, str]] = []
    left: list[int] = []

    def report(fraction: float, words: str) -> None:
        reports.append((fraction, words))
        left.append(slow.busy())

    reply = handle(slow, progress=report).chat("the cat", max_tokens=150, ignore_eos=True)
    assert reply.usage["completion_tokens"] == 150
    assert reports[0] == (1 / 150, "1 token")
    assert left[0] == 1
    assert len(reports) <= 2 + reply.seconds


def test_progress_is_said_once_a_second_and_with_the_rate(slow: LlamaServer) -> None:
    said: list[str] = []
    model = handle(slow, progress=lambda _, words: said.append(words))
    seconds = 0.0
    while len(said) < 3:
        seconds += model.chat("the cat", max_tokens=300, ignore_eos=True).seconds
    assert len(said) <= 1 + seconds
    assert any(words.endswith("/s") and " tokens, " in words for words in said)


def test_the_answer_is_json_that_fits_the_schema(tiny: LlamaServer) -> None:
    for seed in range(5):
        reply = handle(tiny).chat("the cat", SCHEMA, max_tokens=400, seed=seed)
        assert reply.json.keys() == {"count", "animal"}
        assert reply.json["animal"] in ("cat", "dog")
        assert isinstance(reply.json["count"], int)
        assert reply.finish_reason == "stop"


def test_json_that_is_cut_off_is_no_answer(tiny: LlamaServer) -> None:
    many = {"type": "array", "items": {"type": "integer"}, "minItems": 100}
    with pytest.raises(CutOff, match="cut off at max_tokens, 10, before its JSON was complete"):
        handle(tiny).chat("the cat", many, max_tokens=10)


def test_text_may_be_cut_off(tiny: LlamaServer) -> None:
    reply = handle(tiny).chat("the cat", max_tokens=3, ignore_eos=True)
    assert (reply.finish_reason, reply.usage["completion_tokens"]) == ("length", 3)


def test_texts_become_vectors(tiny: LlamaServer) -> None:
    model = handle(tiny)
    vectors = model.embed(["the cat", "the dog", "the cat"])
    assert [len(vector) for vector in vectors] == [llama.TINY.width] * 3
    assert vectors[0] == pytest.approx(vectors[2], abs=1e-4)
    assert vectors[0] != pytest.approx(vectors[1], abs=1e-4)
    assert model.embed([]) == []
    with pytest.raises(TypeError, match="a list of texts"):
        model.embed("the cat")


def test_the_handle_counts_the_tokens_of_all_its_requests(tiny: LlamaServer) -> None:
    model = handle(tiny)
    used = [model.chat("the cat", max_tokens=count, ignore_eos=True).usage for count in (4, 6)]
    assert model.usage["completion_tokens"] == 10
    assert model.usage["prompt_tokens"] == sum(usage["prompt_tokens"] for usage in used)


def test_nul_is_left_out(tiny: LlamaServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Random weights say NUL now and then; here they say nothing else."""
    only_nul = [[llama.noise.FIRST_BYTE, 100]]
    reply = handle(tiny).chat("the cat", max_tokens=5, logit_bias=only_nul)
    assert (reply.text, reply.usage["completion_tokens"]) == ("", 5)
    assert capsys.readouterr().out == "\n"


def test_cancelling_closes_the_socket_and_frees_the_place(slow: LlamaServer) -> None:
    cancel = CancelEvent()
    model = handle(slow, cancel=cancel)
    thread, ends = in_thread(lambda: model.chat("the cat", **LONG))
    until(slow.busy, "the request")
    cancel.set()
    thread.join()
    assert isinstance(ends[0], Cancelled)
    until(lambda: slow.busy() == 0, "the free place")
    assert slow.tokens() < LONG["max_tokens"] / 2  # it did not go on to the end


def test_cancelling_ends_the_wait_for_the_first_token(slow: LlamaServer) -> None:
    """The second request waits for the only place of the server: nothing has come yet."""
    first = CancelEvent()
    thread, _ = in_thread(lambda: handle(slow, cancel=first).chat("the cat", **LONG))
    until(slow.busy, "the request")
    second = CancelEvent()
    waiting, ends = in_thread(lambda: handle(slow, cancel=second).chat("the cat", **LONG))
    until(lambda: slow.deferred() == 1, "the second request")
    second.set()
    waiting.join()
    assert isinstance(ends[0], Cancelled)
    assert thread.is_alive()  # the first request still has the place
    first.set()
    thread.join()


def test_a_job_that_was_cancelled_asks_nothing(tiny: LlamaServer) -> None:
    cancel = CancelEvent()
    cancel.set()
    with pytest.raises(Cancelled):
        handle(tiny, cancel=cancel).chat("the cat", max_tokens=3)


def test_what_the_server_refuses_is_final(tiny: LlamaServer) -> None:
    model = handle(tiny)
    with pytest.raises(Refused, match=r"answered 400: request .* exceeds the available context"):
        model.chat("the cat " * 2000)
    with pytest.raises(Refused, match="unrecognized type nonsense"):
        model.chat("the cat", {"type": "nonsense"})


def test_a_field_that_the_client_sets_is_refused(tiny: LlamaServer) -> None:
    with pytest.raises(TypeError, match="sets n, stream itself"):
        handle(tiny).chat("the cat", stream=False, n=2)


def test_a_server_that_is_killed_within_an_answer_is_lost(slow: LlamaServer) -> None:
    thread, ends = in_thread(lambda: handle(slow, server="box").chat("the cat", **LONG))
    until(slow.busy, "the request")
    slow.kill()
    thread.join()
    assert isinstance(ends[0], ServerLost)
    assert str(ends[0]).startswith("the server box is gone: ")
    with pytest.raises(ServerLost, match="ConnectionRefusedError"):
        handle(slow).chat("the cat")


def test_requests_of_several_threads_share_a_server(tiny: LlamaServer) -> None:
    model = handle(tiny)
    started = [
        in_thread(lambda: model.chat("the cat", max_tokens=50, ignore_eos=True)) for _ in range(6)
    ]
    for thread, _ in started:
        thread.join()
    assert [ends[0].usage["completion_tokens"] for _, ends in started] == [50] * 6  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("https://example.org/v1/", "https://example.org/v1"),
    ],
)
def test_other_clients_get_what_they_need(given: str, url: str) -> None:
    model = ServedModel("tiny", given)
    assert (model.base_url, model.name, model.api_key) == (url, "tiny", "none")
    assert ServedModel("tiny", given, "secret").api_key == "secret"


def test_a_tiny_model_is_always_the_same(tmp_path: Path, models: Path) -> None:
    made = llama.tiny_model(tmp_path / "again.gguf")
    assert made.read_bytes() == (models / "tiny.gguf").read_bytes()
