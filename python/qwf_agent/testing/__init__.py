"""Tests of programs that enqueue work and of the bodies that run it, on a real Postgres. `plugin`
has the fixtures for pytest; this is what they are made of."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qwf_agent.testing.clock import Clock
    from qwf_agent.testing.emptying import empty
    from qwf_agent.testing.fake_model import FakeModel
    from qwf_agent.testing.run import Idle, Left, Ran, RunUntilIdle, run_until_idle

__all__ = [
    "Clock", "FakeModel", "Idle", "Left", "Ran", "RunUntilIdle", "empty", "run_until_idle",
]  # fmt: skip
MODULES = {"Clock": "clock", "FakeModel": "fake_model", "empty": "emptying"}  # others: in `run`


def __getattr__(name: str) -> object:
    """Import on first use: pytest imports the plugin in every run."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.{MODULES.get(name, 'run')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
