"""What kills a body that runs on: each watchdog looks at the first job of a slot and says why it
has to stop, or nothing. The parent kills; nothing here depends on the child's cooperation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qwf_agent.claim import Claim
from qwf_agent.settings import Settings


class Trip(NamedTuple):
    """A watchdog that has tripped: the reason as qwf.finish() takes it, a sentence for people, and
    what was measured."""

    reason: str
    error: str
    readings: dict[str, Any]


class Look(NamedTuple):
    """One look at a running job. `seconds`: how long its body has run, or its model has been
    loading."""

    claim: Claim
    settings: Settings
    now: float
    seconds: float
    loading: bool


Watchdog = Callable[[Look], "Trip | None"]


def wall_clock(look: Look) -> Trip | None:
    """Trips when the body has run longer than its timeout, or its model has been loading longer
    than the grace for that."""
    claim, ran = look.claim, {"ran_s": round(look.seconds, 1)}
    grace = look.settings.model_load_grace
    if look.loading and look.seconds > grace:
        error = f"timeout: the model {claim.model!r} took longer than {grace:g} s to load"
        return Trip("timeout", error, ran)
    if look.loading or look.seconds <= claim.timeout:
        return None
    error = f"timeout: the body ran longer than {claim.timeout:g} s and was killed"
    return Trip("timeout", error, ran)


WATCHDOGS: tuple[Watchdog, ...] = (wall_clock,)


def check(look: Look) -> Trip | None:
    """The first watchdog that trips."""
    return next((trip for watchdog in WATCHDOGS if (trip := watchdog(look))), None)
