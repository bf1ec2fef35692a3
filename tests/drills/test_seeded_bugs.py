"""The machine finds what it is there to find: bugs put in on purpose, one at a time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.machine.engine_model import Diverged
from support.machine.state_machine import machine_on, prepare
from support.planted_bugs import BUGS, put_in
from support.thorough import THOROUGH

WITHIN = 2000  # sequences; a few dozen are enough, and the first that finds the bug is the last

# Seeds whose sequences find these bugs four to sixteen times sooner. With QWF_TEST_ALL=1 the
# sequences are those of the others.
SOONER = {
    "a worker that is off is handed jobs": 4,
    "a job is left to a worker that cannot run it": 1,
    "a job that is queued is not put off": 7,
    "a loaded model is preferred for ever": 2,
}


@pytest.mark.parametrize("name", BUGS)
def test_the_machine_finds_it_when(dsn: str, name: str) -> None:
    prepare(dsn)
    put_in(dsn, *BUGS[name])
    machine = machine_on(dsn)
    if name in SOONER and not THOROUGH:
        machine = seed(SOONER[name])(machine)
    with pytest.raises(Diverged):
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=WITHIN,
                stateful_step_count=25,
                derandomize=True,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    print(f"after {machine.steps} steps")
