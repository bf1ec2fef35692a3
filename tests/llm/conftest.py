"""Real model servers, and a child that has an app for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import llama
from support.llama import LlamaServer
from support.one_child import OneChild, one_child


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny and a slow model."""
    folder = tmp_path_factory.mktemp("models")
    llama.tiny_model(folder / "tiny.gguf")
    llama.tiny_model(folder / "slow.gguf", llama.SLOW)
    return folder


@pytest.fixture(scope="session")
def tiny(models: Path) -> Iterator[LlamaServer]:
    """A server that answers in milliseconds."""
    with llama.served(models / "tiny.gguf") as server:
        yield server


@pytest.fixture
def slow(models: Path) -> Iterator[LlamaServer]:
    """A server that takes a long time for a long answer."""
    with llama.served(models / "slow.gguf", parallel=1) as server:
        yield server


@pytest.fixture(scope="session")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneChild]:
    """A child with the tasks of `asking`."""
    sys.path.insert(0, str(Path(__file__).with_name("user")))
    try:
        with one_child("asking", tmp_path_factory.mktemp("child")) as started:
            yield started
    finally:
        sys.path.pop(0)
