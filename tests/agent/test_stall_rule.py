"""When a silent body counts as stalled, with every measurement given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from qwf_agent.agent.claim import WatchdogState
from qwf_agent.agent.watchdogs import Observation, Trip, no_progress

MINUTE = 60
SETTINGS = SimpleNamespace(
    stall_samples=3, idle_gpu_percent=5, idle_cpu_percent=5, idle_ram_bytes=5 << 30
)


def watch(cpu_percent: float | None, runnable: bool | None = False, spikes: int = 0) -> Trip | None:
    """Watch a body for ten minutes that has reported progress once and is silent since: it uses so
    much of the CPU, and in every third sample `spikes` percent."""
    state = WatchdogState(progress_at=0.0)
    claim = SimpleNamespace(job_id=1, stall_timeout=120, model=None, watchdog_state=state)
    cpu_s: float | None = None if cpu_percent is None else 0.0
    for second in range(10 * MINUTE):
        if cpu_s is not None and cpu_percent is not None:
            cpu_s += (spikes if spikes and second % 3 == 0 else cpu_percent) / 100
        seen = Observation(
            cast("Any", claim), cast("Any", SETTINGS), float(second), float(second), False, 1,
            sampled_at=float(second), rss_bytes=1 << 20, cpu_s=cpu_s, is_runnable=runnable,
        )  # fmt: skip
        if (trip := no_progress(seen)) is not None:
            return trip
        state.sampled_at, state.cpu_s = seen.sampled_at, seen.cpu_s
    return None


@pytest.mark.parametrize(
    ("cpu_percent", "runnable", "spikes"),
    [
        pytest.param(100, True, 0, id="it computes"),
        pytest.param(6, False, 0, id="it computes a little"),
        pytest.param(0, False, 50, id="now and then"),
        pytest.param(1, True, 0, id="on a box with too much work"),
    ],
)
def test_a_busy_body_may_be_silent_for_ten_minutes(
    cpu_percent: float, runnable: bool, spikes: int
) -> None:
    assert watch(cpu_percent, runnable, spikes) is None


@pytest.mark.parametrize(
    ("cpu_percent", "runnable"),
    [
        pytest.param(0, False, id="it sleeps"),
        pytest.param(4, False, id="it polls"),
        pytest.param(None, None, id="nothing was measured"),
    ],
)
def test_an_idle_body_is_stalled(cpu_percent: float | None, runnable: bool | None) -> None:
    trip = watch(cpu_percent, runnable)
    assert trip is not None
    assert trip.reason == "stalled"
    assert trip.readings["silent_s"] < 2.2 * MINUTE
    assert trip.readings["most_cpu_percent"] == pytest.approx(cpu_percent or 0, abs=0.1)
