"""A child asks a model that a server serves."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from support import llama
from support.harness import until
from support.llama import LlamaServer
from support.one_child import OneChild, one_child

SCHEMA = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
OWN = """
from qwf_agent import App

app = App()


@app.task("llm")
def answer():
    return {"by": "the user"}
"""
LONG = {"prompt": "the cat", "max_tokens": 1900, "ignore_eos": True}


def served(server: LlamaServer) -> dict[str, Any]:
    """Words of the agent about the server of a job."""
    return {
        "base_url": server.url, "model": server.model, "server": "box", "kind": "openai",
        "api_key": None,
    }  # fmt: skip


def test_a_body_gets_the_handle_by_each_of_its_names(child: OneChild, tiny: LlamaServer) -> None:
    ending = child.run("ask", {"prompt": "the cat"}, served(tiny))
    assert ending.outcome == "completed"
    assert ending.output["name"] == "tiny"
    assert ending.log == ending.output["text"] + "\n"
    assert ending.detail["usage"]["completion_tokens"] <= 5


def test_a_body_may_embed(child: OneChild, tiny: LlamaServer) -> None:
    ending = child.run("embed", {"texts": ["the cat", "the dog"]}, served(tiny))
    assert ending.output == {"sizes": [llama.TINY.width] * 2}
    assert ending.detail["usage"]["prompt_tokens"] > 0


def test_a_body_without_a_model_gets_none(child: OneChild) -> None:
    ending = child.run("which", {}, None)
    assert (ending.output, "usage" in ending.detail) == ({"model": None}, False)


def test_the_built_in_task_asks_the_model(child: OneChild, tiny: LlamaServer) -> None:
    inputs = {"prompt": "the cat", "system": "the dog", "max_tokens": 4, "temperature": 0.5}
    ending = child.run("llm", {**inputs, "seed": 3, "ignore_eos": True, "stop": None}, served(tiny))
    assert ending.outcome == "completed"
    assert ending.output.keys() == {"text", "json", "usage", "finish_reason", "model"}
    assert (ending.output["model"], ending.output["json"]) == ("tiny", None)
    assert ending.output["finish_reason"] == "length"
    assert ending.output["usage"]["completion_tokens"] == 4
    assert ending.detail["usage"] == ending.output["usage"]
    assert ending.log == ending.output["text"] + "\n"


def test_the_built_in_task_takes_messages_and_a_schema(child: OneChild, tiny: LlamaServer) -> None:
    turns = [{"role": "user", "content": "the cat"}]
    inputs = {"messages": turns, "schema": SCHEMA, "max_tokens": 200}
    ending = child.run("llm", inputs, served(tiny))
    assert ending.outcome == "completed"
    assert ending.output["json"]["n"] in (1, 2)
    assert json.loads(ending.output["text"]) == ending.output["json"]


@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        ({"promt": "x"}, "the task llm does not take the input 'promt'; did you mean 'prompt'?"),
        ({"prompt": "x", "temprature": 1}, "'temprature'; did you mean 'temperature'?"),
        ({"prompt": "x", "zzz": 1}, "'zzz'; use one of chat_template_kwargs, "),
        ({"prompt": "x", "model": "y"}, "cannot take the argument 'model'"),
        ({}, "the task llm needs either a prompt or messages"),
        ({"prompt": "x", "messages": []}, "the task llm needs either a prompt or messages"),
        ({"prompt": 5}, "prompt must be a text, not 5"),
        ({"prompt": "x", "system": ["y"]}, "system must be a text, not ['y']"),
        ({"messages": "x"}, "messages must be a list of objects with a role and a content"),
        ({"messages": ["x"]}, "messages must be a list of objects with a role and a content"),
        ({"prompt": "x", "max_tokens": "many"}, "answered 400: "),
        ({"prompt": "x", "schema": {"type": "nonsense"}}, "answered 400: "),
        ({"prompt": "x", "schema": {"minItems": 99, "type": "array"}, "max_tokens": 3}, "cut off"),
    ],
)
def test_inputs_that_make_no_sense_fail_at_once(
    child: OneChild, tiny: LlamaServer, inputs: dict[str, Any], error: str
) -> None:
    ending = child.run("llm", inputs, served(tiny))
    assert ending.outcome == "fatal"
    assert error in ending.error


def test_the_built_in_task_needs_a_served_model(child: OneChild) -> None:
    ending = child.run("llm", {"prompt": "the cat"}, None)
    assert ending.outcome == "fatal"
    assert "the task llm needs a model of a server" in ending.error


def test_a_task_of_the_user_with_that_name_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: LlamaServer
) -> None:
    (tmp_path / "with_llm.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    with one_child("with_llm", tmp_path) as own:
        assert own.run("llm", {}, served(tiny)).output == {"by": "the user"}


def test_a_cancelled_job_frees_its_place(child: OneChild, slow: LlamaServer) -> None:
    claim = child.begin("llm", LONG, served(slow))
    until(child.printed, "the first words")
    child.slot.tell(claim, "cancel", time.monotonic() + 60)
    assert child.end().outcome == "cancelled"
    until(lambda: slow.busy() == 0, "the free place")
    assert slow.tokens() < LONG["max_tokens"] / 2


def test_progress_and_words_are_seen_while_it_runs(child: OneChild, slow: LlamaServer) -> None:
    claim = child.begin("llm", LONG, served(slow))
    until(lambda: len(child.printed()) > 10, "some words")
    first, second = (until(child.slot.body.new_progress, "a report") for _ in range(2))
    assert " token" in first.message  # "1 token", unless this process came late
    assert second.message.endswith("/s")
    assert 0 < first.fraction < second.fraction < 1
    assert slow.busy() == 1
    child.slot.tell(claim, "cancel", time.monotonic() + 60)
    child.end()


def test_a_job_whose_server_dies_is_lost_with_it(child: OneChild, slow: LlamaServer) -> None:
    child.begin("llm", LONG, served(slow))
    until(child.printed, "the first words")
    slow.kill()
    ending = child.end()
    assert (ending.outcome, ending.detail["reason"]) == ("lost", "server")
    assert "the server box is gone" in ending.error


@pytest.mark.parametrize(
    ("asked", "waited"), [(5, 5.0), (0.001, 0.1), (99999, 99999.0), (None, None)]
)
def test_any_body_may_say_when_to_come_back(
    child: OneChild, asked: float | None, waited: float | None
) -> None:
    ending = child.run("wait", {"seconds": asked}, None)
    assert ending.outcome == "tempfail"
    assert ending.detail.get("retry_after_s") == waited


@pytest.mark.parametrize("task", ["wait_like_nothing", "wait_impolitely"])
def test_a_wait_that_is_none_is_left_out(child: OneChild, task: str) -> None:
    ending = child.run(task, {}, None)
    assert (ending.outcome, "retry_after_s" in ending.detail) == ("tempfail", False)
