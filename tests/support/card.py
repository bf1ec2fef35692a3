"""The memory of a real card, for the tests that need one."""

from __future__ import annotations

import time

from qwf_agent.system import gpu
from support.harness import until

SLACK_BYTES = 1 << 29


def used(driver: gpu.Driver | None) -> int:
    """Bytes in use on the first card; 0 without a card."""
    return driver()[0].used_bytes if driver else 0


def freed(driver: gpu.Driver | None, baseline: int) -> float:
    """Seconds until the card has its memory back."""
    began = time.monotonic()
    until(lambda: used(driver) < baseline + SLACK_BYTES, "the memory of the card")
    return time.monotonic() - began
