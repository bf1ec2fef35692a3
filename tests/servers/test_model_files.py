"""A model whose files are not all there is not offered; people are told which one is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.servers.model_files import missing_file
from support.harness import Database, StartAgent, until
from support.served import ask, request, server

PARTS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
MODELS = "select models from qwf.workers where stopped_at is null"


def index(folder: Path, *there: str) -> Path:
    """A model in parts, of which only these are there."""
    folder.mkdir(exist_ok=True)
    parts = {f"layer.{n}": name for n, name in enumerate(PARTS)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": parts}))
    for name in there:
        (folder / name).write_text("weights")
    return folder


def test_all_parts_of_an_index_have_to_be_there(tmp_path: Path) -> None:
    folder = index(tmp_path / "model", PARTS[0])
    assert missing_file(str(folder)) == str(folder / PARTS[1])
    (folder / PARTS[1]).touch()
    assert missing_file(str(folder)) == str(folder / PARTS[1]), "an empty file is no part"
    assert missing_file(str(index(folder, *PARTS))) is None
    other = index(tmp_path / "other", "consolidated.safetensors")
    assert missing_file(str(other)) is None, "the same model in one file"


def test_all_parts_of_a_gguf_have_to_be_there(tmp_path: Path) -> None:
    first = tmp_path / "big-00001-of-00002.gguf"
    first.write_text("weights")
    second = tmp_path / "big-00002-of-00002.gguf"
    assert missing_file(str(first)) == str(second)
    second.write_text("weights")
    assert missing_file(str(first)) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"weight_map": 3}', '{"weight_map": {"a": 3}}'])
def test_an_index_that_cannot_be_read_is_left_to_the_server(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    assert missing_file(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("Qwen/Qwen3-8B", False),
        ("gpt2", False),
        ("https://host/model", False),
        ("/nowhere/model", True),
        ("./nowhere", True),
        ("nowhere/model.gguf", True),
        ("/etc/hostname/model", True),
        ("/" + "x" * 300, True),
    ],
)
def test_what_may_be_the_name_of_a_model_is_left_alone(path: str, missing: bool) -> None:
    assert (missing_file(path) is not None) == missing


def test_a_model_is_offered_when_its_file_is_there(
    base: Database, start: StartAgent, configure: Any, weights: Path, tmp_path: Path
) -> None:
    file = tmp_path / "later.gguf"
    configure("first", models=("tiny",))
    configure("second", models=("other",), path=file)
    start()
    until(lambda: base.one(MODELS) == ["tiny"], "the model that is there")
    said = f"{file} is missing: download it, or correct path in qwf.toml"
    found = until(lambda: (now := server(base, "second"))["error"] and now, "the reason")
    assert (found["error"], found["lacks"], found["state"]) == (said, {"other": said}, "off")
    assert request(base, "load", "other")["error"] == said
    job = ask(base, "other")
    why = base.one("select string_agg(w, ' ') from qwf.why_not(%s) w", job)
    assert f"its server second could serve other, but {said}" in why
    file.symlink_to(weights)
    assert base.ended(job)["status"] == "completed"
    assert server(base, "second")["error"] is None
