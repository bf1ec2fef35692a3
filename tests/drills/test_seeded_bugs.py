"""The machine finds what it is there to find: bugs put in on purpose, one at a time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.machine.engine_model import Diverged
from support.machine.state_machine import Machine, machine_on, prepare
from support.planted_bugs import BUGS, put_in
from support.thorough import THOROUGH

SEQUENCES, SEEDS = 4, 500  # of a seed; the first sequence that finds the bug is the last

# The first seed whose sequences find the bug, so that nobody waits for those that do not. A change
# of the machine may make another one the first: the test then takes longer, and prints which it is.
# With QWF_TEST_ALL=1 it begins with seed 0.
FIRST = {
    "the token is not checked": 4,
    "a release is counted": 2,
    "skips do not cascade": 6,
    "the event is lost where somebody holds the run": 38,
    "the event is lost when applying it is rolled back": 16,
    "a worker that is off is handed jobs": 15,
    "a job goes back to the host that lost it": 7,
    "a job is left to a worker that cannot run it": 21,
    "jobs above a lowered limit do not count": 5,
    "a call puts a job off beyond its latest start": 21,
    "a job that is queued is not put off": 22,
    "a loaded model is always preferred": 1,
    "a job keeps its deadline when it starts": 15,
    "a signal that came early is not kept": 2,
    "a signal answers though it does not fit": 77,
}


@pytest.mark.parametrize("name", BUGS)
def test_the_machine_finds_it_when(dsn: str, name: str) -> None:
    prepare(dsn)
    put_in(dsn, *BUGS[name])
    machine = machine_on(dsn)
    found = first_seed(machine, 0 if THOROUGH else FIRST.get(name, 0))
    assert found is not None
    print(f"seed {found}, after {machine.steps} steps")


def first_seed(machine: type[Machine], begin: int) -> int | None:
    """The first seed, from this one on, whose sequences find a bug."""
    for number in range(begin, SEEDS):
        try:
            run_state_machine_as_test(
                seed(number)(machine),
                settings=settings(
                    max_examples=SEQUENCES,
                    stateful_step_count=25,
                    derandomize=True,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate],
                    report_multiple_bugs=False,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        except Diverged:
            return number
    return None
