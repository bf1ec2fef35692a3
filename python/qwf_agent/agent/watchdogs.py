"""What kills a body that runs on: each watchdog looks at the first job of a slot and says why it
has to stop, or nothing. The agent measures and kills; nothing here depends on what the child does
or can still do. docs/watchdogs.md has it in words."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.settings import Settings
from qwf_agent.system.gpu import MIB

log = logging.getLogger("qwf_agent")


class Trip(NamedTuple):
    """A watchdog that has tripped: the reason as qwf.finish() takes it, a sentence for people, and
    what was measured."""

    reason: str
    error: str
    readings: dict[str, Any]


class Look(NamedTuple):
    """One look at a running job. `seconds`: how long its body has run, or its code and model have
    been loading. `sampled_at`: when memory (of the child and all it started) and card were
    measured. `gpu_percent` is None where the job has no card that one can see."""

    claim: Claim
    settings: Settings
    now: float
    seconds: float
    loading: bool
    beat: int
    sampled_at: float = 0.0
    rss_bytes: int | None = None
    state: str | None = None
    gpu_percent: float | None = None
    gpu_used_bytes: int = 0
    max_rss: int | None = None


Watchdog = Callable[[Look], "Trip | None"]


def check(look: Look) -> Trip | None:
    """The first watchdog that trips."""
    vitals = look.claim.vitals
    if look.loading != vitals.loading:  # its model is there: the body begins
        vitals.loading, vitals.window_at = look.loading, None
    if look.beat != vitals.beat:
        vitals.beat, vitals.beat_at = look.beat, look.now
        vitals.window_at, vitals.window_rss = look.now, None
        vitals.still.clear()
    vitals.gpu_peak_bytes = max(vitals.gpu_peak_bytes, look.gpu_used_bytes)
    trip = next((trip for watchdog in WATCHDOGS if (trip := watchdog(look))), None)
    vitals.sampled_at = look.sampled_at
    return trip


def wall_clock(look: Look) -> Trip | None:
    """Trips when the body has run longer than its timeout, or its code and model have been loading
    longer than the grace for that."""
    claim, grace = look.claim, look.settings.model_load_grace
    if look.loading and look.seconds > grace:
        what = f"the model {claim.model!r}" if claim.model else "the code of the task"
        error = f"timeout: {what} took longer than {grace:g} s to load"
        return Trip("timeout", error, _readings(look))
    if look.loading or look.seconds <= claim.timeout:
        return None
    error = f"timeout: the body ran longer than {claim.timeout:g} s and was killed"
    return Trip("timeout", error, _readings(look))


def memory(look: Look) -> Trip | None:
    """Trips when the child and all it started have more memory than --max-rss."""
    if look.max_rss is None or look.rss_bytes is None or look.rss_bytes <= look.max_rss:
        return None
    used, limit = look.rss_bytes // MIB, look.max_rss // MIB
    error = f"out of memory: the body and what it started had {used} MiB, --max-rss is {limit} MiB"
    return Trip("oom", error, {**_readings(look), "max_rss_bytes": look.max_rss})


def no_progress(look: Look) -> Trip | None:
    """Trips when a body that has reported progress falls silent for its stall_timeout, and then
    some samples show card and memory standing still. Movement gives it as much time again."""
    vitals, settings = look.claim.vitals, look.settings
    if vitals.beat_at is None or look.now - vitals.beat_at <= look.claim.stall_timeout:
        return None
    if look.sampled_at > vitals.sampled_at:
        vitals.still.append((look.gpu_percent or 0.0, look.rss_bytes or 0))
    if len(vitals.still) < settings.stall_samples:
        return None
    use = max(use for use, _ in vitals.still)
    sizes = [size for _, size in vitals.still]
    moved = max(sizes) - min(sizes)
    silent = look.now - vitals.beat_at
    readings = {**_readings(look), "ram_moved_bytes": moved, "most_gpu_percent": use}
    vitals.still.clear()
    if use > settings.idle_gpu_percent or moved > settings.idle_ram_bytes:
        log.info("job %d: silent for %.0f s, but not standing still", look.claim.job_id, silent)
        vitals.suspicion = readings
        vitals.beat_at = look.now
        return None
    error = f"stalled: no progress reported for {silent:.0f} s, card and memory standing still"
    return Trip("stalled", error, readings)


def gpu_health(look: Look) -> Trip | None:
    """Trips when the card was idle and memory stood still for a whole window. The first begins
    after the grace for loading a model; at once where the agent has seen it loaded; at the last
    report of progress where there is one."""
    vitals, settings = look.claim.vitals, look.settings
    if look.gpu_percent is None or not look.claim.heavy:
        return None
    if vitals.window_at is None:
        warm = look.claim.model_loaded and not look.loading
        begun = look.now - look.seconds
        vitals.window_at = begun if warm else begun + settings.model_load_grace
        vitals.window_rss = None
    if look.now < vitals.window_at:
        return None
    if vitals.window_rss is None:
        vitals.window_uses, vitals.window_rss = [], look.rss_bytes or 0
    if look.sampled_at > vitals.sampled_at:
        vitals.window_uses.append(look.gpu_percent)
    over = look.now >= vitals.window_at + settings.gpu_health_window
    if not over or len(vitals.window_uses) < settings.stall_samples:
        return None
    moved = abs((look.rss_bytes or 0) - vitals.window_rss)
    use, window = max(vitals.window_uses), look.now - vitals.window_at
    vitals.window_at, vitals.window_rss = look.now, None
    if use > settings.idle_gpu_percent or moved > settings.idle_ram_bytes:
        return None
    error = f"card hung: idle for {window:.0f} s while the body ran, memory standing still"
    readings = {"window_s": round(window, 1), "ram_moved_bytes": moved, "most_gpu_percent": use}
    return Trip("gpu_hung", error, {**_readings(look), **readings})


def _readings(look: Look) -> dict[str, Any]:
    """What was measured, for whoever looks into it later."""
    beat_at = look.claim.vitals.beat_at
    readings = {
        "ran_s": round(look.seconds, 1),
        "silent_s": None if beat_at is None else round(look.now - beat_at, 1),
        "loading": look.loading,
        "model": look.claim.model,
        "state": look.state,
        "rss_bytes": look.rss_bytes,
        "gpu_percent": look.gpu_percent,
        "gpu_used_bytes": look.gpu_used_bytes or None,
    }
    return {name: value for name, value in readings.items() if value is not None}


WATCHDOGS: tuple[Watchdog, ...] = (wall_clock, memory, no_progress, gpu_health)
