"""Fixtures for the tests on a real NVIDIA card. Without a card or torch they are skipped."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent.system import gpu
from support.card import freed, used
from support.harness import PACKAGE, Database, StartAgent, agents

USER = Path(__file__).resolve().parent / "user"


@pytest.fixture(autouse=True, scope="session")
def driver() -> gpu.Driver:
    found = gpu.find_driver()
    if found is None:
        pytest.skip("no NVIDIA card here: neither nvidia-ml-py nor nvidia-smi finds one")
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed here: pip install torch")
    return found


@pytest.fixture(scope="session")
def at_rest(driver: gpu.Driver | None) -> int:
    """Bytes that are in use on the card before the first test."""
    return used(driver)


@pytest.fixture
def baseline(driver: gpu.Driver | None, at_rest: int) -> int:
    """The same, once what the test before has left is gone."""
    freed(driver, at_rest)
    return used(driver)


@pytest.fixture
def base(dsn: str) -> Iterator[Database]:
    database = Database(dsn)
    with database.conn:
        yield database


@pytest.fixture
def start(dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    with agents(dsn, tmp_path) as started:

        def on_card(*options: str) -> object:
            return started(
                "--app", "torching", "--queue", "gpu", "--gpu", "0", "--host", "box", *options,
                PYTHONPATH=f"{PACKAGE}{os.pathsep}{USER}",
            )  # fmt: skip

        yield on_card  # type: ignore[misc]
