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


class Observation(NamedTuple):
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


Watchdog = Callable[[Observation], "Trip | None"]


def check(seen: Observation) -> Trip | None:
    """The first watchdog that trips."""
    state = seen.claim.watchdog_state
    if seen.loading != state.loading:  # its model is there: the body begins
        state.loading, state.window_at = seen.loading, None
    if seen.beat != state.beat:
        state.beat, state.beat_at = seen.beat, seen.now
        state.window_at, state.window_rss = seen.now, None
        state.still.clear()
    state.gpu_peak_bytes = max(state.gpu_peak_bytes, seen.gpu_used_bytes)
    trip = next((trip for watchdog in WATCHDOGS if (trip := watchdog(seen))), None)
    state.sampled_at = seen.sampled_at
    return trip


def wall_clock(seen: Observation) -> Trip | None:
    """Trips when the body has run longer than its timeout, or its code and model have been loading
    longer than the grace for that."""
    claim, grace = seen.claim, seen.settings.model_load_grace
    if seen.loading and seen.seconds > grace:
        what = f"the model {claim.model!r}" if claim.model else "the code of the task"
        error = f"timeout: {what} took longer than {grace:g} s to load"
        return Trip("timeout", error, _readings(seen))
    if seen.loading or seen.seconds <= claim.timeout:
        return None
    error = f"timeout: the body ran longer than {claim.timeout:g} s and was killed"
    return Trip("timeout", error, _readings(seen))


def memory(seen: Observation) -> Trip | None:
    """Trips when the child and all it started have more memory than --max-rss."""
    if seen.max_rss is None or seen.rss_bytes is None or seen.rss_bytes <= seen.max_rss:
        return None
    used, limit = seen.rss_bytes // MIB, seen.max_rss // MIB
    error = f"out of memory: the body and what it started had {used} MiB, --max-rss is {limit} MiB"
    return Trip("oom", error, {**_readings(seen), "max_rss_bytes": seen.max_rss})


def no_progress(seen: Observation) -> Trip | None:
    """Trips when a body that has reported progress falls silent for its stall_timeout, and then
    some samples show card and memory standing still. Movement gives it as much time again."""
    state, settings = seen.claim.watchdog_state, seen.settings
    if state.beat_at is None or seen.now - state.beat_at <= seen.claim.stall_timeout:
        return None
    if seen.sampled_at > state.sampled_at:
        state.still.append((seen.gpu_percent or 0.0, seen.rss_bytes or 0))
    if len(state.still) < settings.stall_samples:
        return None
    use = max(use for use, _ in state.still)
    sizes = [size for _, size in state.still]
    moved = max(sizes) - min(sizes)
    silent = seen.now - state.beat_at
    readings = {**_readings(seen), "ram_moved_bytes": moved, "most_gpu_percent": use}
    state.still.clear()
    if use > settings.idle_gpu_percent or moved > settings.idle_ram_bytes:
        log.info("job %d: silent for %.0f s, but not standing still", seen.claim.job_id, silent)
        state.suspicion = readings
        state.beat_at = seen.now
        return None
    error = f"stalled: no progress reported for {silent:.0f} s, card and memory standing still"
    return Trip("stalled", error, readings)


def gpu_health(seen: Observation) -> Trip | None:
    """Trips when the card was idle and memory stood still for a whole window. The first begins
    after the grace for loading a model; at once where the agent has seen it loaded; at the last
    report of progress where there is one."""
    state, settings = seen.claim.watchdog_state, seen.settings
    if seen.gpu_percent is None or not seen.claim.heavy:
        return None
    if state.window_at is None:
        warm = seen.claim.model_loaded and not seen.loading
        begun = seen.now - seen.seconds
        state.window_at = begun if warm else begun + settings.model_load_grace
        state.window_rss = None
    if seen.now < state.window_at:
        return None
    if state.window_rss is None:
        state.window_uses, state.window_rss = [], seen.rss_bytes or 0
    if seen.sampled_at > state.sampled_at:
        state.window_uses.append(seen.gpu_percent)
    over = seen.now >= state.window_at + settings.gpu_health_window
    if not over or len(state.window_uses) < settings.stall_samples:
        return None
    moved = abs((seen.rss_bytes or 0) - state.window_rss)
    use, window = max(state.window_uses), seen.now - state.window_at
    state.window_at, state.window_rss = seen.now, None
    if use > settings.idle_gpu_percent or moved > settings.idle_ram_bytes:
        return None
    error = f"card hung: idle for {window:.0f} s while the body ran, memory standing still"
    readings = {"window_s": round(window, 1), "ram_moved_bytes": moved, "most_gpu_percent": use}
    return Trip("gpu_hung", error, {**_readings(seen), **readings})


def _readings(seen: Observation) -> dict[str, Any]:
    """What was measured, for whoever looks into it later."""
    beat_at = seen.claim.watchdog_state.beat_at
    readings = {
        "ran_s": round(seen.seconds, 1),
        "silent_s": None if beat_at is None else round(seen.now - beat_at, 1),
        "loading": seen.loading,
        "model": seen.claim.model,
        "state": seen.state,
        "rss_bytes": seen.rss_bytes,
        "gpu_percent": seen.gpu_percent,
        "gpu_used_bytes": seen.gpu_used_bytes or None,
    }
    return {name: value for name, value in readings.items() if value is not None}


WATCHDOGS: tuple[Watchdog, ...] = (wall_clock, memory, no_progress, gpu_health)
