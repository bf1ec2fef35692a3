"""What kills a body that runs on: each watchdog looks at a running claim and says why it has to
stop, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from qwf_agent.claim import Claim


class Trip(NamedTuple):
    """A watchdog that has tripped: the reason as qwf.finish() takes it, and a sentence for
    people."""

    reason: str
    error: str


Watchdog = Callable[[Claim, float], "Trip | None"]


def wall_clock(claim: Claim, seconds: float) -> Trip | None:
    """Trips when the body has run longer than its timeout."""
    if seconds <= claim.timeout:
        return None
    return Trip("timeout", f"timeout: the body ran longer than {claim.timeout:g} s and was killed")


WATCHDOGS: tuple[Watchdog, ...] = (wall_clock,)


def check(claim: Claim, seconds: float) -> Trip | None:
    """The first watchdog that trips for a claim whose body has run for so long."""
    return next((trip for watchdog in WATCHDOGS if (trip := watchdog(claim, seconds))), None)
