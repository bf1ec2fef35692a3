"""The model that the child of one slot has loaded."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from qwf_agent.child.messages import REUSED


@dataclass
class ModelLoads:
    """How many models the children of one slot have loaded, the seconds it took, and how often the
    model was loaded already."""

    count: int = 0
    seconds: float = 0.0
    avoided: int = 0


class HeldModel:
    """The model of a child, as its messages say. Times are on the monotonic clock, in seconds."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.since = 0.0
        self.free_since = 0.0  # since when no job uses it
        self.loads = ModelLoads()
        self._changed = False

    def take_message(self, kind: str, *values: Any) -> None:
        """Handle a message about a model: it was loaded, unloaded, or was there already."""
        if kind == REUSED:
            self.loads.avoided += 1
            return
        name, load_s = values
        self.change(name)
        if name is not None:
            self.loads.count += 1
            self.loads.seconds += load_s

    def change(self, name: str | None) -> None:
        """The child has this model now, or none."""
        if name != self.name:
            self._changed = True
            self.since = self.free_since = time.monotonic()
        self.name = name

    def take_change(self) -> bool:
        """True if the child has loaded or unloaded a model since the last call."""
        changed, self._changed = self._changed, False
        return changed
