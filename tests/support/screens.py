"""Screens of a program that draws on the whole terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

PATIENCE = 60.0


async def until(pilot: Pilot[None], condition: Callable[[], Any]) -> None:
    """Wait, with a deadline, until a thread makes the condition true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await pilot.pause(0.05)


def screen(pilot: Pilot[None]) -> list[str]:
    """The lines of the screen as drawn."""
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips]
