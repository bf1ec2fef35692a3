"""The machine finds what it is there to find: bugs put in on purpose, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.machine.state import Diverged
from support.machine.state_machine import (
    Crashes,
    Machine,
    Session,
    machine_of,
    prepare,
    retry_run,
)
from support.planted_bugs import BUGS, HOLD_BUGS, TURN_BUGS, UNDOING_BUGS, planted, put_in
from support.servers import Server
from support.thorough import THOROUGH

SEQUENCES, SEEDS = 4, 500  # of a seed; the first sequence that finds the bug is the last

# The workflow to which the sequences are limited, so that the bug shows soon, and the first seed
# whose sequences find it. A change of the machine may make another seed the first: the test then
# takes longer, and prints which it is. With QWF_TEST_ALL=1 it begins with seed 0.
WHERE: dict[str, tuple[str | None, int]] = {
    "the token is not checked": ("loose", 3),
    "a release is counted": ("loose", 0),
    "skips do not cascade": ("skips", 0),
    "a dependency is counted off twice": ("diamond", 0),
    "the event is lost where somebody holds the run": ("fan", 4),
    "the event is lost when applying it is rolled back": ("chain", 2),
    "a job goes back to the host that lost it": ("loose", 6),
    "a job is left to a worker that cannot run it": ("loose", 6),
    "jobs above a lowered limit do not count": ("loose", 1),
    "a call puts a job off beyond its latest start": ("loose", 7),
    "a job that is queued is not put off": ("loose", 23),
    "a job keeps its deadline when it starts": ("loose", 2),
    "a signal that came early is not kept": ("signalled", 2),
    "a turn gets what the first one got": ("repeats", 0),
    "a repeat goes on beyond its last turn": ("repeats", 12),
    "turns do not wait": ("repeats_every", 0),
    "a node is delayed each time it is looked at": ("repeats_every", 0),
    "a node that is skipped waits": ("repeats_every", 0),
    "a map goes on though enough have completed": ("first", 0),
    "elements go on though enough have completed": ("first", 0),
    "another try of a step begins with a new run": ("parent", 0),
    "the run of a step goes on when the step is stopped": ("parent_of_many", 0),
    "the runs of steps take no place of their limit": ("limited", 0),
    "the run of a step may take longer than the step": ("parent_late", 4),
    "keys share the starts of a limit": (None, 1),
    "an earlier start of a key is forgotten": (None, 1),
    "an answered question goes on waiting": ("asks_beside", 0),
}


IN_LINE = (
    "enqueue_run",
    {"workflow": 0, "skip": False, "priority": 50, "key": None, "once": False, "wait": None},
)
WORK = ("work", {"worker": 0, "count": 1, "output": {"y": 1}, "jam": False})
# A run in line completes; another has the place when the first is to run again.
RETRIED_IN_LINE = [
    *(IN_LINE, WORK, WORK, IN_LINE),
    ("meddle", {"act": "retry_run", "number": 0, "which": 2}),
]

# A job that runs at most once.
ONCE = (
    "enqueue",
    {
        "task": "t",
        "key": None,
        "once": False,
        "wait": None,
        "attempts": 3,
        "backoff": None,
        "priority": 50,
        "limit": None,
        "on_failure": "once",
        "expires": None,
        "needs": (None, None, {}),
    },
)
JOB = ("enqueue", {**ONCE[1], "on_failure": "fail"})


def with_limit(limit: str) -> tuple[str, dict[str, Any]]:
    """A job of this limit."""
    return ("enqueue", {**JOB[1], "limit": limit})


# Bugs that few sequences find: the workflow, and the steps of a sequence that does.
WRITTEN: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "what may have run is tried again": (
        "loose",
        [
            *(ONCE, ("claim", {"worker": 0, "count": 1, "lease": None})),
            ("finish", {"bodies": [(0, "lost", None)], "jam": False}),
        ],
    ),
    "what runs at most once is claimed ahead": (
        "loose",
        [ONCE, ONCE, ("claim", {"worker": 0, "count": 5, "lease": None})],
    ),
    "a claim starts a job of a key beside one of a limit": (
        "loose",
        [
            *(with_limit("calls"), with_limit("host:a"), JOB),
            ("claim", {"worker": 0, "count": 2, "lease": None}),
        ],
    ),
    "a worker that is off is handed jobs": (
        "loose",
        [
            ("register_worker", {"host": "h1", "info": {}}),
            ("begin", {"workflow": 0, "skip": False}),
            ("manage", {"act": "switch", "number": 0, "which": 1}),
            ("claim", {"worker": 0, "count": 1, "lease": None}),
        ],
    ),
    "a loaded model is always preferred": (
        "loose",
        [("keep_warm", {"apart": 67, "priority": 100})],
    ),
    "a run in line leaves its place while a body runs": (
        "fan",
        [
            *(IN_LINE, WORK, ("claim", {"worker": 0, "count": 5, "lease": None})),
            ("finish", {"bodies": [(0, "fatal", None)], "jam": False}),
        ],
    ),
    "a run that is cancelled in line takes back at once": (
        "inner_takes_back",
        [*RETRIED_IN_LINE, ("meddle", {"act": "cancel_run", "number": 0, "which": 0})],
    ),
    "a retry takes back nothing first": (
        "inner_takes_back",
        [
            *(("begin", {"workflow": 0, "skip": False}), *[WORK] * 4),
            *(
                ("meddle", {"act": "retry_run", "number": 2, "which": 2}),
                WORK,
            ),  # from its first node
        ],
    ),
    "a retry in line is not counted": ("inner_takes_back", [*RETRIED_IN_LINE, *[WORK] * 4]),
    "a run in line that failed is not tried again": (
        "inner",
        [
            IN_LINE,
            ("claim", {"worker": 0, "count": 1, "lease": None}),
            ("finish", {"bodies": [(0, "error", None)], "jam": False}),
            ("work", {"worker": 0, "count": 1, "output": None, "jam": False}),  # its clean-up
        ],
    ),
    "a signal answers though it does not fit": (
        "signalled",
        [
            ("begin", {"workflow": 0, "skip": False}),
            ("work", {"worker": 0, "count": 1, "output": {"y": 1}, "jam": False}),
            ("signal", {"name": "go:1", "value": 7}),
        ],
    ),
}


def act(machine: type[Machine], steps: list[tuple[str, dict[str, Any]]]) -> None:
    """Let the machine take these steps."""
    taking = machine()
    for step, arguments in steps:
        getattr(taking, step)(**arguments)


@dataclass(frozen=True)
class Place:
    """A database that is prepared for the machine, and its two sessions."""

    dsn: str
    sessions: tuple[Session, Session]

    def machine(self, workflow: str | None) -> type[Machine]:
        return machine_of(self.sessions, workflow)


@pytest.fixture(scope="module")
def place(server: Server, template: str) -> Iterator[Place]:
    """The place for all tests here: a session that is new compiles each function again. The machine
    begins by deleting what another one has left."""
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        prepare(dsn)
        yield Place(dsn, (Session(dsn), Session(dsn)))


@pytest.mark.parametrize("name", BUGS)
def test_the_machine_finds_it_when(place: Place, name: str) -> None:
    workflow, seed_number = WHERE.get(name) or (WRITTEN[name][0], 0)
    machine = place.machine(workflow)
    with planted(place.dsn, *BUGS[name]):
        if name in WRITTEN and not THOROUGH:
            with pytest.raises(Diverged):
                act(machine, WRITTEN[name][1])
            return
        found = first_seed(machine, 0 if THOROUGH else seed_number)
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
                    database=None,
                    phases=[Phase.generate],
                    report_multiple_bugs=False,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        except Diverged:
            return number
    return None


@pytest.mark.parametrize("bug", [None, *UNDOING_BUGS])
def test_a_run_that_was_not_taken_back_goes_on_if_its_step_is_named(
    place: Place, bug: str | None
) -> None:
    """Chance seldom leads there: a step fails, and so does the compensation node of its run."""
    machine = place.machine("parent_takes_back")
    if bug is None:
        refuse_and_name(machine())
        return
    with planted(place.dsn, *UNDOING_BUGS[bug]), pytest.raises(Diverged):
        refuse_and_name(machine())


def refuse_and_name(machine: Machine) -> None:
    machine.begin(workflow=0, skip=False)
    machine.go_wrong(completed=1, how="fatal")  # its second node
    machine.go_wrong(completed=0, how="fatal")  # what takes back the first; then its second try
    run = min(machine.model.runs)
    assert machine.model.runs[run].status == "failed"
    with machine.step() as main:
        retry_run(main, run, None)
    assert machine.model.runs[run].status == "failed"
    with machine.step() as main:
        retry_run(main, run, "r")
    assert machine.model.runs[run].live
    machine.teardown()


# A task is held back; then a person lets it go on: one job runs alone, and does well.
HELD: list[tuple[str, dict[str, Any]]] = [
    ("hold_back", {"task": "t"}),
    ("resume_task", {"task": "t"}),
    *(("chore", {"act": "tick"}), ("work", {**WORK[1], "count": 5}), ("chore", {"act": "tick"})),
]


@pytest.mark.parametrize("bug", [None, *HOLD_BUGS])
def test_the_machine_finds_a_hold_that_is_wrong(place: Place, bug: str | None) -> None:
    machine = machine_of(place.sessions, "loose", Crashes)
    if bug is None:
        act(machine, HELD)
        return
    with planted(place.dsn, *HOLD_BUGS[bug]), pytest.raises(Diverged):
        act(machine, HELD)


@pytest.mark.parametrize("name", WRITTEN)
def test_without_the_bug_the_same_steps_find_nothing(place: Place, name: str) -> None:
    workflow, steps = WRITTEN[name]
    act(place.machine(workflow), steps)


LOOK = {
    "name": "look",
    "steps": [
        {"id": "look", "node": "look", "repeat": {"until": {"$from": "item.there"}, "max": 5}}
    ],
}
FOLLOW = "the turns of a repeat follow one another, and only the last may not be over"


def test_the_invariants_find_turns_that_stay(db: psycopg.Connection[Any], dsn: str) -> None:
    """A turn runs again, and those that began with what it gave are still there."""
    put_in(dsn, *TURN_BUGS["later turns stay when one is named"])
    db.execute("select qwf.register_workflow(%s)", [json.dumps(LOOK)])
    db.execute("select qwf.enqueue_run('look')")
    for there in ("false", "false", "true"):
        db.execute(
            "select qwf.finish(c.job_id, c.token, 'completed', jsonb_build_object('there',"
            " %s::boolean)) from qwf.claim('cpu', 'w') c",
            [there],
        )
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
    db.execute("select qwf.retry_run(r.id, 'look[0]') from qwf.runs r")
    found = db.execute("select invariant from qwf.check_invariants()").fetchall()
    assert (FOLLOW,) in found
