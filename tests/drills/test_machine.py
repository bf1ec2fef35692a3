"""The engine against the model: sequences of random operations, without a counterexample."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.machine.state_machine import Crashes, Machine, machine_on, prepare
from support.thorough import THOROUGH

# Each planted bug is found within 180 sequences: see test_seeded_bugs.py. Half of them run here.
SEQUENCES = int(os.environ.get("QWF_SEQUENCES", "1000" if THOROUGH else "92"))
STEPS = int(os.environ.get("QWF_STEPS", "25"))
# Making a counterexample short takes minutes.
PHASES = [Phase.generate] + [Phase.shrink] * (os.environ.get("QWF_SHRINK") == "1")
PARTS = 4 if THOROUGH else 2  # so that several processes share the work


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engine_does_what_the_model_does(dsn: str, part: int) -> None:
    play(dsn, part, SEQUENCES // PARTS, Machine)


def test_a_task_that_crashes_is_held_back_as_the_model_says(dsn: str) -> None:
    play(dsn, PARTS, SEQUENCES // 4, Crashes)


def play(dsn: str, part: int, sequences: int, kind: type[Machine]) -> None:
    prepare(dsn)
    machine = machine_on(dsn, kind=kind)
    if settings().derandomize:  # as on CI: the same sequences each time, but not in each part
        machine = seed(part)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sequences,
            stateful_step_count=STEPS,
            print_blob=True,
            database=None,
            report_multiple_bugs=False,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{machine.steps} steps")
