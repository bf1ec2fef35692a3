"""PGlite, a Postgres in WebAssembly, is the fourth engine that every commit is tested on."""

from __future__ import annotations

import json
from pathlib import Path

from qwf_agent import migrate
from support import sandbox

HERE = Path(__file__).parent


def test_every_change_of_the_plan_deploys_and_verifies(built: Path) -> None:
    """The sandbox has deployed them all."""
    changes = migrate.read_plan().changes
    scripts = json.dumps([{"name": c.name, "verify": c.verify.read()} for c in changes])
    found = json.loads(sandbox.node(HERE / "verify.mjs", built / "qwf.data", text=scripts))
    assert found["failed"] == []
    functions = sum(c.name.startswith("functions/") for c in changes)
    assert found["functions"] >= functions > 0


def test_a_run_lives_through_a_crash_a_zombie_and_a_question(built: Path) -> None:
    sandbox.node(HERE / "life.mjs", built / "qwf.data")
