"""PGlite, a Postgres in WebAssembly, is the fourth engine that every commit is tested on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import migrate
from support import sandbox

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def found(built: Path) -> dict[str, Any]:
    """The answers of a database of the sandbox, opened once, to the verify scripts and to a run."""
    changes = migrate.read_plan().sources.changes
    scripts = json.dumps([{"name": c.name, "verify": c.verify.read()} for c in changes])
    said: dict[str, Any] = json.loads(
        sandbox.node(HERE / "verify.mjs", built / "qwf.data", text=scripts)
    )
    return said


def test_every_change_of_the_plan_deploys_and_verifies(found: dict[str, Any]) -> None:
    """The sandbox has deployed them all."""
    assert found["failed"] == []
    functions = sum(c.name.startswith("functions/") for c in migrate.read_plan().sources.changes)
    assert found["functions"] >= functions > 0


def test_a_run_lives_through_a_crash_a_zombie_and_a_question(found: dict[str, Any]) -> None:
    assert found["died"] is None
