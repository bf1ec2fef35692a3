"""Decides which bodies to kill: each watchdog checks the first job of a slot and returns why it has
to stop, or None. The agent measures and kills, so this works even if the child hangs. Described in
docs/watchdogs.md."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.held_jobs import SILENT_S
from qwf_agent.agent.settings import Settings
from qwf_agent.child.outcome import JobOutcome
from qwf_agent.system.gpu import MIB

log = logging.getLogger("qwf_agent")


class Trip(NamedTuple):
    """A watchdog that has tripped: the reason for qwf.finish(), an error text, and what was
    measured."""

    reason: str
    error: str
    readings: dict[str, Any]


class Observation(NamedTuple):
    """One observation of a running job. `seconds`: how long its body has run, or its code and model
    have been loading. `sampled_at`: when the card, and the memory and CPU seconds of the child and
    every process it started were measured. `gpu_percent` is None if the job has no visible card."""

    claim: Claim
    settings: Settings
    now: float
    seconds: float
    loading: bool
    progress_version: int
    sampled_at: float = 0.0
    rss_bytes: int | None = None
    state: str | None = None
    cpu_s: float | None = None
    is_runnable: bool | None = None
    gpu_percent: float | None = None
    gpu_used_bytes: int = 0
    max_rss: int | None = None


# One of many bodies in an event loop stands still, and so do all others.
BLOCKED = JobOutcome(
    "lost",
    error=f"blocked: the event loop in which it ran with other bodies stood still for {SILENT_S:g} "
    "s: await what takes long, or move it into a thread with asyncio.to_thread()",
    detail={"reason": "blocked"},
)

Watchdog = Callable[[Observation], "Trip | None"]


def check(seen: Observation) -> Trip | None:
    """The first watchdog that trips, or None."""
    state = seen.claim.watchdog_state
    if seen.loading != state.loading:  # the model is loaded: the body starts
        state.loading, state.window_at = seen.loading, None
    if seen.progress_version != state.progress_version:
        state.progress_version, state.progress_at = seen.progress_version, seen.now
        state.window_at, state.window_rss = seen.now, None
        state.silent_samples.clear()
    state.gpu_peak_bytes = max(state.gpu_peak_bytes, seen.gpu_used_bytes)
    trip = next((trip for watchdog in WATCHDOGS if (trip := watchdog(seen))), None)
    state.sampled_at, state.cpu_s = seen.sampled_at, seen.cpu_s
    return trip


def wall_clock(seen: Observation) -> Trip | None:
    """Trips if the body has run longer than its timeout, or its code and model have been loading
    longer than model_load_grace."""
    claim, grace = seen.claim, seen.settings.model_load_grace
    if seen.loading and seen.seconds > grace:
        what = f"the model {claim.model!r}" if claim.model else "the code of the task"
        error = f"timeout: loading {what} took longer than {grace:g} s"
        return Trip("timeout", error, _readings(seen))
    if seen.loading or seen.seconds <= claim.timeout:
        return None
    error = f"timeout: the body ran longer than {claim.timeout:g} s and was killed"
    return Trip("timeout", error, _readings(seen))


def memory(seen: Observation) -> Trip | None:
    """Trips if the child and every process it started use more memory than --max-rss."""
    if seen.max_rss is None or seen.rss_bytes is None or seen.rss_bytes <= seen.max_rss:
        return None
    error = _too_much(seen.rss_bytes, seen.max_rss)
    return Trip("oom", error, {**_readings(seen), "max_rss_bytes": seen.max_rss})


def out_of_memory(rss_bytes: int, max_rss: int) -> JobOutcome:
    """Why a child with many bodies is killed that uses more memory than --max-rss."""
    return JobOutcome("lost", error=_too_much(rss_bytes, max_rss), detail={"reason": "oom"})


def no_progress(seen: Observation) -> Trip | None:
    """Trips if a body that has reported progress is silent for its stall_timeout, and the next
    samples show an idle card, an idle CPU and constant memory. Activity gives it the same time
    again."""
    state, settings = seen.claim.watchdog_state, seen.settings
    if state.progress_at is None or seen.now - state.progress_at <= seen.claim.stall_timeout:
        return None
    if seen.sampled_at > state.sampled_at:
        cpu_use = _cpu_percent(seen), seen.is_runnable
        state.silent_samples.append((seen.gpu_percent or 0.0, *cpu_use, seen.rss_bytes or 0))
    if len(state.silent_samples) < settings.stall_samples:
        return None
    uses, cpu_uses, runnable, sizes = zip(*state.silent_samples, strict=True)
    use, cpu_use, moved = max(uses), max(cpu_uses), max(sizes) - min(sizes)
    silent = seen.now - state.progress_at
    most = {"ram_moved_bytes": moved, "most_gpu_percent": use, "most_cpu_percent": cpu_use}
    readings = {**_readings(seen), **most}
    state.silent_samples.clear()
    # On a box with too much work, a body that computes may get less CPU time than that.
    known = [one for one in runnable if one is not None]
    computes = cpu_use > settings.idle_cpu_percent or (bool(known) and all(known))
    if computes or use > settings.idle_gpu_percent or moved > settings.idle_ram_bytes:
        log.info("job %d: silent for %.0f s, but still active", seen.claim.job_id, silent)
        state.suspected_stall = readings
        state.progress_at = seen.now
        return None
    error = f"stalled: no progress reported for {silent:.0f} s, card and CPU idle, memory constant"
    return Trip("stalled", error, readings)


def gpu_health(seen: Observation) -> Trip | None:
    """Trips if the card was idle and memory constant for a whole window. The first window begins
    after the grace for loading a model, at once if the model is known to be loaded, or at the last
    progress report."""
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
    error = f"card hung: idle for {window:.0f} s while the body ran, memory constant"
    readings = {"window_s": round(window, 1), "ram_moved_bytes": moved, "most_gpu_percent": use}
    return Trip("gpu_hung", error, {**_readings(seen), **readings})


def _too_much(rss_bytes: int, max_rss: int) -> str:
    used, limit = rss_bytes // MIB, max_rss // MIB
    return f"out of memory: the body and its processes used {used} MiB, --max-rss is {limit} MiB"


def _cpu_percent(seen: Observation) -> float:
    """Use of the CPU since the sample before, in percent of one core; 0 if it is unknown."""
    state = seen.claim.watchdog_state
    if seen.cpu_s is None or state.cpu_s is None:
        return 0.0
    return round(max(0.0, seen.cpu_s - state.cpu_s) / (seen.sampled_at - state.sampled_at) * 100, 1)


def _readings(seen: Observation) -> dict[str, Any]:
    """The measurements, for people who investigate the kill."""
    progress_at = seen.claim.watchdog_state.progress_at
    readings = {
        "ran_s": round(seen.seconds, 1),
        "silent_s": None if progress_at is None else round(seen.now - progress_at, 1),
        "loading": seen.loading,
        "model": seen.claim.model,
        "state": seen.state,
        "rss_bytes": seen.rss_bytes,
        "gpu_percent": seen.gpu_percent,
        "gpu_used_bytes": seen.gpu_used_bytes or None,
    }
    return {name: value for name, value in readings.items() if value is not None}


WATCHDOGS: tuple[Watchdog, ...] = (wall_clock, memory, no_progress, gpu_health)
